"""Notes on a table: its names, values and texts, blank cells, repeated rows, and answers that are the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from softirr.answers.missing import AUTO, MissingMarks
from softirr.answers.preparation import Work
from softirr.answers.table import AnnotationTable
from softirr.errors import option
from softirr.numbers import plural
from softirr.text import normalize, shortened, shown

_LONGEST = 40
_NUMBER = re.compile(r"[+]?(\d{1,3}(?:[,'’ ]\d{3})+|\d+)(?:\.0*)?")
_SHORTENED = re.compile(r"\d(?:[.,]\d+)?E\+\d+")
"""A long number as a spreadsheet shows it."""
_LETTER = re.compile(r"[^\W\d_]")
_TOKEN = re.compile(r"[^\W\d_]+|\d+|[+=<>]|(?<!\w)-(?=\d)|-$")
_MOST = 5
"""Maximum number of names in a note."""
_FEW = 3
"""Items on which all raters may well agree."""


def name_form(name: str) -> tuple[str, ...]:
    """Return a name without its form: case, leading zeros, separators and meaningless decimals.

    Examples
    --------
    >>> [name_form(name) for name in ("Ann", "ann", "01", "1.0", "1,000")]
    [('ann',), ('ann',), ('1',), ('1',), ('1000',)]
    >>> name_form("Case 01") == name_form("case_1"), name_form("CD4+") == name_form("CD4-")
    (True, False)
    >>> name_form("1-1") == name_form("11")
    False
    """
    folded = normalize(unicodedata.normalize("NFKC", name), casefold=True)
    if number := _NUMBER.fullmatch(folded):
        return (re.sub(r"\D", "", number[1]).lstrip("0") or "0",)
    tokens = tuple(token.lstrip("0") or "0" if token.isdigit() else token for token in _TOKEN.findall(folded))
    return tokens or (folded,)


def name_warnings(table: AnnotationTable) -> Iterator[str]:
    """Yield warnings of names in two forms, and of those that are a mark or a shortened number, each with what to do.

    Two items of one form count as a mistake only if no rater has answered both.

    Examples
    --------
    >>> from softirr.answers.table import Answer
    >>> rows = [("1", "Ann", "fever"), ("01", "bob", "fever"), ("2", "ann", "rash")]
    >>> for warning in name_warnings(AnnotationTable.from_answers(Answer(*row) for row in rows)):
    ...     print(warning.split(":")[0])
    Raters may be counted twice, because their names differ in form only
    Items may be counted twice, because their ids differ in form only
    """
    if groups := _alike(table.raters):
        yield (
            f"Raters may be counted twice, because their names differ in form only: {_listed(groups)}. Write each name "
            "one way in the file."
        )
    if groups := _alike(table.items):
        raters: dict[str, list[int]] = {item: [] for item in table.items}
        for item, rater in zip(table.item.tolist(), table.rater.tolist(), strict=True):
            raters[table.items[item]].append(rater)
        raters_of_groups = ((group, [rater for item in group for rater in raters[item]]) for group in groups)
        if apart := [group for group, answering in raters_of_groups if len(set(answering)) == len(answering)]:
            yield (
                f"Items may be counted twice, because their ids differ in form only: {_listed(apart)}. Their answers "
                "are not compared: write each id one way in the file."
            )
    marks = MissingMarks.of(AUTO)
    for role, names in (("rater", table.raters), ("item", table.items)):
        if groups := [[name] for name in names if marks.has(name) or _SHORTENED.fullmatch(name)]:
            yield (
                f"{plural(len(groups), role)} written like a missing value or like a number that a spreadsheet has "
                f"shortened: {_listed(groups)}. If several {role}s became one, write their own names."
            )


def value_warnings(texts: Sequence[str]) -> Iterator[str]:
    """A warning of categories in two forms.

    Examples
    --------
    >>> list(value_warnings(["Yes", "no", "yes"]))
    ["Values that differ in form only count as different: 'Yes' and 'yes'. Write each value one way."]
    """
    if groups := _alike(texts):
        yield (f"Values that differ in form only count as different: {_listed(groups)}. Write each value one way.")


def damaged_texts(texts: Sequence[str]) -> Iterator[str]:
    """A warning of texts that lost characters when they were saved in an encoding without them.

    Examples
    --------
    >>> [warning.split(",")[0] for warning in damaged_texts(["????", "38.5 ???", "really???", "fever"])]
    ['2 different texts seem to have lost characters']
    """
    if damaged := [text for text in texts if "\ufffd" in text or (text.count("?") > 2 and not _LETTER.search(text))]:
        count = plural(len(damaged), "text seems", "different texts seem")
        yield (
            f"{count} to have lost characters, as {_short(damaged[0])}, so that different answers may count as the "
            "same. Save the original table as UTF-8."
        )


def _alike(names: Sequence[str]) -> list[list[str]]:
    """The names of one form, for each form that several have."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        groups.setdefault(name_form(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _listed(groups: Sequence[Sequence[str]]) -> str:
    examples = [" and ".join(map(_short, group[:_MOST])) for group in groups[:_MOST]]
    return "; ".join(examples) + (f"; and {len(groups) - _MOST:,} more" if len(groups) > _MOST else "")


def _short(name: str) -> str:
    return repr(shortened(name, _LONGEST))


def rater_notes(work: Work) -> Iterator[str]:
    """Yield which names of the options no rater has, and which raters get one name."""
    options = work.options
    if not options.rater_names and not options.ignore_raters:
        return
    names = {answer.rater: work.name_of(answer.rater) for raw in work.source.fields.values() for answer in raw.answers}
    all_names = {name for rater, (name, input_name) in names.items() for name in (rater, name, input_name)}
    for setting, raters in (("ignore-raters", options.ignore_raters), ("rater-names", options.rater_names)):
        if unknown := sorted(set(raters or ()) - all_names):
            yield f"No rater is named {_quoted(unknown, ' or ')}, as {option(setting)} says."
    merged: dict[str, set[str]] = {}
    for name, input_name in names.values():
        merged.setdefault(name, set()).add(input_name)
    for name, input_names in merged.items():
        if len(input_names) > 1:
            together = _quoted(sorted(input_names), " and ")
            yield f"The raters {together} have one name, {shown(name)!r}, and count as one rater."


def _quoted(names: Sequence[str], word: str) -> str:
    more = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
    return word.join([*(repr(shown(name)) for name in names[:_MOST]), *more])


def table_notes(work: Work) -> Iterator[str]:
    """Yield what to know about blank cells, repeated rows and answers that are the same everywhere."""
    raw, options = work.raw, work.options
    of = f" of {raw.name}" if len(work.source.fields) > 1 else ""
    if raw.may_be_source and (n := _n_identical(work)) > _FEW:
        yield (
            f"All raters of each of {n:,} items have the same {raw.may_be_source}. If this is the text that they were "
            f"shown, name the column of their answers with {option('text')}."
        )
    if n := _n_same_rows(work):
        yield (
            f"All {n:,} items have the same answers by the same raters. If this is a join gone wrong, correct the "
            "table."
        )
    if work.n_blank and raw.from_cells and options.empty is None:
        yield from _blank_notes(work, of)
    if work.n_repeated and raw.notes_repeats and options.repeats is None:
        rows = plural(work.n_repeated, f"row{of} repeats", f"rows{of} repeat")
        yield (
            f"{rows} a rater and an item. The rows of a rater and an item count as a set of texts. If later rows are "
            f"later versions, say {option('repeats', 'last')}."
        )


def _blank_notes(work: Work, of: str) -> Iterator[str]:
    n = work.n_blank
    if work.raw.blank == "missing":
        count, they = ("counts", "it means") if n == 1 else ("count", "they mean")
        yield (
            f"{plural(n, 'empty cell')}{of} {count} as not asked. If {they} that the rater found nothing, say "
            f"{option('empty', 'none')}."
        )
    elif len(work.answers) == len(work.items) * len({rater for _, rater in work.answers}):
        yield (
            f"{plural(n, 'text is empty and counts as an answer', 'texts are empty and count as answers')} that found "
            "nothing, and every rater has a row for every item, as in a wide table that was made long. If an empty "
            f"text means that the rater was not asked, say {option('empty', 'missing')}."
        )


def _n_identical(work: Work) -> int:
    """Return the number of items with several answers if the answers to each item are the same, else 0."""
    answers_by_item = [list(by_rater.values()) for by_rater in work.by_item().values()]
    if any(len(set(answers)) > 1 for answers in answers_by_item):
        return 0
    return sum(len(answers) > 1 for answers in answers_by_item)


def _n_same_rows(work: Work) -> int:
    """Return the number of items if all have the same different answers by the same raters, else 0."""
    by_item = work.by_item()
    first = next(iter(by_item.values()), {})
    if len(by_item) <= _FEW or len(by_item) < len(work.items) or len(set(first.values())) < 2:
        return 0
    return len(by_item) if all(by_rater == first for by_rater in by_item.values()) else 0
