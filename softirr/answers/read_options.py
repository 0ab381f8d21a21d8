"""How an input is read: the options that travel together, and functions that also take each of them by its name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from softirr.answers.kinds import AUTO, KindOption, find_kind
from softirr.answers.missing import MissingMarks
from softirr.answers.splitting import check_split
from softirr.errors import InputError, option
from softirr.text import normalize

Groups = Sequence[str] | Mapping[str, str | Sequence[str]]
"""Columns by name; as a mapping, the name that each column or group of columns gets."""
_Function = TypeVar("_Function", bound=Callable[..., Any])
_KEYWORDS = re.compile(r"^( *)\*\*keywords\n(?:\1 +.*\n)*", re.MULTILINE)
_ALLOWED = {
    "regions": ("pooled", "matched"),
    "header": ("first", "none"),
    "empty": (None, "missing", "none"),
    "repeats": (None, "set", "first", "last", "refuse"),
}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    r"""How :func:`softirr.read`, :func:`softirr.read_texts` and :func:`softirr.inspect` read an input.

    Parameters
    ----------
    format : str
        Name of the format, if the content does not show it.
    control : str or sequence of str, optional
        The TextArea to read from a Label Studio export; needed when the export has several. :func:`softirr.read_texts`
        reads several.
    casefold : bool
        Texts that differ only in case are one text.
    ignore_harakat : bool
        Texts that differ only in Arabic vowel signs are one text.
    predictions_as_raters : bool
        Whether each model version of a Label Studio export counts as a rater.
    item, rater : str, optional
        Columns of a long table, needed unless their names leave no doubt; of a wide table ``item`` only. ``a+b`` takes
        two columns together.
    text : str or sequence of str, optional
        The column of the texts of a long table; :func:`softirr.read_texts` reads several.
    raters : sequence of str, or mapping of names to columns, optional
        The table is wide, and these columns are its raters.
    weight : str, optional
        Column of a table, key of JSONL, or field of the data of Label Studio's tasks, with the weight of each item,
        such as a survey's case weight: an item of weight 2 counts as two such items.
    header : {"first", "none"}
        Whether the first row names the columns. Without a header, columns are named 1, 2, 3; if no column of items is
        named, each row is an item, and if all cells are numbers, each column is a rater.
    empty : {"missing", "none"}, optional
        Meaning of an empty cell: the rater was not asked, or found nothing. By default it is missing, except that
        empty texts in lists and in files with the columns ``item,rater,text`` are empty answers. An empty list in a
        cell is always an empty answer.
    repeats : {"set", "first", "last", "refuse"}, optional
        Meaning of several rows of a rater on an item: a set of texts, versions (the first or the last one counts), or a
        mistake. By default a set in long tables, and refused in the others.
    missing : str or sequence of str, optional
        Texts that mean that an answer is missing, such as ``"NA,n/a"``; ``"none"`` takes every text for an answer. By
        default (``"auto"``) texts that leave no doubt, such as NA, n/a, - and ?, are missing. They are listed in
        ``excluded``, and a warning counts them by rater.
    encoding : str, optional
        Encoding of a text file; UTF-8 and UTF-16 are recognized.
    sheet : str, optional
        Sheet of an Excel workbook, if several visible ones have tables.
    regions : {"pooled", "matched"}
        For texts on regions of Label Studio: all texts of an annotation are one answer, or regions of different raters
        are matched one to one and each is an item.
    rater_names : mapping of str to str, optional
        Names of raters by the names or ids in the input.
    ignore_raters : sequence of str
        Raters to leave out.
    split : str, optional
        How a text that contains a list is split: ``lines``, ``bullets``, ``semicolons``, ``commas``, ``sentences``, or
        the marks, such as ``";|"``. ``none`` compares each text as a whole.
    kind : str or mapping of field to str, optional
        Kind of the answers, if they are not texts: ``nominal``, ``set``, ``ordinal`` and the like (the reference of
        fields lists them). One kind for all fields, or a kind for each by its name; "auto" takes the kind of each Label
        Studio control, and texts elsewhere.

    Raises
    ------
    InputError
        If an option cannot have this value.

    Examples
    --------
    >>> import io, softirr
    >>> options = ReadOptions(item="case", raters=["ann", "bob"])
    >>> softirr.read(io.StringIO("case,ann,bob\n1,fever,high fever\n2,cough,\n"), options).items
    ('1', '2')
    """

    format: str = "auto"
    control: str | Sequence[str] | None = None
    casefold: bool = False
    ignore_harakat: bool = False
    predictions_as_raters: bool = False
    item: str | None = None
    rater: str | None = None
    text: str | Sequence[str] = ()
    raters: Groups = ()
    weight: str | None = None
    header: str = "first"
    empty: str | None = None
    repeats: str | None = None
    missing: str | Sequence[str] | None = None
    encoding: str | None = None
    sheet: str | None = None
    split: str | None = None
    kind: KindOption = None
    regions: str = "pooled"
    rater_names: Mapping[str, str] | None = None
    ignore_raters: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            if (value := getattr(self, name)) not in allowed:
                raise InputError(f"The option {name} is {value!r}, but can be {', '.join(filter(None, allowed))}.")
        check_split(self.split)
        for name in ("control", "text", "raters", "ignore_raters"):
            if isinstance(value := getattr(self, name), str):
                object.__setattr__(self, name, (value,))
        object.__setattr__(self, "ignore_raters", tuple(map(normalize, self.ignore_raters)))
        names = {normalize(old): normalize(new) for old, new in (self.rater_names or {}).items()}
        object.__setattr__(self, "rater_names", names)
        if self.raters and (self.rater or self.text):
            raise InputError(
                f"With {option('raters')}, each rater has a column: name {option('item')} with it, and no other "
                "columns."
            )
        MissingMarks.of(self.missing)
        kinds = self.kind.values() if isinstance(self.kind, Mapping) else () if self.kind is None else (self.kind,)
        for spec in kinds:
            if not isinstance(spec, str):
                raise InputError(f"The option kind is {self.kind!r}, but is a name, or a name for each field.")
            if spec != AUTO:
                find_kind(spec)

    @property
    def names_columns(self) -> bool:
        """Whether the user names any column."""
        return bool(self.item or self.rater or self.text or self.raters)

    def kind_of(self, field: str) -> str | None:
        """Return the kind that an option gives to a field: "auto", a name, or None for texts."""
        return self.kind if isinstance(self.kind, str | None) else self.kind.get(field)


def changed_options(function: str, options: ReadOptions | None, keywords: Mapping[str, Any]) -> ReadOptions:
    """The options with single ones changed by name.

    Parameters
    ----------
    function : str
        Name of the function that was called, for the message.

    Raises
    ------
    InputError
        If an option does not exist.
    """
    names = [option.name for option in fields(ReadOptions)]
    for name in keywords:
        if name not in names:
            raise InputError(f"{function} has no option {name}: it has {', '.join(names)}.")
    return replace(options or ReadOptions(), **keywords)


def takes_read_options(function: _Function) -> _Function:
    """A decorator for functions that take the options as ``**keywords``: adds them to signature and documentation."""
    signature = inspect.signature(function)
    options = inspect.signature(ReadOptions).parameters.values()
    parameters = [
        parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD
    ]
    vars(function)["__signature__"] = signature.replace(parameters=[*parameters, *options])
    section = (ReadOptions.__doc__ or "").split("----------\n", 1)[-1].split("\n\n", 1)[0] + "\n"
    function.__doc__ = _KEYWORDS.sub(lambda _: section, function.__doc__ or "")
    return function
