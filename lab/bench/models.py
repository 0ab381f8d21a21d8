"""``python -m lab.bench models``: errors of the verdict about a model, by the measure and with judged sheets."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.bench.differences import answers
from lab.bench.function_measure import FunctionMeasure
from lab.results_table import table_head, table_row
from softirr.answers.ratings import Ints
from softirr.answers.table import AnnotationTable, Answer
from softirr.audit import Judgments, draw_sheet
from softirr.defaults import MARGIN
from softirr.report.compare_models import compare_models
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.terminal import Parser, positive

_LARGE = 20_000
_VARIANTS = 6
_PEOPLE, _MODEL = "p", "m"


class BiasedMeasure(FunctionMeasure):
    """A measure that knows texts of :func:`simulated_verdicts` roughly, and underrates the model's texts.

    Parameters
    ----------
    against_model : float
        How much lower P is if one text is the model's.
    noise : float
        Standard deviation of P.
    """

    has_blocks = True

    def __init__(self, against_model: float = 0.25, noise: float = 0.15, name: str = "simulated") -> None:
        super().__init__(self.p, name)
        self.against_model, self.noise = against_model, noise

    def block(self, texts: Sequence[str], rows: Ints, columns: Ints) -> NDArray[np.float32]:
        """P of every row text with every column text."""
        values = [[self.p(texts[i], texts[j]) for j in columns.tolist()] for i in rows.tolist()]
        return np.array(values, dtype=np.float32).reshape(len(rows), len(columns))

    def p(self, a: str, b: str) -> float:
        """P of two texts."""
        if a == b:
            return 1.0
        digest = hashlib.blake2b("|".join(sorted((a, b))).encode(), digest_size=16).digest()
        u, v = ((int.from_bytes(half, "big") + 0.5) / 2**64 for half in (digest[:8], digest[8:]))
        normal = float(np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v))
        center = (0.7 if _same(a, b) else 0.25) - self.against_model * ((a[0] == _MODEL) != (b[0] == _MODEL))
        return min(max(center + self.noise * normal, 0.0), 1.0)


def _same(a: str, b: str) -> bool:
    return a.split()[1] == b.split()[1]


@dataclass(frozen=True)
class SimulatedVerdicts:
    """Verdicts about a model over simulated projects.

    Attributes
    ----------
    truth : float
        The model's kappa with people minus the kappa of people with each other, of a project of 20,000 items.
    within, below, open : float
        Shares of the verdicts.
    coverage : float
        Share of the 95% intervals that hold the truth.
    width : float
        Their mean width.
    runs : int
        Projects with an interval.
    """

    truth: float
    within: float
    below: float
    open: float
    coverage: float
    width: float
    runs: int

    @property
    def wrong(self) -> float:
        """Share of the verdicts that are wrong.

        *within* if the truth is below minus the margin, *below* if it is not below 0.
        """
        return (self.within if self.truth < -MARGIN else 0.0) + (self.below if self.truth >= 0 else 0.0)


def simulated_verdicts(
    people: float, model: float, *, n_items: int, judgments: int, runs: int, seed: int = 0
) -> SimulatedVerdicts:
    """Simulate three people and a model, and compare them.

    Parameters
    ----------
    people, model : float
        Accuracy of each person, and of the model.
    judgments : int
        Pairs of texts that a perfect judge judges; 0 for the measure alone.
    """
    rng = np.random.default_rng(seed)
    accuracy = (people,) * 3 + (model,)
    truth = 0.0 if people == model else _difference(answers(rng, _LARGE, accuracy))
    measure = BiasedMeasure()
    verdicts, n_covered, widths = [], 0, []
    for run in range(runs):
        table = _table(rng, answers(rng, n_items, accuracy))
        sheets = [_judged(table, measure, judgments, seed=run)] if judgments else []
        difference = compare_models(
            table, ["model:one"], measure, judgments=sheets, cache=None, progress=None
        ).differences[0]
        ci95 = difference.difference.ci95
        if ci95 is None:
            continue
        verdicts.append((difference.verdict or "").split()[0])
        n_covered += ci95[0] <= truth <= ci95[1]
        widths.append(ci95[1] - ci95[0])
    n = len(verdicts)
    within, below, open_ = (verdicts.count(word) / n for word in ("within", "below", "can't"))
    return SimulatedVerdicts(truth, within, below, open_, n_covered / n, float(np.mean(widths)), n)


def _difference(matrix: NDArray[np.int64]) -> float:
    def kappa(a: int, b: int) -> float:
        return float(matrix_agreement(matrix[:, [a, b]]).estimates["cohen_kappa"].value or 0.0)

    people = np.mean([kappa(0, 1), kappa(0, 2), kappa(1, 2)])
    return float(np.mean([kappa(0, 3), kappa(1, 3), kappa(2, 3)]) - people)


def _table(rng: np.random.Generator, matrix: NDArray[np.int64]) -> AnnotationTable:
    """Concepts as texts: people use one of six words for a concept, the model its own six."""
    words = rng.integers(0, _VARIANTS, matrix.shape)
    rows = []
    for item, (concepts, variants) in enumerate(zip(matrix.tolist(), words.tolist(), strict=True)):
        for rater, (concept, variant) in enumerate(zip(concepts, variants, strict=True)):
            is_model = rater == matrix.shape[1] - 1
            text = f"{_MODEL if is_model else _PEOPLE} {concept} {variant}"
            rows.append(Answer(str(item), "model:one" if is_model else f"person {rater}", (text,)))
    return AnnotationTable.from_answers(rows)


def _judged(table: AnnotationTable, measure: BiasedMeasure, judgments: int, *, seed: int) -> Judgments:
    sheet = draw_sheet(table, measure, judgments=judgments, seed=seed, cache=None, progress=None)
    values = {(unit.id, 1): "same" if _same(unit.text_a, unit.text_b) else "different" for unit in sheet.units}
    return Judgments("judge", values)


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument("--runs", type=positive, default=100, metavar="N", help="simulated projects of a line (100)")


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    verdicts = ("within", "below", "can't tell", "wrong")
    yield from table_head(("people, model", "judgments", "difference", *verdicts, "coverage", "width"))
    for people, model in ((0.85, 0.85), (0.85, 0.78), (0.85, 0.6)):
        for judgments in (0, 60, 150):
            simulated = simulated_verdicts(people, model, n_items=100, judgments=judgments, runs=options.runs)
            shares = (
                f"{share:.1%}"
                for share in (simulated.within, simulated.below, simulated.open, simulated.wrong, simulated.coverage)
            )
            raters = f"{people:g}, {model:g}"
            yield table_row((raters, judgments or "none", f"{simulated.truth:+.3f}", *shares, f"{simulated.width:.2f}"))
