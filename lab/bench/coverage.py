"""``python -m lab.bench coverage``: coverage of 95% intervals."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lab.bench.populations import Population, populations
from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.errors import InputError
from softirr.inference.ray_jobs import map_jobs
from softirr.markdown import table_head, table_row
from softirr.statistics.chance.equivalence import MatrixEquivalence
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.sample import sample
from softirr.statistics.coefficients.estimate import Estimate
from softirr.statistics.coefficients.registry import definition
from softirr.statistics.coefficients.summary import ByMeasure
from softirr.terminal import Parser, positive

COEFFICIENTS = {"cohen_kappa": "kappa", "fleiss_kappa": "Fleiss", "krippendorff_alpha": "alpha", "gwet_ac2": "AC2"}
METHODS = ("exact", "sample")
_TARGET = 0.005
_AT_ONCE = 25
"""Projects of one job."""


@dataclass(frozen=True)
class Coverage:
    """Intervals of one coefficient over many projects.

    Attributes
    ----------
    share_held, above, below : float
        Shares of the intervals that hold the truth, that lie above it, and that lie below it.
    width : float
        Mean width, lower end taken as -1 at least.
    projects : int
        Number of projects in which the coefficient is defined.
    """

    share_held: float
    above: float
    below: float
    width: float
    projects: int


def cover(
    population: Population,
    n_items: int,
    chance: str,
    projects: int,
    *,
    seed: int = 0,
    engine: str = "local",
) -> dict[str, Coverage]:
    """Coverage of each coefficient over simulated projects.

    Parameters
    ----------
    n_items : int
        Items of each project.
    chance : {"exact", "sample"}
    engine : {"local", "ray"}
        Where the projects are simulated; the numbers are the same.
    """
    truth = population.truth()
    simulate = _Projects(population, n_items, chance, seed)
    numbers = [range(start, min(start + _AT_ONCE, projects)) for start in range(0, projects, _AT_ONCE)]
    if engine == "ray":
        simulated = dict(map_jobs(simulate, numbers, name=lambda some: f"{population.name}, projects {some}"))
        chunks = [simulated[some] for some in numbers]
    else:
        chunks = [simulate(some) for some in numbers]
    ends = [end for chunk in chunks for end in chunk]
    return {
        name: _coverage(np.array([end for coefficient, end in ends if coefficient == name]).reshape(-1, 2), truth[name])
        for name in COEFFICIENTS
        if name in truth
    }


@dataclass(frozen=True, eq=False)
class _Projects:
    """Simulates projects by their numbers."""

    population: Population
    n_items: int
    chance: str
    seed: int

    def __call__(self, numbers: range) -> list[tuple[str, tuple[float, float]]]:
        """Name and interval of each coefficient that is defined."""
        ends = []
        for number in numbers:
            matrix = self.population.draw(self.n_items, np.random.default_rng([self.seed, self.n_items, number]))
            estimates = _estimates(matrix, self.population.similarity, self.chance, number)
            for name, estimate in estimates.items():
                coefficient = estimate.coefficient
                if coefficient.ci95 is not None:
                    ends.append((name, coefficient.ci95))
        return ends


def _estimates(matrix: Ints, similarity: Floats, chance: str, seed: int) -> dict[str, Estimate]:
    """The coefficients of one project, for the measurement of coverage."""
    ratings, equivalence = Ratings.from_matrix(matrix), MatrixEquivalence(similarity)
    comparisons = ratings.comparisons
    scores = equivalence.score(ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows])
    if not len(scores):
        return {}
    if chance == "exact":
        expected = exact(ratings, equivalence, scores)
    else:
        expected = sample(ratings, equivalence.score, scores, target_se=_TARGET, seed=seed)
    by_measure = ByMeasure(ratings, scores, expected)
    return {name: by_measure.estimate(definition(name)) for name in COEFFICIENTS}


def _coverage(ends: Floats, truth: float) -> Coverage:
    if not len(ends):
        return Coverage(0.0, 0.0, 0.0, 0.0, 0)
    low, high = ends.T
    above, below = low > truth, high < truth
    width = np.maximum(high, -1) - np.maximum(low, -1)
    return Coverage(
        float(np.mean(~above & ~below)), float(above.mean()), float(below.mean()), float(width.mean()), len(ends)
    )


def table(options: argparse.Namespace) -> Iterator[str]:
    """Lines of the table of coverage."""
    wanted_populations = [
        p for p in populations() if not options.populations or p.name.startswith(tuple(options.populations))
    ]
    if not wanted_populations:
        raise InputError(f"No population begins so; there are: {'; '.join(p.name for p in populations())}.")
    yield (
        f"{options.projects} projects a row; 95% intervals: share that contains the population's coefficient "
        "(lies above it, below it). AC2 where the categories are fixed."
    )
    yield ""
    names = COEFFICIENTS.values()
    yield from table_head(("population", "items", "chance", *names, "mean width (kappa)", "undefined"))
    for population in wanted_populations:
        for n_items in options.items:
            for chance in options.chance:
                covered = cover(population, n_items, chance, options.projects, seed=options.seed, engine=options.engine)
                cells = (_cell(covered.get(name)) for name in COEFFICIENTS)
                width, undefined = covered["cohen_kappa"].width, options.projects - covered["cohen_kappa"].projects
                yield table_row((population.name, n_items, chance, *cells, f"{width:.3f}", undefined))


def _cell(coverage: Coverage | None) -> str:
    return "" if coverage is None else f"{coverage.share_held:.1%} ({coverage.above:.1%}, {coverage.below:.1%})"


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument("--projects", type=positive, default=1_000, help="simulated projects of each row (1000)")
    options.add_argument("--items", type=positive, nargs="+", default=[30, 100, 300], help="items of a project")
    options.add_argument("--chance", nargs="+", choices=METHODS, default=list(METHODS))
    options.add_argument("--populations", nargs="+", metavar="NAME", help="beginnings of names (default: all)")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="ray: simulate the projects on a Ray cluster (local)",
    )
