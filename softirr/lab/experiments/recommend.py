"""Recommendation of a measure from judgements, and the effect of these judgements on kappa."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from softirr.lab.experiments.compare import text_pairs
from softirr.lab.experiments.estimators import Reference, by_own_curve
from softirr.lab.experiments.estimators import plain as plain_estimate
from softirr.lab.experiments.output import Cell, Table
from softirr.lab.experiments.scoring import Chance, SharedScorer, score_table
from softirr.lab.experiments.sheet import PAIRS, Judged
from softirr.lab.experiments.statistics import LEVEL, rank
from softirr.lab.experiments.synthetic import NamedMeasure
from softirr.measures import Measure
from softirr.measures.cache import PairCache
from softirr.measures.calibration import cross_validated, fit
from softirr.measures.pairs import PairScorer
from softirr.tables.ratings import Floats
from softirr.tables.table import AnnotationTable

FEWEST = PAIRS
FEWEST_EACH = 5
LEAST_AUC = 0.7
"""Conditions of kappa by calibrated P: judgements, judgements of either kind, and the measure's AUC."""


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


def judge(
    table: AnnotationTable,
    measures: Sequence[NamedMeasure],
    judged: Judged,
    *,
    permutations: int = 3,
    cache: PairCache | None = None,
) -> Verdict:
    """Compare measures with a person's judgements.

    For each measure the weighted AUC, the Brier score of P as it is and calibrated on the other judgements (five folds), and Cohen's kappa
    plain and by P calibrated on the judgements, where the conditions for that hold (see :func:`conditions`).

    Raises
    ------
    InputError
        If there are too few judgements to calibrate P, or (nearly) all are alike.
    """
    scores: dict[str, Floats] = {}
    losses: dict[str, Floats] = {}
    for named in measures:
        p = _scores(named.measure, judged, cache)
        scores[named.label] = p
        better = cross_validated(p, judged.same)
        losses[named.label] = judged.weight * (better - judged.same) ** 2 / judged.weight.mean()
    ranking = rank(losses)
    ties = ranking.ties()
    rows = []
    for named in sorted(measures, key=lambda m: (float(losses[m.label].mean()), m.label)):
        p = scores[named.label]
        found = calibrated_kappa(table, named.measure, judged, permutations=permutations, cache=cache)
        rows.append(
            (
                Cell(named.label, bold=named.label in ties),
                Cell(auc(p, judged), digits=2),
                Cell(float(judged.weight @ (p - judged.same) ** 2 / judged.weight.sum())),
                Cell(float(losses[named.label].mean()), bold=named.label in ties),
                Cell(found.plain),
                Cell(found.refused if found.cohen_kappa is None else found.cohen_kappa),
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


def auc(score: Floats, judged: Judged) -> float | None:
    """Weighted area under the ROC curve, ties counting half; None where all judgements are alike."""
    positive, negative = judged.same > 0.5, judged.same < 0.5
    if not positive.any() or not negative.any():
        return None
    above = np.sign(score[positive][:, None] - score[negative][None, :]) / 2 + 0.5
    weight = judged.weight[positive][:, None] * judged.weight[negative][None, :]
    return float((above * weight).sum() / weight.sum())


def conditions(table: AnnotationTable, judged: Judged, area: float | None) -> str | None:
    """Why κ by calibrated P can't be trusted here, or None.

    Under these conditions it was closer to the truth than the plain κ for every kind of negatives in our experiments (see ``results``): answers
    of one text, a sheet of these very answers, enough judgements of both kinds to calibrate P, and a measure that tells them apart.
    """
    same = int(judged.same.sum())
    if not table.is_single:
        return "needs answers of one text"
    pairs, _ = text_pairs(table)
    if not {frozenset(pair) for pair in judged.pairs} <= {frozenset(pair) for pair in pairs}:
        return "needs a sheet of these answers"
    if len(judged.same) < FEWEST or min(same, len(judged.same) - same) < FEWEST_EACH:
        return f"needs {FEWEST} judgements, {FEWEST_EACH} of each kind"
    if area is None or area < LEAST_AUC:
        return f"needs an AUC of {LEAST_AUC}"
    return None


@dataclass(frozen=True)
class Estimate:
    """Cohen's kappa, all rater pairs pooled, by P calibrated on a person's judgements.

    Attributes
    ----------
    judgements : int
    plain : float or None
        By P as it is.
    cohen_kappa : float or None
        By calibrated P; None where the conditions do not hold.
    refused : str or None
        Which condition does not hold (see :func:`conditions`).
    """

    judgements: int
    plain: float | None
    cohen_kappa: float | None
    refused: str | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"estimator": "calibrated", **asdict(self)}


def calibrated_kappa(
    table: AnnotationTable,
    measure: Measure,
    judged: Judged,
    *,
    permutations: int = 3,
    cache: PairCache | None = None,
) -> Estimate:
    """Kappa by P calibrated on judged pairs of different texts, drawn at random from the table's items.

    Parameters
    ----------
    table : AnnotationTable
    measure : Measure
    judged : Judged
        A filled sheet of this table (:func:`softirr.lab.experiments.sheet.read_sheet`).
    permutations : int
        D, for agreement by chance.
    cache : PairCache, optional
    """
    p = _scores(measure, judged, cache)
    reason = conditions(table, judged, auc(p, judged))
    scored = score_table(
        table,
        None,
        SharedScorer(measure, [table], cache=cache),
        Chance("permutation", permutations),
        key="recommend",
    )
    plain = plain_estimate(scored.same, scored.chance, Reference(p, judged.same)).kappa
    if reason is not None:
        return Estimate(len(p), plain, None, reason)
    source = float(np.mean(judged.same))
    found = by_own_curve(fit(p, judged.same).apply, scored.same, scored.chance, source=source)
    return Estimate(len(p), plain, found.kappa, None)


def _scores(measure: Measure, judged: Judged, cache: PairCache | None) -> Floats:
    """The measure's P of the judged pairs."""
    texts = [text for pair in judged.pairs for text in pair]
    left = np.arange(0, len(texts), 2, dtype=np.int64)
    return PairScorer(measure, texts, cache=cache).score(left, left + 1)
