"""Facts that models overlook: numbers with units, sides, signs and English negation.

Amounts are rewritten to one form before a model sees the text ("0.005 g" becomes "5 mg"). Two texts are different if a
fact that both state excludes the other, whatever a model gives. Digits inside dates, times of a day and amounts of
money are left to the model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from string import ascii_letters

from softirr.meaning.lexicon import any_of, word_list, wordings
from softirr.meaning.measures.quantities import Value, numbers, replacement, unread_spans

VERSION = 13
"""Version of the rules, part of the keys of cached scores and of the provenance."""
SIDE, SIGN = "side", "sign"
"""Quantities of sides and signs."""
LONGEST = 2_000
"""Maximum number of characters of a text; the facts of longer texts are not read."""
MOST_WORDS = 12
"""Maximum number of words of a text; negations and sides of longer texts are not read."""
_FRACTION = re.compile(
    r"(?:([0-9]{1,9})\s?)?([½⅓⅔¼¾⅛⅜⅝⅞])"
    r"|(?<![\w.,/-])([0-9]{1,9})\s(1/2|[12]/3|[13]/4|[1357]/8)(?![\w/]|[.,]\d)"
)
"""A fraction in one character, or with a slash after a number: without one, 3/4 may mean two grades."""
_LIST_GAP = re.compile(r"[\s,;&+x×]*|\s*(?:and|or|by)\s*", re.IGNORECASE)
_SIGN = re.compile(
    r"(?:(?<=[A-Z0-9])|(?<=\b[A-Z][a-z]))[+−-](?:ve\b)?(?=$|[\s,;)/])|(?<=\s)[+−-]ve\b"
    r"|(?<=\w\s)[+−-](?=$|[,;)])|(?<=\()[+−-](?=\)(?!-\w))|^[+−-]$"
)
_OR = re.compile(r"\b(?:or|nor)\b", re.IGNORECASE)
_ENDS_WITH_OR = re.compile(r"\bor\s*$", re.IGNORECASE)
_PLURAL = re.compile(r"(?<=[^\W\d_]{2})s\b")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_BREAK = re.compile(rf"\s*(?:[;.]\s|\b{any_of(word_list('break'))}\b)\s*", re.IGNORECASE)
_SMALL = frozenset(word_list("small"))
_SIDE_CODES = {
    word.rstrip("."): code
    for side, code in (("left", 1), ("right", 2), ("bilateral", 3))
    for word in (*wordings("side", value=side), *word_list(side))
}
"""Codes, as bits, of the words for sides, in English and in other languages."""
_SIDE = re.compile(
    rf"(?<![\w-])((?i:{any_of(word for word in _SIDE_CODES if len(word) > 1)})|(?<!\d\s)[LR](?![\w-]|\s?\d))"
    r"(?:[\s-]sided?)?(?!\w)\.?(?!\d)"
)
_NEGATORS = any_of([*wordings("negation", "negator"), "neither", "cannot", "absent", "none", "ruled out"])
_NEGATOR = re.compile(rf"(?<!\w)(?:{_NEGATORS}|\w+n['’]t)(?!\w)", re.IGNORECASE)


@dataclass(frozen=True)
class TextFacts:
    """Facts of a text.

    Attributes
    ----------
    values : tuple of Value
        Values in the order of the text.
    rewritten_text : str
        The text with its amounts in one form.
    frame : str
        The text in folded case, with ``#`` in place of each value.
    is_list : bool
        Whether only commas and "and" separate the values, so that their order means nothing.
    words : tuple of str
        Sorted folded words without sides and small words; empty if the text is long or its negation is unclear.
    denied : tuple of bool
        Whether the text denies each of these words.
    unread : tuple of (int, int)
        Positions of dates, times and amounts of money.
    """

    values: tuple[Value, ...]
    rewritten_text: str
    frame: str
    is_list: bool
    words: tuple[str, ...]
    denied: tuple[bool, ...]
    unread: tuple[tuple[int, int], ...]

    def of(self, quantity: str) -> list[Value]:
        """The values of a quantity."""
        return [value for value in self.values if value.quantity == quantity]


def _decimal(fraction: re.Match[str]) -> str:
    """A fraction, with the number before it, as a decimal number."""
    below_one = unicodedata.numeric(fraction[2]) if fraction[2] else float(Fraction(fraction[4]))
    return f"{int(fraction[1] or fraction[3] or 0) + round(below_one, 3):.10g}"


@lru_cache(maxsize=1 << 17)
def facts_of(text: str) -> TextFacts:
    """Read the facts of a normalized text.

    Examples
    --------
    >>> facts_of("0.005 g for two weeks").rewritten_text
    '5 mg for 14 days'
    """
    if len(text) > LONGEST:
        return TextFacts((), text, text, True, (), (), ())
    text = _FRACTION.sub(_decimal, text)
    unread = unread_spans(text)
    values = _values(text, unread)
    words = _denials(text)
    starts = [*(value.start for value in values), len(text)]
    ends = [0, *(value.end for value in values)]
    *gaps, remaining = (text[end:start] for end, start in zip(ends, starts, strict=True))
    rewritten = "".join(gap + _rewritten(text, value) for gap, value in zip(gaps, values, strict=True)) + remaining
    prefix = gaps[0][len(gaps[0].rstrip(ascii_letters)) :] if gaps else ""  # L3-L5
    is_list = all(
        _LIST_GAP.fullmatch(gap.removesuffix(prefix))
        or (gap == "/" and value.quantity == SIDE)
        or (prefix and gap == f"-{prefix}")
        for gap, value in zip(gaps[1:], values[1:], strict=True)
    )
    frame = _PLURAL.sub("", "#".join([*gaps, remaining]).casefold())
    folded, denied = zip(*words, strict=True) if words else ((), ())
    return TextFacts(values, rewritten, frame, is_list, folded, denied, unread)


def _rewritten(text: str, value: Value) -> str:
    if value.quantity != SIGN:
        return replacement(text, value)
    word = "positive" if value.low else "negative"
    return word if value.start == 0 or text[value.start - 1] in " (" else f" {word}"


def _values(text: str, unread: Sequence[tuple[int, int]]) -> tuple[Value, ...]:
    values = [*numbers(text, unread), *_sides(text), *_signs(text)]
    values.sort(key=lambda value: (value.start, -value.end))
    result: list[Value] = []
    for value in values:
        if not result or value.start >= result[-1].end:
            result.append(value)
    return tuple(result)


def _sides(text: str) -> Iterator[Value]:
    if len(text.split()) > MOST_WORDS:
        return
    for match in _SIDE.finditer(text):
        code = _SIDE_CODES[match[1].casefold()]
        yield Value(SIDE, code, code, *match.span())


def _signs(text: str) -> Iterator[Value]:
    """Signs that mean positive and negative: "HIV+", "cough (-)", or only the sign."""
    for match in _SIGN.finditer(text):
        preceding_word = text[: match.start()].rstrip(" (").rpartition(" ")[2]
        if len(text) == 1 or any(map(str.isalpha, preceding_word)):  # not 5+ years
            is_positive = float(match[0][0] == "+")
            yield Value(SIGN, is_positive, is_positive, *match.span())


def _denials(text: str) -> list[tuple[str, bool]]:
    """The content words of a short text, and whether each is denied; none if the scope of a negation is unclear.

    A negator denies the words behind it, or, if it is the last word of its clause, the words before it.
    """
    if not 0 < len(text.split()) <= MOST_WORDS or "?" in text or _SIGN.search(text):
        return []
    words: list[tuple[str, bool]] = []
    for clause in _BREAK.split(text):
        # "no 5" is a number, and NO in capitals is nitric oxide
        negators = [
            match
            for match in _NEGATOR.finditer(clause)
            if not re.match(r"\s?\d", clause[match.end() :]) and (match[0] != "NO" or text.isupper())
        ]
        ends = [match.start() for match in negators] + [len(clause)]
        scopes = [clause[match.end() : end] for match, end in zip(negators, ends[1:], strict=True)]
        preceding = clause[: ends[0]]
        if len(scopes) == 1 and not _content(scopes[0]) and not _ENDS_WITH_OR.search(preceding):
            scopes = [preceding]
        else:
            words += [(word, False) for word in _content(preceding)]
        for scope in scopes:
            denied = _denied(scope)
            if not denied:
                return []
            words += [(word, True) for word in denied]
    words.sort()
    if any(current[0] == following[0] and current[1] != following[1] for current, following in pairwise(words)):
        return []
    return words


def _denied(scope: str) -> list[str]:
    """The words that a negator denies; none if that is unclear: "no fever and cough"."""
    scope = re.sub(r"[\s,]+(?:and|or|nor|with)$", "", scope.strip(" ,;.:"), flags=re.IGNORECASE)
    if re.search(r"[,;.]|\b(?:and|with)\b", scope, re.IGNORECASE) and not _OR.search(scope):
        return []
    return [word for word in _content(scope) if word not in ("or", "nor")]


def _content(text: str) -> list[str]:
    """Folded words without sides and small words."""
    words = (_PLURAL.sub("", match[0].casefold()) for match in _WORD.finditer(_SIDE.sub(" ", text)))
    return [word for word in words if word not in _SMALL]
