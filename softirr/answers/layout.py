"""Which columns of a table have the items, raters and texts: as the user names them, or by the names of the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from softirr.answers.read_options import Groups, ReadOptions
from softirr.errors import InputError, option
from softirr.json_object import data_file
from softirr.text import listed, normalize

LONG = " ".join(option(name, "COLUMN") for name in ("item", "rater", "text"))
WIDE = f"{option('item', 'COLUMN')} {option('raters', 'COLUMN', 'COLUMN')}"
"""Options that name the columns of a table: a row for each answer, or for each item."""
_STANDARD = ("item", "rater", "text")
_SOURCE = "text"
"""A column of this name has the answers; next to a column of labels it has the text of the item."""


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
            f"{name} has the columns {listed(columns)}. Name them: {LONG} if each row is an answer, or {WIDE} "
            "if each rater has a column."
        )


_ROLES: Mapping[str, Sequence[str]] = data_file("softirr.answers", "role_columns")
"""Obvious names of columns of items, raters and texts; ``label`` has short answers about a text."""


@dataclass(frozen=True)
class Columns:
    """Column numbers of a table.

    Attributes
    ----------
    item, rater : tuple of int
        Columns that name the item and the rater; a wide table has a column for each rater, and none that names them.
    groups : mapping of str to tuple of int
        Columns of each field (long) or rater (wide).
    is_standard : bool
        Whether this is the table ``item,rater,text`` of the documentation: its empty texts are answers, and several
        rows are a set.
    """

    item: tuple[int, ...]
    rater: tuple[int, ...]
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    is_standard: bool = False

    @property
    def is_long(self) -> bool:
        """Whether the table has a row for each text, rather than a column for each rater."""
        return bool(self.rater)

    @property
    def used(self) -> frozenset[int]:
        """Every column that is read."""
        return frozenset(i for indices in (self.item, self.rater, *self.groups.values()) for i in indices)


def find_columns(columns: Sequence[str], options: ReadOptions, name: str) -> Columns:
    """Return the columns that options name; by default the columns with obvious names.

    Parameters
    ----------
    columns : sequence of str
        Names in the header.
    name : str
        Name of the input, for messages.

    Raises
    ------
    InputError
        If a column does not exist, or is repeated, or the user has to name the columns.
    """
    if not options.names_columns:
        if (named_columns := columns_by_names(columns)) is None:
            raise UnknownColumns(name, columns)
        return named_columns
    header = _Header(columns, name)
    item = header.find(options.item or "item")
    if options.raters:
        return Columns(item, (), header.groups(options.raters, "raters", item))
    rater = header.find(options.rater or "rater")
    if not set(item).isdisjoint(rater):
        raise InputError(f"{name}: {option('item')} and {option('rater')} name the same column.")
    return Columns(item, rater, header.groups(options.text or ("text",), "text", (*item, *rater)))


def is_role(role: str, name: str) -> bool:
    """Whether a column of this name usually has the items, raters or texts."""
    return _folded(name) in _ROLES[role]


def columns_by_names(columns: Sequence[str]) -> Columns | None:
    """Return the columns of a long table with obvious names, or None.

    Examples
    --------
    >>> columns_by_names(["task_id", "annotator", "answer", "seconds"]).item
    (0,)
    >>> columns_by_names(["id", "text", "annotator", "answer"]) is None
    True
    >>> columns_by_names(["id", "text", "annotator", "label"]) is None
    True
    """
    names = [_folded(column) for column in columns]
    is_standard = all(names.count(name) == 1 for name in _STANDARD)
    known_names = {name: (name,) for name in _STANDARD} if is_standard else _ROLES
    indices = {
        role: tuple(i for i, name in enumerate(names) if name in role_names) for role, role_names in known_names.items()
    }
    item, rater, text = (indices[role] for role in _STANDARD)
    if not len(item) == len(rater) == len(text) == 1:
        return None
    if names[text[0]] == _SOURCE and indices.get("label"):
        return None
    return Columns(item, rater, {columns[text[0]]: text}, is_standard)


def _folded(name: str) -> str:
    return normalize(name, casefold=True)


class _Header:
    """The names of the columns of a table, as options name them."""

    def __init__(self, columns: Sequence[str], name: str) -> None:
        self._columns, self._name = columns, name
        self._folded = [_folded(column) for column in columns]

    def groups(self, specs: Groups, option_name: str, taken: Sequence[int]) -> dict[str, tuple[int, ...]]:
        """Return the columns that an option names, each or each group with its label; none is `taken` by names."""
        named_columns = list(self._named(specs, taken))
        indices_used = [i for _, indices in named_columns for i in indices]
        if not set(taken).isdisjoint(indices_used):
            raise InputError(
                f"{self._name}: {option(option_name)} names a column that has the names of items or raters."
            )
        if len(set(indices_used)) < len(indices_used):
            raise InputError(f"{option_name} names a column twice.")
        groups: dict[str, tuple[int, ...]] = {}
        for label, indices in named_columns:
            if groups.setdefault(label, indices) is not indices:
                raise InputError(
                    f"{self._name}: {option_name} names two columns {label!r}. Give each a heading of its own."
                )
        return groups

    def find(self, spec: str) -> tuple[int, ...]:
        """Return the column of a name, or the columns of names that are joined with a plus sign."""
        names = [spec] if self._indices(spec) or "+" not in spec else spec.split("+")
        return tuple(self._index(name.strip()) for name in names)

    def _indices(self, spec: str) -> list[int]:
        """Return the numbers of the columns of a name; case counts only if the name is not unique without it."""
        exact = [i for i, column in enumerate(self._columns) if column == spec]
        return exact or [i for i, column in enumerate(self._folded) if column == _folded(spec)]

    def _index(self, spec: str) -> int:
        indices = self._indices(spec)
        if len(indices) == 1:
            return indices[0]
        if indices:
            raise InputError(f"{self._name} has several columns {spec!r}.")
        named_columns = [column for column in self._columns if not column.startswith("\0")]
        raise InputError(
            f"{self._name} has no column {spec!r}; it has {listed(named_columns)}. Name the columns with item, rater "
            "and text, or with item and raters."
        )

    def _named(self, specs: Groups, taken: Sequence[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
        if isinstance(specs, Mapping):
            for label, names in specs.items():
                yield label, tuple(self._index(name) for name in ([names] if isinstance(names, str) else names))
            return
        for spec in map(str, specs):
            names = [spec] if self._indices(spec) else [name.strip() for name in spec.split(",") if name.strip()]
            for name in names:
                label, _, column = name.partition("=")
                if "*" in name and not self._indices(name):
                    free = (i for i in range(len(self._columns)) if i not in taken)
                    matching = [i for i in free if fnmatchcase(self._folded[i], _folded(name))]
                    if not matching:
                        raise InputError(f"{self._name} has no column like {name!r}; it has {listed(self._columns)}.")
                    yield from ((self._columns[i], (i,)) for i in matching)
                elif column and not self._indices(name):
                    yield label.strip(), self.find(column.strip())
                else:
                    yield name, self.find(name)
