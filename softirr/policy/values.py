"""What an attribute says, apart from its wording: "slight" and "mild" are one severity, "for 2 weeks" and "14-day history of" one time.

A policy under which an attribute counts (:attr:`softirr.policy.rules.Policy.count`) compares these values. A wording that is not understood has no value, and the
measure decides. A cause never has one: it is a text of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from softirr.policy.attributes import attributes

__all__ = ["value"]

Value = frozenset[str]

_CLASSES: Mapping[str, Mapping[str, str]] = {
    "side": {
        "bilateral": "bilateral(?:ly)?|bilat|b/l|both|left (?:and|or|to) right|right (?:and|or|to) left|r(?:t|ight)? ?(?:/|>) ?l(?:t|eft)?",
        "left": "left|lt|l",
        "right": "right|rt|r",
        "unilateral": "unilateral(?:ly)?|one|either",
        **{
            level: level
            for level in (
                "upper",
                "lower",
                "middle",
                "anterior",
                "posterior",
                "medial",
                "lateral",
                "proximal",
                "distal",
            )
        },
    },
    "severity": {
        "moderate": "moderate(?:ly)?(?: severe(?:ly)?)?|fair(?:ly)?|intermediate",
        "mild": "mild(?:ly)?|slight(?:ly)?|minor|minimal(?:ly)?|trace|subt(?:le|ly)|faint|small|tiny|minute|weak|low|a bit|a little(?: bit)?|somewhat|"
        "insignificant|negligible|bearable|tolerable|borderline|non-?severe",
        "severe": "severe(?:ly)?|serious(?:ly)?|intense(?:ly)?|marked(?:ly)?|extreme(?:ly)?|terribl[ey]|awful|horrible|unbearable|excruciating|agonizing|"
        "intolerable|debilitating|strong(?:ly)?|heav(?:y|ily)|massive(?:ly)?|huge|large|big|giant|profound(?:ly)?|critical(?:ly)?|pronounced|"
        "significant(?:ly)?|substantial(?:ly)?|considerabl[ey]|excessive(?:ly)?|prominent(?:ly)?|gross(?:ly)?|great(?:ly)?|bad(?:ly)?|worst|high|a lot",
        "fatal": "fatal|lethal|life.threatening",
        "diffuse": "diffuse(?:ly)?|widespread|generali[sz]ed|extensive(?:ly)?|all over",
        "focal": "focal|locali[sz]ed|circumscribed",
        "partial": "partial(?:ly)?|incomplete",
        "complete": "complete(?:ly)?|total(?:ly)?",
    },
    "time": {
        "acute on chronic": "acute.on.chronic",
        "subacute": "sub-?acute",
        "acute": "(?:hyper-?)?acute(?:ly)?|sudden(?:ly)?|abrupt",
        "recurrent": "recurr(?:ent|ing)|relapsing|intermittent(?:ly)?|episodic|paroxysmal|repeated(?:ly)?|repetitive|periodic|com(?:es?|ing) and go(?:es|ing)?|"
        "(?:on and off|off and on)|again and again|from time to time|at times",
        "chronic": "chronic(?:ally)?|long.?standing|long.?lasting|long.?term|persist(?:ent|ing|ently)|prolonged|constant(?:ly)?|continu(?:ous|al|ously)",
        "worse": "progressive|worsen(?:ing|ed)|worse|increasing",
        "better": "improv(?:ing|ed)|better|resolv(?:ing|ed)|heal(?:ing|ed)|decreasing",
        "transient": "transient|transitory|temporary|temporarily|short.lived|brief|momentary|short.term",
        "congenital": "congenital|at birth|from birth",
        "gradual": "gradual(?:ly)?|insidious|slow",
        "stable": "stable|unchanged",
        "at night": "nocturnal|nightly|nights?|nocte",
    },
    "certainty": {
        "unlikely": "unlikely|doubtful(?:ly)?|less likely",
        "certain": "definite(?:ly)?|confirmed|proven|certain(?:ly)?",
        "possible": "possibl[ey]|probabl[ey]|likely|suspected|presum\\w+|questionable|equivocal|uncertain|perhaps|maybe|suspicious|suspicion|potential(?:ly)?|putative|apparent(?:ly)?|"
        "suggest\\w*|concern\\w*|might|may|could|unsure|consistent with|compatible with|\\?",
    },
    "subject": {
        "family": "family",
        "mother": "mother|mom|mum|maternal",
        "father": "father|dad|paternal",
        **{
            who: f"{who}s?"
            for who in (
                "sister",
                "brother",
                "son",
                "daughter",
                "aunt",
                "uncle",
                "cousin",
                "wife",
                "husband",
                "twin",
                "donor",
            )
        },
        "child": "child(?:ren)?|kids?",
        "infant": "infants?|bab(?:y|ies)|newborns?|neonates?",
    },
}
"""Values of an attribute with their wordings."""

_NUMBERS = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
    ),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_AS_DIGITS: Mapping[str, str] = {
    **{word: str(number) for number, word in enumerate(_NUMBERS)},
    "single": "1",
    "solitary": "1",
    "once": "1",
    "double": "2",
    "twice": "2",
    "a couple of": "2",
    "a couple": "2",
    "triple": "3",
    "thrice": "3",
    "a dozen": "12",
    "dozen": "12",
    "fortnight": "2 weeks",
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "seventy": "70",
    "eighty": "80",
    "ninety": "90",
}
_MANY = re.compile(r"\b(?:several|many|multiple|numerous|a few|few|some)\b")
_UNITS: tuple[tuple[str, str, float], ...] = (
    ("mm", "mm|millimet(?:er|re)s?", 1),
    ("mm", "cm|centimet(?:er|re)s?", 10),
    ("mm", "inch(?:es)?", 25.4),
    ("g", "kgs?|kilograms?|kilos?", 1000),
    ("g", "grams?|g", 1),
    ("g", "mg|milligrams?", 0.001),
    ("g", "pounds?|lbs?", 453.6),
    ("ml", "ml|cc", 1),
    ("ml", "lit(?:er|re)s?|l", 1000),
    ("%", "%|percent|per cent", 1),
)
_TIMES: tuple[tuple[str, str, float], ...] = (
    ("days", "minutes?|mins?", 1 / 1440),
    ("days", "hours?|hrs?|h", 1 / 24),
    ("days", "days?|nights?|d", 1),
    ("days", "weeks?|wks?|w", 7),
    ("days", "months?|mos?", 30),
    ("days", "years?|yrs?|y", 365),
)


@lru_cache(maxsize=1 << 17)
def value(text: str, kind: str) -> Value | None:
    """What a text says of an attribute.

    Parameters
    ----------
    text : str
    kind : str
        Of :data:`softirr.policy.attributes.KINDS`.

    Returns
    -------
    frozenset of str or None
        Empty where the text says nothing of it; None where it does and the wording is not understood.

    Examples
    --------
    >>> value("slight pain in the left knee", "severity"), value("knee pain", "severity")
    (frozenset({'mild'}), frozenset())
    >>> value("cough for two weeks", "time") == value("14-day history of cough", "time")
    True
    >>> value("rash after swimming", "cause") is None
    True
    """
    found: set[str] = set()
    for wording in attributes(text).of(kind):
        said = _said(kind, " ".join(wording.casefold().split()))
        if not said:
            return None
        found |= said
    return frozenset(found)


def _said(kind: str, wording: str) -> set[str]:
    if kind == "number":
        return _amount(wording, _UNITS)
    if kind == "negation":
        words = re.split(
            r"^(?:\W*(?:but|with|and|in|the|is|are|there)\b)*\W*(?:no|not|without|w/o|denie[sd]|denying|never|absen\w+(?: of)?|lack(?:s| of)?|negative for|free of|n't)\b",
            wording,
        )
        return {f"no {words[-1].strip()}".strip()}
    if kind == "severity" and (
        grade := re.search(r"\b(grade|stage|class|degree)s?\W*(\w+)|\b(\w+)[- ]degree\b", wording)
    ):
        return set() if grade[2] is None else {f"{grade[1]} {grade[2]}"}
    if (
        kind == "time"
        and (lasting := _amount(wording, _TIMES))
        and any(word in one for one in lasting for word in ("days",))
    ):
        every = re.search(r"\b(?:every|each|per|daily|ago|old|a day|a week)\b|/", wording)
        return {f"{every[0]} {one}" for one in lasting} if every else lasting
    result = set()
    for name, pattern in _patterns(kind):
        wording, times = pattern.subn(" ", wording)
        if times:
            result.add(name)
    if kind == "side" and {"left", "right"} <= result:
        result = result - {"left", "right"} | {"bilateral"}
    return result


def _amount(wording: str, units: tuple[tuple[str, str, float], ...]) -> set[str]:
    """Numbers with their units, in the unit that all of a kind are converted to."""
    for word, digits in _AS_DIGITS.items():
        wording = re.sub(rf"\b{word}\b", digits, wording)
    if not (numbers := re.findall(r"\d+(?:\.\d+)?", wording)):
        return {"many"} if _MANY.search(wording) else set()
    for unit, pattern, factor in units:
        if re.search(rf"(?<![a-z])(?:{pattern})(?![a-z])", wording):
            return {f"{float(number) * factor:.4g} {unit}" for number in numbers}
    return set(numbers)


@cache
def _patterns(kind: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (name, re.compile(rf"(?<![\w-])(?:{wording})(?![\w])")) for name, wording in _CLASSES.get(kind, {}).items()
    )
