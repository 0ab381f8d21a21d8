"""Which columns of a table hold items, raters and texts: as the user says, or as their names tell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from softirr.errors import InputError

__all__ = ["INCEPTION", "Layout", "Places", "listed", "places", "suggestion", "told_by_names"]

Groups = Sequence[str] | Mapping[str, str | Sequence[str]]
"""Columns by name; as a mapping, the name that each column or group of columns gets."""

STANDARD = ("item", "rater", "text")

_ITEM = "item item_id itemid task task_id id case case_id record record_id document document_id doc doc_id sample sample_id example_id instance_id"
_RATER = "rater rater_id annotator annotator_id coder coder_id worker worker_id workerid user user_id username reader reviewer labeler model model_name"
_TEXT = "answer response completion output annotation finding findings free_text text"
_INPUTS = ("prompt", "question", "input", "query")
"""Names of columns that tell items apart where no other does, as in logs of language models."""
INCEPTION = ("type", "collection", "document", "layer", "feature", "position")
"""What the header of INCEpTION's agreement export begins with; a column for each annotator follows."""
_ROLES = {"item": tuple(_ITEM.split()), "rater": tuple(_RATER.split()), "text": tuple(_TEXT.split())}
_ASIDE = re.compile(
    r"(.*[_ .-])?(comments?|notes?|remarks?|date|time|timestamp|start|end|duration|status|progress|finished|email|e-mail|"
    r"name|consent|age|sex|gender|language|startlanguage|lastpage|submitdate|seed|ip ?address|lat|lon|id)([_ .-].*)?",
    re.IGNORECASE,
)
"""Names of columns that hold no answers in most tables."""
_RESPONDENT = re.compile(
    r"(e-?mail( address)?|user ?name|response ?id|respondent( ?id)?|participant( ?id)?|rater|annotator|name)",
    re.IGNORECASE,
)
_MANY = 12
_LONG = 40


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
                "With raters, each rater has a column: say item beside it, and neither rater, items nor text."
            )
        if self.items and (self.item or self.text):
            raise InputError("With items, each item has a column: say rater beside it, and neither item nor text.")

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
        The long table ``item,rater,text`` of the documentation: its empty texts are answers, and several rows are a set.
    guessed : bool
        Nobody said which columns they are.
    """

    kind: str
    item: tuple[int, ...]
    rater: tuple[int, ...]
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    standard: bool = False
    guessed: bool = False


def places(columns: Sequence[str], layout: Layout, name: str) -> Places | None:
    """Where the columns of a layout stand; None if the layout says nothing and the names don't tell.

    Parameters
    ----------
    columns : sequence of str
        Names in the header.
    layout : Layout
    name : str
        Of the input, for messages.

    Returns
    -------
    Places or None

    Raises
    ------
    InputError
        If a column is not there, or stands there twice.
    """
    if not layout.says_columns:
        return told_by_names(columns)
    if layout.raters:
        item = _joined(columns, layout.item or "item", "item", name)
        return Places("wide", item, (), _groups(columns, layout.raters, "raters", name))
    if layout.items:
        rater = _joined(columns, layout.rater or "rater", "rater", name)
        return Places("survey", (), rater, _groups(columns, layout.items, "items", name))
    item, rater = (
        _joined(columns, said or option, option, name)
        for option, said in (("item", layout.item), ("rater", layout.rater))
    )
    groups = _groups(columns, layout.text or ("text",), "text", name)
    return Places("long", item, rater, groups)


def told_by_names(columns: Sequence[str]) -> Places | None:
    """The columns of a table whose names leave no doubt: a long table, or the agreement export of INCEpTION.

    Parameters
    ----------
    columns : sequence of str

    Returns
    -------
    Places or None

    Examples
    --------
    >>> told_by_names(["task_id", "annotator", "answer", "seconds"]).item
    (0,)
    >>> told_by_names(["id", "text", "annotator", "answer"]) is None
    True
    """
    names = [_plain(column) for column in columns]
    if all(names.count(name) == 1 for name in STANDARD):
        item, rater, text = ((names.index(name),) for name in STANDARD)
        return Places("long", item, rater, {columns[text[0]]: text}, standard=True)
    if names[: len(INCEPTION)] == list(INCEPTION) and len(names) > len(INCEPTION):
        return Places("wide", (2, 5), (), {columns[i]: (i,) for i in range(len(INCEPTION), len(names))})
    found = {role: [i for i, name in enumerate(names) if name in known] for role, known in _ROLES.items()}
    found["item"] = found["item"] or [i for i, name in enumerate(names) if name in _INPUTS]
    if any(len(at) != 1 for at in found.values()):
        return None
    own = {role: tuple(found[role]) for role in STANDARD}
    return Places("long", own["item"], own["rater"], {columns[own["text"][0]]: own["text"]}, guessed=True)


def suggestion(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str | None:
    """The options that would probably read a table, as words of a command; None if nothing fits.

    Parameters
    ----------
    columns : sequence of str
        Names in the header.
    rows : sequence of sequences
        The first rows.

    Returns
    -------
    str or None

    Examples
    --------
    >>> suggestion(["id", "nurse_1", "nurse_2", "comment"], [["1", "fever", "high fever", ""], ["2", "rash", "rash", "x"]])
    '--item id --raters nurse_1,nurse_2'
    """
    names = [_plain(column) for column in columns]
    values = [[row[i] for row in rows if i < len(row) and _said(row[i])] for i in range(len(columns))]
    texts = [i for i, found in enumerate(values) if found and sum(_is_text(value) for value in found) > len(found) / 2]
    item = _first(names, _ROLES["item"], but=())
    rater = _first(names, _ROLES["rater"], but=())
    text = _first(names, _ROLES["text"], but=())
    if rater is not None and text is not None:
        if item is None or len(set(map(str, values[item]))) == len(rows) > 2:
            # an id of the row, not of the item: another column has values that come back
            again = [
                i
                for i, found in enumerate(values)
                if i not in (rater, text) and 1 < len(set(map(str, found))) < len(found)
            ]
            item = again[0] if again else item
        if item is not None:
            return _options(columns, item=[item], rater=[rater], text=[text])
    respondent = next((i for i, name in enumerate(columns) if _RESPONDENT.fullmatch(name.strip())), None)
    answers = [i for i in texts if not _ASIDE.fullmatch(names[i]) and i not in (item, rater, respondent)]
    if respondent is not None and len(answers) > 1 and (item is None or respondent != item):
        return _options(columns, rater=[respondent], items=answers)
    if item is None:
        item = next((i for i, found in enumerate(values) if len(set(map(str, found))) == len(rows) > 0), None)
        answers = [i for i in answers if i != item]
    alike = _alike(names, answers)
    answers = alike if len(alike) > 1 else answers
    if item is not None and len(answers) > 1:
        return _options(columns, item=[item], raters=answers)
    return None


def listed(columns: Sequence[str]) -> str:
    """Column names as a part of a sentence.

    Parameters
    ----------
    columns : sequence of str

    Returns
    -------
    str
    """
    shown = [_short(name) or "(no name)" for name in columns[:_MANY]]
    rest = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _short(name: str) -> str:
    shown = "".join(mark if mark.isprintable() else " " for mark in name)
    return shown if len(shown) <= _LONG else shown[: _LONG - 1] + "…"


def _plain(name: str) -> str:
    return name.strip().casefold()


def _said(value: Any) -> bool:
    return value is not None and bool(str(value).strip())


def _is_text(value: Any) -> bool:
    """Whether a cell holds words, not a number, date or mark."""
    return isinstance(value, list | tuple) or sum(mark.isalpha() for mark in str(value)) > len(str(value)) / 3


def _first(names: Sequence[str], known: Sequence[str], but: Sequence[int]) -> int | None:
    return next((names.index(name) for name in known if name in names and names.index(name) not in but), None)


def _alike(names: Sequence[str], which: Sequence[int]) -> list[int]:
    """The largest group of columns whose names differ at their end only: nurse_1, nurse_2."""
    groups: dict[str, list[int]] = {}
    for i in which:
        groups.setdefault(re.sub(r"[\d\W_]*(?:\b[a-z])?\d*$", "", names[i]), []).append(i)
    return max((found for start, found in groups.items() if start), key=len, default=[])


def _options(columns: Sequence[str], **options: Sequence[int]) -> str:
    words = []
    for option, which in options.items():
        names = [columns[i] for i in which]
        if any("," in name or "+" in name or "*" in name for name in names) and len(names) > 1:
            words += [f"--{option} {shlex.quote(name)}" for name in names]
        else:
            words.append(f"--{option} {shlex.quote(','.join(names))}")
    return " ".join(words)


def _one(columns: Sequence[str], wanted: str, option: str, name: str) -> int:
    """Number of the column of that name; upper and lower case count only where they have to."""
    for known, asked in ((list(columns), wanted), ([_plain(column) for column in columns], _plain(wanted))):
        if known.count(asked) == 1:
            return known.index(asked)
        if asked in known:
            raise InputError(f"{name} has several columns {wanted!r}.")
    raise InputError(
        f"{name} has no column {wanted!r}; it has {listed(columns)}. Name the columns with item, rater and text, or with item and raters."
    )


def _is_column(columns: Sequence[str], wanted: str) -> bool:
    return wanted in columns or _plain(wanted) in [_plain(column) for column in columns]


def _joined(columns: Sequence[str], wanted: str, option: str, name: str) -> tuple[int, ...]:
    parts = [wanted] if _is_column(columns, wanted) or "+" not in wanted else wanted.split("+")
    return tuple(_one(columns, part.strip(), option, name) for part in parts)


def _groups(columns: Sequence[str], wanted: Groups, option: str, name: str) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for label, at in _named(columns, wanted, option, name):
        if label in found:
            raise InputError(f"{option} names a column twice.")
        found[label] = at
    taken = [i for at in found.values() for i in at]
    if len(set(taken)) < len(taken):
        raise InputError(f"{option} names a column twice.")
    return found


def _named(columns: Sequence[str], wanted: Groups, option: str, name: str) -> list[tuple[str, tuple[int, ...]]]:
    if isinstance(wanted, Mapping):
        return [
            (label, tuple(_one(columns, part, option, name) for part in ([one] if isinstance(one, str) else one)))
            for label, one in wanted.items()
        ]
    found: list[tuple[str, tuple[int, ...]]] = []
    for spec in map(str, wanted):
        parts = [spec] if _is_column(columns, spec) else [part.strip() for part in spec.split(",") if part.strip()]
        for part in parts:
            label, _, rest = part.partition("=")
            if "*" in part and not _is_column(columns, part):
                matched = [i for i, column in enumerate(columns) if fnmatchcase(_plain(column), _plain(part))]
                if not matched:
                    raise InputError(f"{name} has no column like {part!r}; it has {listed(columns)}.")
                found += [(columns[i], (i,)) for i in matched]
            elif rest and not _is_column(columns, part):
                found.append((label.strip(), _joined(columns, rest.strip(), option, name)))
            else:
                found.append((part, _joined(columns, part, option, name)))
    return found
