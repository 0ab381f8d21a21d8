"""Where there are no gold codes: what several measures make of a project, where they differ, and which of them some 30 judgements support.

A text pair is judged blind: the sheet holds texts only. Pairs on which measures differ are drawn more often, with known probabilities, so that
few judgements tell much; each pair's weight stands in the sheet and undoes that in every mean.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from softirr.agreement import agreement
from softirr.annotations import AnnotationTable
from softirr.cache import PairCache
from softirr.calibration import cross_validated, fit
from softirr.coefficients import Floats, Ints, Ratings
from softirr.errors import InputError
from softirr.experiments.analysis import SIGNS
from softirr.experiments.draw import Draw
from softirr.experiments.estimators import Reference, by_own_curve
from softirr.experiments.estimators import plain as plain_estimate
from softirr.experiments.output import Cell, Table, decimal
from softirr.experiments.scoring import Chance, SharedScorer, score_table
from softirr.experiments.statistics import LEVEL, rank
from softirr.experiments.synthetic import NamedMeasure
from softirr.pairs import PairScorer
from softirr.terminology import read_table
from softirr.text import normalise

PAIRS = 30
COLUMNS = ("pair", "weight", "text_a", "text_b", "judgement")
SAME, DIFFERENT = "same", "different"
_FLOOR = 0.1
"""Least size of a pair in the draw, next to a spread of ranks of at most 1: no pair is out of reach."""
FEWEST = PAIRS
FEWEST_EACH = 5
LEAST_AUC = 0.7


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
        report = agreement(table, named.measure, cache=cache)
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


def draw_sheet(comparison: Comparison, *, judgements: int = PAIRS, seed: int = 0) -> tuple[tuple[int, float], ...]:
    """Pairs to judge, in random order, with the weights that undo the unequal chances of being drawn.

    Systematic sampling with probability proportional to count × (floor + spread) (Madow 1949), after a random order.

    Returns
    -------
    tuple of (pair, weight)
    """
    draw = Draw("recommend", seed, len(comparison.pairs))
    size = comparison.count * (_FLOOR + spread(comparison))
    n = min(judgements, len(size))
    chance = np.ones(len(size))
    free = np.ones(len(size), dtype=bool)
    while n - int((~free).sum()) > 0 and free.any():  # those large enough to be certain are taken out first
        chance[free] = (n - int((~free).sum())) * size[free] / size[free].sum()
        certain = free & (chance >= 1)
        if not certain.any():
            break
        chance[certain] = 1
        free &= ~certain
    order = draw.permutation(len(size))
    ends = np.cumsum(chance[order])
    start = draw.unit()
    places = np.searchsorted(ends, start + np.arange(n), side="right")
    chosen = [order[min(int(place), len(order) - 1)] for place in places]
    return tuple((k, float(comparison.count[k] / chance[k])) for k in draw.sample(chosen, len(chosen)))


def sheet_csv(comparison: Comparison, drawn: Sequence[tuple[int, float]]) -> str:
    """The sheet to fill: ``pair,weight,text_a,text_b,judgement``, the judgement ``same``, ``different`` or empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, (k, weight) in enumerate(drawn, start=1):
        a, b = comparison.pairs[k]
        writer.writerow([number, f"{weight:.6g}", a, b, ""])
    return out.getvalue()


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged pairs of a sheet.

    Attributes
    ----------
    pairs : tuple of (str, str)
    weight, same : shape (n,)
    """

    pairs: tuple[tuple[str, str], ...]
    weight: Floats
    same: Floats


def read_sheet(path: Path) -> Judged:
    """Read a filled sheet; pairs without a judgement are left aside.

    Raises
    ------
    InputError
        With file and line.
    """
    pairs, weights, same = [], [], []
    for line, row in read_table(path, COLUMNS):
        said = row["judgement"].strip().casefold()
        if not said:
            continue
        if said not in (SAME, DIFFERENT):
            raise InputError(f"{path}, line {line}: the judgement is {said!r}, but can be same, different or empty.")
        try:
            weight = float(row["weight"])
        except ValueError:
            weight = -1.0
        if not 0 < weight < float("inf"):
            raise InputError(f"{path}, line {line}: the weight {row['weight']!r} is not a number above 0.")
        pairs.append((normalise(row["text_a"]), normalise(row["text_b"])))
        weights.append(weight)
        same.append(float(said == SAME))
    if not pairs:
        raise InputError(f"{path} holds no judgement.")
    return Judged(tuple(pairs), np.array(weights), np.array(same))


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
    """How far each two measures differ: mean |ΔP| above the diagonal of measures, rank correlation below."""
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


def most_different(comparison: Comparison, limit: int = PAIRS) -> Table:
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
