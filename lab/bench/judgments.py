"""``python -m lab.bench judgments``: coverage of the intervals of simulated projects, without data from outside.

Two raters name the same concept of an item with a probability that is the population's alpha: otherwise each names
a concept independently, from the same distribution. A concept has several wordings. The P of two wordings is simulated:
populations differ in how high it is for the same concept and for different ones, as kinds of wording do. The record of
the measure comes from other simulated populations.

*Looking* is an audit that stops as soon as the interval is narrow enough. The classical audit is the difference
estimator by the judged pairs alone, for a number of judgments that was fixed beforehand.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.bench.evidence import HEADLINE, JUDGMENTS
from lab.bench.evidence_cases import Case, judge, statistics
from lab.bench.evidence_populations import Population
from lab.bench.function_measure import FunctionMeasure
from lab.bench.record_fit import fit
from lab.experiments.generate import table_of_raters
from lab.results_table import table_head
from softirr.meaning.measures.cache import PairCache
from softirr.statistics.evidence.estimator import Estimates
from softirr.statistics.evidence.record import Record
from softirr.terminal import Parser, positive

NARROW = 0.25
"""Width of the interval at which an audit by looking stops."""
_LOOKS = range(10, 101, 10)
_OF_RECORD = 24
"""Populations from which the record comes."""
_CONCEPTS, _WORDINGS = 40, 4
_NAME = "simulated"


def _simulated(same: float, different: float, seed: int) -> FunctionMeasure:
    """A measure with random P of two wordings, with a mean of logit P for the same and for different concepts."""

    def p(a: str, b: str) -> float:
        first, second = sorted((a, b))
        rng = np.random.default_rng([seed, zlib.crc32(f"{first}\n{second}".encode())])
        mean = same if a.split()[0] == b.split()[0] else different
        return float(1 / (1 + np.exp(-rng.normal(mean, 1.5))))

    return FunctionMeasure(p, _NAME)


@dataclass(frozen=True)
class Trial:
    """An interval of a simulated project.

    Attributes
    ----------
    route : str
        ``estimator``, ``classical`` or ``looking``.
    judgments : int or None
        None if the audit stops by looking.
    """

    route: str
    judgments: int | None
    truth: float
    value: float
    low: float
    high: float


def simulated_cases(count: int, *, items: int, seed: int) -> Iterator[tuple[Case, float]]:
    """Simulated projects, each scored, with the alpha of its population."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        alpha = float(rng.uniform(0.1, 0.95))
        weight = 1 / np.arange(1, _CONCEPTS + 1) ** rng.uniform(0, 1)
        measure = _simulated(float(rng.normal(1.0, 1.2)), float(rng.normal(-3.0, 0.8)), number)
        concepts = rng.choice(_CONCEPTS, (items, 2), p=weight / weight.sum())
        agree = rng.random(items) < alpha
        concepts[agree, 1] = concepts[agree, 0]
        wording = rng.integers(_WORDINGS, size=(items, 2))
        texts = [[f"c{c} w{w}" for c, w in zip(*row, strict=True)] for row in zip(concepts, wording, strict=True)]
        concept_of_text = {text: frozenset({text.split()[0]}) for item_texts in texts for text in item_texts}
        table = table_of_raters(texts, "ab", digits=4)
        population = Population(_NAME, f"{number % 8}", "simulated", number, table, concept_of_text)
        yield Case.of(population, measure, PairCache()), alpha


def trials(count: int, judgments: Sequence[int] = JUDGMENTS, *, items: int = 100, seed: int = 0) -> Iterator[Trial]:
    """Intervals of simulated projects by every route.

    Parameters
    ----------
    count : int
        Projects.
    items : int
        Items of a project.
    """
    record = fit([statistics(case) for case, _ in simulated_cases(_OF_RECORD, items=items, seed=seed + 1)], _NAME)
    for case, truth in simulated_cases(count, items=items, seed=seed):
        for n in judgments:
            estimated, classical = _both(case, record, n)
            yield Trial("estimator", n, truth, *estimated)
            if classical is not None:
                yield Trial("classical", n, truth, *classical)
        for n in _LOOKS:
            estimated, _ = _both(case, record, n)
            if estimated[2] - estimated[1] <= NARROW:
                break
        yield Trial("looking", None, truth, *estimated)


def _both(case: Case, record: Record, n: int) -> tuple[tuple[float, float, float], tuple[float, float, float] | None]:
    """Value and interval by the estimator, and by the judged pairs alone if there are enough."""
    estimates = Estimates(case.design, case.measured, case.by_measure, record, judge(case, n))
    estimated = estimates.coefficients[HEADLINE]
    assert estimated.value is not None and estimated.ci95 is not None and estimated.details is not None
    classical = estimated.details.judgments_only
    if classical is None or classical.value is None or classical.ci95 is None:
        return (estimated.value, *estimated.ci95), None
    return (estimated.value, *estimated.ci95), (classical.value, *classical.ci95)


def lines(trials: Sequence[Trial]) -> Iterator[str]:
    """The table of coverage."""
    of_route = ("95% held", "mean width")
    yield from table_head(("judgments", "mean error", *of_route, "classical: mean error", *of_route))
    for n in dict.fromkeys(trial.judgments for trial in trials):
        cells = [
            _cells([trial for trial in trials if (trial.route, trial.judgments) == (route, n)])
            for route in _ROUTES[n is None]
        ]
        yield f"| {'by looking' if n is None else n} | {' | '.join(cells)} |"


_ROUTES = {False: ("estimator", "classical"), True: ("looking", "classical")}


def _cells(trials: Sequence[Trial]) -> str:
    if not trials:
        return "- | - | -"
    error = np.mean([abs(trial.value - trial.truth) for trial in trials])
    covered = np.mean([trial.low <= trial.truth <= trial.high for trial in trials])
    return f"{error:.3f} | {covered:.1%} | {np.mean([trial.high - trial.low for trial in trials]):.3f}"


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument("--projects", type=positive, default=200, metavar="N", help="simulated projects (200)")
    options.add_argument("--items", type=positive, default=100, metavar="N", help="items of a project (100)")


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    return lines(list(trials(options.projects, items=options.items)))
