"""The annotator who differs from others who agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["dissenter"]

GAIN = 0.15
"""Least gain of agreement by leaving one annotator out that is mentioned."""


def dissenter(agreement: float, pairs: Iterable[Sequence[Any]]) -> tuple[str, float] | None:
    """The annotator without whom agreement on a task rises most, and that agreement.

    None where it rises little, and of two annotators.

    Parameters
    ----------
    agreement : float
        The task's.
    pairs : iterable of (rater, rater, equivalence)
    """
    values = [(str(a), str(b), float(value)) for a, b, value in pairs]
    raters = sorted({rater for a, b, _ in values for rater in (a, b)})
    if len(raters) <= 2:
        return None
    without, rater = max(
        ((_mean(v for a, b, v in values if rater not in (a, b)), rater) for rater in raters), key=lambda x: x[0]
    )
    return (rater, without) if without - agreement >= GAIN else None


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return sum(kept) / len(kept) if kept else 0.0
