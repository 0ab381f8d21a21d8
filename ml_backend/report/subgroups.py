"""Agreement by a field of the tasks' data, by a label, by kind of region, and of the tasks of some days."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ml_backend.report.links import Links
from ml_backend.review.agreement_words import chance_by_measure
from softirr.planning.difference import Sample, equality
from softirr.statistics.coefficients.estimate import Estimate
from softirr.statistics.coefficients.intervals import of_mean
from softirr.statistics.coefficients.registry import coefficient_title

__all__ = ["LABEL", "MOST_GROUPS", "dimensions", "period", "regions", "subgroups"]

MOST_GROUPS = 20
LABEL = "label "
"""What the name of a grouping by a control with labels begins with."""
WORST = 12
Rows = Sequence[Mapping[str, Any]]


def dimensions(rows: Rows) -> list[str]:
    """Names of what the tasks can be grouped by: it has 2 to 20 values over the tasks with an agreement."""
    values: dict[str, set[str]] = {}
    for row in rows:
        if row["agreement"] is not None:
            for name, value in row["groups"]:
                own = values.setdefault(name, set())
                if len(own) <= MOST_GROUPS:
                    own.add(value)
    return [name for name, own in values.items() if 2 <= len(own) <= MOST_GROUPS]


def subgroups(rows: Rows, by: str, head: Mapping[str, Any], summary: Mapping[str, Any], links: Links) -> dict[str, Any]:
    """Agreement of the tasks by each value of a field.

    Parameters
    ----------
    rows : sequence of mapping
        Of :class:`ml_backend.report.task_cache.TaskRows`.
    by : str
        One of :func:`dimensions`.
    head, summary : mapping
        The report's headline, and the summary of the field: the agreement by chance of the whole project, by the
        measure alone as the tasks' agreement, corrects each group.

    Returns
    -------
    dict
        ``by``, ``coefficient`` (the name, or None), ``groups`` (``label``, ``n``, ``agreement``, ``ci95``,
        ``corrected``, ``corrected_ci95``, ``link``; the lowest first), ``p`` (of the same agreement in all groups) and
        ``without`` (tasks without a value).
    """
    members: dict[str, list[Mapping[str, Any]]] = {}
    without = 0
    for row in rows:
        if row["agreement"] is None:
            continue
        value = dict(row["groups"]).get(by)
        if value is None:
            without += 1
        else:
            members.setdefault(value, []).append(row)
    name, correct = _corrected(head, summary)
    groups, samples = [], []
    for label, own in members.items():
        group, sample = _group(label, own, correct, links.tasks([row["number"] for row in own], f"{by}: {label}"))
        groups.append(group)
        if sample is not None:
            samples.append(sample)
    test = equality(samples, independent=True) if len(samples) == len(groups) > 1 else None
    return {
        "by": by,
        "coefficient": name,
        "groups": sorted(groups, key=lambda one: (one["agreement"], one["label"])),
        "p": None if test is None else test.p,
        "without": without,
    }


def period(rows: Rows, head: Mapping[str, Any], summary: Mapping[str, Any], links: Links) -> dict[str, Any] | None:
    """Agreement of all these tasks together, in the form of a group; None where none has an agreement."""
    own = [row for row in rows if row["agreement"] is not None]
    name, correct = _corrected(head, summary)
    link = links.tasks([row["number"] for row in own], "Tasks of these days") if own else ""
    return {**_group("", own, correct, link)[0], "coefficient": name} if own else None


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


def _corrected(
    head: Mapping[str, Any], summary: Mapping[str, Any]
) -> tuple[str | None, Callable[[float], float] | None]:
    """The headline's coefficient, and what makes it out of a mean agreement with the chance of the whole project."""
    key = str(head.get("key") or "")
    expected = chance_by_measure(summary, key)
    if expected is None or expected >= 1:
        return None, None
    return coefficient_title(key), lambda value: (value - expected) / (1 - expected)


def _group(
    label: str, rows: Rows, correct: Callable[[float], float] | None, link: str
) -> tuple[dict[str, Any], Sample | None]:
    values = np.array([row["agreement"] for row in rows])
    mean = of_mean(values, floor=0.0)
    sample = None
    if mean.ci95 is not None:
        estimate = Estimate(mean.value, values - values.mean(), floor=0.0)
        sample = Sample(mean, estimate, tuple(str(row["number"]) for row in rows))
    ci95 = list(mean.ci95) if mean.ci95 else None
    corrected = correct(float(values.mean())) if correct else None
    return {
        "label": label,
        "n": len(values),
        "agreement": mean.value,
        "ci95": ci95,
        "corrected": corrected,
        "corrected_ci95": _bounded([correct(end) for end in ci95], corrected) if correct and ci95 else None,
        "link": link,
    }, sample


def _bounded(interval: Sequence[float], value: float | None) -> list[float] | None:
    """The part of an interval of a coefficient from -1 to 1.

    None where the value is outside, as with few tasks and much agreement by chance.
    """
    low, high = (min(max(end, -1.0), 1.0) for end in interval)
    return [low, high] if value is not None and low <= value <= high else None
