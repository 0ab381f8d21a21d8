"""The panel's first line: who differs, and in what, from the reasons that scoring found."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.review.dissent import dissenter
from softirr.policy.attributes import KINDS

__all__ = ["verdict"]

FACTS = 3
"""What is said of the differences, at most."""
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ISOLATE, _END = "\u2068", "\u2069"


def verdict(field: Mapping[str, Any], pairs: Sequence[Sequence[Any]], threshold: float) -> str:
    """One sentence on one field of a task: who differs, and in what.

    For example: Devon differs: right instead of left; one text only Devon has.

    Parameters
    ----------
    field : mapping
        One field as the panel shows it: raters, matches, unmatched, reasons, agreement.
    pairs : sequence of (rater, rater, agreement)
        Agreement of each two annotators on the field.
    threshold : float
        Equivalence from which on two texts match.
    """
    raters = [str(one["id"]) for one in field["raters"]]
    names = {str(one["id"]): _isolated(str(one["name"])) for one in field["raters"]}
    if len(raters) < 2:
        return ""
    facts = _Facts(field, raters, names, threshold)
    if facts.agrees():
        everybody = (
            f"{names[raters[0]]} and {names[raters[1]]}" if len(raters) == 2 else f"All {len(raters)} annotators"
        )
        nothing = not field["matches"]
        return f"{everybody} {'found nothing to write' if nothing else 'say the same'}."
    who = _dissenter(field, pairs)
    said = facts.of(who) if who is not None else facts.of_all()
    if who is not None:
        subject = f"{names[who]} differs"
    elif len(raters) == 2:
        subject = f"{names[raters[0]]} and {names[raters[1]]} differ"
    else:
        subject = "The annotators differ"
    if not said:
        return f"{subject}."
    more = [f"{_number(len(said) - FACTS)} more"] if len(said) > FACTS else []
    return f"{subject}: {'; '.join([*said[:FACTS], *more])}."


def _dissenter(field: Mapping[str, Any], pairs: Sequence[Sequence[Any]]) -> str | None:
    found = None if field["agreement"] is None else dissenter(field["agreement"], pairs)
    return None if found is None else found[0]


class _Facts:
    """What the annotators of one field disagree about, in words."""

    def __init__(self, field: Mapping[str, Any], raters: Sequence[str], names: Mapping[str, str], threshold: float):
        self._raters, self._names, self._threshold = raters, names, threshold
        self._matches = field["matches"]
        self._alone = {str(rater): texts for rater, texts in field["unmatched"].items() if texts}
        self._reasons = [
            one for one in field.get("reasons") or () if one["kind"] not in ("unrelated", "one rater only")
        ]
        self._n_texts = {str(one["id"]): one["n_texts"] for one in field["raters"]}

    def agrees(self) -> bool:
        """Whether every text of everybody has an equivalent one of everybody else."""
        if self._alone:
            return False
        for match in self._matches:
            low = any(one["equivalence"] < self._threshold for one in match.get("pairs") or ())
            if low or match["equivalence"] < self._threshold or len(match["texts"]) < len(self._raters):
                return False
        return not self._reasons

    def of(self, who: str) -> list[str]:
        """How one annotator differs from the others."""
        if not self._n_texts[who]:
            return ["an empty answer"]
        own = [one for one in self._reasons if who in map(str, one["raters"])]
        said = Counter(_turned(one, who) for one in own)
        facts = [words for words, _ in said.most_common()]
        name = self._names[who]
        if n := len(self._unexplained(who, own)):
            single = all(count <= 1 for count in self._n_texts.values())
            facts.append("another text than the others" if single else f"{_texts(n)} only {name} has")
        others = [rater for rater in self._raters if rater != who]
        lacks = sum(
            who not in match["texts"] and all(other in match["texts"] for other in others) for match in self._matches
        )
        if lacks and not own:
            facts.append(f"{_texts(lacks)} of the others {name} lacks")
        return facts

    def of_all(self) -> list[str]:
        """What they disagree about, where nobody in particular differs."""
        facts = []
        empty = [rater for rater in self._raters if not self._n_texts[rater]]
        if empty:
            facts.append(f"{_listed([self._names[rater] for rater in empty])} wrote nothing")
        facts += [words for words, _ in Counter(_both(one) for one in self._reasons).most_common()]
        alone = {rater: len(self._unexplained(rater, self._reasons)) for rater in self._raters}
        alone = {rater: n for rater, n in alone.items() if n}
        single = all(count <= 1 for count in self._n_texts.values())
        if single and len(alone) > 1:
            facts.append("each wrote something else" if len(alone) == len(self._raters) else "different texts")
        elif len(alone) > 2:
            facts.append(f"{_texts(sum(alone.values()))} only one annotator has")
        else:
            facts += [f"{_texts(n)} only {self._names[rater]} has" for rater, n in alone.items()]
        shared = sum(1 < len(match["texts"]) < len(self._raters) for match in self._matches)
        if shared and len(self._raters) > 2:
            facts.append(f"{_texts(shared)} not everybody has")
        return facts

    def _unexplained(self, who: str, reasons: Sequence[Mapping[str, Any]]) -> list[str]:
        """The texts of an annotator that nothing matches, without those that a reason says something about."""
        told = {
            text
            for one in reasons
            for rater, text in zip(one["raters"], one["texts"], strict=True)
            if str(rater) == who
        }
        return [text for text in self._alone.get(who, ()) if text not in told]


def _turned(reason: Mapping[str, Any], who: str) -> str:
    """A reason from one annotator's side."""
    kind, name = reason["kind"], reason["name"]
    left, found, right = str(reason["words"]).partition(" against ")
    if str(reason["raters"][0]) != who:
        left, right = right, left
    if found and (kind in KINDS or kind == "contradiction"):
        missing = f"no {kind}"
        if left == missing:
            return f"leaves out {_isolated(right)}"
        return f"adds {_isolated(left)}" if right == missing else f"{_isolated(left)} instead of {_isolated(right)}"
    if found and kind in ("spelling", "look-alike"):
        return f"{_isolated(left)} instead of {_isolated(right)} ({name})"
    return "one text is more general than the other" if kind == "more general" else str(name)


def _both(reason: Mapping[str, Any]) -> str:
    """A reason as a fact about two annotators."""
    if reason["kind"] in (*KINDS, "contradiction", "spelling", "look-alike"):
        left, _, right = str(reason["words"]).partition(" against ")
        return f"{_isolated(left)} against {_isolated(right)}"
    return "one text is more general than the other" if reason["kind"] == "more general" else str(reason["name"])


def _texts(n: int) -> str:
    return f"{_number(n)} text{'' if n == 1 else 's'}"


def _number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def _isolated(text: str) -> str:
    """A person's text inside a sentence; one of another direction does not turn the words around it."""
    return f"{_ISOLATE}{text}{_END}" if any(unicodedata.bidirectional(one) in _TURNS for one in text) else text


_TURNS = frozenset({"R", "AL", "AN", "LRE", "RLE", "LRO", "RLO", "LRI", "RLI", "FSI", "PDF", "PDI"})
