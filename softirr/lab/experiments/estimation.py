"""Comparison of estimators of observed and expected agreement on every population, with the audited coefficient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softirr.errors import InputError
from softirr.lab.experiments.analysis import KAPPA, TITLES, Errors, Key, Results
from softirr.lab.experiments.draw import Draw
from softirr.lab.experiments.estimators import ESTIMATORS, NEEDS_LABELS, Prevalences, Reference, by_own_calibration
from softirr.lab.experiments.generate import NEGATIVES
from softirr.lab.experiments.output import Cell, Table
from softirr.lab.experiments.pools import Pool
from softirr.lab.experiments.real import SETTING as REAL
from softirr.lab.experiments.statistics import LEVEL, PERMUTATIONS, paired_permutation
from softirr.lab.experiments.store import Record
from softirr.tables.ratings import Floats

REFERENCE_NUMBERS = 5
"""Populations of each other source and kind of negatives whose labelled pairs are the reference."""
PLAIN = "plain"
OWN = {f"calibrated, own {n} judgements": n for n in (30, 60)}
"""Calibration on so many of the population's own same-item pairs, drawn at random: what a person's judgements would give."""
OWN_DRAWS = 10
"""Draws of own judgements from an annotated table."""
_SAME = 0.0005
"""Errors closer than this are the same to three decimals."""
_NO_LABELS = Reference(np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Estimation:
    """Errors of kappa by measure and estimator.

    Attributes
    ----------
    setting, reference : str
        Setting of the populations, and of the labelled pairs.
    errors : dict
        By measure; each has the estimators as its labels, on the same populations.
    audited : dict
        By measure; audited coefficients as labels ("audit, 60 judgements"), and ``plain`` on the same populations.
    widths : dict
        (measure, label) -> mean width of the audit's interval and share of intervals that hold the truth.
    """

    setting: str
    reference: str
    errors: dict[str, Errors]
    audited: dict[str, Errors]
    widths: dict[tuple[str, str], tuple[float, float]]


def estimate(results: Results, setting: str, reference: str | None = None) -> Estimation:
    """Run every estimator on every population of a setting.

    The labelled pairs that some estimators ask for come from the other terminologies (with one only, from its populations of the other
    parity), so no estimator sees labels of the population it is judged on.

    Parameters
    ----------
    results : Results
    setting : str
    reference : str, optional
        Setting of the labelled pairs; by default the same setting. Another one shows what becomes of the estimators that ask for labels
        when these come from texts of another kind; the others are left out then.
    """
    moved = reference not in (None, setting)
    names = [name for name in ESTIMATORS if not moved or name == PLAIN or name in NEEDS_LABELS]
    records = results.select(setting)
    labelled = results.select(reference or setting)
    errors = {}
    for label in dict.fromkeys(r.label for r in records):
        mine = [r for r in records if r.label == label]
        references = _references(results, [r for r in labelled if r.label == label])
        values: dict[str, dict[Key, float]] = {name: {} for name in (*names, *(() if moved else OWN))}
        for record, same, chance in results.store.each(mine):
            p = record.population
            truth = p.truth[KAPPA]
            labels = references.get(_reference_key(results, reference or setting, p.source, p.number))
            kappas = {name: ESTIMATORS[name](same, chance, labels or _NO_LABELS).kappa for name in names}
            if not moved:
                for name, n in OWN.items():
                    kappas[name] = own_labels(same, chance, Draw("own labels", p.digest), n).kappa
            for name, kappa in kappas.items():
                if truth is not None and kappa is not None:
                    values[name][p.source, p.negatives, p.number] = abs(kappa - truth)
        errors[label] = _aligned(values)
    audited, widths = _audited(results, records)
    return Estimation(setting, reference or setting, errors, audited, widths)


def own_labels(same: Pool, chance: Pool, draw: Draw, judgements: int) -> Prevalences:
    """Estimates by Platt's calibration on some of the same-item pairs, drawn at random; plain where these can't calibrate."""
    from softirr.measures.calibration import fit

    chosen = draw.sample(range(len(same.score)), min(judgements, len(same.score)))
    score, gold = same.score[chosen], same.gold[chosen]
    try:
        calibration = fit(score, gold)
    except InputError:
        return ESTIMATORS[PLAIN](same, chance, _NO_LABELS)
    return by_own_calibration(calibration, same, chance)


def real_estimators_table(results: Results, reference: str | None) -> Table:
    """Every estimator on annotated tables; labels, where asked for, from all terminologies of the setting ``reference``."""
    sources = results.sources(REAL)
    rows = []
    records = results.select(REAL)
    for label in dict.fromkeys(r.label for r in records):
        labelled = [r for r in results.select(reference) if r.label == label] if reference else []
        labels = _all_edges(results, labelled)
        names = [name for name in ESTIMATORS if len(labels.score) or name not in NEEDS_LABELS]
        found: dict[tuple[str, str], tuple[float, float | None]] = {}
        for record, same, chance in results.store.each([r for r in records if r.label == label]):
            p = record.population
            kappas = {name: [ESTIMATORS[name](same, chance, labels).kappa] for name in names}
            if (same.weight == 1).all():  # answers of one text
                for name, n in OWN.items():
                    draws = (Draw("own labels", p.digest, number) for number in range(OWN_DRAWS))
                    kappas[name] = [own_labels(same, chance, draw, n).kappa for draw in draws]
            for name, drawn in kappas.items():
                known = [kappa for kappa in drawn if kappa is not None]
                truth = p.truth[KAPPA]
                if known:
                    error = None if truth is None else float(np.mean([abs(kappa - truth) for kappa in known]))
                    found[p.source, name] = float(np.mean(known)), error
        for name in (*names, *OWN):
            cells = [Cell(value) for source in sources for value in found.get((source, name), (None, None))]
            if any(cell.value is not None for cell in cells):
                rows.append((Cell(label), Cell(name), *cells))
    return Table(
        name="estimators_real",
        title="Estimators on annotated tables: estimate of κ and error",
        note=f"Pairs of all raters pooled. Own judgements follow the codes: mean of {OWN_DRAWS} draws, for answers of one text. "
        + (
            f"Labels for calibration come from the terminologies ({TITLES[reference]}), not from the tables."
            if reference
            else "Without terminologies in the run there are no labels for calibration."
        ),
        columns=("Measure", "Estimator", *(text for s in sources for text in (s, f"{s} error"))),
        rows=tuple(rows),
        lead=2,
    )


def _all_edges(results: Results, records: Sequence[Record]) -> Reference:
    chosen = [r for r in records if r.population.number < REFERENCE_NUMBERS]
    return _joined([(same.score, same.gold) for _, same, _ in results.store.each(chosen)])


def _aligned(values: dict[str, dict[Key, float]]) -> Errors:
    shared = sorted(set.intersection(*map(set, values.values()))) if values else []
    seen = set().union(*values.values()) if values else set()
    return Errors(
        tuple(shared),
        {name: np.array([by[key] for key in shared]) for name, by in values.items()},
        len(seen) - len(shared),
    )


def _reference_key(results: Results, setting: str, source: str, number: int) -> tuple[str, int]:
    return (source, -1) if len(results.sources(setting)) > 1 else (source, number % 2)


def _references(results: Results, records: Sequence[Record]) -> dict[tuple[str, int], Reference]:
    """Labelled edges for each source: those of the others, or, where there is no other, of populations of the other parity."""
    parts: dict[tuple[str, int], list[tuple[Floats, Floats]]] = {}
    chosen = [r for r in records if r.population.number < 2 * REFERENCE_NUMBERS]
    for record, same, _ in results.store.each(chosen):
        p = record.population
        parts.setdefault((p.source, p.number % 2), []).append((same.score, same.gold))
    sources = sorted({source for source, _ in parts})
    if len(sources) > 1:
        return {
            (s, -1): _joined([e for (t, half), es in parts.items() if t != s and half == 0 for e in es])
            for s in sources
        }
    return {(s, half): _joined(parts.get((s, 1 - half), [])) for s in sources for half in (0, 1)}


def _joined(parts: Sequence[tuple[Floats, Floats]]) -> Reference:
    nothing = np.zeros(0)
    return Reference(
        np.concatenate([nothing, *(s for s, _ in parts)]), np.concatenate([nothing, *(g for _, g in parts)])
    )


def _audited(
    results: Results, records: Sequence[Record]
) -> tuple[dict[str, Errors], dict[tuple[str, str], tuple[float, float]]]:
    by_key = {(r.population.digest, r.measure): r for r in records}
    values: dict[str, dict[str, dict[Key, list[float]]]] = {}
    spans: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for row in results.store.audits():
        record = by_key.get((row.digest, row.measure))
        truth = row.truth
        if record is None or truth is None or row.value is None or row.plain is None:
            continue
        p = record.population
        key, label = (p.source, p.negatives, p.number), f"audit, {row.judgements} judgements"
        of_measure = values.setdefault(record.label, {})
        of_measure.setdefault(label, {}).setdefault(key, []).append(abs(row.value - truth))
        of_measure.setdefault(PLAIN, {}).setdefault(key, []).append(abs(row.plain - truth))
        if row.low is not None and row.high is not None:
            spans.setdefault((record.label, label), []).append((row.high - row.low, row.low <= truth <= row.high))
    return (
        {
            label: _aligned({name: {k: float(np.mean(v)) for k, v in by.items()} for name, by in found.items()})
            for label, found in values.items()
        },
        {
            name: (float(np.mean([w for w, _ in found])), float(np.mean([hit for _, hit in found])))
            for name, found in spans.items()
        },
    )


def estimators_table(estimation: Estimation) -> Table:
    """MAE of kappa by measure, estimator and kind of negatives, each terminology weighing the same."""
    kinds = _kinds(estimation)
    rows = []
    for label, errors in estimation.errors.items():
        best = min(errors.by_label, key=lambda name: _balanced(errors, name) or 0.0)
        for name in errors.by_label:
            cells = [Cell(label), Cell(name, bold=name == best)]
            for kind in [*kinds, None]:
                part = errors if kind is None else errors.where(lambda key, k=kind: key[1] == k)  # type: ignore[misc]
                star = abs(_change(part, name)) > _SAME and _p(part, name) < LEVEL
                cells.append(Cell(_balanced(part, name), bold=name == best, star=star))
            rows.append(tuple(cells))
    return Table(
        name=f"estimators_{estimation.setting}{_suffix(estimation)}",
        title=f"MAE of κ by estimator, {TITLES[estimation.setting]}{_labels_from(estimation)}",
        note="Bold: the lowest mean of the measure. Star: significantly different from plain, better or worse (paired permutation test, "
        f"{PERMUTATIONS:,} sign flips, level {LEVEL:.0%}). Labels for calibration come from the other terminologies, or, in the last rows, from the population itself.",
        columns=("Measure", "Estimator", *kinds, "mean"),
        rows=tuple(rows),
        lead=2,
    )


def cells_table(estimation: Estimation) -> Table:
    """In how many cells (terminology and kind of negatives) an estimator beats the plain mean."""
    sources = sorted({key[0] for e in estimation.errors.values() for key in e.keys})
    rows = []
    for label, errors in estimation.errors.items():
        for name in errors.by_label:
            if name == PLAIN:
                continue
            better = worse = surely_better = surely_worse = 0
            for source in sources:
                for kind in _kinds(estimation):
                    part = errors.where(lambda key, s=source, k=kind: key[:2] == (s, k))  # type: ignore[misc]
                    if not part.keys:
                        continue
                    difference = _change(part, name)
                    sure = _p(part, name) < LEVEL
                    better += difference < -_SAME
                    worse += difference > _SAME
                    surely_better += difference < -_SAME and sure
                    surely_worse += difference > _SAME and sure
            means = [
                _balanced(errors.where(lambda key, s=s: key[0] == s), name)  # type: ignore[misc]
                for s in sources
            ]
            rows.append(
                (
                    Cell(label),
                    Cell(name),
                    *(Cell(m) for m in means),
                    *(Cell(n) for n in (better, surely_better, worse, surely_worse)),
                )
            )
    return Table(
        name=f"estimators_cells_{estimation.setting}{_suffix(estimation)}",
        title="Estimators against the plain mean, cell by cell (terminology and kind of negatives), "
        f"{TITLES[estimation.setting]}{_labels_from(estimation)}",
        note=f"Significant: paired permutation test within the cell, {PERMUTATIONS:,} sign flips, level {LEVEL:.0%}.",
        columns=(
            "Measure",
            "Estimator",
            *(f"MAE, {s}" for s in sources),
            "better",
            "significantly better",
            "worse",
            "significantly worse",
        ),
        rows=tuple(rows),
        lead=2,
    )


def audit_table(estimation: Estimation) -> Table:
    """MAE of the audited coefficient, with the width and the coverage of its interval."""
    rows = []
    for label, errors in estimation.audited.items():
        order = sorted(errors.by_label, key=lambda name: (name != PLAIN, len(name), name))
        for name in order:
            width, coverage = estimation.widths.get((label, name), (None, None))
            rows.append((Cell(label), Cell(name), Cell(errors.mean(name)), Cell(width), Cell(coverage)))
    counts = {len(e.keys) for e in estimation.audited.values()}
    return Table(
        name=f"audit_{estimation.setting}",
        title=f"The audited coefficient, judged by the codes, {TITLES[estimation.setting]}",
        note=f"{'/'.join(map(str, sorted(counts)))} populations of a measure, all kinds of negatives. Width and coverage of the 95% interval; "
        "coverage of the population's own κ; the truth for sets is 2 |A ∩ B| / (|A| + |B|), which judged matches estimate.",
        columns=("Measure", "Estimate", "MAE of κ", "Width", "Coverage"),
        rows=tuple(rows),
        lead=2,
    )


def verdict(estimation: Estimation) -> str:
    """Whether an estimator is better than plain in every cell, in one or two sentences."""
    lower: dict[str, list[str]] = {}
    higher: dict[str, list[str]] = {}
    for label, errors in estimation.errors.items():
        cells = [
            errors.where(lambda key, c=cell: key[:2] == c)  # type: ignore[misc]
            for cell in sorted({key[:2] for key in errors.keys})
        ]
        for name in errors.by_label:
            changes = [_change(part, name) for part in cells]
            if changes and max(changes) < -_SAME:
                lower.setdefault(name, []).append(label)
            elif changes and min(changes) > _SAME:
                higher.setdefault(name, []).append(label)
    measures = len(estimation.errors)
    lead = (
        f"Lower than plain in every cell: {_under(lower, measures)}."
        if lower
        else "No estimator is better than plain in every cell, for any measure."
    )
    return f"{lead} Higher in every cell: {_under(higher, measures)}." if higher else lead


def _under(found: dict[str, list[str]], measures: int) -> str:
    """Estimators, each with the measures under which it was found so."""
    return "; ".join(
        f"{name} ({'every measure' if len(labels) == measures else ', '.join(labels)})"
        for name, labels in found.items()
    )


def _suffix(estimation: Estimation) -> str:
    return "" if estimation.reference == estimation.setting else f"_labels_{estimation.reference}"


def _labels_from(estimation: Estimation) -> str:
    if estimation.reference == estimation.setting:
        return ""
    return f"; labels from: {TITLES[estimation.reference]}"


def _kinds(estimation: Estimation) -> list[str]:
    found = {key[1] for e in estimation.errors.values() for key in e.keys}
    return [k for k in NEGATIVES if k in found]


def _balanced(errors: Errors, name: str) -> float | None:
    """Mean over cells of the mean error."""
    cells: dict[tuple[str, str], list[float]] = {}
    for key, error in zip(errors.keys, errors.by_label[name].tolist(), strict=True):
        cells.setdefault(key[:2], []).append(error)
    return float(np.mean([np.mean(found) for found in cells.values()])) if cells else None


def _change(errors: Errors, name: str) -> float:
    """Mean error minus that of the plain mean."""
    return float((errors.by_label[name] - errors.by_label[PLAIN]).mean()) if errors.keys else 0.0


def _p(errors: Errors, name: str) -> float:
    return paired_permutation(errors.by_label[name] - errors.by_label[PLAIN])
