"""How each annotator's agreement with the others changes over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np

from softirr.planning.compare_time import places_of
from softirr.planning.difference import trend

__all__ = ["person_trends"]

MOST_PERIODS = 24
FEWEST = 10
"""Tasks of an annotator from which a trend is tested."""
SURE = 0.05


def person_trends(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> dict[str, Any] | None:
    """The agreement of each annotator with the others by day, week or month of their answers.

    Parameters
    ----------
    rows : sequence of mapping
        Of :class:`ml_backend.report.task_cache.TaskRows`.
    names : mapping
        Names of the annotators.

    Returns
    -------
    dict or None
        ``unit`` (day, week, month), ``periods`` and ``people``, those with most tasks first (``id``, ``name``, ``n``,
        ``values`` and ``counts`` by period, ``change`` from the first to the last task, ``ci95``, ``said``). None with
        fewer than two periods.
    """
    own: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        for rater, day, value in row["people"]:
            if day:
                own.setdefault(rater, []).append((day, value))
    days = {day for given in own.values() for day, _ in given}
    unit, place = _unit(days)
    periods = sorted(set(place.values()))
    if len(periods) < 2:
        return None
    people = []
    for rater, given in own.items():
        sums: dict[str, list[float]] = {}
        for day, value in given:
            sums.setdefault(place[day], []).append(value)
        people.append(
            {
                "id": rater,
                "name": names.get(rater, rater),
                "n": len(given),
                "values": [sum(sums[p]) / len(sums[p]) if p in sums else None for p in periods],
                "counts": [len(sums.get(p, ())) for p in periods],
                **_tested(given),
            }
        )
    return {"unit": unit, "periods": periods, "people": sorted(people, key=lambda one: (-one["n"], one["name"]))}


def _unit(days: set[str]) -> tuple[str, dict[str, str]]:
    """The smallest unit with few enough periods, and the period of each day."""
    for unit, start in (("day", lambda day: day), ("week", _monday), ("month", lambda day: day[:7])):
        place = {day: start(day) for day in days}
        if unit == "month" or len(set(place.values())) <= MOST_PERIODS:
            break
    return unit, place


def _monday(day: str) -> str:
    try:
        parsed = date.fromisoformat(day)
    except ValueError:
        return day
    return (parsed - timedelta(days=parsed.weekday())).isoformat()


def _tested(given: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """The change of an annotator's agreement, tested on the tasks in their order."""
    nothing = {"change": None, "ci95": None}
    if len(given) < FEWEST:
        return nothing | {"said": f"fewer than {FEWEST} tasks"}
    order = {day: place for place, day in enumerate(sorted({day for day, _ in given}))}
    values = np.array([value for _, value in given])
    slope, p = trend(values, places_of(np.array([order[day] for day, _ in given], dtype=np.float64)))
    if slope.value is None:
        return nothing | {"said": "all on one day"}
    sure = p is not None and p < SURE
    direction = "no clear change" if not sure else "rising" if slope.value > 0 else "falling"
    return {"change": slope.value, "ci95": list(slope.ci95) if slope.ci95 else None, "said": direction}
