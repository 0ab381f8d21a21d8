"""``python -m lab.bench coefficients``: how long coefficients take, next to other libraries in the same run.

Every line runs in a separate process, for its peak memory. Times are only comparable within one run:
read the ratios.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from lab.bench.inference_contenders import short_texts
from lab.results_table import table_head
from softirr.answers.ratings import Floats, Ints
from softirr.errors import InputError
from softirr.terminal import Parser, positive

BLOCK = 2_048


@dataclass(frozen=True)
class Timing:
    """One run: wall-clock and processor seconds, peak memory of its process in MB, and the result."""

    wall: float
    processor: float
    memory: float
    result: Any


def project(n_items: int, seed: int = 0) -> tuple[Ints, Floats]:
    """An items × 2 matrix of answers that are all different, and their similarity."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.beta(0.4, 2.0, (2 * n_items, 2 * n_items)), 1)
    return np.arange(2 * n_items).reshape(n_items, 2), upper + upper.T + np.eye(2 * n_items)


def softirr_on_texts(n_items: int) -> float | None:
    """From texts to the whole report: Levenshtein, exact chance, all coefficients with intervals, all items."""
    import softirr

    answers = short_texts(2 * n_items)
    table = softirr.AnnotationTable.from_answers((str(i // 2), "ab"[i % 2], text) for i, text in enumerate(answers))
    report = softirr.agreement(table, "levenshtein", chance="exact", options=softirr.AgreementOptions(reasons=False))
    return report.coefficients["krippendorff_alpha"].value


def rapidfuzz_alone(n_items: int) -> None:
    """The same pairs, scored in blocks that are not kept."""
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    answers = short_texts(2 * n_items)
    scorer = Levenshtein.normalized_similarity
    for i in range(0, len(answers), BLOCK):
        for j in range(i, len(answers), BLOCK):
            process.cdist(answers[i : i + BLOCK], answers[j : j + BLOCK], scorer=scorer, dtype=np.float32, workers=-1)


def softirr_on_matrix(n_items: int) -> float | None:
    """Every coefficient from a matrix of similarities."""
    from softirr.statistics.coefficients.matrix import matrix_agreement

    return matrix_agreement(*project(n_items)).estimates["krippendorff_alpha"].value


def krippendorff_on_matrix(n_items: int) -> float:
    """Alpha by the krippendorff package with a callable distance."""
    import krippendorff

    matrix, similarity = project(n_items)

    def distance(v1: Any, v2: Any, i1: Any, i2: Any, n_v: Any, dtype: Any = np.float64) -> Any:
        return 1 - similarity[v1.astype(int), v2.astype(int)]

    return float(krippendorff.alpha(matrix.T.astype(float), level_of_measurement=distance))


def nltk_on_matrix(n_items: int) -> float:
    """Alpha by NLTK with a callable distance."""
    from nltk.metrics.agreement import AnnotationTask

    matrix, similarity = project(n_items)
    data = [(str(r), str(i), int(a)) for i, row in enumerate(matrix) for r, a in enumerate(row)]
    return float(AnnotationTask(data=data, distance=lambda a, b: 1 - similarity[a, b]).alpha())


def timed(work: Callable[[int], float | None], n_items: int) -> Timing:
    """One run in a fresh process; a small project is computed first, so that imports are not timed."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_run, work, n_items).result()


def _run(work: Callable[[int], float | None], n_items: int) -> Timing:
    work(8)
    return clocked(partial(work, n_items))


def clocked(work: Callable[[], Any]) -> Timing:
    """One run in this process."""
    import resource

    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Timing(wall, processor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, result)


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    lacking = [name for name in ("krippendorff", "nltk") if importlib.util.find_spec(name) is None]
    if lacking:
        raise InputError(f"The comparison needs {' and '.join(lacking)}: install softirr with its development tools.")
    yield from table_head(("what", "items", "seconds", "processor seconds", "peak MB", "alpha"))
    done: dict[str, Timing] = {}
    for name, work, items in (
        ("softirr, texts to report (Levenshtein, exact chance)", softirr_on_texts, options.items),
        ("rapidfuzz alone, the same pairs", rapidfuzz_alone, options.items),
        ("softirr, all coefficients from a matrix", softirr_on_matrix, options.peer_items),
        ("krippendorff, alpha with a callable", krippendorff_on_matrix, options.peer_items),
        ("NLTK, alpha with a callable", nltk_on_matrix, options.peer_items),
    ):
        timing = done[work.__name__] = timed(work, items)
        value = "" if timing.result is None else f"{timing.result:.12f}"
        yield f"| {name} | {items:,} | {timing.wall:.3f} | {timing.processor:.3f} | {timing.memory:.0f} | {value} |"
    on_texts, bare = done["softirr_on_texts"], done["rapidfuzz_alone"]
    peer, on_matrix, by_nltk = done["krippendorff_on_matrix"], done["softirr_on_matrix"], done["nltk_on_matrix"]
    yield ""
    yield (
        f"softirr / rapidfuzz: {on_texts.wall / bare.wall:.2f} by the clock, "
        f"{on_texts.processor / bare.processor:.2f} of the processor. "
        f"krippendorff / softirr: {peer.wall / on_matrix.wall:.0f} by the clock, "
        f"{peer.processor / on_matrix.processor:.0f} of the processor. "
        f"NLTK / softirr: {by_nltk.wall / on_matrix.wall:.1f} by the clock."
    )


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument(
        "--items", type=positive, default=10_000, help="items of two raters, all texts distinct (10000)"
    )
    options.add_argument("--peer-items", type=positive, default=400, help="items for krippendorff and NLTK (400)")
