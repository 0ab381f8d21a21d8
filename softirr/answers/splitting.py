"""Splitting: a text that contains a list becomes several texts, at the marks that the user chooses.

Marks inside parentheses, brackets and quotes do not split, nor do commas and other marks between digits or the
semicolon of an HTML entity. A text of more than ``LONGEST`` characters stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html.entities import html5
from typing import Any
from unicodedata import category

from softirr.answers.list_lines import BULLETS, WORDS_OF_ENTRY, lines_of
from softirr.errors import InputError
from softirr.numbers import plural
from softirr.text import normalize, protected, sentences

SPLITS = ("none", "lines", "bullets", "semicolons", "commas", "sentences")
"""Modes of splitting; a mode can also consist of the marks, such as ``;|``."""
LONGEST = 10_000
"""Maximum number of characters of a text that is split."""
_MARKS = re.compile(r"(?:[^\w\s]|_){1,10}")
"""Mode that consists of marks."""
_MAX_LOOKED_AT = 2_000
"""Maximum number of answers in which `list_note` looks for lists."""
_MIN_LISTS, _MIN_SHARE = 2, 0.1
"""Number of lists, and their share of the answers, from which `list_note` mentions them."""

_NAMES = {"lines": "line breaks", "sentences": "the ends of sentences"}
"""Words for modes that differ from their names."""
_JOINERS = {"lines": "\n", "bullets": "\n- ", "semicolons": "; ", "commas": ", ", "sentences": " "}
_BULLETS, _SEMICOLONS, _COMMAS = "•‣◦▪●", ";；؛", ",，、،"
_CHARACTERS = {"lines": "", "bullets": _BULLETS, "semicolons": _SEMICOLONS, "commas": _COMMAS}
"""Characters of each mode, which also splits at the characters of the modes before it."""
_VARIANTS = {";": _SEMICOLONS, ",": _COMMAS}
_BETWEEN_DIGITS = _SEMICOLONS + _BULLETS
"""Marks that split between digits, too."""

_COMMA = re.compile(rf"\s?(?:(?<!\d)[{_COMMAS}]|[{_COMMAS}](?!\d))\s?")
_LEADING = re.compile(r"(?:and|plus|also|as well as|&(?:amp;)?|\+)\s+(?=\S)", re.IGNORECASE)
_LAST_TWO = re.compile(r"(\S+)\s(?:and|&(?:amp;)?|\+|as well as)\s(\S+)", re.IGNORECASE)
"""Two single words that end a list at commas."""
_QUALIFIER = re.compile(
    r"(?:which|who|whom|whose|that|where|when|while|with|without|because|due|since|for|from|after|before|during|until|"
    r"in|on|at|of|to|by|as|if|than|especially|particularly|mainly|mostly|including|worse|better|but|or|not|then|so|etc)"
    r"\b|(?:and\s)?(?:mild|moderate|severe|acute|chronic|left|right|bilateral)(?:[ -]sided)?$",
    re.IGNORECASE,
)
"""Part after a comma that belongs to the part before it: a clause, a severity or a side."""
_ENTITY = re.compile(r"&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)


@dataclass(frozen=True)
class Split:
    """How the texts of a table were split.

    Attributes
    ----------
    mode : str
        One of ``SPLITS``, or the marks.
    answers : int
        Number of answers with a text that was split.
    """

    mode: str
    answers: int = 0

    @property
    def marks(self) -> tuple[str, ...]:
        """What texts were split at, such as ``lines``; the marks themselves if the user named them."""
        steps = tuple(_CHARACTERS)
        if self.mode in _CHARACTERS:
            return steps[: steps.index(self.mode) + 1]
        marks = (self.mode,) if self.mode == "sentences" else self.mode
        return () if self.mode == "none" else ("lines", "bullets", *marks)

    def join(self, pieces: Iterable[str]) -> str:
        """Return the parts as one text, separated by the last mark of the mode."""
        joiner = _JOINERS.get(self.mode, f" {self.mode[0]} ")
        return ("- " if self.mode == "bullets" else "") + joiner.join(pieces)

    def to_dict(self) -> dict[str, Any]:
        """Return the form in the provenance of a report."""
        return {"mode": self.mode, "marks": list(self.marks), "answers": self.answers}

    def sentence(self, n_answers: int, n_long: int) -> str:
        """Describe the splitting of a table with this number of answers; `n_long` have a text that is too long."""
        names = [_NAMES.get(mark, mark) for mark in self.marks]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        have, stay = ("answer has", "stays") if n_long == 1 else ("answers have", "stay")
        long_note = (
            f" {n_long:,} {have} more than {LONGEST:,} characters in one text and {stay} whole." if n_long else ""
        )
        return (
            f"Answers were split at {listed} (mode {self.mode}): {self.answers:,} of {plural(n_answers, 'answer')} "
            f"{'holds' if self.answers == 1 else 'hold'} several texts in one box.{long_note}"
        )


def check_split(mode: str | None) -> str | None:
    """Return a mode of splitting, or None.

    Raises
    ------
    InputError
        If it is neither a mode nor marks.
    """
    if mode is None or mode in SPLITS or (isinstance(mode, str) and _MARKS.fullmatch(mode)):
        return mode
    raise InputError(f"The mode of splitting is {mode!r}, but can be {', '.join(SPLITS)}, or the marks, such as ;|.")


def split_text(text: str, mode: str) -> tuple[str, ...]:
    r"""Return the texts that a text contains, in order and in normal form; an empty text contains none.

    Parameters
    ----------
    text : str
        As written, with line breaks.
    mode : str
        ``lines``, ``bullets``, ``semicolons`` and ``commas`` split at this mark and at the marks before it;
        ``sentences`` at lines and sentences; marks such as ``;|`` at lines, bullets and these marks.

    Examples
    --------
    >>> split_text("fever, 38,5 (since Monday, at night); cough", "commas")
    ('fever', '38,5 (since Monday, at night)', 'cough')
    >>> split_text("- fever\n- dry\n  cough", "bullets"), split_text("fever | cough", "|")
    (('fever', 'dry cough'), ('fever', 'cough'))
    """
    if not text.strip():
        return ()
    if mode == "none" or len(text) > LONGEST:
        return (normalize(text),)
    mark, has_commas = _pattern(mode)
    pieces = list(lines_of(text, bullets=mode != "lines"))
    if mode == "sentences":
        pieces = [sentence for piece in pieces for sentence in sentences(piece)]
    elif mark is not None:
        pieces = [piece for piece in pieces for piece in _cut(piece, mark)]
    if has_commas:
        pieces = [piece for piece in pieces for piece in _cut_at_commas(piece)]
    pieces = [normalize(BULLETS.sub("", piece) if mark is not None else piece) for piece in pieces]
    return tuple(piece for piece in pieces if any(map(_has_content, piece))) or (normalize(text),)


def _has_content(character: str) -> bool:
    """Whether a character is a letter, a digit or a pictograph: a part of other characters is a rule or a bullet."""
    return character.isalnum() or (category(character) == "So" and not "\u2500" <= character <= "\u25ff")


@cache
def _pattern(mode: str) -> tuple[re.Pattern[str] | None, bool]:
    """Return the pattern of the marks of a mode without commas, and whether commas are marks."""
    variants = _CHARACTERS | _VARIANTS
    characters = "" if mode == "sentences" else "".join(variants.get(mark, mark) for mark in Split(mode).marks)
    always = "".join(mark for mark in characters if mark in _BETWEEN_DIGITS)
    has_commas = "," in characters
    cut_otherwise = _BETWEEN_DIGITS + (_COMMAS if has_commas else "")
    between_texts = "".join(mark for mark in characters if mark not in cut_otherwise)
    patterns = [f"[{re.escape(always)}]"] if always else []
    patterns += [rf"(?<!\d)[{re.escape(between_texts)}]|[{re.escape(between_texts)}](?!\d)"] if between_texts else []
    return re.compile(rf"\s?(?:{'|'.join(patterns)})\s?") if patterns else None, has_commas


def _cut_at_commas(text: str) -> list[str]:
    """Cut a text at commas; clauses and the like stay with the part before them."""
    pieces: list[str] = []
    for piece in _cut(text, _COMMA):
        if pieces and _QUALIFIER.match(piece):
            pieces[-1] += f", {piece}"
        else:
            pieces.append(_LEADING.sub("", piece, count=1) if pieces and _LEADING.match(piece) else piece)
    if len(pieces) > 1 and (last := _LAST_TWO.fullmatch(pieces[-1])):
        pieces[-1:] = last.groups()
    return pieces


def _cut(text: str, mark: re.Pattern[str]) -> list[str]:
    """Cut a text at every mark outside parentheses and HTML entities, without empty parts."""
    if not mark.search(text):
        return [text]
    inside = protected(text)
    for entity in _ENTITY.finditer(text):
        if entity[1][0] == "#" or f"{entity[1]};" in html5:
            inside[entity.start() : entity.end()] = [True] * (entity.end() - entity.start())
    pieces, start = [], 0
    for match in mark.finditer(text):
        if not any(inside[match.start() : match.end()]):
            pieces.append(text[start : match.start()])
            start = match.end()
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def list_note(texts_of_answers: Sequence[Sequence[str]]) -> str:
    """Say that answers look like lists, and which mode splits most of them; empty if few do.

    Parameters
    ----------
    texts_of_answers : sequence of sequence of str
        The texts of each answer.

    Examples
    --------
    >>> list_note([("1) fever 2) cough",), ("fever; cough",), ("rash",)])[:55]
    '2 of 3 answers look like lists in one box and are compa'
    """
    answers = texts_of_answers[:: 1 + len(texts_of_answers) // _MAX_LOOKED_AT]
    modes = ("bullets", "semicolons", "commas")
    counts = {mode: sum(any(_is_list(text, mode) for text in texts) for texts in answers) for mode in modes}
    n_lists = max(counts.values())
    if n_lists < max(_MIN_LISTS, _MIN_SHARE * len(answers)):
        return ""
    mode = next(mode for mode, n in counts.items() if n == n_lists)
    sample = "" if len(answers) == len(texts_of_answers) else f" that softirr looked at, of {len(texts_of_answers):,},"
    return (
        f"{n_lists:,} of {plural(len(answers), 'answer')}{sample} look like lists in one box and are compared as one "
        f"text each. With the split mode {mode}, what they contain is compared one by one."
    )


def _is_list(text: str, mode: str) -> bool:
    """Whether a text has several short parts; commas, which names have too, need three parts."""
    if len(text) > LONGEST:
        return False
    pieces = split_text(text, mode)
    if mode == "commas" and len(pieces) < 3 and pieces != split_text(text, "semicolons"):
        return False
    return len(pieces) > 1 and all(len(piece.split()) <= WORDS_OF_ENTRY for piece in pieces)
