"""Which columns of a table have the items, raters and texts: as the user names them, or by the names of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from softirr.answers.data_files import data_file
from softirr.errors import InputError, option
from softirr.text import normalize

__all__ = [
    "COMMANDS",
    "ROLES",
    "Layout",
    "Places",
    "UnknownColumns",
    "is_role",
    "listed",
    "places",
    "places_by_names",
    "shown",
]

COMMANDS = (
    "--item COLUMN --rater COLUMN --text COLUMN",
    "--item COLUMN --raters COLUMN,COLUMN",
    "--rater COLUMN --items COLUMN,COLUMN",
)
"""Options that name the columns of a table: a row for each answer, for each item, or for each rater."""


def _column_options(*names: str) -> str:
    """Options that name columns."""
    columns = (("COLUMN", "COLUMN") if name in ("raters", "items") else ("COLUMN",) for name in names)
    return " ".join(option(name, *values) for name, values in zip(names, columns, strict=True))


class UnknownColumns(InputError):
    """The columns of a table have no obvious names, so the user has to name them.

    Parameters
    ----------
    name : str
        Name of the input.
    columns : sequence of str
        Header of the table.
    """

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name, self.columns = name, tuple(columns)
        super().__init__(
            f"{name} has the columns {listed(columns)}. Name them: {_column_options('item', 'rater', 'text')} if each row is an answer, "
            f"{_column_options('item', 'raters')} if each rater has a column, or {_column_options('rater', 'items')} if each item has a column."
        )


Groups = Sequence[str] | Mapping[str, str | Sequence[str]]
"""Columns by name; as a mapping, the name that each column or group of columns gets."""

STANDARD = ("item", "rater", "text")

ROLES: Mapping[str, Sequence[str]] = data_file("role_columns")
"""Obvious names of columns of items, raters and texts; ``label`` has short answers about a text."""
_GIVEN = "text"
"""A column of this name has the answers, or the text of the item beside a column of labels."""
_MANY = 12


@dataclass(frozen=True)
class Layout:
    """What the user says about the columns.

    Attributes
    ----------
    item : str or None
        Column of the items; ``a+b`` takes two columns together.
    rater : str or None
        Column of the raters.
    text : sequence of str, or mapping
        Columns of the texts: each is a field of its own, and ``a+b`` takes the texts of two columns as one answer.
    raters : sequence of str, or mapping
        A column for each rater.
    items : sequence of str, or mapping
        A column for each item, as surveys have it; the rows are raters.
    empty : {"missing", "none"} or None
        What an empty cell means: not asked, or nothing found. None takes what is usual for the format.
    repeats : {"set", "first", "last", "refuse"} or None
        What several rows of one rater on one item are.
    """

    item: str | None = None
    rater: str | None = None
    text: Groups = ()
    raters: Groups = ()
    items: Groups = ()
    empty: str | None = None
    repeats: str | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("empty", ("missing", "none")), ("repeats", ("set", "first", "last", "refuse"))):
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise InputError(f"The option {name} is {value!r}, but can be {', '.join(allowed)}.")
        for name in ("text", "raters", "items"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, (getattr(self, name),))
        if self.raters and (self.rater or self.items or self.text):
            raise InputError(
                f"With {option('raters')}, each rater has a column: name {option('item')} with it, and no other columns."
            )
        if self.items and (self.item or self.text):
            raise InputError(
                f"With {option('items')}, each item has a column: name {option('rater')} with it, and no other columns."
            )

    @property
    def says_columns(self) -> bool:
        """Whether the user names any column."""
        return bool(self.item or self.rater or self.text or self.raters or self.items)


@dataclass(frozen=True)
class Places:
    """Column numbers of a table.

    Attributes
    ----------
    kind : {"long", "wide", "survey"}
        A row for each text, a column for each rater, or a column for each item.
    item, rater : tuple of int
        Columns that name the item and the rater.
    groups : mapping of str to tuple of int
        Columns of each field (long), rater (wide) or item (survey).
    standard : bool
        The long table ``item,rater,text`` of the documentation: its empty texts are answers, and several rows are a
        set.
    guessed : bool
        The user named no columns.
    """

    kind: str
    item: tuple[int, ...]
    rater: tuple[int, ...]
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    standard: bool = False
    guessed: bool = False

    @property
    def taken(self) -> frozenset[int]:
        """Every column that is read."""
        return frozenset(i for at in (self.item, self.rater, *self.groups.values()) for i in at)


def places(columns: Sequence[str], layout: Layout, name: str) -> Places | None:
    """Where the columns of a layout are; None if the user names none and their names leave a doubt.

    Parameters
    ----------
    columns : sequence of str
        Names in the header.
    name : str
        Of the input, for messages.

    Raises
    ------
    InputError
        If a column is not there, or is repeated.
    """
    if not layout.says_columns:
        return places_by_names(columns)
    if layout.raters:
        item = _joined(columns, layout.item or "item", "item", name)
        return Places("wide", item, (), _groups(columns, layout.raters, "raters", name))
    if layout.items:
        rater = _joined(columns, layout.rater or "rater", "rater", name)
        return Places("survey", (), rater, _groups(columns, layout.items, "items", name))
    item, rater = (
        _joined(columns, column or option, option, name)
        for option, column in (("item", layout.item), ("rater", layout.rater))
    )
    groups = _groups(columns, layout.text or ("text",), "text", name)
    return Places("long", item, rater, groups)


def is_role(role: str, name: str) -> bool:
    """Whether a column of this name has the items, the raters or the texts of most tables.

    Parameters
    ----------
    role : {"item", "rater", "text"}
    """
    return _plain(name) in ROLES[role]


def places_by_names(columns: Sequence[str]) -> Places | None:
    """The columns of a table whose names leave no doubt: a long table.

    Examples
    --------
    >>> places_by_names(["task_id", "annotator", "answer", "seconds"]).item
    (0,)
    >>> places_by_names(["id", "text", "annotator", "answer"]) is None
    True
    >>> places_by_names(["id", "text", "annotator", "label"]) is None
    True
    """
    names = [_plain(column) for column in columns]
    if all(names.count(name) == 1 for name in STANDARD):
        item, rater, answer = ((names.index(name),) for name in STANDARD)
        return Places("long", item, rater, {columns[answer[0]]: answer}, standard=True)
    named = {role: tuple(i for i, name in enumerate(names) if name in known) for role, known in ROLES.items()}
    if any(len(named[role]) != 1 for role in STANDARD):
        return None
    text = named["text"]
    if names[text[0]] == _GIVEN and named["label"]:
        return None
    return Places("long", named["item"], named["rater"], {columns[text[0]]: text}, guessed=True)


def listed(columns: Sequence[str]) -> str:
    """Column names as a part of a sentence."""
    names = [shown(name) or "(no name)" for name in columns[:_MANY]]
    rest = len(columns) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def shown(name: str, longest: int = 40) -> str:
    """A name as one short printable piece of a message.

    Parameters
    ----------
    longest : int
        Characters.
    """
    plain = "".join(mark if mark.isprintable() else " " for mark in name)
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def _plain(name: str) -> str:
    return normalize(name, casefold=True)


def _one(columns: Sequence[str], wanted: str, option: str, name: str) -> int:
    """Number of the column of that name; upper and lower case count only where they have to."""
    for known, asked in ((list(columns), wanted), ([_plain(column) for column in columns], _plain(wanted))):
        if known.count(asked) == 1:
            return known.index(asked)
        if asked in known:
            raise InputError(f"{name} has several columns {wanted!r}.")
    own = [column for column in columns if not column.startswith("\0")]  # a file of one rater has no column of raters
    raise InputError(
        f"{name} has no column {wanted!r}; it has {listed(own)}. Name the columns with item, rater and text, or with "
        "item and raters."
    )


def _is_column(columns: Sequence[str], wanted: str) -> bool:
    return wanted in columns or _plain(wanted) in [_plain(column) for column in columns]


def _joined(columns: Sequence[str], wanted: str, option: str, name: str) -> tuple[int, ...]:
    parts = [wanted] if _is_column(columns, wanted) or "+" not in wanted else wanted.split("+")
    return tuple(_one(columns, part.strip(), option, name) for part in parts)


def _groups(columns: Sequence[str], wanted: Groups, option: str, name: str) -> dict[str, tuple[int, ...]]:
    named = _named(columns, wanted, option, name)
    taken = [i for _, at in named for i in at]
    if len(set(taken)) < len(taken):
        raise InputError(f"{option} names a column twice.")
    groups: dict[str, tuple[int, ...]] = {}
    for label, at in named:
        if groups.setdefault(label, at) is not at:
            raise InputError(f"{name}: {option} names two columns {label!r}. Give each a heading of its own.")
    return groups


def _named(columns: Sequence[str], wanted: Groups, option: str, name: str) -> list[tuple[str, tuple[int, ...]]]:
    if isinstance(wanted, Mapping):
        return [
            (label, tuple(_one(columns, part, option, name) for part in ([one] if isinstance(one, str) else one)))
            for label, one in wanted.items()
        ]
    named: list[tuple[str, tuple[int, ...]]] = []
    for spec in map(str, wanted):
        parts = [spec] if _is_column(columns, spec) else [part.strip() for part in spec.split(",") if part.strip()]
        for part in parts:
            label, _, rest = part.partition("=")
            if "*" in part and not _is_column(columns, part):
                matched = [i for i, column in enumerate(columns) if fnmatchcase(_plain(column), _plain(part))]
                if not matched:
                    raise InputError(f"{name} has no column like {part!r}; it has {listed(columns)}.")
                named += [(columns[i], (i,)) for i in matched]
            elif rest and not _is_column(columns, part):
                named.append((label.strip(), _joined(columns, rest.strip(), option, name)))
            else:
                named.append((part, _joined(columns, part, option, name)))
    return named
