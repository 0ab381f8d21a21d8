"""The panel's first line: who differs and in what, from the texts, reviewers' decisions and the stored reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ml_backend.review.difference_words import Clause, against, each_other, instead, isolated, listed, quoted
from softirr.plural import plural

__all__ = ["verdict"]

CLAUSES = 5
"""Differences that are named, at most; each annotator who differs has one at least."""
_SILENT = ("unrelated", "one rater only")

Meaning = dict[str, str]
"""Annotator -> the text with which they say it."""


def verdict(field: Mapping[str, Any], threshold: float, *, naming: bool = True) -> str:
    """One sentence on one field of a task: who differs, and in what.

    For example: Devon differs: has “right” instead of “left”; alone has “rash”.

    Parameters
    ----------
    field : mapping
        One field as the panel shows it: raters, matches, unmatched, reasons, decisions.
    threshold : float
        Equivalence from which on two texts match.
    naming : bool
        Whether it names who differs; annotators learn only what the difference is.
    """
    raters = [str(one["id"]) for one in field["raters"]]
    if len(raters) < 2:
        return ""
    names = {str(one["id"]): isolated(str(one["name"])) for one in field["raters"]}
    empty = tuple(str(one["id"]) for one in field["raters"] if not one["n_texts"])
    meanings = _meanings(field, threshold)
    low = _low_pairs(field, threshold)
    if not low and all(len(one) == len(raters) for one in meanings):
        everybody = listed([names[one] for one in raters]) if len(raters) == 2 else f"All {len(raters)} annotators"
        return f"{everybody} {'say the same' if meanings else 'found nothing to write'}."
    differences = _Differences(raters, empty, meanings, low, _reasons(field))
    if not naming:
        return f"The answers differ: {'; '.join(_few(differences.unnamed()))}."
    return _sentence(raters, names, differences.clauses())


def _sentence(raters: Sequence[str], names: Mapping[str, str], clauses: Sequence[Clause]) -> str:
    who = [one for one in raters if any(one in (*clause.who, *clause.others) for clause in clauses)]
    if len(who) == 1:
        return f"{names[who[0]]} differs: {'; '.join(_few([_words(one, names) for one in clauses]))}."
    everybody = f"All {len(raters)} annotators" if len(who) == len(raters) > 2 else listed([names[one] for one in who])
    phrases = [f"{listed([names[one] for one in clause.who])} {_words(clause, names)}" for clause in clauses]
    return f"{everybody} differ: {'; '.join(_few(phrases, max(CLAUSES, len(who))))}."


def _words(clause: Clause, names: Mapping[str, str]) -> str:
    several, others = len(clause.who) > 1, listed([names[one] for one in clause.others])
    verbs = {
        "has": "have" if several else "has",
        "lacks": "lack" if several else "lacks",
        "adds": "add" if several else "adds",
        "have": "have" if len(clause.others) > 1 else "has",
    }
    return clause.words.format(**verbs, others=others)


def _meanings(field: Mapping[str, Any], threshold: float) -> list[Meaning]:
    """Each meaning with its annotators, the best supported first: texts that are equivalent or decided to be."""
    parts: list[Meaning] = []
    for match in field["matches"]:
        parts += _parts(match, threshold)
    parts += [{str(rater): text} for rater, texts in field["unmatched"].items() for text in texts]
    for one in field.get("decisions") or ():
        if one["verdict"] == "same":
            parts = _joined(parts, set(one["texts"]))
    return sorted(parts, key=len, reverse=True)


def _parts(match: Mapping[str, Any], threshold: float) -> list[Meaning]:
    """The texts of a row in groups that are connected by equivalent pairs."""
    texts = {str(rater): text for rater, text in match["texts"].items()}
    pairs = _pairs(match)
    if not pairs and match["equivalence"] >= threshold:
        return [texts]
    groups = [{rater} for rater in texts]
    for pair in pairs:
        if _is_same(pair, threshold):
            linked = [group for group in groups if group & set(map(str, pair["raters"]))]
            groups = [group for group in groups if group not in linked] + [set().union(*linked)]
    return [{rater: text for rater, text in texts.items() if rater in group} for group in groups]


def _pairs(match: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The pairs of a row; one of two texts may have its value on the row."""
    raters = list(match["texts"])
    one = {"raters": raters, "equivalence": match["equivalence"], "decision": match.get("decision")}
    return match.get("pairs") or ([one] if len(raters) == 2 else [])


def _is_same(pair: Mapping[str, Any], threshold: float) -> bool:
    decision = pair.get("decision")
    return decision["verdict"] == "same" if decision else pair["equivalence"] >= threshold


def _low_pairs(field: Mapping[str, Any], threshold: float) -> list[tuple[Meaning, list[set[str]]]]:
    """Meanings that equivalent pairs connect, with the pairs of annotators whose own texts do not match."""
    low = []
    for match in field["matches"]:
        for part in _parts(match, threshold):
            pairs = [set(map(str, one["raters"])) for one in _pairs(match) if not _is_same(one, threshold)]
            if inside := [pair for pair in pairs if pair <= part.keys()]:
                low.append((part, inside))
    return low


def _joined(parts: Sequence[Meaning], texts: set[str]) -> list[Meaning]:
    """The meanings, with those that have one of two texts as one, unless an annotator has both."""
    same = [one for one in parts if texts & set(one.values())]
    if sum(map(len, same)) > len(set().union(*same)):
        return list(parts)
    whole: Meaning = {rater: text for one in same for rater, text in one.items()}
    return [one for one in parts if one not in same] + ([whole] if whole else [])


def _reasons(field: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Why texts do not match, without what reviewers decided to be the same."""
    same = [set(one["texts"]) for one in field.get("decisions") or () if one["verdict"] == "same"]
    return [one for one in field.get("reasons") or () if one["kind"] not in _SILENT and set(one["texts"]) not in same]


class _Differences:
    """What the annotators of one field disagree about.

    A meaning that more than half of them have is what the others differ from.
    """

    def __init__(
        self,
        raters: Sequence[str],
        empty: Sequence[str],
        meanings: Sequence[Meaning],
        low: Sequence[tuple[Meaning, list[set[str]]]],
        reasons: Sequence[Mapping[str, Any]],
    ):
        self._raters, self._empty, self._meanings, self._low = raters, tuple(empty), meanings, low
        self._reasons = reasons
        self._explained: set[tuple[str, int]] = set()  # an annotator, and the meaning that they replace by another one

    def clauses(self) -> list[Clause]:
        """Who differs and in what; differences with a reason first."""
        opposed = [one for place in range(len(self._meanings)) for one in self._opposed(place)]
        alone: dict[tuple[str, ...], list[str]] = {}
        for place, meaning in enumerate(self._meanings):
            if not self._is_shared(meaning) and not any((one, place) in self._explained for one in meaning):
                alone.setdefault(tuple(meaning), []).append(next(iter(meaning.values())))
        lacking: dict[tuple[str, ...], list[str]] = {}
        for place, meaning in enumerate(self._meanings):
            if self._is_shared(meaning):
                others = [one for one in self._raters if one not in meaning and one not in self._empty]
                lacks = tuple(one for one in others if (one, place) not in self._explained)
                if lacks:
                    lacking.setdefault(lacks, []).append(next(iter(meaning.values())))
        clauses = list(dict.fromkeys([*opposed, *self._within()]))
        clauses += [Clause(who, f"alone {{has}} {quoted(texts)}") for who, texts in alone.items()]
        clauses += [Clause(who, f"{{lacks}} {quoted(texts)}") for who, texts in lacking.items()]
        return [*clauses, *([Clause(self._empty, "wrote nothing")] if self._empty else [])]

    def _within(self) -> Iterator[Clause]:
        """Texts of one meaning that do not match each other, first the annotator with most such pairs."""
        for meaning, pairs in self._low:
            rest = list(pairs)
            while rest:
                counts = Counter(rater for pair in rest for rater in sorted(pair))
                who = max(meaning, key=lambda rater: counts[rater])
                others = tuple(sorted(set().union(*(pair for pair in rest if who in pair)) - {who}))
                rest = [pair for pair in rest if who not in pair]
                yield self._of_two(who, meaning[who], others, meaning[others[0]])

    def _of_two(self, who: str, text: str, others: tuple[str, ...], other: str) -> Clause:
        reason = next((one for one in self._reasons if set(one["texts"]) == {text, other}), None)
        if reason is not None:
            return each_other(reason, reason["texts"].index(text), (who,), others)
        return Clause((who,), f"{{has}} {quoted([text])} where {{others}} {{have}} {quoted([other])}", others)

    def unnamed(self) -> list[str]:
        """The same without anybody's name."""
        words = list(dict.fromkeys(against(one) for one in self._reasons))
        if n := sum(len(pairs) for _, pairs in self._low):
            words.append(f"{plural(n, 'pair')} of texts in one row that {'does' if n == 1 else 'do'} not match")
        explained = {text for one in self._reasons for text in one["texts"]}
        rest = [len(one) for one in self._meanings if not explained & set(one.values())]
        single, several = rest.count(1), sum(1 < n < len(self._raters) for n in rest)
        if single:
            words.append(f"{plural(single, 'text')} that only one annotator has")
        if several and len(self._raters) > 2:
            words.append(f"{plural(several, 'text')} that some annotators lack")
        return words + ["an empty answer"] * bool(self._empty)

    def _is_shared(self, meaning: Meaning) -> bool:
        return 2 * len(meaning) > len(self._raters)

    def _opposed(self, place: int) -> list[Clause]:
        """How a meaning that few have differs from a meaning that more have: "right instead of left"."""
        meaning = self._meanings[place]
        if self._is_shared(meaning) or any((one, place) in self._explained for one in meaning):
            return []
        opposite = {
            other: reason
            for reason in self._reasons
            for side in (0, 1)
            if meaning.get(str(reason["raters"][side])) == reason["texts"][side]
            and (other := self._place_of(reason, 1 - side)) not in (None, place)
        }
        if not opposite:
            return []
        other = min(opposite)  # the best supported
        reason = opposite[other]
        own, theirs = self._only_in(place, other), self._only_in(other, place)
        if not own or not theirs:  # whoever has one of the two has the other too
            return []
        self._explained |= {(one, at) for one in own for at in (place, other)}
        if len(self._meanings[other]) > len(meaning):
            side = 0 if meaning.get(str(reason["raters"][0])) == reason["texts"][0] else 1
            return [Clause(own, instead(reason, side))]
        self._explained |= {(one, at) for one in theirs for at in (place, other)}
        first, second = (own, theirs) if place < other else (theirs, own)
        side = 0 if self._meanings[min(place, other)].get(str(reason["raters"][0])) == reason["texts"][0] else 1
        return [each_other(reason, side, first, second)]

    def _only_in(self, place: int, other: int) -> tuple[str, ...]:
        """Annotators who have one meaning and not the other."""
        return tuple(one for one in self._meanings[place] if one not in self._meanings[other])

    def _place_of(self, reason: Mapping[str, Any], side: int) -> int | None:
        rater, text = str(reason["raters"][side]), reason["texts"][side]
        return next((place for place, one in enumerate(self._meanings) if one.get(rater) == text), None)


def _few(words: Sequence[str], most: int = CLAUSES) -> list[str]:
    rest = len(words) - most
    return [*words[:most], f"{plural(rest, 'more difference')}"] if rest > 0 else list(words)
