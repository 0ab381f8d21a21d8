"""``softirr bench project``: where the time of a large project goes, what ``--no-reasons`` saves, and what a cheap pass could save.

A project is simulated from a terminology: the raters of an item name its concept, a sibling, an ancestor or any concept, by the preferred name or another
one. Each way scores it from scratch, with the model loaded. Times are processor seconds, because other programs slow a shared machine down.

The second table asks whether a cheap pass could decide most same-item pairs. A cheap prediction of P (least squares on letters, words, lengths and, where
given, further measures, fitted on other pairs) leaves a residual. A difference estimator (Särndal, Swensson and Wretman 1992) that scores a sample of the pairs,
in proportion to the residual's standard deviation (Neyman 1934), needs the number of pairs in the table for its standard error of observed agreement.
The last column is for a cheap pass that costs half of the full one: it also knows P in one direction, the shorter text's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.lab.experiments.generate import Generator, Negatives
from softirr.lab.training.parts import PARTS, Part, concepts_of
from softirr.matching.consensus import THRESHOLD
from softirr.measures import BlockMeasure, Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.cache import MemoryCache
from softirr.measures.pairs import PairScorer
from softirr.report.agreement import agreement
from softirr.tables.ratings import Floats, Ints, Ratings
from softirr.tables.table import AnnotationTable, Answer
from softirr.terminal import Parser, fraction, positive
from softirr.terminology import Terminology, load
from softirr.terminology.base import named_paths

__all__ = ["Project", "main", "make_project", "needed_pairs", "predicted"]

HEADLINE = "krippendorff_alpha"
WAYS: dict[str, dict[str, Any]] = {
    "softirr score": {"reasons": True, "what_if": True},
    "softirr score --no-reasons": {"reasons": False, "what_if": False},
}
LETTERS, WORDS = "indel", "jaccard"
FOLDS = 5
STRATA = 10


@dataclass(frozen=True)
class Project:
    """The shape of a simulated project.

    Attributes
    ----------
    items, raters : int
    hit : float
        Probability that a rater names the item's concept; else a sibling, an ancestor or any concept, in equal shares.
    usual : float
        Probability of the preferred name; else any name of the concept.
    """

    items: int
    raters: int = 3
    hit: float = 0.75
    usual: float = 0.5


def main(argv: Sequence[str]) -> int:
    """Print the tables; returns the exit status."""
    parser = Parser(prog="softirr bench project", description=__doc__.split("\n")[0])
    parser.add_argument("--terminology", action="append", required=True, metavar="NAME=PATH", help="repeatable")
    parser.add_argument("--measure", default="nli", metavar="NAME", help="the measure that is timed (nli)")
    parser.add_argument(
        "--cheap", action="append", default=[], metavar="NAME", help="further cheap measures; repeatable"
    )
    parser.add_argument("--items", type=positive, default=1_000, help="items of a project (1000)")
    parser.add_argument("--raters", type=positive, default=3, help="raters of every item (3)")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=list(PARTS), help="parts of the concepts, by hash (both)"
    )
    parser.add_argument("--rounds", type=positive, default=1, help="times that each way runs, one after the other (1)")
    parser.add_argument(
        "--error", type=fraction, default=0.001, help="standard error of observed agreement in the second table (0.001)"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    model = measure_by_name(options.measure)
    cheap = [measure_by_name(name) for name in (LETTERS, WORDS, *options.cheap)]
    lines = []
    print(f"## {options.items:,} items, {options.raters} raters, measure {options.measure}\n\n{_TIMES}", flush=True)
    for title, table in _projects(options):
        ways = timed_ways(table, model, options.rounds, options.seed)
        for line in _time_lines(title, table, ways):
            print(line, flush=True)
        lines.append(_cheap_line(title, table, model, cheap, ways, options))
    print(
        f"\n## A cheap pass: pairs to score for a standard error of {options.error} of observed agreement\n\n{_CHEAP}"
    )
    print("\n".join(lines))
    return 0


_TIMES = """| project | way | pairs scored | same-item pairs among them | processor seconds | times as fast | abs dkappa | items whose matches differ |
|---|---|---|---|---|---|---|---|"""
_CHEAP = """| project | same-item pairs | share at or above the threshold | standard deviation of P | around the prediction | pairs to score | of all | around the prediction with one direction |
|---|---|---|---|---|---|---|---|"""


def _projects(options: argparse.Namespace) -> Iterator[tuple[str, AnnotationTable]]:
    shape = Project(options.items, options.raters)
    for given in options.terminology:
        label, path, _ = named_paths(given)
        terminology = load(str(path))
        for part in options.parts:
            yield f"{label or terminology.name}, {part}", make_project(terminology, shape, part=part, seed=options.seed)


def make_project(
    terminology: Terminology, shape: Project, *, part: Part | None = "visible", seed: int = 0
) -> AnnotationTable:
    """Simulate what the raters of a project wrote.

    Parameters
    ----------
    terminology : Terminology
    shape : Project
    part : {"visible", "set-aside"}, optional
        Concepts of the items; None is all.
    seed : int

    Returns
    -------
    AnnotationTable
    """
    generator = Generator(
        terminology, "paper", seed=seed, size=20, negatives=("random",), among=concepts_of(terminology, part)
    )
    rng = np.random.default_rng(seed)
    others: tuple[Negatives, ...] = ("random", "sibling", "ancestor")

    def said(concept: int) -> str:
        if rng.random() >= shape.hit:
            near = generator.candidates(concept, others[rng.integers(len(others))]) or generator.pool
            concept = near[rng.integers(len(near))]
        names = terminology.names[concept]
        return names[0] if rng.random() < shape.usual else names[rng.integers(len(names))]

    concepts = [generator.pool[k] for k in rng.integers(len(generator.pool), size=shape.items)]
    return AnnotationTable.from_answers(
        Answer(str(item), str(rater), (said(concept),))
        for item, concept in enumerate(concepts)
        for rater in range(shape.raters)
    )


def timed_ways(table: AnnotationTable, model: Measure, rounds: int, seed: int) -> dict[str, Timed]:
    """Score a project from scratch in each way, one after the other; of several rounds the fastest counts."""
    found: dict[str, Timed] = {}
    for _ in range(rounds):
        for way, options in WAYS.items():
            one = _timed(table, model, options, seed)
            found[way] = min(found.get(way, one), one, key=lambda timed: timed.seconds)
    return found


def _time_lines(title: str, table: AnnotationTable, ways: dict[str, Timed]) -> Iterator[str]:
    """Processor seconds and scored pairs of each way, and whether coefficient and matches are those of the first way."""
    base = ways[next(iter(WAYS))]
    same_item = len(same_item_pairs(table)[0])
    for way, one in ways.items():
        changed = sum(a != b for a, b in zip(one.matches, base.matches, strict=True))
        yield (
            f"| {title} | {way} | {one.cache.count:,} | {same_item:,} | {one.seconds:,.1f} | {base.seconds / one.seconds:.1f} "
            f"| {abs(one.kappa - base.kappa):.4f} | {changed} |"
        )


@dataclass(frozen=True)
class Timed:
    """One way to score a project: processor seconds, headline coefficient, matches and suggestions of each item, scored pairs."""

    seconds: float
    kappa: float
    matches: tuple[object, ...]
    cache: Counting


def _timed(table: AnnotationTable, model: Measure, options: dict[str, Any], seed: int) -> Timed:
    cache = Counting()
    start = time.process_time()
    report = agreement(table, model, seed=seed, cache=cache, progress=None, **options)
    seconds = time.process_time() - start
    kappa = report.coefficients[HEADLINE].value
    if kappa is None:
        raise InputError("The project is too small: its coefficient is not defined.")
    matches = [
        ([(match.texts, match.equivalence, match.relation, match.wording) for match in item.matches], item.suggestion)
        for item in report.items
    ]
    return Timed(seconds, kappa, tuple(matches), cache)


class Counting(MemoryCache):
    """Counts the pairs that were scored."""

    count = 0

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: NDArray[np.float64]) -> None:
        """As :meth:`softirr.measures.cache.PairCache.put`."""
        self.count += len(pairs)
        super().put(model, pairs, values)


def same_item_pairs(table: AnnotationTable) -> tuple[Ints, Ints, Floats]:
    """Pairs of different texts that two raters gave to one item, and the share of all same-item pairs that each stands for."""
    ratings = Ratings.of(table)
    comparisons = ratings.comparisons
    text = np.array([answer[0] for answer in table.answers], dtype=np.int64)
    a, b = text[ratings.answer[comparisons.left]], text[ratings.answer[comparisons.right]]
    differ = a != b
    keys, times = np.unique(np.minimum(a, b)[differ] * len(table.texts) + np.maximum(a, b)[differ], return_counts=True)
    low, high = np.divmod(keys, len(table.texts))
    return low, high, times / len(a)


def _cheap_line(
    title: str,
    table: AnnotationTable,
    model: Measure,
    cheap: Sequence[Measure],
    ways: dict[str, Timed],
    options: argparse.Namespace,
) -> str:
    """How well cheap measures predict P of same-item pairs, and how many pairs would have to be scored all the same."""
    low, high, share = same_item_pairs(table)
    scorer = PairScorer(model, table.texts, cache=next(iter(ways.values())).cache)
    p, features = scorer.score(low, high), _features(table, cheap, low, high)
    guess = predicted(features, p, options.seed)
    needed = needed_pairs(p - guess, guess, share, options.error)
    return (
        f"| {title} | {len(p):,} | {np.mean(p >= THRESHOLD):.0%} | {p.std():.3f} | {(p - guess).std():.3f} "
        f"| {needed:,} | {needed / len(p):.0%} | {_around_one_direction(table, scorer, low, high, features, p, options.seed)} |"
    )


def _around_one_direction(
    table: AnnotationTable, scorer: PairScorer, low: Ints, high: Ints, features: Floats, p: Floats, seed: int
) -> str:
    """Standard deviation of P around a prediction that also knows whether the shorter text entails the longer one; for measures with directions."""
    directions = scorer.entail(low, high)
    if directions is None:
        return "–"
    sizes = np.array([len(text) for text in table.texts])
    shorter_first = np.where(sizes[low] <= sizes[high], directions[:, 0], directions[:, 1])
    return f"{(p - predicted(np.column_stack([features, shorter_first]), p, seed)).std():.3f}"


def _features(table: AnnotationTable, cheap: Sequence[Measure], low: Ints, high: Ints) -> Floats:
    """Cheap scores of each pair, words of the shorter and the longer text, and share of the shorter one's words in the longer one, shape (n, d)."""
    words = [set(text.casefold().split()) for text in table.texts]
    sizes = np.array([len(found) for found in words], dtype=np.float64)
    common = np.array([len(words[a] & words[b]) for a, b in zip(low.tolist(), high.tolist(), strict=True)])
    short, long = np.minimum(sizes[low], sizes[high]), np.maximum(sizes[low], sizes[high])
    columns = [PairScorer(one, table.texts).score(low, high) for one in cheap if isinstance(one, BlockMeasure)]
    return np.stack([*columns, np.minimum(short, 10), np.minimum(long, 10), common / np.maximum(short, 1)], axis=1)


def predicted(features: Floats, p: Floats, seed: int = 0) -> Floats:
    """Least-squares prediction of P from features, their squares and their products; each pair's is fitted without its fold.

    Parameters
    ----------
    features : shape (n, d)
    p : shape (n,)
    seed : int
        Of the folds.

    Returns
    -------
    shape (n,), in [0, 1]

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)[:, None]
    >>> float(np.abs(predicted(x, x[:, 0] ** 2) - x[:, 0] ** 2).max()) < 1e-6
    True
    """
    n, d = features.shape
    first, second = np.triu_indices(d)
    terms = np.column_stack([np.ones(n), features, features[:, first] * features[:, second]])
    fold = np.random.default_rng(seed).permutation(n) % FOLDS
    result = np.zeros(n)
    for one in range(FOLDS):
        others = fold != one
        weights = np.linalg.lstsq(terms[others], p[others], rcond=None)[0]
        result[~others] = terms[~others] @ weights
    return np.clip(result, 0.0, 1.0)


def needed_pairs(residual: Floats, guess: Floats, share: Floats, error: float) -> int:
    """Pairs to score until the mean of P over all same-item pairs has a standard error: the best allocation over strata of the prediction.

    Parameters
    ----------
    residual, guess : shape (n,)
        P minus its prediction, and the prediction.
    share : shape (n,)
        Share of all same-item pairs that each pair stands for.
    error : float
        The standard error.

    Returns
    -------
    int
        At most n.

    Examples
    --------
    >>> even = np.tile([0.1, -0.1], 5_000)
    >>> needed_pairs(even, np.zeros(10_000), np.full(10_000, 1e-4), 0.001)  # 10,000 without replacement of the finite population
    5000
    """
    cuts = np.unique(np.quantile(guess, np.arange(1, STRATA) / STRATA))
    stratum = np.searchsorted(cuts, guess, side="right")
    size = np.bincount(stratum)
    # the spread of what a pair adds to the sum: a pair that occurs often counts more
    spread = np.sqrt(np.bincount(stratum, (share * residual) ** 2) / np.maximum(size, 1))
    needed = np.sum(size * spread) ** 2 / (error**2 + np.sum(size * spread**2))
    return int(min(np.ceil(needed - 1e-9), len(residual)))
