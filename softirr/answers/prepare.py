"""From raw answers to a table: repeats, missing marks, regions, kinds and limits. Files and projects share this path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from softirr.answers.kinds import AUTO, NO_VALUE, TEXT, Kind, find_kind
from softirr.answers.layout import shown
from softirr.answers.limits import within_limits
from softirr.answers.missing import MarkCounts, MissingMarks
from softirr.answers.names import name_warnings
from softirr.answers.origin import Reading
from softirr.answers.raw import RawAnswer, RawField, RawInput
from softirr.answers.regions import match_regions
from softirr.answers.table import NEWER_DUPLICATE, OLDER_DUPLICATE, AnnotationTable, Answer, Excluded
from softirr.errors import InputError, option
from softirr.plural import plural
from softirr.text import is_blank, normalize

__all__ = ["IGNORED", "Preparation", "prepare", "prepare_input", "prepare_table"]

IGNORED = "rater left out by the options"
_SINGLE = ("ordinal", "interval", "date", "ranking")
"""Kinds of controls that usually have a single value."""

_FEW = 3
"""Items on which all raters may well agree."""
_SHOWN = 10

Key = tuple[str, str]


@dataclass(frozen=True)
class Preparation:
    """Settings that turn raw answers into a table.

    Attributes
    ----------
    missing : MissingMarks
        Texts that mark a missing answer.
    casefold, ignore_harakat : bool
        Options of the normal form of texts.
    empty : {"missing", "none"}, optional
        What a blank answer is; by default what is usual for the input.
    repeats : {"set", "first", "last", "refuse"}, optional
        What several answers of a rater to an item are; by default what is usual for the input.
    kind : str, optional
        Kind of the field; by default the kind that the input shows.
    regions : {"pooled", "matched"}
        Whether all texts of an annotation are one answer, or each matched region is an item.
    rater_names : mapping of str to str
        Other names of raters.
    ignored_raters : frozenset of str
        Raters to leave out, by either name.
    """

    missing: MissingMarks = field(default_factory=lambda: MissingMarks.of(AUTO))
    casefold: bool = False
    ignore_harakat: bool = False
    empty: str | None = None
    repeats: str | None = None
    kind: str | None = None
    regions: str = "pooled"
    rater_names: Mapping[str, str] = field(default_factory=dict)
    ignored_raters: frozenset[str] = frozenset()


@dataclass
class _Work:
    """Answers on their way from raw to prepared."""

    raw: RawField
    settings: Preparation
    place: Callable[[int], str]
    names: Mapping[str, str]
    kind: Kind
    answers: dict[Key, RawAnswer] = field(default_factory=dict)
    items: dict[str, None] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_blank: int = 0
    n_repeated: int = 0
    is_one_of_several: bool = False

    @property
    def empty(self) -> str:
        """What a blank answer is."""
        return self.settings.empty or self.raw.blank


def prepare_input(
    raw: RawInput, settings: Preparation, kinds: Mapping[str, str | None], sha256: str | None
) -> dict[str, AnnotationTable]:
    """Return the table of each field of an input."""
    return {
        name: prepare(one, replace(settings, kind=kinds.get(name)), raw, sha256=sha256)
        for name, one in raw.fields.items()
    }


def prepare(
    raw: RawField, settings: Preparation, source: RawInput | None = None, *, sha256: str | None = None
) -> AnnotationTable:
    """Return the table of a field.

    Parameters
    ----------
    raw : RawField
    settings : Preparation
    source : RawInput, optional
        Input of the field, for messages and the description of how it was read.
    sha256 : str, optional
        Hash of the input.

    Raises
    ------
    InputError
        If a rater answers an item twice although repeats are refused, or no answer has a value of the kind.

    Examples
    --------
    >>> raw = RawField("finding")
    >>> for item, rater, text in [("1", "ann", "fever"), ("1", "bob", "NA"), ("2", "ann", "rash")]:
    ...     raw.add(item, rater, (text,))
    >>> table = prepare(raw, Preparation())
    >>> table.texts, [(one.rater, one.reason) for one in table.excluded]
    (('fever', 'rash'), [('bob', 'missing, written as N/A')])
    """
    chosen = raw.kind if settings.kind in (None, AUTO) else str(settings.kind)
    place, names = (source.place, source.rater_names) if source else (str, {})
    work = _Work(raw, settings, place, names, find_kind(chosen), items=dict(raw.items))
    work.is_one_of_several = source is not None and len(source.fields) > 1
    _merge_repeats(work)
    work.notes += _table_notes(work)
    _match_regions(work)
    marks = _leave_out_marks(work)
    _leave_out_long(work)
    _read_values(work)
    table = AnnotationTable.from_answers(
        (Answer(item, rater, one.texts or ()) for (item, rater), one in work.answers.items()),
        items=work.items,
        raters=dict.fromkeys(_name(work, one.rater)[0] for one in raw.answers),
        excluded=work.excluded,
        casefold=settings.casefold,
        ignore_harakat=settings.ignore_harakat,
        input_sha256=sha256,
        fields=source.item_values if source else {},
        reading=source
        and Reading(source.format, raw.columns, source.n_rows, work.n_blank, work.n_repeated, work.empty),
    )
    counts = MarkCounts.of(table, marks)
    warnings = (*raw.notes, *counts.sentences(), *name_warnings(table), *work.notes)
    return replace(table, kind=chosen, marks=marks.option, warnings=warnings)


def prepare_table(table: AnnotationTable, settings: Preparation, *, is_separate: bool = False) -> AnnotationTable:
    """Return a table of answers without missing marks, with values of its kind and within the limits.

    Parameters
    ----------
    table : AnnotationTable
    settings : Preparation
    is_separate : bool
        Whether each text is one value, so that lists in a text are not split.
    """
    raw = RawField(kind=table.kind, items=dict.fromkeys(table.items), repeats="refuse")
    raw.is_separate = is_separate or table.kind != TEXT
    rows = zip(table.item.tolist(), table.rater.tolist(), table.written, strict=True)
    raw.answers = [RawAnswer(table.items[i], table.raters[r], texts) for i, r, texts in rows]
    prepared = prepare(raw, replace(settings, casefold=table.casefold, ignore_harakat=table.ignore_harakat))
    excluded = (*table.excluded, *prepared.excluded)
    warnings = (*table.warnings, *prepared.warnings)
    kept = {name: getattr(table, name) for name in ("reading", "input_sha256", "fields", "weights")}
    return replace(prepared, excluded=excluded, warnings=warnings, **kept)


def _name(work: _Work, rater: str) -> tuple[str, str]:
    """Return the name of a rater under the settings, and the name that the input has for them."""
    known = work.names.get(rater, rater)
    names = work.settings.rater_names
    return names.get(rater, names.get(known, known)), known


def _merge_repeats(work: _Work) -> None:
    """Give each rater one answer to an item, under the names of the settings."""
    settings = work.settings
    repeats = work.raw.repeats if work.raw.is_merged else settings.repeats or work.raw.repeats
    for one in work.raw.answers:
        name, known = _name(work, one.rater)
        if settings.ignored_raters and not settings.ignored_raters.isdisjoint((name, known, one.rater)):
            work.excluded.append(Excluded(one.item, name, IGNORED))
            continue
        if one.reason:
            work.excluded.append(Excluded(one.item, name, one.reason))
            continue
        if not one.texts and not one.regions:
            work.n_blank += one.texts is None
            if one.texts is None and work.empty == "missing":
                continue
            one = one._replace(texts=())
        key = one.item, name
        before = work.answers.get(key)
        if before is None:
            work.answers[key] = one
            continue
        work.n_repeated += 1
        if repeats == "refuse":
            raise InputError(
                f"{work.place(one.line)}: rater {name!r} has two answers for item {one.item!r}: say with {option('repeats')} "
                "whether they are a set, or the first or last one counts."
            )
        if repeats == "set":
            texts = (*(before.texts or ()), *(one.texts or ()))
            work.answers[key] = before._replace(texts=texts, regions=before.regions + one.regions)
            continue
        work.excluded.append(Excluded(one.item, name, OLDER_DUPLICATE if repeats == "last" else NEWER_DUPLICATE))
        if repeats == "last":
            work.answers[key] = one


def _table_notes(work: _Work) -> Iterator[str]:
    """Yield what to know about blank cells, repeated rows and answers that are the same everywhere."""
    raw, settings = work.raw, work.settings
    of = f" of {raw.name}" if work.is_one_of_several else ""
    if raw.may_be_source and (n := _n_identical(work)) > _FEW:
        yield (
            f"All raters of each of {n:,} items have the same {raw.may_be_source}. If this is the text that they were "
            "shown, name the column of their answers with --text."
        )
    if n := _n_same_rows(work):
        yield (
            f"All {n:,} items have the same answers by the same raters. If this is a join gone wrong, correct the table."
        )
    if work.n_blank and raw.from_cells and settings.empty is None:
        yield from _blank_notes(work, of)
    if raw.no_values:
        more = f" and {len(raw.no_values) - _SHOWN:,} more" if len(raw.no_values) > _SHOWN else ""
        cells = plural(
            len(raw.no_values), f"cell{of} contains no value and counts", f"cells{of} contain no value and count"
        )
        yield (
            f"{cells} as missing: {', '.join(raw.no_values[:_SHOWN])}{more}. If they have values in Excel, open the "
            "workbook there, save it, and read it again."
        )
    if work.n_repeated and raw.notes_repeats and settings.repeats is None:
        rows = plural(work.n_repeated, f"row{of} repeats", f"rows{of} repeat")
        yield (
            f"{rows} a rater and an item. The rows of a rater and an item count as a set of texts. If later rows are "
            "later versions, say --repeats last."
        )


def _blank_notes(work: _Work, of: str) -> Iterator[str]:
    n = work.n_blank
    if work.raw.blank == "missing":
        count, they = ("counts", "it means") if n == 1 else ("count", "they mean")
        yield (
            f"{plural(n, 'empty cell')}{of} {count} as not asked. If {they} that the rater found nothing, say --empty "
            "none."
        )
    elif len(work.answers) == len(work.items) * len({rater for _, rater in work.answers}):
        yield (
            f"{plural(n, 'text is empty and counts as an answer', 'texts are empty and count as answers')} that found "
            "nothing, and every rater has a row for every item, as in a wide table that was made long. If an empty "
            "text means that the rater was not asked, say --empty missing."
        )


def _n_identical(work: _Work) -> int:
    """Return the number of items with several answers if the answers to each item are the same, else 0."""
    first: dict[str, tuple[str, ...] | None] = {}
    several = set[str]()
    for (item, _), one in work.answers.items():
        if item not in first:
            first[item] = one.texts
        elif first[item] == one.texts:
            several.add(item)
        else:
            return 0
    return len(several)


def _n_same_rows(work: _Work) -> int:
    """Return the number of items if all have the same different answers by the same raters, else 0."""
    by_item: dict[str, dict[str, tuple[str, ...] | None]] = {}
    for (item, rater), one in work.answers.items():
        by_item.setdefault(item, {})[rater] = one.texts
    rows = iter(by_item.values())
    first = next(rows, {})
    if len(by_item) <= _FEW or len(by_item) < len(work.items) or len(set(first.values())) < 2:
        return 0
    return len(by_item) if all(one == first for one in rows) else 0


def _match_regions(work: _Work) -> None:
    """Make an item of each group of matched regions, if the settings say so."""
    with_regions = sum(bool(one.regions) for one in work.answers.values())
    if not with_regions:
        return
    if work.settings.regions == "pooled":
        work.notes.append(
            f"{plural(with_regions, 'answer has', 'answers have')} texts of regions: all texts of an annotation are "
            "one answer, wherever its regions are. --regions matched compares region by region."
        )
        return
    by_item: dict[str, list[tuple[str, RawAnswer]]] = {}
    for (item, rater), one in work.answers.items():
        by_item.setdefault(item, []).append((rater, one))
    answers: dict[Key, RawAnswer] = {}
    items: dict[str, None] = {}
    for item in work.items:
        for name, rater, one in _region_items(item, by_item.get(item, [])):
            items.setdefault(name)
            if one is not None:
                answers[name, rater] = one
    work.answers, work.items = answers, items


def _region_items(item: str, given: Sequence[tuple[str, RawAnswer]]) -> Iterator[tuple[str, str, RawAnswer | None]]:
    """Yield item, rater and answer for each matched region; the item itself if it has no regions."""
    regions = [(rater, *region) for rater, one in given for region in one.regions]
    whole = [(rater, one) for rater, one in given if not one.regions]
    if not regions:
        yield item, "", None
        yield from ((item, rater, one) for rater, one in whole)
        return
    for number, group in enumerate(match_regions([(rater, region) for rater, region, _ in regions])):
        texts = {regions[k][0]: regions[k][2] for k in group}
        for rater, one in given:
            yield f"{item}#{number}", rater, one._replace(texts=texts.get(rater, ()), regions=())


def _leave_out_marks(work: _Work) -> MissingMarks:
    """Leave out texts that mark a missing answer, and answers that consist of them."""
    marks = work.settings.missing.beside(text for one in work.answers.values() for text in one.texts or ())
    for key, one in list(work.answers.items()):
        texts, excluded = marks.left_out(*key, one.texts or ())
        if excluded:
            work.excluded += excluded
            _put(work, key, one, texts)
    return marks


def _leave_out_long(work: _Work) -> None:
    """Leave out answers that are too long to be compared."""
    by_item: dict[str, dict[str, Sequence[str]]] = {}
    for (item, rater), one in work.answers.items():
        by_item.setdefault(item, {})[rater] = one.texts or ()
    for item, answers in by_item.items():
        for rater, reason in within_limits(answers)[1]:
            work.excluded.append(Excluded(item, rater, reason))
            del work.answers[item, rater]


def _put(work: _Work, key: Key, one: RawAnswer, texts: tuple[str, ...] | None) -> None:
    """Replace the texts of an answer, or leave it out if they are None."""
    if texts is None:
        del work.answers[key]
    else:
        work.answers[key] = one._replace(texts=texts)


def _read_values(work: _Work) -> None:
    """Leave out answers without a value of the kind of the field; separate the values in a cell."""
    kind = work.kind
    if kind.is_text:
        return
    n_empty = 0
    for key, one in list(work.answers.items()):
        texts = one.texts or ()
        if kind.is_list and not work.raw.is_separate:
            texts = tuple(part.strip() for text in texts for part in text.split(";"))
        texts = tuple(text for text in texts if not is_blank(text))
        if not texts and not kind.keeps_empty and work.settings.empty != "none":
            n_empty += 1
            _put(work, key, one, None)
        elif texts != one.texts:
            _put(work, key, one, texts)
    if n_empty:
        work.notes.append(
            f"Answers without a value: {n_empty:,}. They count as missing; --empty none counts them as answers "
            "that differ from every value."
        )
    _check_values(work)
    several = sum(len(one.texts or ()) > 1 for one in work.answers.values())
    if several and work.raw.is_separate and kind.name in _SINGLE:
        work.notes.append(
            f"{plural(several, 'annotation has', 'annotations have')} several values of {shown(work.raw.name)}, as of "
            "several regions: they count as a set."
        )


def _check_values(work: _Work) -> None:
    kind = work.kind
    values = {text: normalize(text) for one in work.answers.values() for text in one.texts or ()}
    wrong = {text for text, form in values.items() if not kind.is_value(form)}
    bad = {key: one for key, one in work.answers.items() if not wrong.isdisjoint(one.texts or ())}
    if not bad:
        return
    (item, rater), one = min(bad.items(), key=lambda entry: entry[0])
    example = f"item {shown(item)}, rater {shown(rater)}: {shown(_first(one.texts or (), wrong))!r}"
    if len(bad) == sum(bool(one.texts) for one in work.answers.values()):
        raise InputError(f"No answer has a value of the kind {shown(kind.name)} ({kind.values}), as {example}.")
    for key in bad:
        work.excluded.append(Excluded(*key, NO_VALUE))
        del work.answers[key]
    work.notes.append(
        f"Answers that are no value of the kind {shown(kind.name)} ({kind.values}): {len(bad):,}. They are left out, "
        f"as {example}."
    )


def _first(texts: Iterable[str], wrong: set[str]) -> str:
    return next(normalize(text) for text in texts if text in wrong)
