r"""Splitting: one text that holds a list becomes several texts.

A text is split at marks: line breaks, bullets, semicolons, commas or the ends of sentences. Commas and semicolons inside parentheses, brackets and quotes
never split, and commas between digits don't. At commas, a part that is no finding of its own stays with the part before it ("pain, severe"). Where texts are split at commas, so are
"A / B" and "A and B", but only if both sides stand alone in other answers of the project: "nausea and vomiting syndrome" stays one text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from softirr.errors import InputError
from softirr.policy.attributes import KINDS, without
from softirr.policy.rules import SPLITS
from softirr.policy.rules import Split as SplitMode
from softirr.tables.table import AnnotationTable, Split
from softirr.text import normalize, protected, sentences

__all__ = ["Splitting", "choose_splitting", "split_in_words", "split_table"]
LONG = 20
"""Median number of words from which ``auto`` takes answers for running text, which is split into sentences."""
LIST_WORDS = 8
"""Most words of a part for ``auto`` to take a text for a list."""

_MARKS: dict[str, tuple[str, ...]] = {
    "none": (),
    "lines": ("lines",),
    "bullets": ("lines", "bullets"),
    "semicolons": ("lines", "bullets", "semicolons"),
    "commas": ("lines", "bullets", "semicolons", "commas", "and"),
    "sentences": ("lines", "bullets", "sentences"),
}
_JOINERS = {"lines": "\n", "bullets": "\n- ", "semicolons": "; ", "commas": ", ", "and": " and ", "sentences": " "}
_NAMES = {
    "lines": "line breaks",
    "bullets": "bullets",
    "semicolons": "semicolons",
    "commas": "commas",
    "and": "“and” and slashes between texts that stand alone",
    "sentences": "the ends of sentences",
}

_BULLET = re.compile(r"(?:[-*•‣◦▪●·–—+]+|\(?\d{1,2}[.)])\s+(?=\S)")
_INLINE_BULLET = re.compile(r"\s*[•‣◦▪●]\s*")
_SEMICOLON = re.compile(r"\s*[;；]\s*")
_COMMA = re.compile(r"\s*(?:(?<!\d)[,，、]|[,，、](?!\d))\s*")
_JOINED = re.compile(r"\s+(?:and|&|\+|as well as)\s+|\s*(?<!\d)/(?!\d)\s*|(?<=\d)\s+/\s+(?=\d)", re.IGNORECASE)
_LEADING = re.compile(r"(?:and|plus|also|as well as|&|\+)\s+(?=\S)", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?:which|who|whom|whose|that|where|when|while|with|without|because|due|since|for|from|after|before|during|until|in|on|at|of|to|by|"
    r"as|if|than|especially|particularly|mainly|mostly|including|worse|better|but|or|not|then|so|etc)\b",
    re.IGNORECASE,
)
_PROBE = "finding"
_MARKED = re.compile(r"[\n;；,，、/&+•‣◦▪●]|^\s*[-*·–—(\d]|\band\b|\bas well as\b|[.!?]\s", re.IGNORECASE)


@dataclass(frozen=True)
class Splitting:
    """How the texts of a project are split; made by :func:`choose_splitting`.

    Attributes
    ----------
    mode : str
        As it was asked for.
    marks : tuple of str
        What texts are split at, the strongest first.
    alone : frozenset of str
        Texts, in folded case, that stand alone somewhere in the project.
    joiner : str
        What stands between the parts of a text in most answers.
    """

    mode: SplitMode
    marks: tuple[str, ...]
    alone: frozenset[str] = frozenset()
    joiner: str = ", "

    def parts(self, text: str) -> tuple[str, ...]:
        r"""The texts that `text` holds, in order; an empty text has none.

        Examples
        --------
        >>> Splitting("commas", ("lines", "semicolons", "commas")).parts("fever, 38,5 (since Monday, at night); cough")
        ('fever, 38,5 (since Monday, at night)', 'cough')
        >>> Splitting("bullets", ("lines", "bullets")).parts("- fever\n- dry\n  cough")
        ('fever', 'dry cough')
        """
        if not text.strip():
            return ()
        if not self.marks or not _MARKED.search(text):
            return (normalize(text),)
        found = self._once(text)
        if len(found) == 1 and found[0] == text:
            return (text,)
        # each part is split again until nothing changes, so that splitting twice is splitting once
        return tuple(part for one in found for part in self.parts(one))

    def _once(self, text: str) -> list[str]:
        parts = list(_lines(text, bullets="bullets" in self.marks)) if "lines" in self.marks else [normalize(text)]
        if "bullets" in self.marks:
            parts = [part for one in parts for part in _cut(one, _INLINE_BULLET)]
        if "sentences" in self.marks:
            parts = [part for one in parts for part in sentences(one)]
        if "semicolons" in self.marks:
            parts = [part for one in parts for part in _cut(one, _SEMICOLON)]
        if "commas" in self.marks:
            parts = [part for one in parts for part in self._at_commas(one)]
        elif "and" in self.marks:
            parts = [part for one in parts for part in self._at_and(one, False)]
        return [part for part in map(normalize, parts) if any(map(str.isalnum, part))] or [normalize(text)]

    def _at_commas(self, text: str) -> list[str]:
        parts: list[str] = []
        for part in _cut(text, _COMMA):
            leading = _LEADING.match(part)
            if parts and (
                (leading is None and (_CLAUSE.match(part) or not _has_head(part))) or not _has_head(parts[-1])
            ):
                parts[-1] += f", {part}"
            else:
                parts.append(part[leading.end() :] if parts and leading else part)
        if "and" not in self.marks:
            return parts
        several = len(parts) > 1
        return [
            one for place, part in enumerate(parts) for one in self._at_and(part, several and place == len(parts) - 1)
        ]

    def _at_and(self, text: str, ends_list: bool) -> list[str]:
        """`text` at the first "and" or slash between two texts that stand alone; the last part of a list is split between single words too."""
        kept = protected(text)
        for joined in _JOINED.finditer(text):
            left, right = text[: joined.start()], text[joined.end() :]
            if joined.start() in kept or not left or not right:
                continue
            single = ends_list and " " not in left and " " not in right and "/" not in joined.group()
            if single and _has_head(left) and _has_head(right):
                return [left, right]
            if self._stands_alone(left) and (self._stands_alone(right) or _JOINED.search(right)):
                rest = self._at_and(right, ends_list)
                if len(rest) > 1 or self._stands_alone(right):
                    return [left, *rest]
        return [text]

    def _stands_alone(self, text: str) -> bool:
        """Whether a text is an answer of its own somewhere, as it is or without its attributes."""
        return any(map(str.isalpha, text)) and (
            text.casefold() in self.alone or without(text, KINDS).casefold() in self.alone
        )


_FINEST = Splitting("commas", ("lines", "bullets", "semicolons", "commas"))


def choose_splitting(texts: Iterable[str], mode: SplitMode = "auto") -> Splitting:
    """How to split the texts of a project.

    Parameters
    ----------
    texts : iterable of str
        All texts of the project as they were written, with line breaks.
    mode : str
        ``lines``, ``bullets``, ``semicolons`` and ``commas`` split at this mark and at those before it; ``sentences`` at lines and sentences. ``auto``
        looks at the texts that have a mark: it is used if most of them are lists: short parts, which for commas also have to stand alone in other answers
        (most of them). Texts of ``LONG`` words and more (median) are split into sentences.

    Returns
    -------
    Splitting

    Raises
    ------
    InputError
        If the mode is not known.

    Examples
    --------
    >>> found = choose_splitting(["fever, cough; headache", "cough", "headache", "fever"])
    >>> found.marks, found.parts("fever, cough; headache")
    (('lines', 'semicolons', 'commas'), ('fever', 'cough', 'headache'))
    >>> choose_splitting(["pneumonia, bacterial", "pneumonia, viral", "pneumonia"]).marks
    ('lines',)
    """
    if mode not in SPLITS:
        raise InputError(f"The mode of splitting is {mode!r}, but can be {', '.join(SPLITS)}.")
    if mode == "none":
        return Splitting(mode, ())
    distinct = list(dict.fromkeys(texts))
    alone = _standing_alone(distinct)
    marks = _MARKS[mode] if mode != "auto" else _found_marks(distinct, alone)
    found = Splitting(mode, marks, alone)
    return replace(found, joiner=_joiner(distinct, found))


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
    >>> from softirr.tables.table import Answer
    >>> rows = [("1", "ann", "fever, cough; headache"), ("1", "bob", ("cough", "fever", "headache"))]
    >>> table = split_table(AnnotationTable.from_answers(Answer(*row) for row in rows), "auto")
    >>> table.texts_of(table.answer[0]) == table.texts_of(table.answer[1])
    True
    """
    found = choose_splitting((text for texts in table.written for text in texts), mode)
    if mode == "none":
        return table
    parts = {text: found.parts(text) for texts in table.written for text in texts}
    keys: dict[tuple[str, ...], int] = {}
    answer = np.zeros(len(table.written), dtype=np.int64)
    for row, given in enumerate(table.written):
        folded = {normalize(part, casefold=table.casefold) for text in given for part in parts[text]}
        answer[row] = keys.setdefault(tuple(sorted(folded)), len(keys))
    several = sum(any(len(parts[text]) > 1 for text in given) for given in table.written)
    texts = {text: number for number, text in enumerate(sorted({text for key in keys for text in key}))}
    split = Split(mode, found.marks, found.joiner, several)
    return replace(
        table,
        texts=tuple(texts),
        answers=tuple(tuple(texts[text] for text in key) for key in keys),
        answer=answer,
        warnings=(*table.warnings, split_in_words(split, len(table.written))),
        split=split,
    )


def split_in_words(split: Split, answers: int) -> str:
    """What was decided about a table, in a sentence.

    Parameters
    ----------
    split : Split
    answers : int
        Answers of the table.

    Returns
    -------
    str
    """
    marks = [_NAMES[mark] for mark in split.marks]
    if split.mode == "auto" and not split.answers:
        return "Answers were not split: --split auto found no lists in them."
    at = marks[0] if len(marks) == 1 else f"{', '.join(marks[:-1])} and {marks[-1]}"
    decided = "auto decided from all answers" if split.mode == "auto" else f"mode {split.mode}"
    return f"Answers were split at {at} ({decided}): {split.answers:,} of {answers:,} answers hold several texts in one box."


def _found_marks(texts: Sequence[str], alone: frozenset[str]) -> tuple[str, ...]:
    """What ``auto`` splits at."""
    words = [len(text.split()) for text in texts]
    if words and median(words) >= LONG:
        several = sum(len(sentences(normalize(text))) > 1 for text in texts)
        if 2 * several > len(texts):
            return _MARKS["sentences"]
    found = ["lines"]  # a line break is a mark that people set on purpose; prose that wraps is told apart text by text
    for mark in ("bullets", "semicolons", "commas"):
        # names have commas ("carcinoma, basal cell"), so these need evidence; the other marks are there to separate
        lists = [_is_list(parts, alone if mark == "commas" else None) for text in texts for parts in _lists(text, mark)]
        if lists and 2 * sum(lists) > len(lists):
            found.append(mark)
    joined = [text for text in texts if _JOINED.search(text)]
    splitting = Splitting("auto", (*found, "and"), alone)
    if joined and 2 * sum(
        len(splitting.parts(text)) > len(Splitting("auto", tuple(found)).parts(text)) for text in joined
    ) > len(joined):
        found.append("and")
    return tuple(found)


def _lists(text: str, mark: str) -> Iterator[list[str]]:
    """What may be lists in a text: its parts at a mark, where there are several."""
    if mark == "bullets":
        bulleted = [line for line in text.splitlines() if _BULLET.match(line)]
        if bulleted:
            yield bulleted
        return
    for line in _lines(text, bullets=True):
        pieces = _cut(line, _SEMICOLON)
        if mark == "commas":
            yield from (
                list(parts) for piece in pieces if len(parts := Splitting("commas", ("commas",)).parts(piece)) > 1
            )
        elif len(pieces) > 1:
            yield pieces


def _standing_alone(texts: Iterable[str]) -> frozenset[str]:
    """Texts, in folded case, that are whole answers, or that stand both first and later in lists: what always stands at one end is a part of a name."""
    whole, first, later = set[str](), set[str](), set[str]()
    for text in texts:
        parts = [part.casefold() for part in _FINEST.parts(text)]
        if len(parts) == 1:
            whole.add(parts[0])
        else:
            first.update(parts[:1])
            later.update(parts[1:])
    return frozenset(text for text in whole | (first & later) if not _JOINED.search(text))


def _is_list(parts: Sequence[str], alone: frozenset[str] | None) -> bool:
    """Whether parts are a list: short, and most of them stand alone in other answers, where that counts."""
    if any(len(part.split()) > LIST_WORDS for part in parts):
        return False
    if alone is None:
        return all(map(_has_head, parts))
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
            if mark == "bullets" and not any(_BULLET.match(line) for line in text.splitlines()):
                continue
            if len(one.parts(text)) > 1:
                marks[mark] += 1
    # bullets are lines too: the more special mark is told
    best = max(marks, key=lambda mark: (marks[mark], splitting.marks.index(mark)), default="commas")
    return _JOINERS[best]


def _lines(text: str, *, bullets: bool) -> Iterator[str]:
    """Lines without their bullets; a line without a bullet continues the bulleted one before it, and so does the line after a hanging comma."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = bullets and any(_BULLET.match(line) for line in lines[:2])
    held = ""
    for line in lines:
        bullet = _BULLET.match(line)
        continues = held and ((marked and not bullet) or _wraps(held, line))
        if continues:
            held = f"{held} {line}"
            continue
        if held:
            yield held
        held = line
        while match := _BULLET.match(held):
            held = held[match.end() :]
    if held:
        yield held


def _wraps(line: str, after: str) -> bool:
    """Whether a line goes on in the next one: it is long prose without an end, and the next begins with a small letter."""
    return len(line.split()) > LIST_WORDS and line[-1] not in ".!?;:" and after[:1].islower()


def _cut(text: str, mark: re.Pattern[str]) -> list[str]:
    """`text` at every mark outside parentheses; never empty parts."""
    if not mark.search(text):
        return [text]
    kept = protected(text)
    parts, start = [], 0
    for found in mark.finditer(text):
        if found.end() - 1 in kept or found.start() in kept:
            continue
        parts.append(text[start : found.start()])
        start = found.end()
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _has_head(part: str) -> bool:
    """Whether a part is more than attributes: "severe" and "for 3 days" are no findings of their own."""
    return without(f"{_PROBE}, {part}", KINDS) != _PROBE
