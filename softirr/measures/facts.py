"""Facts that models overlook, read before a model: dates, amounts, signs, doubt, sides and the scope of negation.

Two texts with different values of one type, in the same place, are not the same. Numbers without a unit are compared
where nothing else differs. A value that is written in another unit or form is rewritten to one form before the model
sees the text. What only one text mentions, and what is not clear, is left to the model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from softirr.lexicon.words import any_of, entries, wordings
from softirr.measures.assertions import Assertions, assertions, without_question_mark
from softirr.measures.clause_words import SIDES_EXCLUDE
from softirr.measures.dates import clock_times, dates, weekdays
from softirr.measures.exchanged_words import KINDS, ExchangedSides, ExchangedWords
from softirr.measures.layers import Stage, TextLayerMeasure, layered
from softirr.measures.money import money
from softirr.measures.protocols import Measure
from softirr.measures.quantities import numbers, quantities, ratios
from softirr.measures.stages import stages
from softirr.measures.typed_values import AS_WRITTEN, LETTER, NUMBER, TypedValue
from softirr.provenance import Provenance

__all__ = ["OF_CLAUSES", "VERSION", "Compared", "FactsMeasure", "TextFacts", "facts_of", "with_facts"]

OF_CLAUSES = ("side", "negation", "certainty", *KINDS)
"""What clauses with the same words can differ in."""
VERSION = 8
"""Of what is read; it is part of the key of cached scores and of the provenance."""
LONGEST = 2_000
"""Characters of a text from which nothing is read."""
MOST_VALUES = 8
"""Values of one type in a text, beyond which it is a table and not compared."""

_HINT = re.compile(r"\d|[+?−]|-(?:$|[\s,;)/]|ve\b)|[Dd]ay\b|[Dd]ays\b|positive|negative|\bneg\b|\bpos\b", re.IGNORECASE)
"""Texts without any of these have no value; most texts of most projects."""
_HINT_WORDS = re.compile(
    r"\s[IVX]+[A-D]?\b|\b(?:mon|tue|wed|thu|fri|sat|sun)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)\b",
    re.IGNORECASE,
)
_SIGN = re.compile(
    r"(?P<name>[A-Z0-9](?![.,])|\b[A-Z][a-z])(?P<attached>[+−-](?:ve\b)?)(?=$|[\s,;)/])|(?<=\s)(?P<word>[+−-]ve)\b|(?:^|\s)(?P<alone>[+−-])(?=$|\s*[,;)/])|(?<=[a-z])(?P<end>\+)$"
)
_SIGNED = re.compile(r"(?<![\w.)/+−-])(?<!\d\s)[+−-]\d{1,9}(?:\.\d{1,9})?(?![\w/+-]|\.\d)")
_NEAR = 60
"""Characters before a sign in which a negation is looked for."""
_ONLY_IN_A_FRAME = frozenset({NUMBER, NUMBER + AS_WRITTEN, LETTER})
"""Types that are compared only where the rest of both texts is the same."""
_SYMMETRIC = re.compile(r"[\s,;/&+x×-]*|\s*(?:and|or|by)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class TextFacts:
    """What was read in a text.

    Attributes
    ----------
    values : tuple of TypedValue
        In the order of the text.
    written : str
        The text with its values in one form.
    frame : str
        The text without its values.
    is_list : bool
        Whether only marks and "and" are between the values, so that their order means nothing.
    asserted : Assertions or None
    """

    values: tuple[TypedValue, ...]
    written: str
    frame: str
    is_list: bool
    asserted: Assertions | None


@lru_cache(maxsize=1 << 17)
def facts_of(text: str) -> TextFacts:
    """Read a normalized text; one that is long has no facts.

    Parameters
    ----------
    text : str

    Returns
    -------
    TextFacts

    Examples
    --------
    >>> facts_of("0.005 g on 5 January 2026").written
    '5 mg on 2026-01-05'
    """
    if len(text) > LONGEST:
        return TextFacts((), text, text, True, None)
    asserted = assertions(text)
    if not _HINT.search(text) and not _HINT_WORDS.search(text):
        return TextFacts((), text, text, True, asserted)
    values = _not_overlapping(
        [
            *dates(text),
            *clock_times(text),
            *weekdays(text),
            *money(text),
            *quantities(text),
            *ratios(text),
            *_signs(text),
            *stages(text),
            *numbers(text),
        ]
    )
    written, frame, between = [], [], []
    at = 0
    for value in values:
        if value.end == value.start:
            continue
        gap = text[at : value.start]
        written += [gap, value.written or text[value.start : value.end]]
        frame += [gap, "#"]
        between.append(gap)
        at = value.end
    is_list = all(_SYMMETRIC.fullmatch(gap) for gap in between[1:])
    whole = "".join([*written, text[at:]])
    return TextFacts(values, without_question_mark(whole), "".join([*frame, text[at:]]), is_list, asserted)


def _not_overlapping(values: list[TypedValue]) -> tuple[TypedValue, ...]:
    """Values in order, without those that overlap an earlier kind of value: a date's numbers are no ratio."""
    kept: list[TypedValue] = []
    taken: list[tuple[int, int]] = []
    group: list[TypedValue] = []
    for value in values:  # the parts of one wording follow each other, and the last one spans it
        group.append(value)
        if value.end == value.start:
            continue
        if not any(start < value.end and value.start < end for start, end in taken):
            kept += group
            taken.append((value.start, value.end))
        group = []
    return tuple(sorted(kept, key=lambda value: (value.start, value.end)))


def _signs(text: str) -> list[TypedValue]:
    result = []
    for match in _SIGN.finditer(text):
        name = next(key for key in ("attached", "word", "alone", "end") if match[key])
        positive = match[name].startswith("+")
        start, end = match.span(name)
        written = None if name == "alone" and not text[:start].strip() else (" positive" if positive else " negative")
        result.append(TypedValue("sign", float(positive), float(positive), start, end, written))
    for match in _SIGNED.finditer(text):
        number = float(match[0].replace("−", "-"))
        result.append(TypedValue("signed number", number, number, *match.span()))
    for match in _sign_words().finditer(text):
        if _negated().search(text[max(0, match.start() - _NEAR) : match.start()]):
            continue  # not HIV positive
        positive = match[0].casefold().startswith("p")
        result.append(TypedValue("sign", float(positive), float(positive), *match.span()))
    return sorted(result, key=lambda value: value.start)


@lru_cache(maxsize=1)
def _sign_words() -> re.Pattern[str]:
    words = [word for entry in entries() if entry.dimension == "sign" for word in entry.wordings]
    return re.compile(rf"(?<!\w){any_of(words)}(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=1)
def _negated() -> re.Pattern[str]:
    """A negation right before a word, or up to three words before it."""
    negators = any_of(wordings("negation", "negator"))
    return re.compile(
        rf"(?:(?:(?<!\w){negators}|n['’]t)(?:\s+(?!(?:but|and|with)\b)[\w-]+){{0,3}}\s+|(?<!\w)non-)$", re.IGNORECASE
    )


class Compared:
    """The facts of n texts as arrays, for any pairs of them."""

    def __init__(self, facts: Sequence[TextFacts]) -> None:
        self._types = [_Type(number, facts, n) for number, n in _types(facts)]
        frames: dict[str, int] = {}
        self._frame = np.array([frames.setdefault(one.frame.casefold(), len(frames)) for one in facts], dtype=np.int64)
        self._is_list = np.array([one.is_list for one in facts], dtype=bool)
        self._clauses = _Clauses(facts)
        self._exchanged = ExchangedWords([one.asserted for one in facts], [one.written for one in facts])
        self._sides = ExchangedSides([one.written for one in facts])

    def differ(
        self, left: NDArray[np.int64], right: NDArray[np.int64], of_clauses: Collection[str] = OF_CLAUSES
    ) -> NDArray[np.bool_]:
        """Which pairs have different facts; `of_clauses` are the attributes that clauses are compared in."""
        left, right = np.broadcast_arrays(left, right)
        result = self.clauses_differ(left, right, of_clauses)
        if self._types:
            framed = self._frame[left] == self._frame[right]
            in_order = framed & ~self._is_list[left]
            for one in self._types:
                result |= one.differ(left, right, in_order) & (framed | (one.name not in _ONLY_IN_A_FRAME))
        return result

    def clauses_differ(
        self, left: NDArray[np.int64], right: NDArray[np.int64], of_clauses: Collection[str] = OF_CLAUSES
    ) -> NDArray[np.bool_]:
        """Which pairs have the same words in clauses that differ in an attribute, or that exchange words or sides."""
        of_words = self._clauses.differ(left, right, of_clauses) | self._exchanged.differ(left, right, of_clauses)
        return of_words | self._sides.differ(left, right)


def _types(facts: Sequence[TextFacts]) -> list[tuple[str, int]]:
    most: dict[str, int] = defaultdict(int)
    for one in facts:
        for name in {value.quantity for value in one.values}:
            most[name] = max(most[name], sum(value.quantity == name for value in one.values))
    return [(name, min(n, MOST_VALUES)) for name, n in sorted(most.items())]


class _Clauses:
    """The clauses of n texts: a number for the words of each text, 0 for none, and the sides, shape (n, k)."""

    def __init__(self, facts: Sequence[TextFacts]) -> None:
        contents: dict[object, int] = {}
        most = max((len(one.asserted.content) for one in facts if one.asserted is not None), default=0)
        self._content = np.zeros(len(facts), dtype=np.int64)
        self._is_doubted = np.zeros(len(facts), dtype=bool)
        self._affirmed = np.zeros((len(facts), most), dtype=np.int8)
        self._denied = self._affirmed.copy()
        for k, one in enumerate(facts):
            if one.asserted is not None:
                self._content[k] = contents.setdefault(one.asserted.content, len(contents) + 1)
                self._is_doubted[k] = bool(one.asserted.doubt)
                self._affirmed[k, : len(one.asserted.content)] = one.asserted.affirmed
                self._denied[k, : len(one.asserted.content)] = one.asserted.denied

    def differ(
        self, left: NDArray[np.int64], right: NDArray[np.int64], attributes: Collection[str]
    ) -> NDArray[np.bool_]:
        """Which pairs have the same clauses, with one that only one text denies or doubts, or with another side."""
        result: NDArray[np.bool_] = (self._content[left] > 0) & (self._content[left] == self._content[right])
        rows = np.nonzero(result)
        a, b = left[rows], right[rows]
        apart = np.zeros((len(a), self._affirmed.shape[1]), dtype=bool)
        if "side" in attributes:
            apart |= (
                SIDES_EXCLUDE[self._affirmed[a], self._affirmed[b]] | SIDES_EXCLUDE[self._denied[a], self._denied[b]]
            )
        if "negation" in attributes:
            for one, other in ((a, b), (b, a)):
                apart |= (self._affirmed[one] > 0) & (self._affirmed[one] == self._denied[other])
        doubted = (self._is_doubted[a] != self._is_doubted[b]) & ("certainty" in attributes)
        result[rows] = apart.any(axis=1) | doubted
        return result


class _Type:
    """The values of one type: count, shape (n,), bounds, shape (n, k), in the order of the text and sorted."""

    def __init__(self, name: str, facts: Sequence[TextFacts], most: int) -> None:
        self.name = name
        self._count = np.zeros(len(facts), dtype=np.int64)
        self._low = np.full((len(facts), most), np.nan)
        self._high = self._low.copy()
        for k, one in enumerate(facts):
            own = [(value.low, value.high) for value in one.values if value.quantity == name]
            if 0 < len(own) <= most:
                self._count[k] = len(own)
                self._low[k, : len(own)], self._high[k, : len(own)] = zip(*own, strict=True)
        self._sorted = np.sort(self._low, axis=1)

    def _below(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which values of one text end where those of another begin, or before, apart from rounding."""
        high, low = self._high[a], self._low[b]
        slack = np.where(np.isfinite(low), 1e-9 * np.abs(low), 0.0)
        return np.asarray(high <= low + slack)

    def differ(self, left: NDArray[np.int64], right: NDArray[np.int64], framed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which pairs have as many values, of which one excludes its counterpart.

        Two in another order only in the same frame.
        """
        result = (self._count[left] > 0) & (self._count[left] == self._count[right])
        rows = np.nonzero(result)
        a, b = left[rows], right[rows]
        with np.errstate(invalid="ignore"):
            apart = self._below(a, b) | self._below(b, a)
            apart &= (self._low[a] != self._low[b]) | (self._high[a] != self._high[b])
        moved = np.all((self._sorted[a] == self._sorted[b]) | np.isnan(self._sorted[a]), axis=1)
        result[rows] = apart.any(axis=1) & (~moved | framed[rows])
        return result


class FactsMeasure(TextLayerMeasure):
    """A measure whose texts are read for facts first; see :func:`with_facts`."""

    @property
    def layer_key(self) -> str:
        """What is read."""
        return f"facts:{VERSION}"

    def stage(self, texts: Sequence[str]) -> Stage:
        """The texts with their values in one form, and which pairs have different facts."""
        facts = [facts_of(text) for text in texts]
        limit = Compared(facts).differ if any(one.values or one.asserted is not None for one in facts) else None
        return Stage([{0: one.written} for one in facts], (), limit)

    def provenance(self) -> Provenance:
        """The raw measure's provenance, with the version of the facts."""
        return replace(self.raw.provenance(), facts=VERSION)


def with_facts(measure: Measure) -> Measure:
    """Read facts before a measure that uses a model compares texts.

    Parameters
    ----------
    measure : Measure

    Returns
    -------
    Measure
        With the capabilities of the given one.

    Examples
    --------
    >>> from softirr.measures import measure
    >>> made = with_facts(measure("exact"))
    >>> made.score([("5 mg", "0.005 g"), ("seen 5 January 2026", "seen 2026-01-05")]).tolist()
    [1.0, 1.0]
    """
    return layered(FactsMeasure, measure)
