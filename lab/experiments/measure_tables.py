"""The tables of measures: errors by coefficient and negatives, assignments, calibration, cost, annotated tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.experiments.analysis import KAPPA, SIGNS, TITLES, Errors, Results, calibration_error, errors_of
from lab.experiments.generate import NEGATIVES
from lab.experiments.run import REAL, Record
from lab.experiments.statistics import LEVEL, PERMUTATIONS, PERMUTATIONS_EACH, paired_permutation, ties
from lab.results_table import Cell, Row, Table, Value
from softirr.answers.ratings import Floats
from softirr.statistics.coefficients.registry import coefficient_keys

_PERMUTATION_NOTE = f"{PERMUTATIONS:,} sign flips, level {LEVEL:.0%}"
REAL_COEFFICIENTS = ("cohen_kappa", "fleiss_kappa", "sigma", "ks")
"""Columns that Wullschleger et al. (2026) report on annotated tables."""


def mae_table(results: Results, setting: str, coefficient: str = KAPPA) -> Table:
    """Mean absolute error by measure, in all and per terminology (violins in Wullschleger et al. 2026)."""
    errors = errors_of(results, setting, coefficient, "random")
    sources = results.sources(setting)
    best = errors.ties()
    by_source = {source: errors.where(source) for source in sources}
    stars = {source: errors_of_kind.ties(PERMUTATIONS_EACH) for source, errors_of_kind in by_source.items()}
    rows = [
        (
            Cell(label, bold=label in best),
            Cell(errors.mean(label), bold=label in best),
            *(Cell(by_source[s].mean(label), star=label in stars[s]) for s in sources),
        )
        for label in errors.order
    ]
    return Table(
        name=f"mae_{setting}" + ("" if coefficient == KAPPA else f"_{coefficient}"),
        title=f"MAE of {SIGNS[coefficient]}, {TITLES[setting]}, random negatives",
        note=f"{len(errors.keys)} populations. Bold: not significantly different from the best over all (paired "
        "permutation test, "
        f"{_PERMUTATION_NOTE}). Star: the same within one terminology ({PERMUTATIONS_EACH:,} sign "
        f"flips).{_left_out(errors)}",
        columns=("Measure", "All", *sources),
        rows=tuple(rows),
    )


def coefficients_table(results: Results, setting: str) -> Table:
    """Mean absolute error of every coefficient, random negatives."""
    by = {c: errors_of(results, setting, c, "random") for c in coefficient_keys()}
    defined = [c for c in by if by[c].keys]
    best = {c: by[c].ties() for c in defined}
    rows: list[Row] = [
        (label, *(Cell(by[c].mean(label), bold=label in best[c]) for c in defined)) for label in by[KAPPA].order
    ]
    return Table(
        name=f"coefficients_{setting}",
        title=f"MAE of every coefficient, {TITLES[setting]}, random negatives",
        note="Bold: not significantly different from the best of the column (paired permutation test, "
        f"{_PERMUTATION_NOTE}).",
        columns=("Measure", *(SIGNS[c] for c in defined)),
        rows=tuple(rows),
    )


def negatives_table(results: Results, setting: str) -> Table:
    """Change of the MAE of kappa against random negatives (heat maps in Wullschleger et al. 2026)."""
    errors = errors_of(results, setting)
    kinds = [k for k in NEGATIVES if any(key[1] == k for key in errors.keys)]
    by_kind = {k: errors.where(negatives=k) for k in kinds}
    base = by_kind["random"]
    rows = []
    for label in base.order:
        cells: list[Cell | Value] = [label, base.mean(label)]
        for kind in kinds[1:]:
            change, p = _change(base, by_kind[kind], label)
            cells.append(Cell(change, star=p < LEVEL, sign=True))
        rows.append(tuple(cells))
    return Table(
        name=f"negatives_{setting}",
        title=f"Change of the MAE of κ against random negatives, {TITLES[setting]}",
        note="Star: significantly different from random negatives (permutation test on paired populations, "
        f"{_PERMUTATION_NOTE}).",
        columns=("Measure", "random", *(f"Δ {k}" for k in kinds[1:])),
        rows=tuple(rows),
    )


def _change(base: Errors, compared: Errors, label: str) -> tuple[float | None, float]:
    """Mean change of the error, and its p value, over populations that differ in the kind of negatives only."""
    positions = {(s, n): i for i, (s, _, n) in enumerate(base.keys)}
    pairs = [(positions[s, n], j) for j, (s, _, n) in enumerate(compared.keys) if (s, n) in positions]
    if not pairs:
        return None, 1.0
    i, j = np.array(pairs).T
    difference = compared.by_label[label][j] - base.by_label[label][i]
    return float(difference.mean()), paired_permutation(difference)


def assignment_table(results: Results, setting: str = "sets") -> Table:
    """Greedy against optimal assignment."""
    records = results.select(setting)
    optimal = Errors.of(records, lambda r: r.error(KAPPA))
    greedy = Errors.of(records, lambda r: r.error(KAPPA, "greedy") if "greedy" in r.scored.estimates else None)
    rows = []
    for label in optimal.order:
        if optimal.keys != greedy.keys:
            continue
        difference = greedy.by_label[label] - optimal.by_label[label]
        p = paired_permutation(difference)
        rows.append(
            (
                label,
                Cell(optimal.mean(label), digits=4),
                Cell(greedy.mean(label), digits=4),
                Cell(float(difference.mean()), star=p < LEVEL, sign=True, digits=4),
                Cell(p, digits=4),
            )
        )
    return Table(
        name="assignment",
        title="MAE of κ under the optimal (Hungarian) and the greedy assignment, label sets, all kinds of negatives",
        note=f"{len(optimal.keys)} populations. Greedy as Wullschleger et al. (2026) describe it: the first set's "
        "texts in order, each takes the best that is "
        "still free, a text without a match too, so it can take another one's exact match. "
        f"Star: the difference is significant (paired permutation test, {_PERMUTATION_NOTE}).",
        columns=("Measure", "optimal", "greedy", "difference", "p"),
        rows=tuple(rows),
    )


def calibration_table(results: Results) -> Table:
    """Expected calibration error of same-item pairs."""
    labels = list(dict.fromkeys(r.label for r in results.records if r.project.setting in results.settings))
    value = {
        (label, s, kind): calibration_error(results, s, label, kind)
        for label in labels
        for s in results.settings
        for kind in ("random", None)
    }
    labels.sort(key=lambda label: (sum(value[label, s, "random"] or 0.0 for s in results.settings), label))
    return Table(
        name="calibration",
        title="Expected calibration error of P on same-item pairs",
        note="Ten bins of equal width. For sets: set equivalence against the Jaccard coefficient of the codes.",
        columns=(
            "Measure",
            *(f"{s}, {kind}" for s in results.settings for kind in ("random", "all kinds")),
        ),
        rows=tuple(
            (label, *(value[label, s, kind] for s in results.settings for kind in ("random", None))) for label in labels
        ),
    )


def cost_table(results: Results) -> Table:
    """Cost of a set experiment with random negatives (cost table in Wullschleger et al. 2026)."""
    setting = "sets" if "sets" in results.settings else results.settings[0]
    rows = []
    for label in dict.fromkeys(r.label for r in results.select(setting)):
        of_measure = [r for r in results.select(setting, "random") if r.label == label]
        if not of_measure:
            continue
        rows.append(
            (
                sum(r.scored.seconds for r in of_measure),
                label,
                sum(r.scored.pairs for r in of_measure),
                sum(r.prompts for r in of_measure),
            )
        )
    return Table(
        name="cost",
        title=f"Cost, {TITLES[setting]}, random negatives, {len(results.sources(setting))} terminologies",
        note="Wall time of scoring and coefficients; what populations share is scored once. "
        "Prompts: texts (embeddings) or ordered text pairs that went through a model.",
        columns=("Measure", "Pairs", "Pairs/s", "Hours", "Prompts"),
        rows=tuple(
            (label, pairs, round(pairs / seconds) if seconds else None, Cell(seconds / 3600, digits=4), prompts)
            for seconds, label, pairs, prompts in sorted(rows)
        ),
    )


def real_table(results: Results) -> Table:
    """Estimate and error of kappa, Fleiss, sigma and KS on annotated tables."""
    sources = results.sources(REAL)
    columns = [(s, c) for s in sources for c in REAL_COEFFICIENTS]
    by = {(r.project.source, r.label): r for r in results.select(REAL)}
    labels = list(dict.fromkeys(label for _, label in by))
    truth = {r.project.source: r.project.truth for r in by.values()}
    best = {(s, c): _real_ties([r for (t, _), r in by.items() if t == s], c) for s, c in columns}
    rows: list[Row] = [("Ground truth", *(value for s, c in columns for value in (truth[s][c], None)))]
    for label in labels:
        cells: list[Cell | Value] = [label]
        for s, c in columns:
            record = by.get((s, label))
            bold = label in best[s, c]
            cells.append(Cell(record.scored.estimates["optimal"][c] if record else None, bold=bold))
            cells.append(Cell(record.error(c) if record else None, bold=bold))
        rows.append(tuple(cells))
    return Table(
        name="real",
        title="Annotated tables: estimate and error against the coefficients of the codes",
        note="Bold: error not significantly different from the lowest (paired permutation test over items, on each "
        f"item's contribution to the coefficient, {_PERMUTATION_NOTE}).",
        columns=("Measure", *(text for s, c in columns for text in (f"{s} {SIGNS[c]}", f"{s} {SIGNS[c]} error"))),
        rows=tuple(rows),
    )


def _real_ties(records: Sequence[Record], coefficient: str) -> frozenset[str]:
    """Measures with an error not significantly above the lowest: signs are flipped item by item."""
    by_table: dict[str, Floats] = {}
    for record in records:
        truth = record.project.by_codes.contributions.get(coefficient)
        estimated = record.scored.contributions.get(coefficient)
        if truth is None or estimated is None or len(truth) != len(estimated):
            continue
        difference = estimated - truth
        by_table[record.label] = difference if difference.mean() >= 0 else -difference
    return ties(by_table) if by_table else frozenset()


def _left_out(errors: Errors) -> str:
    sentence = f" {errors.left_out} populations left out: not defined, or not scored by every measure."
    return sentence if errors.left_out else ""
