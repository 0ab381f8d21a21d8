"""Values of attributes, whatever their wording.

"slight" and "mild" are one severity, "for 2 weeks" and "14-day history of" one time.

A policy under which an attribute counts (:attr:`softirr.meaning.policy.rules.Policy.count`) compares these values,
dimension by dimension: the laterality of a side with a laterality, a length with a length. A wording that is not
understood has no value, and the measure decides. A cause never has a value, because it is another text. Nor has a
negation of a part of a text: "cough without pyrexia" and "cough without fever" are for the measure. The wordings are in
``softirr/meaning/lexicon/attributes.tsv``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import cache, lru_cache

from softirr.meaning.lexicon import any_of, entries, rows, wordings
from softirr.meaning.measures.facts import SIDE, SIGN, facts_of
from softirr.meaning.measures.quantities import NUMBER, NUMBER_WORDS, Value
from softirr.meaning.policy.attributes import attributes

AttributeValue = frozenset[tuple[str, tuple[str, ...]]]
"""Dimensions of an attribute in a text, each with its values."""
_MANY = re.compile(r"\b(?:several|many|multiple|numerous|a few|few|some)\b")
_EVERY = re.compile(r"\b(?:every|each|per|daily|ago|old|age|aged|a day|a week|a month|a year)\b|/")
_POINT = re.compile(r"\b(day|week|month|year|trimester)s?\s+(\d+)\b")
_GRADE = re.compile(r"\b(grade|stage|class|degree)s?\W*(\w+)|\b(\w+)[- ](degree|grade)\b")
_SINGLE = re.compile(r"\ban?\s+(?=(?:day|week|month|year|hour|minute)s?\b)")
_SHORT_TIMES = re.compile(r"(?<=\d)\s?([dwymh])(?!\w)")
_BESIDE = re.compile(r"\d\s?(?:x|×|by)\s?\d")
_JOINING = re.compile(r"\s*(?:and|&|\+)\s*(?:(?:in|of|on)\s+)?(?:the\s+)?", re.IGNORECASE)
_ONLY_NEGATING = re.compile(r"\W*(?:(?:but|with|and|in|the|there|is|are|was|were)\s+)*")


def _digits(kind: str) -> dict[str, str]:
    return {wording: digits for row_kind, wording, digits in rows("number_wordings") if row_kind == kind}


_AS_DIGITS = {**_digits("amount"), **{word: str(number) for word, number in NUMBER_WORDS.items()}, **_digits("count")}
_GRADES = _AS_DIGITS | _digits("grade")
_WHOLE_TIME = {"d": " days", "w": " weeks", "y": " years", "m": " months", "h": " hours"}


@lru_cache(maxsize=1 << 17)
def value(text: str, kind: str) -> AttributeValue | None:
    """The values of an attribute in a text.

    Parameters
    ----------
    kind : str
        Of :data:`softirr.meaning.policy.attributes.KINDS`.

    Returns
    -------
    frozenset of (str, tuple of str), or None
        Values by dimension. Empty if the text lacks the attribute; None if its wording is not understood.

    Examples
    --------
    >>> value("slight pain in the left knee", "severity"), value("knee pain", "severity")
    (frozenset({('degree', ('mild',))}), frozenset())
    >>> value("cough for two weeks", "time") == value("14-day history of cough", "time")
    True
    >>> value("BP 160/95", "number") == value("BP 95/160", "number")
    False
    >>> value("rash after swimming", "cause") is None
    True
    """
    result: defaultdict[str, list[str]] = defaultdict(list)
    denied = facts_of(attributes(text).text).denied if kind == "negation" else ()
    if kind == "negation" and not (denied and all(denied)):  # it denies a part of the text only
        return None if attributes(text).of(kind) else frozenset()
    if kind in ("number", "time") and _reads_on(text, kind):
        return None
    for wording in attributes(text).of(kind):
        values = _said(kind, " ".join(wording.casefold().split()))
        if not values:
            return None
        for dimension, value in values:
            result[dimension].append(value)
    if kind == "side" and set(result.get("laterality", ())) == {"left", "right"} and _sides_joined(text):
        result["laterality"] = ["bilateral"]
    ordered = kind in ("number", "time")
    return frozenset(
        (dimension, tuple(values if ordered else sorted(set(values)))) for dimension, values in result.items()
    )


def _sides_joined(text: str) -> bool:
    """Whether only words such as "and the" separate two sides, so that both belong to one part of the body."""
    read = attributes(text)
    sides = [span for span in read.spans if span.kind == "side"]
    return len(sides) == 2 and _JOINING.fullmatch(read.text[sides[0].end : sides[1].start]) is not None


def _reads_on(text: str, kind: str) -> bool:
    """Whether a value of the whole text, such as a date, includes a wording of the attribute and more than that."""
    read = facts_of(attributes(text).text)
    wider = [(v.start, v.end) for v in read.values if v.quantity not in (NUMBER, SIDE, SIGN)] + list(read.unread)
    return any(
        start < span.end and span.start < end and not (span.start <= start and end <= span.end)
        for span in attributes(text).spans
        if span.kind == kind
        for start, end in wider
    )


def _said(kind: str, wording: str) -> list[tuple[str, str]]:
    """Dimensions and values of one wording; empty if it is not understood."""
    if kind == "number":
        return _amounts(wording)
    if kind == "negation":
        remaining = _negator().sub("", _ONLY_NEGATING.sub("", wording, count=1), count=1)
        return [("polarity", "no")] if not remaining.strip(" ,") else []
    if kind == "severity" and (grade := _GRADE.search(wording)):
        grade_name = grade[2] or grade[3]
        return [(grade[1] or grade[4], _GRADES.get(grade_name, grade_name))]
    if kind == "time" and (lasting := _times(wording)):
        return lasting
    result = set()
    for dimension, name, pattern in _patterns(kind):
        wording, times = pattern.subn(" ", wording)
        if times:
            result.add((dimension, name))
    if {("laterality", "left"), ("laterality", "right")} <= result:
        result = {pair for pair in result if pair[0] != "laterality"} | {("laterality", "bilateral")}
    return sorted(result)


def _times(wording: str) -> list[tuple[str, str]]:
    """Durations, ages, points and rates of a wording of time."""
    expanded = _SHORT_TIMES.sub(lambda match: _WHOLE_TIME[match[1]], _with_digits(_SINGLE.sub("1 ", wording)))
    if point := _POINT.search(expanded):
        return [("point", f"{point[1]} {point[2]}")]
    repetition = _EVERY.search(expanded)
    what = "duration" if repetition is None else repetition[0]
    values = [value for value in facts_of(expanded).values if value.quantity in ("time", "months")]
    return [(f"{what} in {value.quantity}", _amount(value)) for value in values]


def _amount(value: Value) -> str:
    """An amount, with its bound: "over 5 cm"."""
    amount = value.amount or f"{value.low:g} to {value.high:g}"
    return f"{value.bound} {amount}" if value.bound in ("over", "under") else amount


def _amounts(wording: str) -> list[tuple[str, str]]:
    """Numbers with their units, in the form of their quantity and in their order."""
    wording = _with_digits(wording)
    values = [value for value in facts_of(wording).values if value.quantity not in (SIDE, SIGN)]
    if any(value.quantity in ("time", "months") or value.bound == "open" for value in values):
        return []  # a duration, which other wordings state as a time, or a number such as 1.500, which may be 1,500
    result = [(value.quantity, _amount(value)) for value in values if value.quantity != NUMBER]
    if _BESIDE.search(wording):
        result.sort()
    if result:
        return result
    if values:
        unit = re.search(r"[^\W\d]{2,}\.?\s*$", re.sub(r"\b(?:times|x)\b", "", wording))
        name = "count" if unit is None else f"count of {unit[0].strip()}"
        middles = [replace(value, amount=f"{(value.low + value.high) / 2:.10g}") for value in values]
        return [(name, _amount(value)) for value in middles]
    return [("count", "many")] if _MANY.search(wording) else []


def _with_digits(wording: str) -> str:
    for words, digits in _AS_DIGITS.items():
        if words in wording:
            wording = re.sub(rf"\b{words}\b", digits, wording)
    return wording


@cache
def _negator() -> re.Pattern[str]:
    whole_words = ("there is no", "none", "neither", "nor", "absent", "cannot", "can not")
    return re.compile(rf"{any_of([*wordings('negation'), *whole_words])}(?!\w)|\w+n['’]t(?!\w)")


@cache
def _patterns(kind: str) -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """Dimension, value and wordings of a kind, longer wordings first."""
    words: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in entries():
        if entry.kind == kind and entry.value and "question" not in entry.classes:
            words[entry.dimension, entry.value] += entry.wordings
    ordered = sorted(words.items(), key=lambda item: -max(map(len, item[1])))
    return tuple(
        (dimension, name, re.compile(rf"(?<![\w-]){any_of(wordings)}(?!\w)")) for (dimension, name), wordings in ordered
    )
