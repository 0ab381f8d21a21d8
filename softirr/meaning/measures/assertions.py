"""What a short text asserts, denies and asks: its clauses with a side each, denied or not, and marks of doubt.

Where the scope of a negation is not clear ("no fever, cough"), nothing is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from softirr.meaning.lexicon.words import any_of, entries, wordings
from softirr.meaning.measures.clause_words import (
    LEFT_OVER_RIGHT,
    RIGHT_OVER_LEFT,
    SIDES,
    ClauseWords,
    clause_words,
    words_of_role,
)
from softirr.meaning.terminology.folded_words import fold_word

__all__ = ["Assertions", "assertions", "without_question_mark"]

_MOST_WORDS = 12
"""Words of a text that is taken for a finding; longer ones are sentences, which say more than their clauses."""
_LONGEST = 2_000
"""Characters of a text from which it is none, however few words it has."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_MARK = re.compile(r"\(\s*\?+\s*\)|\?+")
_MINUS = re.compile(r"[-−](?=\s*(?:$|[,;)/]))|(?<=\w)[-−](?=\s)")
"""A minus sign that denies the words before it: "HIV-", "cough (-)"."""
_NO_SIDE = 1


@dataclass(frozen=True)
class Assertions:
    """The clauses of a text, and for each of them whether it is affirmed or denied, and of what side.

    Attributes
    ----------
    content : tuple of tuples of str
        The folded words of each clause, sorted.
    affirmed, denied : tuple of int
        The side of each clause that is affirmed or denied, as in :data:`softirr.meaning.measures.clause_words.SIDES`; 0 where
        the clause is not, 1 without a side.
    doubt : str
        The value of the text's certainty: "" or "possible".
    """

    content: tuple[tuple[str, ...], ...]
    affirmed: tuple[int, ...]
    denied: tuple[int, ...]
    doubt: str


@dataclass(frozen=True)
class _Clause:
    words: tuple[str, ...]
    side: int
    is_affirmed: bool


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
        None for longer texts, questions, minus signs, and where the scope of a negation is not clear.

    Examples
    --------
    >>> one, other = assertions("no fever but cough"), assertions("no cough but fever")
    >>> one.content == other.content, one.denied == other.denied
    (True, False)
    >>> one, other = assertions("left arm and right leg"), assertions("right arm and left leg")
    >>> one.content == other.content, one.affirmed, other.affirmed
    (True, (2, 3), (3, 2))
    >>> assertions("no fever, cough") is None
    True
    """
    words = text.casefold().split() if len(text) <= _LONGEST else []
    if not 0 < len(words) <= _MOST_WORDS or _is_question(text, words) or _MINUS.search(text):
        return None
    plain, doubts = _doubt().subn("", text)
    plain = plain.strip(" .")
    grammar = clause_words(frozenset(_WORD.findall(plain.casefold())))
    clauses: list[_Clause] = []
    for segment in grammar.breaks.split(plain):
        own = _clauses(segment, grammar)
        if own is None:
            return None
        clauses += own
    return _joined(clauses, "possible" if doubts else "")


def _joined(clauses: list[_Clause], doubt: str) -> Assertions | None:
    """The clauses by their words: "left knee and right knee" are both of them."""
    sides: dict[tuple[str, ...], dict[bool, int]] = {}
    for clause in clauses:
        known = sides.setdefault(clause.words, {})
        known[clause.is_affirmed] = _both(known.get(clause.is_affirmed, 0), clause.side)
    if not sides or any(min(known.values()) == _NO_SIDE for known in sides.values() if len(known) > 1):
        return None  # the same is affirmed and denied
    if any(known[True] == known[False] for known in sides.values() if len(known) > 1):
        return None
    content = tuple(sorted(sides))
    affirmed, denied = (tuple(sides[words].get(side, 0) for words in content) for side in (True, False))
    return Assertions(content, affirmed, denied, doubt)


def _both(one: int, other: int) -> int:
    """The side of two mentions."""
    if min(one, other) <= _NO_SIDE or one == other:
        return max(one, other)
    return SIDES["both"] if max(one, other) <= SIDES["both"] else max(one, other)


def _clauses(segment: str, grammar: ClauseWords) -> list[_Clause] | None:
    """The clauses between two breaks; None where the scope of a negation or of a side is not clear."""
    starts = [match for match in grammar.negators.finditer(segment) if _is_negation(match, segment)]
    before = segment[: starts[0].start()] if starts else segment
    if (first := grammar.either.search(before)) and not _WORD.search(before[: first.start()]):
        return None  # noch koorts noch hoest: the first of two alternatives
    result = _with_sides(grammar.joiners.split(before), True, grammar)
    if grammar.either.search(before) and any(not clause.words for clause in result):
        return None  # left or right knee
    result = _whole(result)
    for place, start in enumerate(starts):
        stop = starts[place + 1].start() if place + 1 < len(starts) else len(segment)
        scope = segment[start.end() : stop].strip(" ,")
        if place + 1 < len(starts) and _is_denied_again(scope, starts[place + 1][0], grammar):
            return None  # not without pain
        parts = grammar.alternatives.split(scope) if grammar.either.search(scope) else [scope]
        if any(grammar.joiners.search(part) for part in parts):
            return None
        result += _whole(_with_sides(parts, False, grammar))
    return result


def _is_denied_again(scope: str, following: str, grammar: ClauseWords) -> bool:
    """Whether a negation denies the negation after it."""
    words = {word.casefold() for word in _WORD.findall(scope)}
    return words <= grammar.small and following.casefold() not in words_of_role("negative determiner")


def _with_sides(parts: list[str], is_affirmed: bool, grammar: ClauseWords) -> list[_Clause]:
    """The parts of a segment as clauses; a second side begins a clause of its own."""
    result = []
    for part in parts:
        words: list[str] = []
        side, is_after_number = _NO_SIDE, False
        if order := grammar.order.search(part):
            first = grammar.sides[order["first"].casefold()]
            left_first = (first == SIDES["left"]) == (order["over"] is not None)
            side = LEFT_OVER_RIGHT if left_first else RIGHT_OVER_LEFT
            part = f"{part[: order.start()]} {part[order.end() :]}"
        for match in _WORD.finditer(part):
            word = match[0].casefold()
            if word in grammar.sides and not is_after_number:
                if side > _NO_SIDE and words and side != grammar.sides[word]:
                    result.append(_Clause(tuple(sorted(words)), side, is_affirmed))
                    words, side = [], _NO_SIDE
                side = _both(side, grammar.sides[word])
            elif word not in grammar.small:
                # a letter after a number is a unit: 10 V, 5 L
                words.append(word if is_after_number and len(word) == 1 else fold_word(match[0]))
            is_after_number = word.isdigit()
        if words or side > _NO_SIDE:
            result.append(_Clause(tuple(sorted(words)), side, is_affirmed))
    return result


def _whole(clauses: list[_Clause]) -> list[_Clause]:
    """The clauses; one that has only a side belongs to its neighbor: left and right knee."""
    result: list[_Clause] = []
    side = 0
    for clause in clauses:
        if not clause.words and result:
            result[-1] = replace(result[-1], side=_both(result[-1].side, clause.side))
        elif not clause.words:
            side = _both(side, clause.side)
        else:
            result.append(replace(clause, side=_both(side, clause.side)) if side else clause)
            side = 0
    return [*result, *([_Clause((), side, clauses[0].is_affirmed)] if side else [])]


def _is_negation(match: re.Match[str], text: str) -> bool:
    """Whether a negating word is one: NO in capitals may be nitric oxide, and no before a digit is a number."""
    word = match[0]
    if word.casefold() == "no" and text[match.end() :].lstrip()[:1].isdigit():
        return False
    return not word.isupper() or len(word) < 2 or text.isupper()


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
