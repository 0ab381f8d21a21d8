"""Which strata judgements go to: how narrow the interval gets by other allocations, up to one that knows the judge's answers before.

The strata, the order within them and the estimator stay; only the shares change. *Size* ignores the measure: proportional. *Adaptive* starts as softirr draws and
goes on by Neyman's allocation with the variances that the first judgements suggest. *Truth* is Neyman's allocation with the true variances, the best one that
there is: no way of drawing from these strata does better on average.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from softirr.audit.design import Design, Frame
from softirr.audit.estimate import estimate
from softirr.lab.bench.audit_informed import NAME, Case
from softirr.lab.bench.audit_simulation import judge
from softirr.tables.ratings import Floats

__all__ = ["ALLOCATIONS", "allocated", "lines"]

ALLOCATIONS = ("packaged", "size", "adaptive", "truth")
FIRST = 12
"""Judgements before the adaptive allocation."""
_TRUSTED = 4.0
"""Weight of the measure's P, in judgements, beside the first ones."""
_FLAT = 0.05
"""Added to each standard deviation, so that every stratum gets some pairs."""
_LEAST = 2
_MOST = 500
"""Draws that are put in order: more than anybody judges here."""


def allocated(case: Case, name: str) -> Design:
    """The design of a project, drawn by another allocation.

    Parameters
    ----------
    case : Case
    name : str
        One of ``ALLOCATIONS``.

    Returns
    -------
    Design
    """
    design = case.design
    if name == "packaged":
        return design
    frames = (design.same, design.different)
    start = list(islice(design.draws(), FIRST)) if name == "adaptive" else []
    means = [_means(case, frame, number, start, name) for number, frame in enumerate(frames)]
    if name == "size":
        rates = [np.bincount(frame.stratum, minlength=len(frame.rate)).astype(np.float64) for frame in frames]
        parts = [1 - design.chance_share, design.chance_share]
    else:
        comparisons = len(design.same.p)
        weights = (np.full(comparisons, 1 / comparisons), design.pooled_weight)
        # D / B is as uncertain by B as by D times its ratio
        ratio = 1 - float(np.clip(case.plain, 0.0, 1.0))
        rates = [_neyman(*given) for given in zip(frames, weights, means, strict=True)]
        parts = [rates[0].sum(), ratio * rates[1].sum()]
    share = np.concatenate([part * rate / max(rate.sum(), 1e-12) for part, rate in zip(parts, rates, strict=True)])
    return replace(design, order=_order(design, share, start))


def _means(case: Case, frame: Frame, number: int, start: Sequence[tuple[int, int]], name: str) -> Floats:
    """Share of equivalent pairs of each stratum: the true one, or by P and the first judgements."""
    texts, k = frame.texts, len(frame.rate)
    size = np.bincount(frame.stratum, minlength=k)
    if not k:
        return np.zeros(0)
    if name == "truth":
        return np.asarray(np.bincount(frame.stratum, case.same(texts.left, texts.right), k) / size)
    drawn = np.array([member for of, member in start if of == number], dtype=np.int64)
    found = np.bincount(frame.stratum[drawn], case.same(texts.left[drawn], texts.right[drawn]), k)
    expected = np.bincount(frame.stratum, texts.p, k) / size
    return np.asarray((found + _TRUSTED * expected) / (np.bincount(frame.stratum[drawn], minlength=k) + _TRUSTED))


def _neyman(frame: Frame, of_answers: Floats, mean: Floats) -> Floats:
    """Shares of the strata of a frame that minimize the variance of a weighted sum, times its standard deviation."""
    k = len(mean)
    weights = frame.texts.weights(of_answers)
    size = np.bincount(frame.stratum, minlength=k)
    squares = np.bincount(frame.stratum, weights**2, k)
    return np.asarray(np.sqrt(size * squares) * (np.sqrt(mean * (1 - mean)) + _FLAT))


def _order(design: Design, share: Floats, start: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The draws of ``start``, then by shares of the strata of both frames as :meth:`Design.draws` does."""
    queues = [(0, queue) for queue in design.same.queues] + [(1, queue) for queue in design.different.queues]
    ranked = [
        (-float("inf") if place < _LEAST else -part / (2 * place + 1), place, number, (frame, int(member)))
        for number, ((frame, queue), part) in enumerate(zip(queues, share.tolist(), strict=True))
        for place, member in enumerate(queue[:_MOST])
    ]
    known = set(start)
    return (*start, *(draw for *_, draw in sorted(ranked) if draw not in known))


def lines(name: str, cases: Iterable[Case], judgements: Sequence[int]) -> Iterator[str]:
    """Rows of the table: coverage, mean width over that of the packaged allocation, and mean absolute error of the fixed interval.

    Parameters
    ----------
    name : str
        Of the measure.
    cases : iterable of Case
    judgements : sequence of int

    Yields
    ------
    str
    """
    found: dict[tuple[str, int], list[tuple[bool, float, float]]] = {}
    for case in cases:
        for allocation in ALLOCATIONS:
            design = allocated(case, allocation)
            for n in judgements:
                judged, draws = judge(design, case.same, n)
                told = estimate(design, judged, draws, case.chance).coefficients[NAME]
                low, high = told.ci95 or (-1.0, 1.0)
                off = abs((told.value or 0.0) - case.table)
                found.setdefault((allocation, n), []).append((low - 1e-9 <= case.truth <= high + 1e-9, high - low, off))
    for allocation in ALLOCATIONS:
        cells = []
        for n in judgements:
            held, width, off = np.mean(found[allocation, n], axis=0)
            base = np.mean(found["packaged", n], axis=0)[1]
            cells.append(f"{held:.1%}, {width:.3f} ({width / base:.2f}), {off:.4f}")
        yield f"| {name} | {allocation} | " + " | ".join(cells) + " |"
