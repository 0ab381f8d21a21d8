"""Why texts of a project do not match: what the report shows of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ml_backend.report.links import Links
from ml_backend.report.queue import Queue
from softirr.meaning.policy.attributes import KIND_NAMES
from softirr.meaning.policy.reasons import REASON_NAMES
from softirr.report.view.words import what_if_sentences

__all__ = ["reasons_of"]

PAIRS = 6
"""Sentences on two annotators."""
SEVERAL = 3
"""Tasks from which on a reason of two annotators is shown."""


def reasons_of(
    summary: Mapping[str, Any], names: Mapping[str, str], queue: Queue, links: Links
) -> dict[str, Any] | None:
    """The reasons of one field, counted in tasks, with examples; None where the summary is older than reasons.

    Parameters
    ----------
    summary : mapping
        The summary of the field (:meth:`ml_backend.scoring.scorer.Scorer.summary`).
    names : mapping
        Names of the annotators.
    queue : Queue
        The tasks of the field.
    links : Links
    """
    reasons = summary.get("reasons")
    if not reasons:
        return None
    total = queue.n_open + queue.n_done
    kinds = [
        {
            "kind": one["kind"],
            "name": one["name"],
            "pairs": one["pairs"],
            "tasks": (n := queue.with_reason(one["kind"])),
            "share": n / total if total else 0.0,
            "examples": [_example(example, one["name"], names, links) for example in one["examples"]],
        }
        for one in reasons["kinds"]
    ]
    return {
        "pairs": reasons["pairs"],
        "kinds": sorted(kinds, key=lambda one: -one["tasks"]),
        "sentences": [*_of_pairs(reasons["rater_pairs"], names), *what_if_sentences(reasons["what_if"])],
        "rater_pairs": [
            {"names": [names.get(rater, rater) for rater in one["raters"]], **one} for one in reasons["rater_pairs"]
        ],
        "what_if": reasons["what_if"],
    }


def _example(example: Mapping[str, Any], name: str, names: Mapping[str, str], links: Links) -> dict[str, Any]:
    return {
        **example,
        "names": [names.get(rater, rater) for rater in example["raters"]],
        "link": links.tasks(example.get("items") or [example["item"]], f"Texts without a match: {name}"),
    }


def _of_pairs(rater_pairs: list[dict[str, Any]], names: Mapping[str, str]) -> list[str]:
    """The attributes that two annotators disagree about most often."""
    shares = [
        (n / one["n_items"], one["raters"], kind)
        for one in rater_pairs
        for kind, n in one["kinds"].items()
        if kind in KIND_NAMES and n >= SEVERAL
    ]
    return [
        f"{names.get(a, a)} and {names.get(b, b)} disagree on {REASON_NAMES[kind]} in {share:.0%} of their tasks."
        for share, (a, b), kind in sorted(shares, key=lambda one: -one[0])[:PAIRS]
    ]
