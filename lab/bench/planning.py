"""``softirr bench planning``: coverage of the interval of a difference, and planned widths against simulated ones."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from softirr.answers.ratings import Ints
from softirr.markdown import table_head, table_row
from softirr.planning.difference import difference
from softirr.planning.variance_components import components
from softirr.statistics.coefficients.intervals import Sample, analytic
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.terminal import Parser, positive

__all__ = ["SimulatedDifference", "SimulatedPlan", "add_options", "simulated_difference", "simulated_plan", "table"]

_SHARES = (0.4, 0.3, 0.2, 0.1)
_LARGE = 100_000


@dataclass(frozen=True)
class SimulatedDifference:
    """Intervals of the difference of two kappas over simulated projects.

    Attributes
    ----------
    truth : float
        Of a project of 100,000 items.
    coverage : float
        Share of the intervals that hold it.
    width : float
        Their mean width.
    runs : int
        Projects in which both kappas are defined.
    """

    truth: float
    coverage: float
    width: float
    runs: int


def simulated_difference(
    accuracy: tuple[float, float],
    *,
    n_items: int,
    paired: bool,
    runs: int,
    seed: int = 0,
    coefficient: str = "cohen_kappa",
) -> SimulatedDifference:
    """Simulate two pairs of raters, of different accuracy, on the same items or on others.

    Parameters
    ----------
    accuracy : (float, float)
        Of the first and of the second pair.
    n_items : int
    paired : bool
    runs : int
    seed : int
    coefficient : str
    """
    rng = np.random.default_rng(seed)
    big = answers(rng, _LARGE, (accuracy[0],) * 2 + (accuracy[1],) * 2)
    values = [matrix_agreement(part).summary.coefficients[coefficient].value for part in (big[:, :2], big[:, 2:])]
    truth = float(values[1] or 0.0) - float(values[0] or 0.0)
    held, widths = 0, []
    for _ in range(runs):
        both = answers(rng, n_items, (accuracy[0],) * 2 + (accuracy[1],) * 2)
        other = both if paired else answers(rng, n_items, (accuracy[0],) * 2 + (accuracy[1],) * 2)
        result = difference(
            _sample(both[:, :2], coefficient), _sample(other[:, 2:], coefficient), independent=not paired
        )
        if result.ci95 is not None:
            held += result.ci95[0] <= truth <= result.ci95[1]
            widths.append(result.ci95[1] - result.ci95[0])
    return SimulatedDifference(truth, held / len(widths), float(np.mean(widths)), len(widths))


@dataclass(frozen=True)
class SimulatedPlan:
    """Widths that pilots predict, and those that projects of the planned size get.

    Attributes
    ----------
    predicted : float
        Mean over the pilots.
    low, high : float
        The middle 80% of what the pilots predict.
    got : float
        Mean width of the projects.
    """

    predicted: float
    low: float
    high: float
    got: float


def simulated_plan(
    accuracy: float, *, pilot: tuple[int, int], planned: tuple[int, int], runs: int, seed: int = 0
) -> SimulatedPlan:
    """Plan with simulated pilots, and carry the plan out.

    Parameters
    ----------
    accuracy : float
        Of every rater.
    pilot, planned : (int, int)
        Items and raters.
    runs : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    name = "krippendorff_alpha"
    widths, got = [], []
    for _ in range(runs):
        pilot_result = matrix_agreement(answers(rng, pilot[0], [accuracy] * pilot[1]), marginals="answers")
        estimate = pilot_result.summary.coefficients[name]
        if estimate.value is None or pilot_result.chance is None:
            continue
        variance = (
            components(pilot_result.ratings, pilot_result.scores, pilot_result.chance, estimate).variance(planned[1])
            / planned[0]
        )
        widths.append(2 * 1.96 * float(np.sqrt(variance)))
        real = matrix_agreement(answers(rng, planned[0], [accuracy] * planned[1])).summary.coefficients[name]
        interval = analytic(real).ci95
        if interval is not None:
            got.append(interval[1] - interval[0])
    low, high = np.quantile(widths, (0.1, 0.9))
    return SimulatedPlan(float(np.mean(widths)), float(low), float(high), float(np.mean(got)))


def answers(rng: np.random.Generator, n_items: int, accuracy: Sequence[float]) -> Ints:
    """Answers of raters with these accuracies to items of different difficulty, shape (n_items, raters)."""
    truth = rng.choice(len(_SHARES), n_items, p=_SHARES)
    error = rng.beta(2, 2, n_items)[:, None] * 2 * (1 - np.array(accuracy))
    wrong = rng.random((n_items, len(accuracy))) < error
    return np.where(wrong, rng.choice(len(_SHARES), (n_items, len(accuracy)), p=_SHARES), truth[:, None])


def _sample(matrix: Ints, coefficient: str) -> Sample:
    estimate = matrix_agreement(matrix).summary.coefficients[coefficient]
    items = () if estimate.items is None else tuple(map(str, estimate.items.tolist()))
    return Sample(analytic(estimate), estimate, items)


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument("--runs", type=positive, default=400, metavar="N", help="simulated projects of a line (400)")
    options.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the simulation (0)")


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of both tables."""
    runs, seed = options.runs, options.seed
    yield from table_head(("accuracy", "items", "same items", "difference", "coverage", "width"))
    for accuracy in ((0.8, 0.7), (0.97, 0.9), (0.7, 0.7)):
        for n_items in (15, 30, 100):
            for paired in (True, False):
                one = simulated_difference(accuracy, n_items=n_items, paired=paired, runs=runs, seed=seed)
                project = (f"{accuracy[0]:g} and {accuracy[1]:g}", n_items, "yes" if paired else "no")
                yield table_row((*project, f"{one.truth:+.3f}", f"{one.coverage:.1%}", f"{one.width:.2f}"))
    yield ""
    yield from table_head(("accuracy", "pilot", "planned", "predicted width", "of 80% of the pilots", "width got"))
    for each in (0.9, 0.75):
        for pilot in ((40, 2), (40, 3), (40, 4)):
            for planned in ((120, 2), (120, 3), (120, 5)):
                plan = simulated_plan(each, pilot=pilot, planned=planned, runs=runs, seed=seed)
                sizes = (f"{items} × {raters}" for items, raters in (pilot, planned))
                widths = (f"{plan.predicted:.3f}", f"{plan.low:.3f} to {plan.high:.3f}", f"{plan.got:.3f}")
                yield table_row((f"{each:g}", *sizes, *widths))
