"""What a short text asserts, denies and asks: its clauses, with the scope of each negation, and marks of doubt.

Where the scope of a negation is not clear ("no fever, cough"), nothing is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from softirr.lexicon.words import any_of, entries, wordings
from softirr.terminology.keys import fold_word

__all__ = ["Assertions", "assertions", "without_question_mark"]

_MOST_WORDS = 12
"""Words of a text that is taken for a finding; longer ones are sentences, which say more than their clauses."""
_LONGEST = 2_000
"""Characters of a text from which it is none, however few words it has."""
_BREAK = re.compile(r"\s*(?:[;.]\s|\bbut\b|\bhowever\b|\balthough\b|\bthough\b)\s*", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:,|\+|&|\b(?:and|with|or|nor)\b)\s*", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\s*(?:,|\b(?:or|nor)\b)+\s*(?:or|nor)?\s*", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SMALL = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "to", "for", "is", "are", "was", "were", "has", "have", "had", "there", "patient", "pt", "any"]
)  # fmt: skip
_MARK = re.compile(r"\(\s*\?+\s*\)|\?+")


@dataclass(frozen=True)
class Assertions:
    """What a text says, apart from whether it asserts it, and that.

    Attributes
    ----------
    content : frozenset of tuples of str
        The folded words of each clause, sorted.
    status : frozenset of (tuple of str, bool)
        The clauses, and whether each is affirmed.
    doubt : str
        The value of the text's certainty: "" or "possible".
    """

    content: frozenset[tuple[str, ...]]
    status: frozenset[tuple[tuple[str, ...], bool]]
    doubt: str


@cache
def _negator() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:(?i:but\s+|with\s+|and\s+)?(?i:{any_of(wordings('negation', 'negator'))}))(?=\s)")


@cache
def _doubt() -> re.Pattern[str]:
    words = [
        word
        for entry in entries()
        if entry.kind == "certainty" and entry.value == "possible" and "certainty" in entry.classes
        for word in entry.wordings
    ]
    return re.compile(rf"^(?:{any_of([*words, 'query'])}\s+|\?+\s*)|(?:\s*\(\s*\?+\s*\)|\s*\?+)\s*$", re.IGNORECASE)


@cache
def _asking() -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(wordings("certainty", "question")), frozenset(wordings("certainty", "speaker"))


def assertions(text: str) -> Assertions | None:
    """The clauses of a short text.

    Parameters
    ----------
    text : str
        Normalized.

    Returns
    -------
    Assertions or None
        None for longer texts, questions, and where the scope of a negation is not clear.

    Examples
    --------
    >>> one, other = assertions("no fever but cough"), assertions("no cough but fever")
    >>> one.content == other.content, one.status == other.status
    (True, False)
    >>> assertions("no fever, cough") is None
    True
    """
    words = text.casefold().split() if len(text) <= _LONGEST else []
    if not 0 < len(words) <= _MOST_WORDS or _is_question(text, words):
        return None
    plain, doubts = _doubt().subn("", text)
    plain = plain.strip(" .")
    clauses: set[tuple[tuple[str, ...], bool]] = set()
    for segment in _BREAK.split(plain):
        parts = _clauses(segment)
        if parts is None:
            return None
        clauses.update(((words, affirmed) for words, affirmed in parts if words))
    if not clauses or len({content for content, _ in clauses}) < len(clauses):
        return None
    return Assertions(frozenset(content for content, _ in clauses), frozenset(clauses), "possible" if doubts else "")


def _clauses(segment: str) -> list[tuple[tuple[str, ...], bool]] | None:
    starts = [found for found in _negator().finditer(segment) if _is_negation(found[0], segment)]
    before = segment[: starts[0].start()] if starts else segment
    result = [(_content(part), True) for part in _JOINED.split(before)]
    for place, found in enumerate(starts):
        stop = starts[place + 1].start() if place + 1 < len(starts) else len(segment)
        scope = segment[found.end() : stop].strip(" ,")
        parts = _ALTERNATIVE.split(scope) if re.search(r"\b(?:or|nor)\b", scope, re.IGNORECASE) else [scope]
        if any(_JOINED.search(part) for part in parts):
            return None
        result += [(_content(part), False) for part in parts]
    return result


def _is_negation(word: str, text: str) -> bool:
    """Whether a negating word is one: NO in capitals may be nitric oxide."""
    return not word.isupper() or len(word) < 2 or text.isupper()


def _content(part: str) -> tuple[str, ...]:
    return tuple(sorted(fold_word(word) for word in _WORD.findall(part) if word.casefold() not in _SMALL))


def _is_question(text: str, words: list[str]) -> bool:
    """Whether a text with a question mark asks somebody something."""
    if "?" not in text:
        return False
    asking, speaker = _asking()
    return words[0] in asking or bool(speaker.intersection(words)) or any("?" in word[1:-1] for word in words[:-1])


def without_question_mark(text: str) -> str:
    """A finding with a question mark, with "possible" in its place; other texts as they are.

    Parameters
    ----------
    text : str
        Normalized.

    Returns
    -------
    str

    Examples
    --------
    >>> without_question_mark("fever?"), without_question_mark("?PE"), without_question_mark("Is it broken?")
    ('possible fever', 'possible PE', 'Is it broken?')
    """
    if "?" not in text:
        return text
    words = text.casefold().split()
    if not 0 < len(words) <= _MOST_WORDS or _is_question(text, words):
        return text
    plain = _doubt().sub("", _doubt().sub("", text)).strip()
    if not _WORD.search(plain) or _MARK.search(plain):
        return text
    return f"possible {plain[0].lower() if plain[1:2].islower() else plain[0]}{plain[1:]}"
