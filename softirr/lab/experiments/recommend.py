"""Which measure a person's judgements support, and Cohen's kappa with each measure calibrated on them.

The judgements are a sheet of the audit (:func:`softirr.audit.sample`), or any other judged pairs of texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.lab.experiments.compare import text_pairs
from softirr.lab.experiments.output import Cell, Table
from softirr.lab.experiments.statistics import LEVEL, rank
from softirr.lab.experiments.synthetic import NamedMeasure
from softirr.measures import Measure
from softirr.measures.cache import PairCache
from softirr.measures.calibration import JudgedPairs, corrected, cross_validated, fit
from softirr.measures.pairs import PairScorer
from softirr.report.agreement import agreement
from softirr.tables.ratings import Floats
from softirr.tables.table import AnnotationTable

__all__ = ["Verdict", "area_under_curve", "compare_with_judgements", "why_not_calibrated"]

FEWEST = 30
FEWEST_EACH = 5
LEAST_AUC = 0.7
"""Conditions of kappa with the calibrated measure: judgements, judgements of either kind, and the measure's AUC."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """Which measure the judgements support.

    Attributes
    ----------
    table : Table
    best : str
    ties : frozenset of str
        The best and all that these judgements can't tell from it.
    sentence : str
    """

    table: Table
    best: str
    ties: frozenset[str]
    sentence: str


def compare_with_judgements(
    table: AnnotationTable,
    measures: Sequence[NamedMeasure],
    judged: JudgedPairs,
    *,
    cache: PairCache | None = None,
) -> Verdict:
    """Compare measures with a person's judgements.

    For each measure: the AUC, the Brier score of P as it is and calibrated on the other judgements (five folds), and Cohen's kappa with the
    measure as it is and calibrated, as ``softirr score --calibration`` computes it. The calibration of kappa leaves out the sheet's pairs of
    different items, because the rest of them has another share of equivalent pairs.

    Parameters
    ----------
    table : AnnotationTable
    measures : sequence of NamedMeasure
    judged : JudgedPairs
        A filled sheet (:func:`softirr.measures.calibration.read_pairs`).
    cache : PairCache, optional

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        If there are too few judgements to calibrate P, or (nearly) all are alike.
    """
    if not judged.pairs:
        raise InputError("The sheet holds no judgement.")
    same = np.array(judged.judged, dtype=np.float64)
    scores = {named.label: _scores(named.measure, judged, cache) for named in measures}
    losses = {label: (cross_validated(p, same) - same) ** 2 for label, p in scores.items()}
    ranking = rank(losses)
    ties = ranking.ties()
    of_item = _of_one_item(table, judged)
    rows = []
    for named in sorted(measures, key=lambda m: (float(losses[m.label].mean()), m.label)):
        p = scores[named.label]
        area = area_under_curve(p, same)
        refused = why_not_calibrated(table, judged, area)
        if refused is None:
            calibrated = corrected(named.measure, fit(p[of_item], same[of_item], measure=named.measure.name))
        rows.append(
            (
                Cell(named.label, bold=named.label in ties),
                Cell(area, digits=2),
                Cell(float(np.mean((p - same) ** 2))),
                Cell(float(losses[named.label].mean()), bold=named.label in ties),
                Cell(_kappa(table, named.measure, cache)),
                Cell(refused if refused is not None else _kappa(table, calibrated, cache)),
            )
        )
    others = sorted(ties - {ranking.best})
    sentence = f"{len(judged.pairs)} judgements support {ranking.best} best" + (
        f"; they can't tell it from {', '.join(others)}." if others else ", significantly better than the others."
    )
    return Verdict(
        Table(
            "judged",
            "Measures against the judgements",
            "AUC: chance that a pair judged the same has a higher P than one judged different. Brier: mean squared error of P, as it is and "
            f"calibrated on the other judgements. Bold: not significantly worse than the best (paired permutation test, level {LEVEL:.0%}). "
            "κ, calibrated: an estimate by P calibrated on the judgements, given only where its conditions hold; softirr audit gives one with an "
            "interval.",
            ("Measure", "AUC", "Brier", "Brier, calibrated", "κ", "κ, calibrated"),
            tuple(rows),
        ),
        ranking.best,
        ties,
        sentence,
    )


def area_under_curve(p: Floats, same: Floats) -> float | None:
    """Area under the ROC curve, ties counting half.

    Parameters
    ----------
    p, same : shape (n,)
        The measure's P, and the judgements: above one half for the same, below for different.

    Returns
    -------
    float or None
        None where all judgements are alike.
    """
    positive, negative = p[same > 0.5], p[same < 0.5]
    if not len(positive) or not len(negative):
        return None
    return float(np.mean(np.sign(positive[:, None] - negative[None, :]) / 2 + 0.5))


def why_not_calibrated(table: AnnotationTable, judged: JudgedPairs, area: float | None) -> str | None:
    """Why κ by calibrated P can't be trusted here, or None.

    Under these conditions it was closer to the truth than the plain κ for every kind of negatives in our experiments (see ``results``): answers
    of one text, a sheet of these very answers, enough judged pairs of one item of both kinds to calibrate P, and a measure that tells them apart.

    Parameters
    ----------
    table : AnnotationTable
    judged : JudgedPairs
    area : float or None
        The measure's area under the ROC curve.

    Returns
    -------
    str or None
    """
    of_item = _of_one_item(table, judged)
    used = int(of_item.sum())
    same = int(np.sum(np.array(judged.judged)[of_item] > 0.5))
    if not table.is_single:
        return "needs answers of one text"
    if not {text for pair in judged.pairs for text in pair} <= set(table.texts):
        return "needs a sheet of these answers"
    if used < FEWEST or min(same, used - same) < FEWEST_EACH:
        return f"needs {FEWEST} judged pairs of one item, {FEWEST_EACH} of each kind"
    if area is None or area < LEAST_AUC:
        return f"needs an AUC of {LEAST_AUC}"
    return None


def _of_one_item(table: AnnotationTable, judged: JudgedPairs) -> NDArray[np.bool_]:
    """Which judged pairs two raters gave to one item, shape (n,)."""
    pairs = {frozenset(pair) for pair in text_pairs(table)[0]}
    return np.array([frozenset(pair) in pairs for pair in judged.pairs], dtype=bool)


def _kappa(table: AnnotationTable, measure: Measure, cache: PairCache | None) -> float | None:
    return agreement(table, measure, reasons=False, cache=cache, progress=None).coefficients["cohen_kappa"].value


def _scores(measure: Measure, judged: JudgedPairs, cache: PairCache | None) -> Floats:
    """The measure's P of the judged pairs."""
    texts = [text for pair in judged.pairs for text in pair]
    left = np.arange(0, len(texts), 2, dtype=np.int64)
    return PairScorer(measure, texts, cache=cache).score(left, left + 1)
