"""Notes about a table of answers: names of raters, blank cells, repeated rows, and answers that are the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from softirr.answers.layout import shown
from softirr.answers.preparation import Work
from softirr.answers.raw import RawInput
from softirr.errors import option
from softirr.plural import plural

_MOST = 5
"""Maximum number of names in a note."""
_FEW = 3
"""Items on which all raters may well agree."""


def rater_notes(work: Work, source: RawInput | None) -> Iterator[str]:
    """Yield which names of the settings no rater has, and which raters get one name."""
    settings = work.settings
    if not settings.rater_names and not settings.ignored_raters:
        return
    fields = [work.raw] if source is None else source.fields.values()
    names = {answer.rater: work.name_of(answer.rater) for raw in fields for answer in raw.answers}
    all_names = {name for rater, (name, input_name) in names.items() for name in (rater, name, input_name)}
    for setting, raters in (("ignore-raters", settings.ignored_raters), ("rater-names", settings.rater_names)):
        if unknown := sorted(set(raters) - all_names):
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
    raw, settings = work.raw, work.settings
    of = f" of {raw.name}" if work.is_one_of_several else ""
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
    if work.n_blank and raw.from_cells and settings.empty is None:
        yield from _blank_notes(work, of)
    if work.n_repeated and raw.notes_repeats and settings.repeats is None:
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
    first: dict[str, tuple[str, ...] | None] = {}
    repeated = set[str]()
    for (item, _), answer in work.answers.items():
        if item not in first:
            first[item] = answer.texts
        elif first[item] == answer.texts:
            repeated.add(item)
        else:
            return 0
    return len(repeated)


def _n_same_rows(work: Work) -> int:
    """Return the number of items if all have the same different answers by the same raters, else 0."""
    by_item: dict[str, dict[str, tuple[str, ...] | None]] = {}
    for (item, rater), answer in work.answers.items():
        by_item.setdefault(item, {})[rater] = answer.texts
    rows = iter(by_item.values())
    first = next(rows, {})
    if len(by_item) <= _FEW or len(by_item) < len(work.items) or len(set(first.values())) < 2:
        return 0
    return len(by_item) if all(answer == first for answer in rows) else 0
