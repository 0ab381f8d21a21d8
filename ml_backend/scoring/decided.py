"""Reviewers' decisions in the form that :mod:`softirr.meaning.measures.decisions` expects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from softirr.text import normalize

__all__ = ["verdicts"]


def verdicts(decisions: Iterable[Mapping[str, Any]], *, casefold: bool = False) -> dict[tuple[str, str], bool]:
    """Decisions of the store (text_a, text_b, same) by unordered pair of normalized texts; the latest one counts."""
    verdict: dict[tuple[str, str], bool] = {}
    for one in sorted(decisions, key=lambda row: row["decided_at"]):
        a, b = sorted((normalize(one["text_a"], casefold=casefold), normalize(one["text_b"], casefold=casefold)))
        if a != b:
            verdict[a, b] = bool(one["same"])
    return verdict
