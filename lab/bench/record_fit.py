"""The record of a measure's errors, fitted to the rows of ``python -m lab.bench evidence``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from softirr.answers.ratings import Floats
from softirr.errors import InputError
from softirr.statistics.evidence.record import Record, Spread

LEAST_PAIRS = 8

Row = dict[str, Any]


def fit(rows: Sequence[Row], measure: str) -> Record:
    """The record of a measure.

    Parameters
    ----------
    rows : sequence of dict
        As :func:`statistics` gives them; of several measures for the record of any measure.
    """
    if not rows:
        raise InputError("There are no populations to fit a record to.")
    recovery = _spread([(row, logit_bounded(row["recovery"])) for row in rows if row["recovery"] is not None])
    leak = _spread([(row, row["leak"]) for row in rows if row["leak"] is not None])
    slope = _spread([(row, float(np.log(np.clip(row["slope"], 0.02, 10)))) for row in rows if row["slope"] is not None])
    return Record(measure, recovery, leak, slope, tuple(_beta(rows, stratum) for stratum in range(3)))


def logit_bounded(share: float) -> float:
    """Log odds of a share, bounded."""
    bounded = min(max(share, 0.02), 0.98)
    return float(np.log(bounded / (1 - bounded)))


def _by_kind(values: Sequence[tuple[Row, float]]) -> tuple[Floats, Floats]:
    """Mean of each kind, and its weight: sources weigh the same, and so do the kinds of a source."""
    kinds: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row, value in values:
        kinds[row["measure"], row["source"], row["kind"]].append(value)
    of_source: dict[tuple[str, str], int] = defaultdict(int)
    for measure, source, _ in kinds:
        of_source[measure, source] += 1
    means = np.array([np.mean(kind) for kind in kinds.values()])
    weights = np.array([1 / of_source[measure, source] for measure, source, _ in kinds])
    return means, weights


def _spread(values: Sequence[tuple[Row, float]]) -> Spread:
    """Mean over kinds and the standard deviation of a further source: the mean is itself uncertain."""
    if not values:
        raise InputError("The populations have too few pairs to fit a record to: ask for more, or for larger ones.")
    means, weights = _by_kind(values)
    mean = float(np.average(means, weights=weights))
    n = max(float(weights.sum()), 2.0)
    variance = float(np.average((means - mean) ** 2, weights=weights)) * n / (n - 1) * (1 + 1 / n)
    return Spread(round(mean, 4), round(max(variance, 1e-4) ** 0.5, 4))


def _beta(rows: Sequence[Row], stratum: int) -> tuple[float, float]:
    """Beta distribution of the share of equivalent pairs of different items over kinds, by its moments."""
    values = [(row, row["chance"][stratum][0]) for row in rows if row["chance"][stratum][1] >= LEAST_PAIRS]
    if len(values) < 3:
        return (0.5, 1.0) if stratum == 2 else (0.5, 10.0)
    means, weights = _by_kind(values)
    mean = min(max(float(np.average(means, weights=weights)), 1e-4), 0.9)
    variance = max(float(np.average((means - mean) ** 2, weights=weights)), mean**2 / 4)
    strength = max(mean * (1 - mean) / variance - 1, 0.3)
    return round(mean * strength, 4), round((1 - mean) * strength, 4)
