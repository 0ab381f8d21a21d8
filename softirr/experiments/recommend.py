"""Which of several measures a person's judgements support, and what these make of kappa."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softirr.annotations import AnnotationTable
from softirr.cache import PairCache
from softirr.calibration import cross_validated, fit
from softirr.coefficients import Floats
from softirr.experiments.estimators import Reference, by_own_curve
from softirr.experiments.estimators import plain as plain_estimate
from softirr.experiments.output import Cell, Table
from softirr.experiments.scoring import Chance, SharedScorer, score_table
from softirr.experiments.sheet import PAIRS, Judged
from softirr.experiments.statistics import LEVEL, rank
from softirr.experiments.synthetic import NamedMeasure
from softirr.pairs import PairScorer

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
    texts = [text for pair in judged.pairs for text in pair]
    left = np.arange(0, len(texts), 2, dtype=np.int64)
    right = left + 1
    scores: dict[str, Floats] = {}
    losses: dict[str, Floats] = {}
    for named in measures:
        p = PairScorer(named.measure, texts, cache=cache).score(left, right)
        scores[named.label] = p
        better = cross_validated(p, judged.same)
        losses[named.label] = judged.weight * (better - judged.same) ** 2 / judged.weight.mean()
    ranking = rank(losses)
    ties = ranking.ties()
    rows = []
    for named in sorted(measures, key=lambda m: (float(losses[m.label].mean()), m.label)):
        p = scores[named.label]
        area = auc(p, judged)
        plain, kappa, reason = _kappas(table, named, judged, p, area, permutations, cache)
        rows.append(
            (
                Cell(named.label, bold=named.label in ties),
                Cell(area, digits=2),
                Cell(float(judged.weight @ (p - judged.same) ** 2 / judged.weight.sum())),
                Cell(float(losses[named.label].mean()), bold=named.label in ties),
                Cell(plain),
                Cell(reason if kappa is None else kappa),
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
    of one text, enough judgements of both kinds to calibrate P, and a measure that tells them apart.
    """
    same = int(judged.same.sum())
    if not table.is_single:
        return "needs answers of one text"
    if len(judged.same) < FEWEST or min(same, len(judged.same) - same) < FEWEST_EACH:
        return f"needs {FEWEST} judgements, {FEWEST_EACH} of each kind"
    if area is None or area < LEAST_AUC:
        return f"needs an AUC of {LEAST_AUC}"
    return None


def _kappas(
    table: AnnotationTable,
    named: NamedMeasure,
    judged: Judged,
    score: Floats,
    area: float | None,
    permutations: int,
    cache: PairCache | None,
) -> tuple[float | None, float | None, str | None]:
    reason = conditions(table, judged, area)
    shared = SharedScorer(named.measure, [table], cache=cache)
    scored = score_table(table, None, shared, Chance("permutation", permutations), key="recommend")
    plain = plain_estimate(scored.same, scored.chance, Reference(score, judged.same)).kappa
    if reason is not None:
        return plain, None, reason
    curve = fit(score, judged.same).apply
    source = float(np.mean(judged.same))
    return plain, by_own_curve(curve, scored.same, scored.chance, source=source).kappa, None
