"""``python -m lab.bench project``: time, memory and error of a project's alpha, compared with what people do otherwise.

Every method scores the same simulated project with the same weights, without any scores from before:

- pipeline: ``transformers.pipeline`` in batches of 32, with chance agreement from three shuffles, as in the code of
  Wullschleger et al. (2026);
- CrossEncoder: ``sentence_transformers.CrossEncoder`` over all pairs of texts, which gives the exact value;
- softirr: ``softirr.agreement`` with its default precision, and in float32 to the standard error of the pipeline.

Each runs in a separate process, once a round. Times are without importing libraries and loading the model.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.bench.coefficients import Timing, clocked
from lab.bench.inference_contenders import cross_encoder_way, label_order, pipeline_way, set_threads, short_texts
from lab.results_table import table_head, table_row
from softirr.inference.models import bundled_model
from softirr.terminal import Parser, positive

Floats = NDArray[np.float64]
Pairs = list[tuple[str, str]]
SHUFFLES = 3
SHARES = {"identical": 0.25, "reworded": 0.45}
"""Shares of items with twice the same text, or with the words of the first text in another order."""


@dataclass(frozen=True)
class Estimate:
    """Alpha of a project by one method.

    Attributes
    ----------
    alpha
        1 - disagreement of same-item pairs / disagreement of pairs by chance.
    chance_error
        Standard error of the agreement by chance that comes from sampling pairs.
    n_pairs
        Number of directed pairs that the model scored.
    """

    alpha: float
    chance_error: float
    n_pairs: int


Method = Callable[..., Callable[[], Estimate]]
"""Takes a project and the folder of a model, and returns what is timed."""


def project_texts(n_items: int) -> list[tuple[str, str]]:
    """Two raters' texts for each item: identical, reworded, or different."""
    rng = np.random.default_rng(0)
    texts = short_texts(2 * n_items)
    project = []
    for first, different in zip(texts[:n_items], texts[n_items:], strict=True):
        kind = rng.random()
        words = first.split()
        rng.shuffle(words)
        if kind < SHARES["identical"]:
            project.append((first, first))
        elif kind < sum(SHARES.values()):
            project.append((first, " ".join(words)))
        else:
            project.append((first, different))
    return project


def _both_ways(pairs: Pairs) -> Pairs:
    return [*pairs, *((b, a) for a, b in pairs)]


def _equivalence(answers: Floats, entailment: int) -> Floats:
    """Mutual entailment of each pair, from the answers for both directions."""
    forward, backward = np.split(answers[:, entailment], 2)
    return np.asarray(np.sqrt(forward * backward))


def pipeline_project(project: Sequence[tuple[str, str]], folder: Path) -> Callable[[], Estimate]:
    """The code of Wullschleger et al. (2026): pairs of items, and of three shuffles of the second rater's texts."""
    rng = np.random.default_rng(0)
    first, second = zip(*project, strict=True)
    shuffles = [rng.permutation(len(project)) for _ in range(SHUFFLES)]
    chance = [(a, second[k]) for order in shuffles for a, k in zip(first, order, strict=True)]
    pairs = _both_ways([*project, *chance])
    run, entailment = pipeline_way(folder, pairs, "cpu"), label_order(folder).index("e")

    def agreement() -> Estimate:
        p = _equivalence(run(), entailment)
        by_chance = p[len(project) :]
        error = float(by_chance.std(ddof=1)) / len(by_chance) ** 0.5
        return Estimate(_alpha(p[: len(project)], by_chance.mean()), error, len(pairs))

    return agreement


def cross_encoder_project(project: Sequence[tuple[str, str]], folder: Path) -> Callable[[], Estimate]:
    """Every pair of different texts, so that agreement by chance is exact."""
    answers = [text for pair in project for text in pair]
    texts = list(dict.fromkeys(answers))
    rows, columns = np.triu_indices(len(texts), 1)
    pairs = _both_ways([(texts[i], texts[j]) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)])
    run, entailment = cross_encoder_way(folder, pairs, "cpu"), label_order(folder).index("e")
    number = {text: i for i, text in enumerate(texts)}

    def agreement() -> Estimate:
        p = np.eye(len(texts))
        p[rows, columns] = p[columns, rows] = _equivalence(run(), entailment)
        index = np.array([number[text] for text in answers])
        same = p[index[::2], index[1::2]]
        of_pairs = p[np.ix_(index, index)]
        n = len(index)
        return Estimate(_alpha(same, (of_pairs.sum() - n) / (n * (n - 1))), 0.0, len(pairs))

    return agreement


def softirr_project(
    project: Sequence[tuple[str, str]], folder: Path, *, precision: str = "auto", target: float | None = None
) -> Callable[[], Estimate]:
    """``softirr.agreement`` without a store of scores."""
    import softirr

    rows = (
        (f"{item:06d}", rater, text)
        for item, texts in enumerate(project)
        for rater, text in zip("ab", texts, strict=True)
    )
    table = softirr.AnnotationTable.from_answers(rows)
    measure = softirr.measure(f"nli:{folder}", precision=precision, facts=False)
    measure.score([("fever", "cough")])  # loads the model

    def agreement() -> Estimate:
        report = softirr.agreement(
            table,
            measure,
            options=softirr.AgreementOptions(target_se=target, reasons=False),
            cache=None,
            progress=None,
        )
        alpha, chance = report.coefficients["krippendorff_alpha"], report.expected_agreement
        assert alpha.details is not None and alpha.details.by_measure is not None
        return Estimate(alpha.details.by_measure, chance.standard_error or 0.0, 2 * sum(report.pairs_by_use.values()))

    return agreement


def _alpha(same: Floats, chance: float) -> float:
    return float((same.mean() - chance) / (1 - chance))


def run_method(method: Method, project: Sequence[tuple[str, str]], threads: int, options: dict[str, Any]) -> Timing:
    """Run a method on a project in this process; the result is an :class:`Estimate`."""
    set_threads(threads)
    return clocked(method(project, bundled_model().folder, **options))


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument("--items", type=positive, default=100, metavar="N", help="items of the project (100)")
    options.add_argument("--rounds", type=positive, default=2, metavar="N", help="rounds, each method once a round (2)")
    options.add_argument("--threads", type=positive, default=2, metavar="N", help="processor threads (2)")


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    project = project_texts(options.items)
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as processes:

        def run(method: Method, **more: Any) -> Timing:
            return processes.apply(run_method, (method, project, options.threads, more))

        rounds: list[dict[str, Timing]] = []
        for _ in range(options.rounds):
            timings = {"pipeline": run(pipeline_project), "CrossEncoder, all pairs": run(cross_encoder_project)}
            target = timings["pipeline"].result.chance_error
            timings["softirr"] = run(softirr_project)
            timings["softirr, float32"] = run(softirr_project, precision="float32")
            timings["softirr, float32, error of the pipeline"] = run(
                softirr_project, precision="float32", target=target
            )
            rounds.append(timings)
    yield f"{options.items} items, 2 raters, {options.threads} threads, {options.rounds} rounds\n"
    times = ("seconds", "CPU seconds", "spread", "times the pipeline", "by CPU time")
    yield from table_head(("method", "directed pairs", *times, "MB", "alpha", "error", "standard error of chance"))
    yield from (_row(name, rounds) for name in rounds[0])


def _row(name: str, rounds: Sequence[dict[str, Timing]]) -> str:
    """The fastest round of a method, with its spread, and its distance from the exact alpha."""
    timings, of_pipeline = ([by_method[key] for by_method in rounds] for key in (name, "pipeline"))
    seconds, cpu = min(t.wall for t in timings), min(t.processor for t in timings)
    last, exact = timings[-1].result, rounds[-1]["CrossEncoder, all pairs"].result.alpha
    return table_row(
        (
            name,
            f"{last.n_pairs:,}",
            f"{seconds:.1f}",
            f"{cpu:.1f}",
            f"{max(t.wall for t in timings) / seconds:.2f}",
            f"{min(t.wall for t in of_pipeline) / seconds:.1f}",
            f"{min(t.processor for t in of_pipeline) / cpu:.1f}",
            f"{max(t.memory for t in timings):,.0f}",
            f"{last.alpha:.3f}",
            f"{abs(last.alpha - exact):.4f}",
            f"{last.chance_error:.4f}",
        )
    )
