"""The fields of a task as the panel shows them: one card for each meaning, and pairs of texts that are in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.review.field_entries import FieldEntry
from ml_backend.web.responses import moment
from softirr.answers.kinds import find_kind
from softirr.answers.labelstudio_results import readable_name
from softirr.meaning.policy.reasons import REASON_NAMES
from softirr.report.task_sentence import Meaning, meanings_of, pairs_of

DOUBT = (0.2, 0.8)
"""Range of equivalences in which a reviewer decides on a pair."""
_SILENT = ("unrelated", "one rater only")
_GENERAL = {"first is more general": 1, "second is more general": 0}
"""Relation of two texts -> index of the more specific text."""


def sentence_field(
    entry: Mapping[str, Any], details: Mapping[str, Any], decisions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what `softirr.report.task_sentence` needs to know about a field of a task.

    Parameters
    ----------
    entry : mapping
        The stored answers of the field.
    details : mapping
        Its scoring details.
    decisions : sequence of mapping
        Reviewers' decisions: text_a, text_b, same.
    """
    answers: Mapping[str, Sequence[str]] = entry["answers"]
    texts = {text for match in details["matches"] for text in match["texts"].values()}
    texts.update(*details["unmatched"].values())
    decided = [_decision(row) for row in decisions if row["text_a"] in texts and row["text_b"] in texts]
    by_pair = {frozenset(row["texts"]): row for row in decided}
    return {
        "raters": list(answers),
        "empty": [rater for rater, texts_of_rater in answers.items() if not texts_of_rater],
        "matches": [_with_decisions(match, by_pair) for match in details["matches"]],
        "unmatched": details["unmatched"],
        "reasons": details.get("reasons") or [],
        "decisions": decided,
    }


def text_field(
    name: str, field: Mapping[str, Any], details: Mapping[str, Any], *, threshold: float, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return one field of texts: its cards, its suggestion and each annotator's texts.

    Parameters
    ----------
    field : mapping
        Of `sentence_field`.
    """
    groups = meanings_of(field, threshold)
    pairs = _doubtful_pairs(field)
    cards = [_card(group, field) for group in groups]
    for texts, pair in pairs.items():
        holders = [index for index, group in enumerate(groups) if texts & set(group.values())]
        if holders:  # texts of two meanings: on the card of fewer annotators
            cards[holders[-1]]["pairs"].append(pair)
    for card in cards:
        card["pairs"].sort(key=lambda pair: (pair["decision"] is not None, pair["texts"]))
    return {
        "name": name,
        "title": readable_name(name),
        "kind": "text",
        "cards": cards,
        "suggestion": details["suggestion"],
        "empty": field["empty"],
        "answers": {rater: _texts_of(field, rater) for rater in field["raters"]},
        "written": details.get("written") or {},
    }


def other_field(
    entry: FieldEntry, kind: str, answers: Mapping[str, tuple[str, ...]], agreed: Sequence[str] | None
) -> dict[str, Any]:
    """Return a field of choices, ratings or the like: its values with who gave them, and their majority or median."""
    by_values: dict[tuple[str, ...], list[str]] = {}
    for rater, chosen_values in answers.items():
        by_values.setdefault(chosen_values, []).append(rater)
    ordered = sorted(by_values.items(), key=lambda item: -len(item[1]))
    return {
        "name": entry.name,
        "title": entry.title,
        "kind": kind,
        "values": [{"values": list(chosen_values), "raters": raters} for chosen_values, raters in ordered],
        "suggestion": None if agreed is None else list(agreed),
        "suggested_by": "majority" if find_kind(kind).number is None else "median",
    }


def _texts_of(field: Mapping[str, Any], rater: str) -> list[str]:
    matched = [match["texts"][rater] for match in field["matches"] if rater in match["texts"]]
    return list(dict.fromkeys([*matched, *field["unmatched"].get(rater, ())]))


def _decision(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "texts": [row["text_a"], row["text_b"]],
        "verdict": "same" if row["same"] else "different",
        "cause": row.get("cause") or None,
        "who": row["reviewer"],
        "when": moment(row["decided_at"]),
    }


def _with_decisions(match: Mapping[str, Any], by_pair: Mapping[frozenset[str], Any]) -> dict[str, Any]:
    """Return the match with the decision on each pair of its texts."""
    texts = match["texts"]
    decided = [
        {**pair, "decision": by_pair.get(frozenset(texts[rater] for rater in pair["raters"]))}
        for pair in pairs_of(match)
    ]
    return {**match, "pairs": decided}


def _card(group: Meaning, field: Mapping[str, Any]) -> dict[str, Any]:
    wordings: dict[str, list[str]] = {}
    for rater, text in group.items():
        wordings.setdefault(text, []).append(rater)
    ordered = sorted(wordings.items(), key=lambda item: -len(item[1]))
    return {
        "texts": [{"text": text, "raters": raters} for text, raters in ordered],
        "has": [rater for rater in field["raters"] if rater in group],
        "lacks": [rater for rater in field["raters"] if rater not in group],
        "why": _why(group, field),
        "pairs": [],
    }


def _why(group: Meaning, field: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the closest text of another meaning, and the reason why the two differ."""
    inside = set(group.values())
    reasons = [
        (reason["equivalence"], reason["kind"], next(text for text in reason["texts"] if text not in inside))
        for reason in field["reasons"]
        if reason["kind"] not in _SILENT and len(inside & set(reason["texts"])) == 1
    ]
    if not reasons or 2 * len(group) > len(field["raters"]):
        return None
    _, kind, text = max(reasons)
    return {"name": REASON_NAMES[kind], "text": text}


def _doubtful_pairs(field: Mapping[str, Any]) -> dict[frozenset[str], dict[str, Any]]:
    """Return the pairs of texts that are in doubt, or that a reviewer has decided."""
    values: dict[frozenset[str], float] = {}
    specific: dict[frozenset[str], str] = {}
    for match in field["matches"]:
        for pair in match["pairs"]:
            texts = [match["texts"][rater] for rater in pair["raters"]]
            values[frozenset(texts)] = pair["equivalence"]
        if len(match["texts"]) == 2 and match["relation"] in _GENERAL:
            texts = list(match["texts"].values())
            specific[frozenset(texts)] = texts[_GENERAL[match["relation"]]]
    for reason in field["reasons"]:
        pair = frozenset(reason["texts"])
        values.setdefault(pair, reason["equivalence"])
        if reason.get("broader") is not None:
            specific.setdefault(pair, reason["texts"][1 - reason["broader"]])
    decided = {frozenset(row["texts"]): row for row in field["decisions"]}
    low, high = DOUBT
    doubtful = {pair for pair, value in values.items() if low < value < high} | decided.keys()
    return {
        pair: {"texts": sorted(pair), "decision": decided.get(pair), "specific": specific.get(pair)}
        for pair in sorted(doubtful, key=sorted)
        if len(pair) == 2
    }
