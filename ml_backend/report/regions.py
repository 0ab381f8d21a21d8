"""Agreement by the label of regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ml_backend.report.links import Links
from softirr.statistics.coefficients.intervals import of_mean

__all__ = ["regions"]

WORST = 12
Rows = Sequence[Mapping[str, Any]]


def regions(rows: Rows, links: Links) -> dict[str, Any] | None:
    """Agreement by the label of regions, and the regions with the lowest.

    None where regions are not compared by overlap.
    """
    places = [(row["number"], place) for row in rows for place in row["places"]]
    if not places:
        return None
    labels: dict[str, list[Any]] = {}
    for number, place in places:
        labels.setdefault(place["label"], []).append((number, place))
    groups = []
    for label, own in labels.items():
        known = [place["agreement"] for _, place in own if place["agreement"] is not None]
        alone = [number for number, place in own if len(place["raters"]) == 1]
        mean = of_mean(np.array(known), floor=0.0) if known else None
        groups.append(
            {
                "label": label or "no label",
                "n": len(own),
                "agreement": mean.value if mean else None,
                "ci95": list(mean.ci95) if mean and mean.ci95 else None,
                "alone": len(alone),
                "link": links.tasks(
                    list(dict.fromkeys(number for number, _ in own)), f"Regions: {label or 'no label'}"
                ),
            }
        )
    worst = sorted(
        ((place["agreement"], number, place) for number, place in places if place["agreement"] is not None),
        key=lambda one: (one[0], one[1]),
    )[:WORST]
    return {
        "groups": sorted(groups, key=lambda one: (one["agreement"] is None, one["agreement"] or 0.0, one["label"])),
        "worst": [{**place, "task": number, "link": links.task(number)} for _, number, place in worst],
    }
