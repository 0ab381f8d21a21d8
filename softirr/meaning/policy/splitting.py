r"""Splitting: one text that contains a list becomes several texts.

How a text is cut is in :mod:`softirr.meaning.policy.lists`; here is chosen at which marks, from all texts of a project. Where
texts are split at commas, so are "A / B" and "A and B", but only if both sides stand alone in other answers of the
project: "nausea and vomiting syndrome" stays one text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from softirr.answers.limits import items_with_too_much
from softirr.answers.missing import MissingMarks
from softirr.answers.table import AnnotationTable, Excluded, Split
from softirr.errors import InputError
from softirr.meaning.policy.lists import (
    JOINED,
    LIST_WORDS,
    LONGEST,
    SEMICOLON,
    SLASH,
    Splitting,
    bullet_of,
    cut,
    enumeration_as_lines,
    has_head,
    lines_of,
)
from softirr.meaning.policy.rules import SPLITS
from softirr.meaning.policy.rules import Split as SplitMode
from softirr.plural import plural
from softirr.text import normalize, sentences

__all__ = ["Splitting", "choose_splitting", "lists_in_words", "split_in_words", "split_table", "unsplit"]
LONG = 20
"""Median number of words from which ``auto`` takes answers for running text, which is split into sentences."""
_MOST_LOOKED_AT = 2_000
"""Answers that are looked at for lists in a project whose answers are not split."""
_FEWEST_LISTS, _LEAST_LISTS = 2, 0.1
"""Lists, in number and as a share of all answers, from which a note recommends splitting."""
_SLASHED = 3, 0.25
"""Lists with " / ", in number and as a share of all texts, from which the slash is surely the project's separator."""

_MARKS: dict[str, tuple[str, ...]] = {
    "none": (),
    "lines": ("lines",),
    "bullets": ("lines", "bullets"),
    "semicolons": ("lines", "bullets", "semicolons"),
    "commas": ("lines", "bullets", "semicolons", "commas", "and"),
    "sentences": ("lines", "bullets", "sentences"),
}
_JOINERS = {
    "lines": "\n",
    "bullets": "\n- ",
    "semicolons": "; ",
    "slashes": " / ",
    "commas": ", ",
    "and": " and ",
    "sentences": " ",
}
_NAMES = {
    "lines": "line breaks",
    "bullets": "bullets",
    "semicolons": "semicolons",
    "slashes": "slashes",
    "commas": "commas",
    "and": "“and” and slashes between texts that stand alone",
    "sentences": "the ends of sentences",
}

_FINEST = Splitting("commas", ("lines", "bullets", "semicolons", "commas"))


def choose_splitting(texts: Iterable[str], mode: SplitMode = "auto") -> Splitting:
    """How to split the texts of a project.

    Parameters
    ----------
    texts : iterable of str
        All texts of the project as they were written, with line breaks.
    mode : str
        ``lines``, ``bullets``, ``semicolons`` and ``commas`` split at this mark and at those before it; ``sentences``
        at lines and sentences. ``auto`` looks at the texts that have a mark: it is used if most of them are lists:
        short parts, which for commas also have to stand alone in other answers (most of them). " / " needs that too, or
        lists of three, or many such texts. Texts of ``LONG`` words and more (median) are split into sentences.

    Returns
    -------
    Splitting

    Raises
    ------
    InputError
        If the mode is not known.

    Examples
    --------
    >>> splitting = choose_splitting(["fever, cough; headache", "cough", "headache", "fever"])
    >>> splitting.marks, splitting.parts("fever, cough; headache")
    (('lines', 'semicolons', 'commas'), ('fever', 'cough', 'headache'))
    >>> choose_splitting(["pneumonia, bacterial", "pneumonia, viral", "pneumonia"]).marks
    ('lines',)
    """
    if mode not in SPLITS:
        raise InputError(f"The mode of splitting is {mode!r}, but can be {', '.join(SPLITS)}.")
    if mode == "none":
        return Splitting(mode, ())
    distinct = [text for text in dict.fromkeys(texts) if len(text) <= LONGEST]
    alone = _standing_alone(distinct)
    marks = _MARKS[mode] if mode != "auto" else _found_marks(distinct, alone)
    splitting = Splitting(mode, marks, alone)
    return replace(splitting, joiner=_joiner(distinct, splitting))


def split_table(table: AnnotationTable, mode: SplitMode) -> AnnotationTable:
    """The table with its texts split; ``table.written`` keeps them as they were.

    Parameters
    ----------
    table : AnnotationTable
    mode : str
        See :func:`choose_splitting`.

    Returns
    -------
    AnnotationTable
        The same table for ``none``. Else ``split`` says what was done, and a warning says it in words.

    Raises
    ------
    InputError
        If the mode is not known.

    Examples
    --------
    >>> from softirr.answers.table import Answer
    >>> rows = [("1", "ann", "fever, cough; headache"), ("1", "bob", ("cough", "fever", "headache"))]
    >>> table = split_table(AnnotationTable.from_answers(Answer(*row) for row in rows), "auto")
    >>> table.texts_of(table.answer[0]) == table.texts_of(table.answer[1])
    True
    """
    splitting = choose_splitting((text for texts in table.written for text in texts), mode)
    if mode == "none":
        return table
    parts = {text: splitting.parts(text) for texts in table.written for text in texts}
    kept, excluded = _without_marks(table, parts)
    folded = [{normalize(part, casefold=table.casefold) for part in own} for own in kept]
    sizes = np.array([(len(own), sum(map(len, own))) for own in folded], dtype=np.int64).reshape(-1, 2)
    too_much = items_with_too_much(table.item, *sizes.T)  # their texts stay whole
    keys: dict[tuple[str, ...], int] = {}
    rows, answer = [], []
    for row, item in enumerate(table.item.tolist()):
        own = folded[row] if item not in too_much else set(table.texts_of(table.answer[row]))
        if own or not table.answers[table.answer[row]]:
            rows.append(row)
            answer.append(keys.setdefault(tuple(sorted(own)), len(keys)))
    texts = {text: number for number, text in enumerate(sorted({text for key in keys for text in key}))}
    is_whole = [item in too_much for item in table.item.tolist()]
    several = sum(
        not whole and any(len(parts[text]) > 1 for text in given)
        for whole, given in zip(is_whole, table.written, strict=True)
    )
    split = Split(mode, splitting.marks, splitting.joiner, several)
    sentence = split_in_words(split, len(table.written), unsplit(table.written))
    return replace(
        table,
        texts=tuple(texts),
        answers=tuple(tuple(texts[text] for text in key) for key in keys),
        item=table.item[rows],
        rater=table.rater[rows],
        answer=np.array(answer, dtype=np.int64),
        written=tuple(table.written[row] for row in rows),
        excluded=(*table.excluded, *excluded),
        warnings=(*table.warnings, sentence),
        split=split,
    )


def _without_marks(
    table: AnnotationTable, parts: Mapping[str, Sequence[str]]
) -> tuple[list[tuple[str, ...]], list[Excluded]]:
    """The parts of each answer without marks for a missing answer, and these: "fever; NA" is one text."""
    every = [tuple(part for text in given for part in parts[text]) for given in table.written]
    if table.marks is None:
        return every, []
    marks = MissingMarks.of(table.marks).beside(part for own in parts.values() for part in own)
    kept: list[tuple[str, ...]] = []
    excluded: list[Excluded] = []
    for item, rater, own in zip(table.item.tolist(), table.rater.tolist(), every, strict=True):
        rest, out = marks.left_out(table.items[item], table.raters[rater], own)
        kept.append(rest or ())
        excluded += out
    return kept, excluded


def unsplit(written: Iterable[Iterable[str]]) -> int:
    """Number of answers with a text that is too long to be split.

    Parameters
    ----------
    written : iterable of iterables of str
        The texts of each answer, as they were written.

    Returns
    -------
    int
    """
    return sum(any(len(text) > LONGEST for text in texts) for texts in written)


def lists_in_words(table: AnnotationTable) -> str:
    """That answers which were not split look like lists, in a sentence; empty where few do.

    Parameters
    ----------
    table : AnnotationTable

    Returns
    -------
    str

    Examples
    --------
    >>> from softirr.answers.table import Answer
    >>> rows = [("1", "ann", "1) fever 2) cough"), ("1", "bob", "fever; cough"), ("2", "ann", "rash")]
    >>> lists_in_words(AnnotationTable.from_answers(Answer(*row) for row in rows))[:55]
    '2 of 3 answers look like lists in one box and are compa'
    """
    rows = table.written[:: 1 + len(table.written) // _MOST_LOOKED_AT]
    splitting = choose_splitting([text for texts in rows for text in texts])
    if "sentences" in splitting.marks:
        return ""
    lists = sum(any(len(splitting.parts(text)) > 1 for text in texts) for texts in rows)
    if lists < max(_FEWEST_LISTS, _LEAST_LISTS * len(rows)):
        return ""
    looked_at = "" if len(rows) == len(table.written) else f" that softirr looked at, of {len(table.written):,},"
    return (
        f"{lists:,} of {plural(len(rows), 'answer')}{looked_at} look like lists in one box and are compared as one "
        "text each. With the split mode auto, what they contain is compared one by one."
    )


def split_in_words(split: Split, answers: int, whole: int = 0) -> str:
    """What was decided about a table, in a sentence.

    Parameters
    ----------
    split : Split
    answers : int
        Answers of the table.
    whole : int
        Answers with a text that is too long to be split.

    Returns
    -------
    str
    """
    rest = (
        f" {plural(whole, 'answer has', 'answers have')} more than {LONGEST:,} characters in one text and "
        f"{'stays' if whole == 1 else 'stay'} whole."
        if whole
        else ""
    )
    marks = [_NAMES[mark] for mark in split.marks]
    if split.mode == "auto" and not split.answers:
        return f"Answers were not split: --split auto found no lists in them.{rest}"
    at = marks[0] if len(marks) == 1 else f"{', '.join(marks[:-1])} and {marks[-1]}"
    decided = "auto decided from all answers" if split.mode == "auto" else f"mode {split.mode}"
    return (
        f"Answers were split at {at} ({decided}): {split.answers:,} of {plural(answers, 'answer')} "
        f"{'holds' if split.answers == 1 else 'hold'} several texts in one box.{rest}"
    )


def _found_marks(texts: Sequence[str], alone: frozenset[str]) -> tuple[str, ...]:
    """What ``auto`` splits at."""
    words = [len(text.split()) for text in texts]
    if words and median(words) >= LONG:
        several = sum(len(sentences(normalize(text))) > 1 for text in texts)
        if 2 * several > len(texts):
            return _MARKS["sentences"]
    marks = ["lines"]  # a line break is a mark that people set on purpose; prose that wraps is told apart text by text
    for mark in ("bullets", "semicolons", "slashes", "commas"):
        if mark == "slashes":
            marks += [mark] * _are_slashed(texts, alone)
            continue
        # names have commas ("carcinoma, basal cell"), so these need evidence; the other marks are there to separate
        lists = [_is_list(parts, alone if mark == "commas" else None) for text in texts for parts in _lists(text, mark)]
        if lists and 2 * sum(lists) > len(lists):
            marks.append(mark)
    joined = [text for text in texts if JOINED.search(text)]
    splitting = Splitting("auto", (*marks, "and"), alone)
    if joined and 2 * sum(
        len(splitting.parts(text)) > len(Splitting("auto", tuple(marks)).parts(text)) for text in joined
    ) > len(joined):
        marks.append("and")
    return tuple(marks)


def _lists(text: str, mark: str) -> Iterator[list[str]]:
    """What may be lists in a text: its parts at a mark, where there are several."""
    if mark == "bullets":
        if bulleted := _bulleted(text):
            yield bulleted
        return
    for line in lines_of(text, bullets=True):
        pieces = cut(line, SEMICOLON)
        if mark == "commas":
            yield from (
                list(parts) for piece in pieces if len(parts := Splitting("commas", ("commas",)).parts(piece)) > 1
            )
        elif mark == "slashes":
            yield from (slashed for piece in pieces if len(slashed := cut(piece, SLASH)) > 1)
        elif len(pieces) > 1:
            yield pieces


def _bulleted(text: str) -> list[str]:
    """The lines of a text that begin with a bullet or a number of its enumeration."""
    return list(filter(bullet_of(text).match, enumeration_as_lines(text).splitlines()))


def _are_slashed(texts: Sequence[str], alone: frozenset[str]) -> bool:
    """Whether " / " separates the texts of lists, rather than two words of one meaning."""
    slashed = [parts for text in texts for parts in _lists(text, "slashes")]
    lists = [[part.casefold() for part in parts] for parts in slashed if _is_list(parts, None)]
    if 2 * len(lists) <= len(slashed):
        return False
    fewest, share = _SLASHED
    if len(lists) >= max(fewest, share * len(texts)):
        return True
    known = alone | ({parts[0] for parts in lists} & {part for parts in lists for part in parts[1:]})
    return 2 * sum(len(parts) > 2 or not known.isdisjoint(parts) for parts in lists) > len(lists)


def _standing_alone(texts: Iterable[str]) -> frozenset[str]:
    """Texts, in folded case, that are whole answers, or that stand both first and later in lists.

    What is always at one end is a part of a name.
    """
    whole, first, later = set[str](), set[str](), set[str]()
    for text in texts:
        parts = [part.casefold() for part in _FINEST.parts(text)]
        if len(parts) == 1:
            whole.add(parts[0])
        else:
            first.update(parts[:1])
            later.update(parts[1:])
    return frozenset(text for text in whole | (first & later) if not JOINED.search(text))


def _is_list(parts: Sequence[str], alone: frozenset[str] | None) -> bool:
    """Whether parts are a list: short, and most of them stand alone in other answers, where that counts."""
    if any(len(part.split()) > LIST_WORDS for part in parts):
        return False
    if alone is None:
        return all(map(has_head, parts))
    finest = [piece for part in parts for piece in _FINEST.parts(part)]
    return 2 * sum(piece.casefold() in alone for piece in finest) > len(finest)


def _joiner(texts: Iterable[str], splitting: Splitting) -> str:
    """What most texts that are split have between their parts."""
    marks: Counter[str] = Counter()
    for text in texts:
        if len(splitting.parts(text)) < 2:
            continue
        for mark in splitting.marks:
            one = replace(splitting, marks=("lines", mark) if mark == "bullets" else (mark,))
            if mark == "bullets" and not _bulleted(text):
                continue
            if mark == "and" and "slashes" in splitting.marks and SLASH.search(text):
                continue
            if len(one.parts(text)) > 1:
                marks[mark] += 1
    # bullets are lines too: the more special mark is told
    best = max(marks, key=lambda mark: (marks[mark], splitting.marks.index(mark)), default="commas")
    return _JOINERS[best]
