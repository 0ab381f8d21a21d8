"""Attributes of English texts: side, severity, time, number, certainty, negation, subject, cause.

The recognizer is made of rules over word classes, not of a parser. It does not change a text when only attributes
would remain, and it leaves names alone ("small bowel", "type 2 diabetes"). How often it is right is measured in
``tests/meaning/policy/test_attributes.py``.

The rules are regular expressions in ``patterns.tsv`` and ``attribute_rules.tsv`` of the lexicon. In them ``{tens}`` is
the pattern of that name and ``{side.level}`` any wording of a class of ``attributes.tsv``. Rows of one name are
alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache

from softirr.errors import InputError
from softirr.meaning.lexicon import any_of, rows, word_list, wordings
from softirr.text import normalize

_REFERENCE = re.compile(r"\{([a-z_.]+)\}")
_CACHED = 1 << 17
LONGEST = 2_000
"""Maximum number of characters of a finding; longer texts are reports.

None of its words is taken for an attribute of the whole.
"""
_WORD = re.compile(r"\w+")
_FUNCTION_WORDS = re.compile(any_of(word_list("function")), re.IGNORECASE)
_LOOSE_LAST = re.compile(rf"(?:[,;:/&+(\[-]|\b{any_of(word_list('loose_at_end'))})$", re.IGNORECASE)
_LONGEST_LOOSE = 6
"""Characters in which the last mark or small word of a text is looked for, with the one before it."""
_LOOSE_START = re.compile(rf"^\s*(?:(?:[,;:/&+)\]-]|{any_of(word_list('loose_at_start'))}\b)\s*)+", re.IGNORECASE)
_EMPTY_BRACKETS = re.compile(r"\(\s*[,;]?\s*\)|\[\s*\]")
_BEFORE_COMMA = re.compile(r"\s+(?=[,;:.)])|(?<=\()\s+")
_COMMAS = re.compile(r"([,;])(?:\s*[,;])+")
_DANGLING = re.compile(r"\b(?:and|or|to)\s+(?=[,;.)]|$)|(?<=[,;])\s+(?:and|or)\s*$", re.IGNORECASE)


@cache
def pattern(name: str) -> str:
    """The regular expression of a name, for lower case and upper case alike.

    Parameters
    ----------
    name : str
        Of ``patterns.tsv`` or ``numbers.tsv``, or kind and class of ``attributes.tsv`` with a period between them.
        ``name`` has names, and other wordings that hold no attribute.

    Examples
    --------
    >>> pattern("side.left_right"), re.findall(pattern("quantity"), "about 3 to 5, a few")
    ('(?:right|left)', ['about 3 to 5', 'a few'])
    """
    if "." in name:
        return any_of(wordings(*name.split(".")))
    if numbers := [word for word, _, row_name in rows("numbers") if row_name == name]:
        return any_of(numbers)
    return "(?:" + "|".join(_filled(wording) for row_name, wording in rows("patterns") if row_name == name) + ")"


def _filled(wording: str) -> str:
    return _REFERENCE.sub(lambda match: pattern(match[1]), wording)


KIND_NAMES = {
    "side": "side",
    "severity": "severity",
    "time": "course and time",
    "number": "number and measure",
    "certainty": "certainty",
    "negation": "negation",
    "subject": "subject (who has it)",
    "cause": "cause and circumstance",
}
"""Kinds of attributes, and their names for people."""
KINDS: tuple[str, ...] = tuple(KIND_NAMES)


@dataclass(frozen=True, order=True)
class Span:
    """Words of a text that state one attribute: the text from `start` to `end`."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Attributes:
    """A text and its attributes in order.

    Attributes
    ----------
    text : str
        The text, normalized.
    spans : tuple of Span
        Sorted; no two overlap.
    """

    text: str
    spans: tuple[Span, ...]

    def of(self, kind: str) -> tuple[str, ...]:
        """The wordings of one kind.

        Examples
        --------
        >>> attributes("severe pain in the left knee for 3 days").of("time")
        ('for 3 days',)
        """
        return tuple(self.text[span.start : span.end] for span in self.spans if span.kind == kind)


def kinds_of(names: Collection[str]) -> frozenset[str]:
    """Check names of kinds of attributes.

    Raises
    ------
    InputError
        If a name is not one of :data:`KINDS`.
    """
    if unknown := sorted(set(names) - set(KINDS)):
        raise InputError(f"There is no attribute {unknown[0]!r}; the attributes are {', '.join(KINDS)}.")
    return frozenset(names)


@lru_cache(maxsize=_CACHED)
def attributes(text: str) -> Attributes:
    """The attributes of a short English text.

    Returns
    -------
    Attributes of the text
        Without spans if no attribute is recognized, or no head would remain.

    Examples
    --------
    >>> read = attributes("severe pain in the left knee for 3 days")
    >>> sorted(span.kind for span in read.spans)
    ['severity', 'side', 'time']
    """
    text = normalize(text)
    spans = _recognize(text) if len(text) <= LONGEST else ()
    head = _WORD.findall(_cut(text, spans)) if spans else ()
    has_head = any(not _FUNCTION_WORDS.fullmatch(word) and not word.isdigit() for word in head)
    return Attributes(text, spans if has_head else ())


def without(text: str, kinds: Collection[str]) -> str:
    """A text without its attributes of some kinds; the text itself if it has none, or no head would remain.

    Parameters
    ----------
    kinds : collection of str
        Of :data:`KINDS`.

    Examples
    --------
    >>> without("severe pain in the left knee for 3 days", {"severity", "time"})
    'pain in the left knee'
    >>> without("mild", {"severity"})
    'mild'
    """
    return _without(normalize(text), frozenset(kinds))


@cache
def _names_and_rules() -> tuple[re.Pattern[str], tuple[tuple[str, re.Pattern[str], bool], ...]]:
    """A pattern of names, and the rules: kind, pattern, and whether its wording runs on to the end of the clause.

    The first rule that fits a place claims it. They are compiled on first use, which takes a moment.
    """
    compiled = []
    for kind, ends, wording in rows("attribute_rules"):
        begin = "" if wording.startswith(r"\?") else r"(?<![\w-])"  # a question mark may follow a word
        compiled.append((kind, re.compile(f"{begin}(?:{_filled(wording)})", re.IGNORECASE), ends == "clause"))
    return re.compile(rf"(?<![\w-]){pattern('name')}(?![\w])", re.IGNORECASE), tuple(compiled)


_OPENS_TIME = re.compile(
    r"(?:for|since|lasting|over|every|in the|at night|yesterday|today|last|daily)\b", re.IGNORECASE
)


@lru_cache(maxsize=_CACHED)
def _without(text: str, kinds: frozenset[str]) -> str:
    read = attributes(text)
    spans = tuple(span for span in read.spans if span.kind in kinds)
    return (_cut(text, spans) or text) if spans else text


def _recognize(text: str) -> tuple[Span, ...]:
    names, rules = _names_and_rules()
    taken = bytearray(len(text))
    for name in names.finditer(text):
        taken[name.start() : name.end()] = b"\1" * (name.end() - name.start())
    spans: list[Span] = []
    for kind, rule, runs_on in rules:
        for match in rule.finditer(text):
            start, end = match.span()
            while start < end and text[start] in " ,":
                start += 1
            if runs_on:
                end = _end_of_clause(text, start, end, spans)
                if taken[start]:
                    continue
                spans = [span for span in spans if span.end <= start or span.start >= end]
            elif any(taken[start:end]):
                continue
            while end > start and text[end - 1] == " ":
                end -= 1
            if end > start:
                taken[start:end] = b"\1" * (end - start)
                spans.append(Span(start, end, kind))
    return tuple(sorted(spans))


def _end_of_clause(text: str, start: int, end: int, spans: list[Span]) -> int:
    """Where a clause that runs on ends: before a phrase of time that starts with its own word."""
    for span in sorted(spans):
        if span.kind == "time" and start < span.start < end and _OPENS_TIME.match(text, span.start):
            return span.start
    return end


def _cut(text: str, spans: tuple[Span, ...]) -> str:
    """The text without spans, and without the commas, brackets and small words that they leave behind."""
    pieces, end = [], 0
    for span in spans:
        pieces.append(text[end : span.start])
        end = span.end
    remaining = " ".join([*pieces, text[end:]])
    remaining = _COMMAS.sub(
        r"\1", _BEFORE_COMMA.sub("", _DANGLING.sub("", _EMPTY_BRACKETS.sub(" ", normalize(remaining))))
    )
    remaining = normalize(_LOOSE_START.sub("", _without_loose_end(remaining)))
    if not remaining:
        return ""
    return remaining[0].upper() + remaining[1:] if text[0].isupper() and not text.isupper() else remaining


def _without_loose_end(text: str) -> str:
    """The text without the marks and small words at its end, in linear time."""
    text = text.rstrip()
    end = len(text)
    while end and (loose := _LOOSE_LAST.search(text[max(0, end - _LONGEST_LOOSE) : end])):
        end -= len(loose[0])
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end]
