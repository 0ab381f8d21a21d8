"""From raw answers to a table: repeats, regions, splitting, missing marks, kinds and limits, for files and projects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from softirr.answers.answer import (
    NEWER_DUPLICATE,
    OLDER_DUPLICATE,
    REGION,
    TAKEN_BACK,
    TURN,
    RawAnswer,
    RawField,
    RawInput,
    part_of,
)
from softirr.answers.kinds import AUTO, TEXT, find_kind
from softirr.answers.missing import KEEP, MarkCounts, MissingMarks
from softirr.answers.preparation import Key, Work, beyond_limits, has_too_much, read_values, separate_values
from softirr.answers.read_options import ReadOptions
from softirr.answers.region_overlap import TOO_MANY_REGIONS, TooManyRegions, matched_answers
from softirr.answers.splitting import LONGEST, Split, split_text
from softirr.answers.table import AnnotationTable, Answer, Excluded, Reading
from softirr.answers.table_notes import damaged_texts, name_warnings, rater_notes, table_notes, value_warnings
from softirr.errors import InputError, option
from softirr.numbers import plural

IGNORED = "rater left out by the options"


def prepare(
    raw: RawField,
    options: ReadOptions,
    source: RawInput | None = None,
    *,
    marks: MissingMarks | None = None,
    sha256: str | None = None,
) -> AnnotationTable:
    """Return the table of a field.

    Parameters
    ----------
    source : RawInput, optional
        Input of the field, for messages and the description of how it was read.
    marks : MissingMarks, optional
        Marks for a missing answer; by default the marks of the options.
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
    >>> table = prepare(raw, ReadOptions())
    >>> table.texts, [(one.rater, one.reason) for one in table.excluded]
    (('fever', 'rash'), [('bob', 'missing, written as NA')])
    """
    work = prepare_answers(raw, options, marks, source)
    table = table_of(work, dict.fromkeys(work.name_of(answer.rater)[0] for answer in raw.answers))
    if source is not None:
        columns = raw.columns or (("text", raw.name),)
        reading = Reading(source.format, columns, source.n_rows, work.n_blank, work.n_repeated, work.empty)
        table = replace(table, reading=reading, input_sha256=sha256)
    counts = MarkCounts.of(table, work.marks)
    warnings = (
        *work.source.notes,
        *raw.notes,
        *counts.sentences(),
        *name_warnings(table),
        *damaged_texts(table.texts),
        *work.notes,
    )
    if work.kind.confusions and work.kind.number is None:
        warnings += (*value_warnings(table.texts),)
    return replace(table, warnings=(*warnings, *table.warnings))


def prepare_answers(
    raw: RawField, options: ReadOptions, marks: MissingMarks | None = None, source: RawInput | None = None
) -> Work:
    """Return the answers to a field that count, and those that do not with the reason; parameters as for `prepare`."""
    kind = options.kind_of(raw.name)
    work = Work(
        raw,
        options,
        find_kind(raw.kind if kind in (None, AUTO) else kind),
        marks or MissingMarks.of(options.missing),
        source or RawInput("", {"": raw}),
        items=dict(raw.items),
    )
    _merge_repeats(work)
    _name_turns(work)
    work.notes += (*rater_notes(work), *table_notes(work))
    _match_regions(work)
    _split_texts(work)
    separate_values(work)
    _leave_out_marks(work)
    _leave_out_long(work)
    read_values(work)
    return work


def table_of(work: Work, raters: Iterable[str]) -> AnnotationTable:
    """Return prepared answers as a table, with raters in this order, and with a sentence about their splitting."""
    table = AnnotationTable.from_answers(
        (Answer(*key, texts, work.texts_before_split.get(key)) for key, texts in work.answers.items()),
        items=work.items,
        raters=raters,
        excluded=work.excluded,
        casefold=work.options.casefold,
        ignore_harakat=work.options.ignore_harakat,
    )
    table = replace(table, kind=work.kind.name, marks=work.marks.option)
    if work.options.split is None or not work.kind.is_text:
        return table
    split = Split(work.options.split, work.n_split)
    n_long = sum(any(len(text) > LONGEST for text in texts) for texts in table.written)
    sentences = () if split.mode == "none" else (split.sentence(len(table.written), n_long),)
    return replace(table, split=split, warnings=sentences)


def split_table(table: AnnotationTable, mode: str | None) -> AnnotationTable:
    """Return a table with split texts; the same table without a mode, or if its texts are split already.

    Examples
    --------
    >>> rows = [("1", "ann", "fever; cough"), ("1", "bob", ("cough", "fever"))]
    >>> table = split_table(AnnotationTable.from_answers(Answer(*row) for row in rows), "semicolons")
    >>> table.texts_of(table.answer[0]) == table.texts_of(table.answer[1])
    True
    """
    if mode is None or table.split is not None or not find_kind(table.kind).is_text:
        return table
    options = ReadOptions(missing=KEEP if table.marks is None else table.marks, split=mode)
    return replace(prepare_table(table, options), marks=table.marks)


def prepare_table(table: AnnotationTable, options: ReadOptions) -> AnnotationTable:
    """Return a table of answers without missing marks, with values of its kind and within the limits."""
    items = dict.fromkeys(table.items)
    raw = RawField(kind=table.kind, items=items, repeats="refuse", is_separate=table.kind != TEXT)
    rows = zip(table.item.tolist(), table.rater.tolist(), table.written, strict=True)
    raw.answers = [RawAnswer(table.items[i], table.raters[r], texts) for i, r, texts in rows]
    prepared = prepare(raw, replace(options, casefold=table.casefold, ignore_harakat=table.ignore_harakat))
    excluded = (*table.excluded, *prepared.excluded)
    warnings = tuple(dict.fromkeys((*table.warnings, *prepared.warnings)))
    unchanged = {name: getattr(table, name) for name in ("reading", "input_sha256", "weights")}
    return replace(prepared, excluded=excluded, warnings=warnings, **unchanged)


def _merge_repeats(work: Work) -> None:
    """Give each rater one answer to an item, under the names of the options."""
    options, ignored = work.options, set(work.options.ignore_raters)
    repeats = work.raw.repeats if work.raw.is_merged else options.repeats or work.raw.repeats
    more: dict[Key, list[RawAnswer]] = {}
    for answer in work.raw.answers:
        name, input_name = work.name_of(answer.rater)
        item = answer.item if answer.turn is None else part_of(answer.item, TURN, answer.turn)
        key, texts = (item, name), answer.texts or ()
        is_ignored = ignored and not ignored.isdisjoint((name, input_name, answer.rater))
        if answer.reason and not work.raw.is_merged and work.answers.pop(key, None) is not None:
            more.pop(key, None)
            work.excluded.append(Excluded(*key, OLDER_DUPLICATE))
        if is_ignored or answer.reason:
            if answer.reason != TAKEN_BACK:
                work.excluded.append(Excluded(*key, IGNORED if is_ignored else answer.reason))
            continue
        if answer.texts is None and not answer.regions:
            work.n_blank += 1
            if work.empty == "missing":
                continue
        if answer.turn is not None:
            work.turns.setdefault(answer.item, set()).add(answer.turn)
        if key not in work.answers:
            work.answers[key], work.regions[key] = texts, answer.regions
            continue
        work.n_repeated += 1
        if repeats == "refuse":
            raise InputError(
                f"{work.source.location(answer.line)}: rater {name!r} has two answers for item {item!r}: say "
                f"with {option('repeats')} whether they are a set, or the first or last one counts."
            )
        if repeats == "set":
            more.setdefault(key, []).append(answer)
            continue
        work.excluded.append(Excluded(*key, OLDER_DUPLICATE if repeats == "last" else NEWER_DUPLICATE))
        if repeats == "last":
            work.answers[key], work.regions[key] = texts, answer.regions
    for key, answers in more.items():
        work.answers[key] += tuple(text for answer in answers for text in answer.texts or ())
        work.regions[key] += tuple(region for answer in answers for region in answer.regions)


def _name_turns(work: Work) -> None:
    """Make an item of each turn of a dialogue; whoever answered none has no answer, rather than an empty one."""
    if work.turns:
        work.answers = {key: texts for key, texts in work.answers.items() if key[0] not in work.turns}
        turns = {item: [part_of(item, TURN, turn) for turn in sorted(work.turns.get(item, ()))] for item in work.items}
        work.items = dict.fromkeys(name for item, names in turns.items() for name in names or [item])


def _match_regions(work: Work) -> None:
    """Make an item of each group of matched regions, if regions are matched."""
    with_regions = sum(map(bool, work.regions.values()))
    if not with_regions:
        if work.options.regions == "matched" and work.answers:
            work.notes.append(f"The answers are about whole items, so {option('regions', 'matched')} changes nothing.")
        return
    if work.options.regions == "pooled":
        work.notes.append(
            f"{plural(with_regions, 'answer has', 'answers have')} texts of regions: all texts of an annotation are "
            f"one answer, wherever its regions are. {option('regions', 'matched')} compares region by region."
        )
        return
    if n := sum(region.kind == "other" for regions in work.regions.values() for region, _ in regions):
        work.notes.append(
            f"{plural(n, 'region has', 'regions have')} a form whose overlap softirr does not compute: "
            f"{'it matches' if n == 1 else 'they match'} equal regions only."
        )
    _note_texts_on_no_region(work)
    by_item = work.by_item()
    answers: dict[str, dict[str, tuple[str, ...]]] = {}
    for item in work.items:
        by_rater = by_item.get(item, {})
        try:
            groups = matched_answers({rater: work.regions[item, rater] for rater in by_rater})
        except TooManyRegions:
            work.excluded += [Excluded(item, rater, TOO_MANY_REGIONS) for rater in by_rater]
            groups, by_rater = [], {}
        answers |= {part_of(item, REGION, n): group for n, group in enumerate(groups)} or {item: by_rater}
    work.items = dict.fromkeys(answers)
    work.answers = {(item, rater): texts for item, by_rater in answers.items() for rater, texts in by_rater.items()}


def _note_texts_on_no_region(work: Work) -> None:
    """Note the number of texts about a whole item, if its regions are compared instead."""
    items = {item for (item, _), regions in work.regions.items() if regions}
    n = sum(
        len(texts) - sum(len(of_region) for _, of_region in work.regions[item, rater])
        for (item, rater), texts in work.answers.items()
        if item in items
    )
    if n:
        work.notes.append(
            f"{plural(n, 'text is', 'texts are')} on no region, in items with regions: "
            f"{'it is' if n == 1 else 'they are'} not compared."
        )


def _split_texts(work: Work) -> None:
    """Split the texts of answers by the mode of the options, unless they would have too many texts to compare."""
    mode, marks = work.options.split, work.marks
    if mode in (None, "none") or not work.kind.is_text:
        return
    distinct_texts = {text for texts in work.answers.values() for text in texts}
    split_texts = {text: (text,) if marks.has(text) else split_text(text, str(mode)) for text in distinct_texts}
    for item, by_rater in work.by_item().items():
        split_answers = {
            rater: tuple(text_part for text in texts for text_part in split_texts[text])
            for rater, texts in by_rater.items()
        }
        if has_too_much(split_answers.values()):
            continue
        for rater, texts in by_rater.items():
            work.n_split += any(len(split_texts[text]) > 1 for text in texts)
            work.texts_before_split[item, rater] = tuple(text for text in texts if not marks.has(text))
            work.answers[item, rater] = split_answers[rater]


def _leave_out_marks(work: Work) -> None:
    """Leave out texts that mark a missing answer, and answers that consist of them."""
    work.marks = work.marks.beside(text for texts in work.answers.values() for text in texts)
    answers, work.answers = work.answers, {}
    for key, texts in answers.items():
        remaining_texts, excluded = work.marks.left_out(*key, texts)
        work.excluded += excluded
        if remaining_texts is not None:
            work.answers[key] = remaining_texts


def _leave_out_long(work: Work) -> None:
    """Leave out answers that are too long to be compared."""
    for item, by_rater in work.by_item().items():
        for rater, reason in beyond_limits(by_rater).items():
            work.excluded.append(Excluded(item, rater, reason))
            del work.answers[item, rater]
