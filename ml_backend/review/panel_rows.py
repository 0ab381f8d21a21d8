"""The rows of the panel: matched texts, the equivalence of each pair, and reviewers' decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from softirr.statistics.matching.consensus import EQUIVALENT, UNRELATED

__all__ = ["rows_of"]

Rows = tuple[list[dict[str, Any]], dict[str, list[str]]]


def rows_of(details: Mapping[str, Any], decisions: Sequence[Mapping[str, Any]], threshold: float) -> Rows:
    """The matches of one field as rows, and the unmatched texts.

    The optimal assignment also pairs texts without a match. They get rows of their own; where some of them are
    equivalent, these share a row.

    Parameters
    ----------
    details : mapping
        Scoring details of one field of a task.
    decisions : sequence
        Decisions on this task's texts, as the panel shows them.
    threshold : float
        Equivalence from which on two texts match.
    """
    by_pair = {frozenset(one["texts"]): one for one in decisions}
    rows: list[dict[str, Any]] = []
    alone = {rater: list(texts) for rater, texts in details["unmatched"].items()}
    for match in details["matches"]:
        if match["relation"] != UNRELATED:
            rows.append(_row(match, by_pair))
            continue
        for group in _groups(match, threshold):
            if len(group) > 1:
                rows.append(_row(_part(match, group), by_pair))
            else:
                alone.setdefault(group[0], []).append(match["texts"][group[0]])
    rows.sort(key=lambda row: (-row.get("support", 0), -row["equivalence"]))
    return rows, {rater: texts for rater, texts in alone.items() if texts}


def _pairs(match: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Value of each pair; a match of two texts without stored values has the match's value."""
    raters = list(match["texts"])
    if "pairs" not in match and len(raters) == 2:
        return [{"raters": raters, "equivalence": match["equivalence"]}]
    return [dict(one) for one in match.get("pairs", ())]


def _groups(match: Mapping[str, Any], threshold: float) -> list[list[str]]:
    """The raters of a match, grouped by equivalent texts."""
    group = {rater: [rater] for rater in match["texts"]}
    for one in _pairs(match):
        a, b = one["raters"]
        if one["equivalence"] >= threshold and group[a] is not group[b]:
            group[a] += group[b]
            for rater in group[b]:
                group[rater] = group[a]
    return list({id(one): one for one in group.values()}.values())


def _part(match: Mapping[str, Any], group: Sequence[str]) -> dict[str, Any]:
    pairs = [one for one in _pairs(match) if set(one["raters"]) <= set(group)]
    return {
        "texts": {rater: text for rater, text in match["texts"].items() if rater in group},
        "equivalence": sum(one["equivalence"] for one in pairs) / len(pairs),
        "relation": EQUIVALENT,
        "support": len(group),
        "pairs": pairs,
    }


def _row(match: Mapping[str, Any], by_pair: Mapping[frozenset[str], Mapping[str, Any]]) -> dict[str, Any]:
    """A match with the decision on each pair of its texts, and on the row where all pairs have the same decision."""
    texts = match["texts"]
    pairs = _pairs(match)
    for one in pairs:
        a, b = one["raters"]
        one["decision"] = by_pair.get(frozenset((texts[a], texts[b])))
    own = list(dict.fromkeys(texts.values()))
    decisions = [by_pair.get(frozenset((a, b))) for i, a in enumerate(own) for b in own[i + 1 :]]
    verdicts = {one["verdict"] for one in decisions if one}
    decided = decisions[0] if decisions and all(decisions) and len(verdicts) == 1 else None
    return {**match, "pairs": pairs, "broader": _broader(match), "decision": decided}


def _broader(match: Mapping[str, Any]) -> str | None:
    """The rater with the most general text, stated explicitly because JSON objects may lose their order."""
    raters = list(match["texts"])
    return {"first is more general": raters[0], "second is more general": raters[-1]}.get(match["relation"])
