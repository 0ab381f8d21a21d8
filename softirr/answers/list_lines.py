"""Lines of a text that contains a list: bullets, numbered enumerations, and prose that continues in the next line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from softirr.text import normalize, normalize_lines

WORDS_OF_ENTRY = 8
"""Maximum number of words of an entry of a list; a longer line may continue in the next one."""

_BULLET = r"(?:[-*•‣◦▪●·–—+]+|\(?\d{1,2}\))\s+(?=\S)"
BULLETS, _ANY_BULLETS = re.compile(rf"^(?:{_BULLET})+"), re.compile(rf"^(?:{_BULLET}|\(?\d{{1,2}}\.\s+(?=\S))+")
"""Bullets at the beginning of a line."""
_NUMBER = re.compile(r"\(?(\d{1,2})[.)]\s+(?=\S)")
_ENTRY = re.compile(r"(?:(?<=^)|(?<=[\s,;]))(\(?)(\d{1,2}|[a-z])([.)])\s+(?=\S)", re.IGNORECASE)
_ENTRY_END = re.compile(
    r"(?:\s*[,;])?(?:(?:^|\s)(?:(?i:and|nor|und|sowie|oder|noch|bzw\.)|or|u\.|et|ou|y|e|o|u|en|of|&))?\s*$"
)
"""End of an entry: a conjunction, unless it may be a name (hepatitis E) or an abbreviation (ED, OR)."""
_ENTRY_WORD = {")": re.compile(r"\w"), ".": re.compile(r"[^\W\d_]{4}|[^\W\d_a-z]")}
"""Required content of an entry: "1. und 2. Grad" has ordinal numbers."""
_ORDINALS_JOINED = re.compile(r"(?:^|\s)(?:und|sowie|u\.|oder|noch|bzw\.)$", re.IGNORECASE)
"""What joins German ordinal numbers, which have a period: "1. Zehe und 2. Finger"."""
_WORD = re.compile(r"\w+")


def lines_of(text: str, *, bullets: bool) -> Iterator[str]:
    """Yield the lines of a text without their bullets.

    A line without a bullet continues the line with a bullet before it. A line of prose may continue in the next one.

    Parameters
    ----------
    bullets : bool
        Whether the text may have bullets and enumerations.
    """
    lines = normalize_lines(enumeration_as_lines(text) if bullets else text).split("\n")
    pattern = _bullets_of(normalize_lines(text).split("\n"))
    has_bullets = bullets and any(map(pattern.match, lines[:2]))
    entry: list[str] = []
    n_words = 0
    for line in lines:
        if entry and ((has_bullets and not pattern.match(line)) or _continues(n_words, entry[-1], line)):
            entry.append(line)
            n_words += len(line.split())
            continue
        if entry:
            yield " ".join(entry)
        content = pattern.sub("", line)
        entry, n_words = [content] if content else [], len(content.split())
    if entry:
        yield " ".join(entry)


def _continues(n_words: int, line: str, next_line: str) -> bool:
    """Whether prose continues: the line is long, has no end, and the next line begins with a small letter."""
    return n_words > WORDS_OF_ENTRY and line[-1] not in ".!?;:" and next_line[:1].islower()


def _bullets_of(lines: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of bullets; "1." is one only if lines are numbered 1, 2 and so on (not in "1. Rippe")."""
    numbered = [(int(mark[1]), line[mark.end() :].casefold()) for line in lines if (mark := _NUMBER.match(line))]
    numbers = [number for number, _ in numbered]
    has_repeats = len({entry for _, entry in numbered}) < len(set(numbered))
    return _ANY_BULLETS if numbers[:1] == [1] and 2 in numbers and not has_repeats else BULLETS


def enumeration_as_lines(text: str) -> str:
    r"""Return a text with each entry of its enumeration ("1) fever 2) cough") on a line with a bullet.

    An enumeration begins the text with 1 or a), and its numbers or letters are consecutive. Numbers with a period that
    may be ordinal numbers do not count.

    Examples
    --------
    >>> enumeration_as_lines("1. Fever of 38. 2. Cough, and 3. rash")
    '- Fever of 38.\n- Cough\n- rash'
    >>> enumeration_as_lines("1. Rippe und 2. Rippe")
    '1. Rippe und 2. Rippe'
    """
    marks: list[re.Match[str]] = []
    for mark in _ENTRY.finditer(text):
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
    entries = [text[mark.end() : end].rstrip() for mark, end in zip(marks, [*ends, len(text)], strict=True)]
    is_joined = any(map(_ORDINALS_JOINED.search, entries[:-1]))
    entries = [*(_ENTRY_END.sub("", entry) for entry in entries[:-1]), entries[-1]]
    if marks[0][3] == "." and _may_be_ordinal(entries, is_joined, "\n" not in text[: marks[-1].start()]):
        return text
    word = _ENTRY_WORD[marks[0][3]]
    return "\n".join(f"- {entry}" for entry in entries) if all(map(word.search, entries)) else text


def _may_be_ordinal(entries: Sequence[str], is_joined: bool, is_line: bool) -> bool:
    """Whether the numbers before these entries may be ordinal numbers, as in "1. Rippe, 2. Rippe"."""
    if len({normalize(entry, casefold=True) for entry in entries}) < len(entries):
        return True
    words = {match[0].casefold() if (match := _WORD.search(entry)) else "" for entry in entries}
    return is_line and (is_joined or (len(words) == 1 and len(words.pop()) > 3))
