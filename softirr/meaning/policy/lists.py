"""The texts that one text contains: a list is cut at its marks.

A text is cut at line breaks, bullets, the numbers of an enumeration, semicolons, slashes, commas or the ends of
sentences. Commas and semicolons inside parentheses, brackets and quotes never cut, commas between digits and the
semicolon of an HTML entity don't either. At commas, a part that is no finding of its own stays with the part before
it ("pain, severe"). Time grows with a text's length, and a text of more than ``LONGEST`` characters stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.entities import html5

from softirr.meaning.lexicon.words import any_of, conjunctions
from softirr.meaning.policy.attributes import KINDS, without
from softirr.meaning.policy.rules import Split as SplitMode
from softirr.text import normalize, normalize_lines, protected, sentences

__all__ = [
    "JOINED", "LIST_WORDS", "LONGEST", "SEMICOLON", "SLASH", "Splitting", "bullet_of", "cut", "enumeration_as_lines",
    "has_head", "lines_of",
]  # fmt: skip
LONGEST = 10_000
"""Characters of a text from which it is no list in one box: it stays whole."""
LIST_WORDS = 8
"""Most words of a part for ``auto`` to take a text for a list."""
_MOST_ROUNDS = 20
"""How often parts are split again; no list needs more than three."""
_MOST_JOINED = 4
"""Pieces between "and" or slashes that a text alone can have, at most: "nausea and vomiting of pregnancy"."""
_MOST_LOOKED_UP = 200
"""Pieces of a text up to which they are looked for without their attributes."""

_BULLET = r"(?:[-*•‣◦▪●·–—+]+|\(?\d{1,2}\))\s+(?=\S)"
_SURE_BULLET, _ANY_BULLET = re.compile(_BULLET), re.compile(rf"{_BULLET}|\(?\d{{1,2}}\.\s+(?=\S)")
_NUMBER = re.compile(r"\(?(\d{1,2})[.)]\s+(?=\S)")
_ITEM = re.compile(r"(?:(?<=^)|(?<=[\s,;]))(\(?)(\d{1,2}|[a-z])([.)])\s+(?=\S)", re.IGNORECASE)
_LONG = any_of(word for word in conjunctions() if len(word) > 2)
_SHORT = any_of(word for word in conjunctions() if len(word) == 2 and word not in ("ed", "od"))
_ITEM_END = re.compile(rf"(?:\s*[,;])?(?:(?:^|\s)(?:(?i:{_LONG})|{_SHORT}|&))?\s*$")
"""What may end an item: a conjunction, unless it may be a name (hepatitis E) or an abbreviation (ED, OD, OR)."""
_ITEM_WORD = {")": re.compile(r"\w"), ".": re.compile(r"[^\W\d_]{4}|[^\W\d_a-z]")}
"""What an item must contain: "1. und 2. Grad" has ordinal numbers."""
_ORDINAL_JOINED = re.compile(rf"(?:^|\s){any_of(conjunctions('de'))}$", re.IGNORECASE)
"""What joins ordinal numbers in German, where they have a period: "1. Zehe und 2. Finger"."""
_WORD = re.compile(r"\w+")
_INLINE_BULLET = re.compile(r"\s?[•‣◦▪●]\s?")
SEMICOLON = re.compile(r"\s?[;；]\s?")
SLASH = re.compile(r"(?<!\d)\s/\s|\s/\s(?!\d)")
_COMMA = re.compile(r"\s?(?:(?<!\d)[,，、]|[,，、](?!\d))\s?")
JOINED = re.compile(r"\s(?:and|&(?:amp;)?|\+|as well as)\s|\s?(?<!\d)/(?!\d)\s?|(?<=\d)\s/\s(?=\d)", re.IGNORECASE)
_LEADING = re.compile(r"(?:and|plus|also|as well as|&(?:amp;)?|\+)\s+(?=\S)", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?:which|who|whom|whose|that|where|when|while|with|without|because|due|since|for|from|after|before|during|until|in|on|"
    r"at|of|to|by|as|if|than|especially|particularly|mainly|mostly|including|worse|better|but|or|not|then|so|etc)\b",
    re.IGNORECASE,
)
_PROBE = "finding"
_MARKED = re.compile(r"[\n;；,，、/&+•‣◦▪●]|^\s*(?:[-*·–—(\d]|a\))|\band\b|\bas well as\b|[.!?]\s", re.IGNORECASE)
_ENTITY = re.compile(r"&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)


@dataclass(frozen=True)
class Splitting:
    """How the texts of a project are split; made by :func:`softirr.meaning.policy.splitting.choose_splitting`.

    Attributes
    ----------
    mode : str
        As it was asked for.
    marks : tuple of str
        What texts are split at, the strongest first.
    alone : frozenset of str
        Texts, in folded case, that stand alone somewhere in the project.
    joiner : str
        What is between the parts of a text in most answers.
    """

    mode: SplitMode
    marks: tuple[str, ...]
    alone: frozenset[str] = frozenset()
    joiner: str = ", "

    def parts(self, text: str) -> tuple[str, ...]:
        r"""The texts that `text` contains, in order; an empty text has none.

        Parameters
        ----------
        text : str
            As it was written, with line breaks.

        Returns
        -------
        tuple of str
            Normalized. A text of more than ``LONGEST`` characters is its only part.

        Examples
        --------
        >>> Splitting("commas", ("lines", "semicolons", "commas")).parts("fever, 38,5 (since Monday, at night); cough")
        ('fever, 38,5 (since Monday, at night)', 'cough')
        >>> Splitting("bullets", ("lines", "bullets")).parts("- fever\n- dry\n  cough")
        ('fever', 'dry cough')
        """
        if not text.strip():
            return ()
        if not self.marks or len(text) > LONGEST:
            return (normalize(text),)
        done: dict[str, bool] = {}
        parts = [text]
        # each part is split again until nothing changes, so that splitting twice is splitting once
        for _ in range(_MOST_ROUNDS):
            again: list[str] = []
            for part in parts:
                pieces = [part] if done.get(part) else self._once(part)
                done[part] = pieces == [part]
                again += pieces
            if again == parts:
                break
            parts = again
        return tuple(parts)

    def _once(self, text: str) -> list[str]:
        if not _MARKED.search(text):
            return [normalize(text)]
        parts = list(lines_of(text, bullets="bullets" in self.marks)) if "lines" in self.marks else [normalize(text)]
        if "bullets" in self.marks:
            parts = [part for one in parts for part in cut(one, _INLINE_BULLET)]
        if "sentences" in self.marks:
            parts = [part for one in parts for part in sentences(one)]
        if "semicolons" in self.marks:
            parts = [part for one in parts for part in cut(one, SEMICOLON)]
        if "slashes" in self.marks:
            parts = [part for one in parts for part in cut(one, SLASH)]
        if "commas" in self.marks:
            parts = [part for one in parts for part in self._at_commas(one)]
        elif "and" in self.marks:
            parts = [part for one in parts for part in self._at_and(one, False)]
        return [part for part in map(normalize, parts) if any(map(str.isalnum, part))] or [normalize(text)]

    def _at_commas(self, text: str) -> list[str]:
        parts: list[list[str]] = []
        headed = True  # whether the last part has a head
        for part in cut(text, _COMMA):
            leading = _LEADING.match(part)
            own = has_head(part)
            if parts and ((leading is None and (_CLAUSE.match(part) or not own)) or not headed):
                parts[-1].append(part)
                headed |= own
            else:
                parts.append([part[leading.end() :] if parts and leading else part])
                headed = own
        joined = [", ".join(pieces) for pieces in parts]
        if "and" not in self.marks:
            return joined
        return [
            one
            for place, part in enumerate(joined, start=1)
            for one in self._at_and(part, len(joined) > 1 and place == len(joined))
        ]

    def _at_and(self, text: str, ends_list: bool) -> list[str]:
        """`text` at each "and" and slash between texts that stand alone.

        The last part of a list is split between single words too.

        From the end, the first place after which the text goes on alone, or as parts that do, is kept for each piece.
        """
        inside = protected(text)
        marks = [mark for mark in JOINED.finditer(text) if not inside[mark.start()]]
        marks = [mark for mark in marks if mark.start() and mark.end() < len(text)]
        starts, ends = [0, *(mark.end() for mark in marks)], [*(mark.start() for mark in marks), len(text)]
        last, space = len(marks), text.rfind(" ")
        whole = len(marks) <= _MOST_LOOKED_UP
        cuts: dict[int, int] = {}  # piece where a part begins -> piece where the next one does
        for first in range(last - 1, -1, -1):
            for after in range(first + 1, min(first + _MOST_JOINED, last) + 1):
                start, end, rest = starts[first], ends[after - 1], starts[after]
                single = ends_list and space < rest and "/" not in marks[after - 1].group()
                if single and " " not in text[start:end] and has_head(text[start:end]) and has_head(text[rest:]):
                    cuts[first] = after
                    break
                if self._stands_alone(text[start:end], whole) and (
                    after in cuts or (last - after < _MOST_JOINED and self._stands_alone(text[rest:], whole))
                ):
                    cuts[first] = after
                    break
        parts, first = [], 0
        while first in cuts:
            parts.append(text[starts[first] : ends[cuts[first] - 1]])
            first = cuts[first]
        return [*parts, text[starts[first] :]]

    def _stands_alone(self, text: str, whole: bool) -> bool:
        """Whether a text is an answer of its own somewhere, as it is or, where asked, without its attributes."""
        return any(map(str.isalpha, text)) and (
            text.casefold() in self.alone or (whole and without(text, KINDS).casefold() in self.alone)
        )


def enumeration_as_lines(text: str) -> str:
    r"""A text with each item of its enumeration ("1) fever 2) cough") on a line with a bullet.

    An enumeration begins the text with 1 or a), and its numbers or letters follow each other. Numbers with a period are
    no enumeration where they may be ordinal numbers: the same text follows two of them, or in one line the same noun
    follows each, or a German conjunction joins them.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        The same text if there is no enumeration of two items or more.

    Examples
    --------
    >>> enumeration_as_lines("1. Fever of 38. 2. Cough, and 3. rash")
    '- Fever of 38.\n- Cough\n- rash'
    >>> enumeration_as_lines("1. degree burn")
    '1. degree burn'
    >>> enumeration_as_lines("1. Rippe und 2. Rippe")
    '1. Rippe und 2. Rippe'
    """
    marks: list[re.Match[str]] = []
    for mark in _ITEM.finditer(text):
        style, number = (mark[1], mark[3], mark[2].isdigit()), len(marks) + 1
        if mark[2].casefold() != (str(number) if mark[2].isdigit() else chr(ord("a") + number - 1)):
            continue
        if not marks and (text[: mark.start()].strip() or (not mark[2].isdigit() and mark[3] == ".")):
            return text
        if not marks or style == (marks[0][1], marks[0][3], marks[0][2].isdigit()):
            marks.append(mark)
    if len(marks) < 2:
        return text
    ends = [mark.start() for mark in marks[1:]]
    items = [text[mark.end() : end].rstrip() for mark, end in zip(marks, [*ends, len(text)], strict=True)]
    joined = any(map(_ORDINAL_JOINED.search, items[:-1]))
    items = [*(_ITEM_END.sub("", item) for item in items[:-1]), items[-1]]
    if marks[0][3] == "." and _may_be_ordinal(items, joined, "\n" not in text[: marks[-1].start()]):
        return text
    word = _ITEM_WORD[marks[0][3]]
    return "\n".join(f"- {item}" for item in items) if all(map(word.search, items)) else text


def _may_be_ordinal(items: list[str], joined: bool, is_line: bool) -> bool:
    """Whether the numbers before these items may be ordinal numbers, as in "1. Rippe, 2. Rippe"."""
    if len({normalize(item, casefold=True) for item in items}) < len(items):  # nobody lists one thing twice
        return True
    words = {match[0].casefold() if (match := _WORD.search(item)) else "" for item in items}
    return is_line and (joined or (len(words) == 1 and has_head(words.pop())))


def bullet_of(text: str) -> re.Pattern[str]:
    r"""What begins the lines of a list: a bullet or a number.

    A number with a period is a part of its line, as in "1. Rippe", unless the lines are numbered 1, 2 and so on.

    Parameters
    ----------
    text : str

    Returns
    -------
    re.Pattern

    Examples
    --------
    >>> bool(bullet_of("1. Rippe").match("1. Rippe")), bool(bullet_of("1. fever\n2. cough").match("1. fever"))
    (False, True)
    """
    lines = normalize_lines(text).split("\n")
    numbered = [(int(mark[1]), line[mark.end() :].casefold()) for line in lines if (mark := _NUMBER.match(line))]
    numbers = [number for number, _ in numbered]
    differ = len({item for _, item in numbered}) == len(set(numbered))  # nobody lists one thing twice
    return _ANY_BULLET if numbers[:1] == [1] and 2 in numbers and differ else _SURE_BULLET


def lines_of(text: str, *, bullets: bool) -> Iterator[str]:
    """The lines of a text without their bullets.

    A line without a bullet continues the bulleted one before it, and so does the line after prose that wraps.

    Parameters
    ----------
    text : str
    bullets : bool
        Whether the text may have bullets.

    Yields
    ------
    str
        Normalized but for the spaces that a bullet leaves.
    """
    lines = normalize_lines(enumeration_as_lines(text) if bullets else text).split("\n")
    mark = bullet_of(text)
    marked = bullets and any(mark.match(line) for line in lines[:2])
    held: list[str] = []
    words = 0
    for line in lines:
        bullet = mark.match(line)
        if held and ((marked and not bullet) or _wraps(words, held[-1], line)):
            held.append(line)
            words += len(line.split())
            continue
        if held:
            yield " ".join(held)
        start = 0
        while match := mark.match(line, start):
            start = match.end()
        line = line[start:]
        held = [line] if line else []
        words = len(line.split())
    if held:
        yield " ".join(held)


def _wraps(words: int, line: str, after: str) -> bool:
    """Whether a line goes on in the next one.

    It is long prose without an end, and the next begins with a small letter.
    """
    return words > LIST_WORDS and line[-1] not in ".!?;:" and after[:1].islower()


def cut(text: str, mark: re.Pattern[str]) -> list[str]:
    """A text at every mark outside parentheses and HTML entities.

    Parameters
    ----------
    text : str
        Normalized.
    mark : re.Pattern

    Returns
    -------
    list of str
        Without empty parts.
    """
    if not mark.search(text):
        return [text]
    inside = protected(text)
    for entity in _ENTITY.finditer(text):
        if entity[1][0] == "#" or f"{entity[1]};" in html5:
            inside[entity.start() : entity.end()] = [True] * (entity.end() - entity.start())
    parts, start = [], 0
    for match in mark.finditer(text):
        if any(inside[match.start() : match.end()]):
            continue
        parts.append(text[start : match.start()])
        start = match.end()
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def has_head(part: str) -> bool:
    """Whether a part is more than attributes: "severe" and "for 3 days" are no findings of their own.

    Parameters
    ----------
    part : str

    Returns
    -------
    bool
    """
    return without(f"{_PROBE}, {part}", KINDS) != _PROBE
