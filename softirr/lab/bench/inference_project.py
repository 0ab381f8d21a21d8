"""The whole-project table of ``softirr bench inference``: kappa of three raters, by the method of Wullschleger et al. (2026) and by softirr."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softirr.lab.bench.inference_contenders import label_order, pipeline_way, short_texts
from softirr.measures import measure
from softirr.measures.cache import MemoryCache
from softirr.report.agreement import agreement
from softirr.tables.table import AnnotationTable, Answer

PERMUTATIONS = 3
"""D in Wullschleger et al. 2026."""
TARGET = 0.005
"""Standard error of kappa."""


@dataclass(frozen=True)
class Shape:
    """Texts of a simulated project.

    Attributes
    ----------
    concepts
        Number of concepts.
    skew
        Exponent of Zipf's law for the concepts; with 0 all are equally frequent.
    wordings
        Texts for each concept.
    usual
        Probability of the first wording; the others share the rest.
    hit
        Probability that a rater names the item's concept; else any concept.
    """

    concepts: int
    skew: float
    wordings: int
    usual: float
    hit: float = 0.75


PROJECTS = {
    "50 findings in 3 wordings": Shape(concepts=50, skew=1.0, wordings=3, usual=0.6),
    "200 findings in 4 wordings": Shape(concepts=200, skew=1.0, wordings=4, usual=0.6),
    "nearly all texts differ": Shape(concepts=5_000, skew=0.0, wordings=8, usual=0.125),
}


def make_answers(n_items: int, seed: int, shape: Shape, n_raters: int = 3) -> list[list[str]]:
    """Answers of each rater to each item."""
    rng, concepts, wordings = np.random.default_rng(seed), shape.concepts, shape.wordings
    names = np.array(short_texts(concepts * wordings, seed), dtype=object).reshape(concepts, wordings)
    weights = 1 / np.arange(1, concepts + 1) ** shape.skew
    weights /= weights.sum()
    usual = np.full(wordings, (1 - shape.usual) / (wordings - 1))
    usual[0] = shape.usual
    truth = rng.choice(concepts, n_items, p=weights)
    answers = []
    for _ in range(n_raters):
        said = np.where(rng.random(n_items) < shape.hit, truth, rng.choice(concepts, n_items, p=weights))
        answers.append(names[said, rng.choice(wordings, n_items, p=usual)].tolist())
    return answers


def paper_pairs(answers: list[list[str]], seed: int) -> list[tuple[str, str]]:
    """All pairs scored by the method of Wullschleger et al. (2026): same-item pairs and D permutations per rater pair, in both directions."""
    rng, pairs = np.random.default_rng(seed), list[tuple[str, str]]()
    for first, second in combinations(answers, 2):
        pairs.extend(zip(first, second, strict=True))
        for _ in range(PERMUTATIONS):
            pairs.extend(zip(first, [second[i] for i in rng.permutation(len(second))], strict=True))
    return [*pairs, *((b, a) for a, b in pairs)]


def project_table(name: str, folder: Path, options: argparse.Namespace) -> Iterator[str]:
    """Seconds and scored pairs of both methods on projects with many and with few repeated texts."""
    yield f"\n## Kappa of a whole project: {options.items:,} items, 3 raters, {name}, {options.threads} threads\n"
    yield (
        "| project | way | directed pairs | seconds | times as fast | by CPU time | kappa | its standard error from chance pairs "
        "| abs dkappa to float32 |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for title, shape in PROJECTS.items():
        answers = make_answers(options.items, options.seed, shape)
        pairs = paper_pairs(answers, options.seed)
        chosen = np.random.default_rng(options.seed).random(len(pairs)) < options.paper_share
        some = [pair for pair, take in zip(pairs, chosen, strict=True) if take]
        classify = pipeline_way(folder, some, options.device)
        pipeline_way(folder, some[:64], options.device)()
        wall, cpu = time.perf_counter(), time.process_time()
        classify()
        factor = len(pairs) / len(some)
        wall, cpu = (time.perf_counter() - wall) * factor, (time.process_time() - cpu) * factor
        note = "" if len(some) == len(pairs) else f" (timed on {len(some):,})"
        yield f"| {title} | Wullschleger et al. 2026 | {len(pairs):,}{note} | {wall:,.1f} | 1 | 1 | | | |"
        ours = _agreement(folder, answers, options, "auto")
        plain = _agreement(folder, answers, options, "float32")
        yield (
            f"| {title} | softirr ({ours.precision}) | {2 * ours.pairs:,} | {ours.wall:,.1f} | {wall / ours.wall:.1f} "
            f"| {cpu / ours.cpu:.1f} | {ours.kappa:.4f} | {ours.error:.4f} | {abs(ours.kappa - plain.kappa):.1e} |"
        )


def _agreement(folder: Path, answers: list[list[str]], options: argparse.Namespace, precision: str) -> _Found:
    """Kappa of the project by :func:`softirr.agreement`, model loaded and nothing scored yet."""
    model = measure(
        f"nli:{folder}",
        device=options.device,
        precision=precision,
        threads=options.threads,
        label_order=label_order(folder),
    )
    table = AnnotationTable.from_answers(
        Answer(item=str(i), rater=str(rater), texts=(text,))
        for rater, texts in enumerate(answers)
        for i, text in enumerate(texts)
    )
    cache = _Counting()
    wall, cpu = time.perf_counter(), time.process_time()
    report = agreement(
        table,
        measure=model,
        chance="stratified",
        target_se=TARGET * 0.6,
        seed=options.seed,
        reasons=False,
        cache=cache,
        progress=None,
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    observed, kappa = (report.coefficients[name].value for name in ("observed_agreement", "cohen_kappa"))
    expected = report.expected_agreement
    assert observed is not None and kappa is not None and expected.cohen is not None
    error = expected.standard_error * (1 - observed) / (1 - expected.cohen) ** 2
    return _Found(wall, cpu, cache.count, kappa, error, model.provenance().precision or "")


@dataclass(frozen=True)
class _Found:
    wall: float
    cpu: float
    pairs: int
    kappa: float
    error: float
    precision: str


class _Counting(MemoryCache):
    """Counts the pairs that were scored."""

    count = 0

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: NDArray[np.float64]) -> None:
        """As :meth:`softirr.measures.cache.PairCache.put`."""
        self.count += len(pairs)
        super().put(model, pairs, values)
