"""``python -m lab.bench differences``: coverage of the interval of the difference of two kappas."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.results_table import table_head, table_row
from softirr.answers.ratings import Ints
from softirr.statistics.coefficients.definition import Estimate
from softirr.statistics.coefficients.intervals import Sample
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.comparisons.difference import difference
from softirr.terminal import Parser, positive

_SHARES = (0.4, 0.3, 0.2, 0.1)
_LARGE = 100_000


@dataclass(frozen=True)
class SimulatedDifference:
    """Intervals of the difference of two kappas over simulated projects.

    Attributes
    ----------
    truth : float
        Difference in a project of 100,000 items.
    coverage : float
        Share of the intervals that contain it.
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
) -> SimulatedDifference:
    """Simulate two pairs of raters, of different accuracy, on the same items or on others.

    Parameters
    ----------
    accuracy : (float, float)
        Accuracy of the first and of the second pair.
    """
    rng = np.random.default_rng(seed)
    of_raters = (accuracy[0],) * 2 + (accuracy[1],) * 2
    large = answers(rng, _LARGE, of_raters)
    truth = float(_kappa(large[:, 2:]).value or 0.0) - float(_kappa(large[:, :2]).value or 0.0)
    covered, widths = 0, []
    for _ in range(runs):
        first = answers(rng, n_items, of_raters)
        second = first if paired else answers(rng, n_items, of_raters)
        result = difference(_sample(first[:, :2]), _sample(second[:, 2:]), independent=not paired)
        if result.ci95 is not None:
            covered += result.ci95[0] <= truth <= result.ci95[1]
            widths.append(result.ci95[1] - result.ci95[0])
    return SimulatedDifference(truth, covered / len(widths), float(np.mean(widths)), len(widths))


def answers(rng: np.random.Generator, n_items: int, accuracy: Sequence[float]) -> Ints:
    """Answers of raters with these accuracies to items of different difficulty, shape (n_items, raters)."""
    truth = rng.choice(len(_SHARES), n_items, p=_SHARES)
    error = rng.beta(2, 2, n_items)[:, None] * 2 * (1 - np.array(accuracy))
    wrong = rng.random((n_items, len(accuracy))) < error
    return np.where(wrong, rng.choice(len(_SHARES), (n_items, len(accuracy)), p=_SHARES), truth[:, None])


def _kappa(matrix: Ints) -> Estimate:
    return matrix_agreement(matrix).estimates["cohen_kappa"]


def _sample(matrix: Ints) -> Sample:
    estimate = _kappa(matrix)
    return Sample(estimate.coefficient, estimate.draws, tuple(map(str, estimate.items.tolist())))


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument("--runs", type=positive, default=400, metavar="N", help="simulated projects of a line (400)")


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    yield from table_head(("accuracy", "items", "same items", "difference", "coverage", "width"))
    for accuracy in ((0.8, 0.7), (0.97, 0.9), (0.7, 0.7)):
        for n_items in (15, 30, 100):
            for paired in (True, False):
                result = simulated_difference(accuracy, n_items=n_items, paired=paired, runs=options.runs)
                project = (f"{accuracy[0]:g} and {accuracy[1]:g}", n_items, "yes" if paired else "no")
                yield table_row((*project, f"{result.truth:+.3f}", f"{result.coverage:.1%}", f"{result.width:.2f}"))
