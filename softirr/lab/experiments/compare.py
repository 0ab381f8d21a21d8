"""Comparison of measures on a project without gold codes: agreement under each, and the text pairs on which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softirr.errors import InputError
from softirr.lab.experiments.analysis import SIGNS
from softirr.lab.experiments.output import Cell, Table, decimal
from softirr.lab.experiments.synthetic import NamedMeasure
from softirr.measures.cache import PairCache
from softirr.measures.pairs import PairScorer
from softirr.report.agreement import agreement
from softirr.tables.ratings import Floats, Ints, Ratings
from softirr.tables.table import AnnotationTable

SHOWN = 30
"""Text pairs in the table of those on which measures differ most."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Measures on the text pairs of a project.

    Attributes
    ----------
    labels : tuple of str
    pairs : tuple of (str, str)
        Different texts that two raters gave to the same item, each pair once.
    count : shape (n,)
        How often each pair stands in the project.
    scores : shape (n, measures)
        P(a ≡ b) of each pair.
    coefficients : dict
        By label: coefficient -> (value, interval).
    """

    labels: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    count: Ints
    scores: Floats
    coefficients: dict[str, dict[str, tuple[float | None, tuple[float, float] | None]]]


def compare(table: AnnotationTable, measures: Sequence[NamedMeasure], *, cache: PairCache | None = None) -> Comparison:
    """Score a project under several measures.

    Raises
    ------
    InputError
        If fewer than two measures are named, or no two raters gave different texts to an item.
    """
    if len(measures) < 2:
        raise InputError("A comparison needs two measures or more.")
    pairs, count = text_pairs(table)
    if not pairs:
        raise InputError(
            "No item has different texts of two raters, so there is nothing on which measures could differ."
        )
    number = {text: i for i, text in enumerate(table.texts)}
    left = np.array([number[a] for a, _ in pairs], dtype=np.int64)
    right = np.array([number[b] for _, b in pairs], dtype=np.int64)
    columns, coefficients = [], {}
    for named in measures:
        columns.append(PairScorer(named.measure, table.texts, cache=cache).score(left, right))
        report = agreement(table, named.measure, reasons=False, cache=cache, progress=None)
        coefficients[named.label] = {name: (c.value, c.ci95) for name, c in report.coefficients.items()}
    return Comparison(tuple(m.label for m in measures), pairs, count, np.stack(columns, axis=1), coefficients)


def text_pairs(table: AnnotationTable) -> tuple[tuple[tuple[str, str], ...], Ints]:
    """Different texts of two raters of one item, each unordered pair once and in order, and how often it occurs."""
    comparisons = Ratings.of(table).comparisons
    found: dict[tuple[int, int], int] = {}
    for left, right in zip(
        table.answer[comparisons.left].tolist(), table.answer[comparisons.right].tolist(), strict=True
    ):
        for a in table.answers[left]:
            for b in table.answers[right]:
                if a != b:
                    key = (min(a, b), max(a, b))
                    found[key] = found.get(key, 0) + 1
    order = sorted(found)
    return tuple((table.texts[a], table.texts[b]) for a, b in order), np.array(
        [found[k] for k in order], dtype=np.int64
    )


def spread(comparison: Comparison) -> Floats:
    """How far apart the measures rank each pair, in [0, 1], shape (n,): ranks, because measures use the scale differently."""
    from scipy.stats import rankdata

    n = len(comparison.pairs)
    ranks = (np.stack([rankdata(column) for column in comparison.scores.T], axis=1) - 0.5) / n
    return np.asarray(ranks.max(axis=1) - ranks.min(axis=1))


def agreement_table(comparison: Comparison) -> Table:
    """Coefficients of the project under each measure."""
    shown = ("observed_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "sigma", "ks")
    rows = []
    for label in comparison.labels:
        cells = [Cell(label)]
        for name in shown:
            value, interval = comparison.coefficients[label][name]
            text = "–" if value is None else decimal(value)
            low, high = (decimal(end, 2) for end in interval) if interval else ("", "")
            cells.append(Cell(f"{text} ({low} to {high})" if interval else text))
        rows.append(tuple(cells))
    return Table(
        "agreement",
        "Agreement of the project by measure",
        "With 95% intervals over items. An interval says what other items would change, not whether the measure is right.",
        ("Measure", *(SIGNS[name] for name in shown)),
        tuple(rows),
    )


def difference_table(comparison: Comparison) -> Table:
    """Differences of each two measures: mean |ΔP| above the diagonal, rank correlation below."""
    from scipy.stats import rankdata

    weight = comparison.count / comparison.count.sum()
    ranks = [rankdata(column) for column in comparison.scores.T]
    rows = []
    for i, label in enumerate(comparison.labels):
        cells = [Cell(label)]
        for j in range(len(comparison.labels)):
            if j > i:
                cells.append(Cell(float(weight @ np.abs(comparison.scores[:, i] - comparison.scores[:, j])), digits=2))
            elif j < i:
                cells.append(Cell(_correlation(ranks[i], ranks[j]), digits=2))
            else:
                cells.append(Cell(""))
        rows.append(tuple(cells))
    return Table(
        "differences",
        "How far measures differ on the project's text pairs",
        "Above the diagonal: mean difference of P. Below: rank correlation (Spearman); pairs of the same text are left aside.",
        ("Measure", *comparison.labels),
        tuple(rows),
    )


def _correlation(a: Floats, b: Floats) -> float | None:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def most_different(comparison: Comparison, limit: int = SHOWN) -> Table:
    """The text pairs on which the measures differ most."""
    order = np.argsort(-spread(comparison), kind="stable")[:limit]
    return Table(
        "pairs",
        "Text pairs on which measures differ most",
        "By the spread of their ranks. To judge which measure is right, fill the sheet instead: it is drawn at random and hides the scores.",
        ("Text", "Text", *comparison.labels),
        tuple(
            (
                Cell(comparison.pairs[k][0]),
                Cell(comparison.pairs[k][1]),
                *(Cell(float(p), digits=2) for p in comparison.scores[k]),
            )
            for k in order.tolist()
        ),
        lead=2,
    )
