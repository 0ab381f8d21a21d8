"""What agreement is computed of, and how: answers as Python users have them, and the options that travel together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from softirr.answers.files import read
from softirr.answers.frames_and_lists import entries_table, is_frame, lists_table
from softirr.answers.ratings import Marginals
from softirr.answers.read_options import ReadOptions
from softirr.answers.rows import is_missing, value_text
from softirr.answers.sheets import Judgments, read_sheet
from softirr.answers.table import AnnotationTable, Answer
from softirr.defaults import PERMUTATIONS
from softirr.errors import InputError
from softirr.numbers import plural
from softirr.text import is_blank

ChanceMethod = Literal["auto", "exact", "permutation", "sample"]
_COLUMNS = frozenset({"item", "rater", "text"})
_FORMS = (
    "a table, a data frame of pandas, polars or pyarrow, a Dataset, a list of (item, rater, text), a dictionary of "
    "raters, or an array with a row for each item and a column for each rater"
)


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """How :func:`softirr.agreement` computes chance and the matching of sets.

    Parameters
    ----------
    chance : {"auto", "exact", "permutation", "sample"}
        How agreement by chance is computed: exactly, by permutation as in Wullschleger et al. 2026, or from a random
        sample of pairs. ``auto`` is exact if that fits the budget (see :mod:`softirr.report.agreement`), else a sample;
        the report names the method.
    permutations : int
        D, for ``chance="permutation"``.
    target_se : float, optional
        Standard error of the expected agreement that ``chance="sample"`` stops at: 0.005, or 0.001 where the
        measure is cheap.
    seed : int
        Seed of all random draws.
    assignment : {"optimal", "greedy"}
        How two sets are matched.
    marginals : {"answers", "gwet2014"}
        Whose answers make up chance for Fleiss and Gwet, see :class:`softirr.answers.ratings.Pooling`.
    reasons : bool
        Say for each pair of texts of an item that does not match why, see :mod:`softirr.meaning.policy.reasons`.
    matches : bool
        Match the texts of each item and suggest an answer; without, its agreement and pairs of raters are all it has,
        which saves most of the time where measures are cheap.
    meanings : bool
        Also cluster the texts of the whole table by their meaning.
    what_if : bool
        Also compute the headline coefficient without each attribute that raters disagree about.

    Raises
    ------
    InputError
        If an option can't have this value.

    Examples
    --------
    >>> AgreementOptions(chance="permutation", permutations=10).permutations
    10
    """

    chance: ChanceMethod = "auto"
    permutations: int = PERMUTATIONS
    target_se: float | None = None
    seed: int = 0
    assignment: str = "optimal"
    marginals: Marginals = "answers"
    reasons: bool = True
    matches: bool = True
    meanings: bool = False
    what_if: bool = False

    def __post_init__(self) -> None:
        for name, allowed in (("chance", get_args(ChanceMethod)), ("marginals", get_args(Marginals))):
            if (value := getattr(self, name)) not in allowed:
                raise InputError(f"The option {name} is {value!r}, but can be {', '.join(allowed)}.")
        if self.permutations < 1:
            raise InputError(f"The number of permutations is {self.permutations}, but must be at least 1.")
        if self.target_se is not None and not self.target_se > 0:
            raise InputError(f"The target standard error is {self.target_se}, but must be above 0.")


def table_from(answers: Any, reading: ReadOptions | None = None) -> AnnotationTable:
    """The table of answers in any form that Python users have them.

    Parameters
    ----------
    answers : AnnotationTable, data frame, Dataset, list, dict or array
        A list has rows (item, rater, text), a dictionary a list of answers, or a dictionary of answers by item, for
        each rater. An array has a row for each item and a column for each rater. A text may be a list of texts; None is
        a missing answer.
    reading : ReadOptions, optional
        Columns of a data frame or data set, and how answers are read.

    Raises
    ------
    InputError
        If the form is unknown or ambiguous.

    Examples
    --------
    >>> table_from([("1", "ann", "fever"), ("1", "bob", "pyrexia")]).raters
    ('ann', 'bob')
    >>> table_from({"ann": ["fever", None], "bob": ["pyrexia", "rash"]}).items
    ('0', '1')
    >>> table_from({"ann": {"case 1": "fever"}, "bob": {"case 1": "pyrexia"}}).items
    ('case 1',)
    """
    options = reading or ReadOptions()
    if isinstance(answers, AnnotationTable):
        default = ReadOptions()
        changed = [name for name, value in vars(options).items() if value != getattr(default, name)]
        if changed:
            raise InputError(f"This table was read already: give {', '.join(changed)} to softirr.read.")
        return answers
    if isinstance(answers, Mapping):
        return _of_mapping(answers, options)
    if is_frame(answers):
        return read(answers, options)
    if hasattr(answers, "column_names"):  # a Dataset of Hugging Face
        return read(_Columns({name: list(answers[name]) for name in answers.column_names}), options)
    if hasattr(answers, "ndim") and hasattr(answers, "tolist"):
        return _of_array(answers, options)
    if isinstance(answers, Sequence) and not isinstance(answers, str | bytes):
        return _of_rows(answers, options)
    raise InputError(f"Answers can be {_FORMS}, but not a {type(answers).__name__}. softirr.read reads a file.")


def read_sheets(sheets: Iterable[Judgments | str | os.PathLike[str]]) -> list[Judgments]:
    """Judged sheets, with those read that are files."""
    return [sheet if isinstance(sheet, Judgments) else read_sheet(sheet) for sheet in sheets]


def is_table(value: Any) -> bool:
    """Whether a value is one table of answers, and not a list or dictionary of tables.

    Examples
    --------
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "pyrexia")]
    >>> is_table(rows), is_table([rows, rows]), is_table({"ann": ["fever"]}), is_table({"May": rows, "June": rows})
    (True, False, True, False)
    """
    if isinstance(value, AnnotationTable) or is_frame(value) or hasattr(value, "column_names"):
        return True
    if hasattr(value, "ndim"):
        return bool(value.ndim > 1)
    if isinstance(value, Mapping):
        return bool(value) and not any(_is_part(entry) for entry in value.values())
    return _are_rows(value)


def _is_part(entry: Any) -> bool:
    """Whether a value of a dictionary is a table, and not the answers of a rater."""
    if isinstance(entry, Mapping):
        return any(not isinstance(cells, str) and cells is not None for cells in entry.values())
    return is_table(entry)


def _are_rows(value: Any) -> bool:
    """Whether a value is a list of answers: (item, rater, text), dictionaries of columns, or Answer."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes) or not value:
        return False
    return all(
        isinstance(entry, Answer)
        or (isinstance(entry, Mapping) and any(isinstance(cell, str | int | float) for cell in entry.values()))
        or (isinstance(entry, tuple | list) and len(entry) == 3 and isinstance(entry[0], str | int | float))
        for entry in value
    )


class _Columns(dict[str, list[Any]]):
    """Columns by name, as a data frame has them."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self)


def _of_mapping(answers: Mapping[Any, Any], options: ReadOptions) -> AnnotationTable:
    names = {str(name).casefold() for name in answers}
    if options.names_columns or names >= _COLUMNS:
        return read(_Columns({str(name): list(values) for name, values in answers.items()}), options)
    if not all(isinstance(values, Mapping) for values in answers.values()):
        return lists_table({str(rater): values for rater, values in answers.items()}, options)
    rows = [(item, rater, text) for rater, by_item in answers.items() for item, text in by_item.items()]
    if not rows:
        raise InputError("There are no answers: the dictionary is empty.")
    table = _of_rows(rows, options)
    warnings = table.warnings
    if len(answers) > len(table.items):
        warnings += (
            f"The dictionary is read as {plural(len(answers), 'rater')}, each with answers by item, and has only "
            f"{plural(len(table.items), 'item')}. If its keys are items, give {{rater: {{item: text}}}}.",
        )
    return replace(table, warnings=warnings)


def _of_array(answers: Any, options: ReadOptions) -> AnnotationTable:
    if answers.ndim != 2:
        raise InputError(
            f"The array has {answers.ndim} dimensions, but must have a row for each item and a column for each rater."
        )
    n_raters = answers.shape[1]
    raters = list(map(str, options.raters)) if options.raters else [f"rater {n + 1}" for n in range(n_raters)]
    if len(raters) != n_raters:
        raise InputError(f"The array has {n_raters} columns, but raters names {len(raters)}.")
    if n_raters == 3 and not options.raters:
        raise InputError(
            "An array with three columns may have three raters, or items, raters and texts: name the raters with "
            "raters=, or give rows (item, rater, text) as a list of tuples."
        )
    lists = {rater: answers[:, n].tolist() for n, rater in enumerate(raters)}
    return lists_table(lists, replace(options, raters=()))


def _of_rows(answers: Sequence[Any], options: ReadOptions) -> AnnotationTable:
    if not answers:
        raise InputError("There are no answers: the list is empty.")
    if all(isinstance(row, Mapping) for row in answers):
        names = list(dict.fromkeys(name for row in answers for name in row))
        return read(_Columns({str(name): [row.get(name) for row in answers] for name in names}), options)
    return entries_table(_entries(answers), options)


def _entries(rows: Iterable[Any]) -> Iterator[tuple[str, str, str, Any]]:
    """Location, item, rater and texts of rows (item, rater, text)."""
    for number, row in enumerate(rows):
        if isinstance(row, Answer):
            item, rater, texts = row.item, row.rater, row.texts
        elif isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 3:
            item, rater, texts = row
        else:
            raise InputError(f"Row {number} of the list is not (item, rater, text). Answers can be {_FORMS}.")
        for role, name in (("item", item), ("rater", rater)):
            if is_missing(name) or is_blank(str(name)):
                raise InputError(f"Row {number}: {role} is missing.")
        item_name, rater_name = (value_text(name) or str(name) for name in (item, rater))
        yield f"The text of row {number}", item_name, rater_name, texts
