"""Groups of the report's tasks: by agreement, over time, by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ml_backend.report.links import Links
from softirr.report.page.view import histogram_bins
from softirr.statistics.coefficients.intervals import of_mean

BATCHES = 20


def histogram(rows: Sequence[Mapping[str, Any]], links: Links) -> list[dict[str, Any]]:
    """Number of tasks in each of ten equal ranges of agreement."""
    bins = histogram_bins(row["agreement"] for row in rows if row["agreement"] is not None)
    return [
        {**one, "link": links.agreement(one["low"], one["high"], f"Agreement {one['low']:.1f} to {one['high']:.1f}")}
        for one in bins
    ]


def _group(label: str, rows: Sequence[Mapping[str, Any]], link: str) -> dict[str, Any]:
    mean = of_mean(np.array([row["agreement"] for row in rows], dtype=np.float64), floor=0.0)
    ci95 = list(mean.ci95) if mean.ci95 else None
    return {"label": label, "n": len(rows), "agreement": mean.value, "ci95": ci95, "link": link}


def over_time(rows: Sequence[Mapping[str, Any]], links: Links) -> list[dict[str, Any]]:
    """Groups by the day of a task's last answer; by month where there are many days."""
    dated = [row for row in rows if row["agreement"] is not None and row["day"]]
    for length in (10, 7):
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for row in dated:
            groups.setdefault(row["day"][:length], []).append(row)
        if len(groups) <= 60:
            break
    return [
        _group(day, group, links.tasks([row["number"] for row in group], f"Answered {day}"))
        for day, group in sorted(groups.items())
    ]


def batches(rows: Sequence[Mapping[str, Any]], links: Links) -> list[dict[str, Any]]:
    """Equal parts in the order of import."""
    compared = [row for row in rows if row["agreement"] is not None]
    n = min(BATCHES, len(compared) // 5)
    if n < 2:
        return []
    groups = []
    for i in range(n):
        part = compared[i * len(compared) // n : (i + 1) * len(compared) // n]
        first, last = part[0]["number"], part[-1]["number"]
        groups.append(_group(f"{first} to {last}", part, links.range(first, last, f"Tasks {first} to {last}")))
    return groups
