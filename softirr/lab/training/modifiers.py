"""Wordings put around a finding: context, negation, sides, grades, courses; and two findings joined into one text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

# fmt: off

@dataclass(frozen=True)
class ModifierClass:
    """Wordings put around a text. Wordings of one group mean the same; those of two groups of one class exclude each other.

    Attributes
    ----------
    name
        The kind of its examples.
    groups
        Wordings with ``{}`` for the text.
    restricts
        Whether the text with the wording entails the bare text ("severe pain" is pain; "no pain", "family history of pain" are not).
    """

    name: str
    groups: tuple[tuple[str, ...], ...]
    restricts: bool


def _sided(*words: str) -> tuple[str, ...]:
    return tuple(f"{w} {{}}" for w in words)


MODIFIERS: tuple[ModifierClass, ...] = (
    ModifierClass(
        "negation",
        (
            ("{}", "{}", "{} present", "presence of {}", "patient has {}", "positive for {}", "evidence of {}", "there is {}", "with {}",
             "I have {}", "I've got {}", "I do have {}"),
            (
                "no {}", "no {}", "denies {}", "without {}", "absence of {}", "negative for {}", "no evidence of {}", "no sign of {}",
                "no signs of {}", "{} absent", "free of {}", "{} not present", "does not have {}", "{} ruled out", "{}: no", "not {}",
                "patient does not have {}", "{} excluded", "{} was not found", "never had {}", "lack of {}", "no {} seen", "non-{}",
                "I don't have {}", "I have no {}", "I haven't had any {}",
            ),
        ),
        restricts=False,
    ),
    ModifierClass(
        "context",
        (
            ("{}", "current {}", "active {}", "has {}", "suffers from {}", "diagnosed with {}", "dx {}", "confirmed {}", "{} confirmed",
             "I have {}", "I suffer from {}", "I am suffering from {}", "I've been having {}", "they told me I have {}", "I was diagnosed with {}"),
            ("history of {}", "h/o {}", "hx of {}", "past history of {}", "previous {}", "prior {}", "PMH: {}", "past {}", "had {} in the past",
             "I had {} in the past", "I used to have {}", "I had {} years ago"),
            ("family history of {}", "FHx {}", "FH of {}", "{} in the family", "relative with {}", "mother had {}",
             "my mother had {}", "my father has {}", "{} runs in my family"),
            ("suspected {}", "possible {}", "?{}", "query {}", "{} suspected", "rule out {}", "r/o {}", "suspicion of {}", "maybe {}",
             "I may have {}", "it could be {}"),
            ("at risk of {}", "risk of {}", "risk for {}", "predisposed to {}", "increased risk of {}"),
            ("resolved {}", "{} resolved", "recovered from {}", "cured {}", "{} in remission", "no longer has {}"),
            ("fear of {}", "worried about {}", "afraid of {}"),
            ("screening for {}", "screened for {}", "{} screening", "tested for {}"),
            ("prevention of {}", "prophylaxis for {}", "prophylaxis against {}", "{} prophylaxis", "to prevent {}"),
            ("vaccination against {}", "vaccine for {}", "immunised against {}", "{} vaccine", "{} immunization"),
            ("died of {}", "death from {}", "fatal {}", "killed by {}", "death due to {}"),
            ("resistant to treatment for {}", "treatment failure in {}", "refractory {}", "treatment-resistant {}"),
        ),
        restricts=False,
    ),
    ModifierClass(
        "relative",
        (
            ("mother of a child with {}", "mother whose child has {}", "{} in the woman's child"),
            ("child of a mother with {}", "child whose mother has {}", "{} in the child's mother"),
            ("father of a child with {}", "father whose child has {}", "{} in the man's child"),
            ("child of a father with {}", "child whose father has {}", "{} in the child's father"),
            ("wife of a man with {}", "woman whose husband has {}", "{} in her husband"),
            ("husband of a woman with {}", "man whose wife has {}", "{} in his wife"),
        ),
        restricts=False,
    ),
    ModifierClass(
        "severity",
        (
            _sided("mild", "slight", "minor", "mildly severe", "light", "a little") + ("{}, mild", "{} (mild)"),
            _sided("moderate", "moderately severe", "medium") + ("{}, moderate", "{} of moderate severity"),
            _sided("severe", "serious", "intense", "marked", "extreme", "bad") + ("{}, severe", "severe form of {}", "{} (severe)"),
            _sided("life-threatening", "potentially fatal", "critical"),
        ),
        restricts=True,
    ),
    ModifierClass(
        "course",
        (
            _sided("acute", "sudden", "sudden-onset") + ("{}, acute", "{} of sudden onset", "acute onset of {}"),
            _sided("chronic", "long-standing", "longstanding", "long-term") + ("{}, chronic", "{} for many years"),
            _sided("transient", "temporary", "short-lived", "passing") + ("{} that goes away by itself", "{}, transient"),
            _sided("recurrent", "repeated", "recurring", "frequent") + ("{} that keeps coming back", "{}, recurrent", "repeated episodes of {}"),
            _sided("progressive", "worsening", "increasing") + ("{} getting worse", "{} that gets worse over time"),
            _sided("improving", "resolving", "decreasing") + ("{} getting better",),
            _sided("congenital") + ("{} present at birth", "{} from birth", "{}, congenital", "born with {}"),
            _sided("acquired") + ("{} acquired later in life", "{}, acquired"),
            _sided("stable", "unchanged") + ("{} unchanged", "no change in {}"),
            _sided("postoperative", "post-operative", "post-op") + ("{} after surgery", "{} following surgery"),
            _sided("preoperative", "pre-operative", "pre-op") + ("{} before surgery",),
            _sided("neonatal") + ("{} of the newborn", "{} in a newborn", "newborn {}"),
            _sided("childhood", "pediatric", "paediatric", "juvenile") + ("{} in a child", "{} in children"),
            _sided("adult-onset", "adult") + ("{} in adults", "{} in an adult"),
            _sided("nocturnal", "nighttime") + ("{} at night", "{} during the night"),
            _sided("morning") + ("{} in the morning",),
            _sided("exertional", "exercise-induced") + ("{} on exertion", "{} with exercise", "{} during exercise"),
            ("{} at rest", "{} while resting", "resting {}"),
        ),
        restricts=True,
    ),
    ModifierClass(
        "laterality",
        (
            _sided("left", "left-sided", "L", "lt", "left side") + ("{} on the left", "{}, left", "{} of the left side", "{} (L)", "{} left"),
            _sided("right", "right-sided", "R", "rt", "right side") + ("{} on the right", "{}, right", "{} of the right side", "{} (R)", "{} right"),
            _sided("bilateral", "b/l", "bilat") + ("{} on both sides", "{}, bilateral", "{} of both sides", "{} left and right"),
        ),
        restricts=True,
    ),
    ModifierClass(
        "location",
        (
            _sided("upper") + ("{}, upper",),
            _sided("lower") + ("{}, lower",),
            _sided("anterior") + ("{} at the front", "{}, anterior"),
            _sided("posterior") + ("{} at the back", "{}, posterior"),
            _sided("proximal"),
            _sided("distal"),
            _sided("medial"),
            _sided("lateral"),
            _sided("localized", "localised", "focal", "circumscribed") + ("{} limited to one area",),
            _sided("generalized", "generalised", "diffuse", "widespread") + ("{} all over the body", "{} all over"),
            _sided("superficial"),
            _sided("deep"),
            _sided("central"),
            _sided("peripheral"),
        ),
        restricts=True,
    ),
    ModifierClass(
        "number",
        tuple(
            (f"grade {n} {{}}", f"grade {r} {{}}", f"{{}} grade {n}", f"{{}}, grade {n}", f"G{n} {{}}", f"{{}} (grade {r})", f"CTCAE grade {n} {{}}")
            for n, r in ((1, "I"), (2, "II"), (3, "III"), (4, "IV"), (5, "V"))
        ),
        restricts=True,
    ),
    ModifierClass(
        "number",
        tuple(
            (f"stage {n} {{}}", f"stage {r} {{}}", f"{{}} stage {n}", f"{{}}, stage {r}", f"{{}} (stage {n})")
            for n, r in ((1, "I"), (2, "II"), (3, "III"), (4, "IV"), (5, "V"))
        ),
        restricts=True,
    ),
    ModifierClass(
        "number",
        tuple(
            (f"type {n} {{}}", f"{{}} type {n}", f"{{}} type {r}", f"{{}}, type {n}", f"type {r} {{}}", f"{{}} {n}")
            for n, r in ((1, "I"), (2, "II"), (3, "III"), (4, "IV"), (5, "V"), (6, "VI"), (7, "VII"))
        ),
        restricts=True,
    ),
    ModifierClass(
        "number",
        tuple(
            (f"{n} {{}}", f"{{}} x{n}", f"{{}} x {n}", f"{w} {{}}", f"{w} ({n}) {{}}")
            for n, w in ((2, "two"), (3, "three"), (4, "four"), (5, "five"), (6, "six"), (10, "ten"))
        ),
        restricts=True,
    ),
    ModifierClass(
        "number",
        tuple(
            (f"{{}} for {n} {unit}s", f"{{}} for {w} {unit}s", f"{n}-{unit} history of {{}}", f"{{}} since {n} {unit}s", f"{{}} x {n}{short}")
            for n, w in ((2, "two"), (3, "three"), (5, "five"), (7, "seven"), (10, "ten"))
            for unit, short in (("day", "d"), ("week", "w"), ("month", "mo"), ("year", "y"))
        ),
        restricts=True,
    ),
    ModifierClass(
        "number",
        tuple(
            tuple(f"{{}} {put} {time}" for time in times for put in ("for", "for the last", "lasting"))
            for times in (
                ("24 hours", "one day", "1 day", "a day", "24 h"),
                ("48 hours", "two days", "2 days", "48 h"),
                ("72 hours", "three days", "3 days", "72 h"),
                ("7 days", "one week", "1 week", "a week", "seven days"),
                ("14 days", "two weeks", "2 weeks", "a fortnight", "fourteen days"),
                ("21 days", "three weeks", "3 weeks"),
                ("6 weeks", "six weeks", "42 days"),
                ("12 months", "one year", "1 year", "a year", "twelve months"),
                ("24 months", "two years", "2 years"),
                ("18 months", "a year and a half", "one and a half years"),
                ("60 minutes", "one hour", "1 hour", "an hour", "60 min"),
                ("30 minutes", "half an hour", "thirty minutes", "30 min"),
                ("90 minutes", "an hour and a half", "1.5 hours"),
                ("10 years", "ten years", "a decade"),
            )
        ),
        restricts=True,
    ),
    ModifierClass(
        "number",
        (
            ("{} 500 mg", "{} 0.5 g", "500 milligrams of {}", "{} half a gram"),
            ("{} 1 g", "{} 1000 mg", "one gram of {}", "{} 1 gram"),
            ("{} 50 mg", "50 milligrams of {}", "{} 50mg", "{} 0.05 g"),
            ("{} 5 mg", "five milligrams of {}", "{} 5mg", "{} 5000 mcg"),
            ("{} 2 g", "{} 2000 mg", "two grams of {}"),
            ("{} 250 mg", "{} 0.25 g", "{} 250mg", "a quarter of a gram of {}"),
            ("{} 250 mcg", "{} 0.25 mg", "250 micrograms of {}"),
            ("{} 1 mg", "{} 1000 mcg", "{} 1000 micrograms", "one milligram of {}"),
        ),
        restricts=True,
    ),
    ModifierClass(
        "number",
        (
            ("{} once daily", "{} once a day", "{} od", "{} qd", "{} every day", "{} daily"),
            ("{} twice daily", "{} twice a day", "{} bd", "{} bid", "{} b.i.d.", "{} every 12 hours"),
            ("{} three times daily", "{} three times a day", "{} tds", "{} tid", "{} t.i.d.", "{} every 8 hours"),
            ("{} four times daily", "{} four times a day", "{} qds", "{} qid", "{} every 6 hours"),
            ("{} weekly", "{} once a week", "{} every week"),
            ("{} monthly", "{} once a month", "{} every month"),
            ("{} as needed", "{} prn", "{} when required", "{} if needed"),
            ("{} at night", "{} nocte", "{} at bedtime", "{} qhs"),
        ),
        restricts=True,
    ),
    ModifierClass(
        "change",
        (
            ("increased {}", "raised {}", "elevated {}", "high {}", "increase in {}", "{} increased", "{} raised", "rise in {}", "more {}"),
            ("decreased {}", "reduced {}", "low {}", "lowered {}", "decrease in {}", "{} decreased", "{} reduced", "fall in {}", "less {}"),
            ("normal {}", "{} normal", "{} within normal limits", "{} WNL", "unremarkable {}", "{} unremarkable"),
            ("absent {}", "{} absent", "missing {}", "loss of {}", "no {}"),
            ("delayed {}", "{} delayed", "late {}", "delay in {}"),
            ("early {}", "premature {}", "precocious {}"),
        ),
        restricts=False,
    ),
    ModifierClass(
        "normality",
        (
            ("abnormal {}", "{} abnormal", "abnormality of {}", "{} abnormality", "altered {}"),
            ("normal {}", "{} normal", "{} within normal limits", "{} WNL", "unremarkable {}", "{} unremarkable"),
        ),
        restricts=False,
    ),
    ModifierClass(
        "treatment",
        (
            ("treated {}", "{} on treatment", "{} under treatment", "{} being treated"),
            ("untreated {}", "{} without treatment", "{} not treated"),
            ("treatment of {}", "therapy for {}", "{} treatment", "{} therapy"),
            ("controlled {}", "well-controlled {}", "{} under control"),
            ("uncontrolled {}", "poorly controlled {}", "{} out of control"),
        ),
        restricts=False,
    ),
)

@dataclass(frozen=True)
class Join:
    """Wordings for two findings together, which of them the text entails, and whether the two can be swapped."""

    name: str
    wordings: tuple[str, ...]
    symmetric: bool
    first_holds: bool
    second_holds: bool


JOINS: tuple[Join, ...] = (
    Join("due to", ("{0} due to {1}", "{0} caused by {1}", "{0} secondary to {1}", "{0} because of {1}", "{1} causing {0}", "{1} leading to {0}", "{1} resulting in {0}", "{0} as a result of {1}", "{0} from {1}", "{1}-induced {0}"), False, True, True),
    Join("and", ("{0} and {1}", "{0} with {1}", "{0}, {1}", "{0} + {1}", "{0} / {1}", "{0} as well as {1}", "both {0} and {1}", "{0} & {1}", "{0} associated with {1}", "combined {0} and {1}"), True, True, True),
    Join("or", ("{0} or {1}", "either {0} or {1}", "{0} and/or {1}"), True, False, False),
    Join("without", ("{0} without {1}", "{0} but no {1}", "{0}, no {1}", "{0} not {1}", "{0} in the absence of {1}"), False, True, False),
    Join("after", ("{0} after {1}", "{0} following {1}", "post-{1} {0}", "{1} followed by {0}", "{1} before {0}", "{1} prior to {0}", "{1} preceding {0}", "{0} preceded by {1}", "{1}, then {0}", "{1} and later {0}"), False, True, True),
    Join("while", ("{0} during {1}", "{0} in the course of {1}", "{0} while having {1}"), False, True, True),
    Join("worse", ("{0} worse than {1}", "{0} more severe than {1}", "{1} less severe than {0}", "{1} milder than {0}"), False, True, True),
    Join("worsened", ("{0} made worse by {1}", "{0} aggravated by {1}", "{1} aggravating {0}", "{1} making {0} worse"), False, True, True),
    Join("becoming", ("{0} progressing to {1}", "{0} turning into {1}", "{0} that became {1}", "{1} arising from {0}", "{1} developing out of {0}"), False, True, True),
    Join("mistaken", ("{0} mistaken for {1}", "{0} misdiagnosed as {1}", "{0} taken for {1}"), False, True, False),
    Join("unlike", ("{0} unlike {1}", "{0} rather than {1}", "{0} instead of {1}"), False, True, False),
)

COMPOUNDS: tuple[tuple[str, ...], tuple[str, ...]] = (
    ("{} and {}", "{} and {}", "{}, {}", "{} / {}", "{}/{}", "{} with {}", "{} + {}", "{} & {}", "{}; {}"),
    ("{} or {}", "either {} or {}"),
)
"""Wordings of two findings of which both hold, and of which one does."""

DURATIONS: tuple[tuple[str, ...], ...] = tuple(
    tuple(f"{put} {time}" for time in times for put in ("for", "for the last", "for about"))
    for times in (
        ("two days", "2 days"), ("three days", "3 days"), ("a week", "one week", "7 days"), ("two weeks", "2 weeks", "a fortnight"),
        ("a month", "one month", "four weeks"), ("three months", "3 months"), ("six months", "6 months", "half a year"), ("a year", "12 months"),
        ("five years", "5 years"),
    )
)
"""How long something lasts; the wordings of one entry mean the same."""

_CANNOT = re.compile(r"(?:can'?t|cannot|can not|unable to|inability to|could not|couldn'?t|not able to) (.+)", re.IGNORECASE)
_PRONOUNS = re.compile(r"^(?:i|my|we|it|there|he|she|the|a|an|they)\b", re.IGNORECASE)


def first_person(rng: Random, text: str) -> str:
    """A finding in the words of the person who has it.

    Examples
    --------
    >>> first_person(Random(1), "unable to sleep"), first_person(Random(1), "coughing up blood")
    ('I cannot sleep', 'I have been coughing up blood')
    """
    cannot = _CANNOT.fullmatch(text)
    if cannot:
        return f"I {rng.choice(_UNABLE)} {cannot.group(1)}"
    if _PRONOUNS.match(text):
        return text
    words = text.split()
    if words and words[0].endswith("ing") and len(words) > 1 and len(words[0]) > 5:
        return rng.choice(("I have been {}", "I am {}", "I keep {}")).format(text)
    return rng.choice(_SAID).format(text)


_UNABLE = ("can't", "cannot", "could not", "am unable to", "was not able to")
_SAID = ("I have {}", "I've got {}", "I have had {}", "I've been having {}", "I suffer from {}", "I am troubled by {}", "I noticed {}", "my problem is {}", "I came because of {}", "it is {} that bothers me")
