"""``softirr bench calibration``: error of Cohen's kappa with a calibrated measure, on simulated projects with known values."""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.audit import Judgements, apply, sample
from softirr.errors import InputError
from softirr.lab.bench.audit_simulation import QUALITIES, Project, World, table_truth
from softirr.measures.calibration import corrected, fit
from softirr.measures.corrected import CorrectedMeasure
from softirr.provenance import Provenance
from softirr.report.agreement import agreement
from softirr.tables.ratings import Floats, Ints
from softirr.tables.table import AnnotationTable, Answer
from softirr.terminal import Parser, guarded, positive

__all__ = ["ESTIMATES", "WORLDS", "errors_of_project", "main"]

WORLDS = {
    "20 concepts": World(n_items=150, concepts=20),
    "8 concepts": World(n_items=150, concepts=8, skew=0.5, keep=0.55, names=6),
    "sets": World(n_items=100, concepts=20, largest=3, keep=0.75),
}
MEASURES = ("weak", "fair", "good", "deaf")
ESTIMATES = ("not calibrated", "one curve", "chance at its own prior", "the same, on an audit's sheet", "audit")
"""How kappa is estimated; the last two use the same judgements."""


def main(argv: Sequence[str]) -> int:
    """Print the table; returns the exit status."""
    parser = Parser(prog="softirr bench calibration", description=__doc__)
    parser.add_argument("--projects", type=positive, default=25, help="simulated projects of each row (25)")
    parser.add_argument("--judgements", type=positive, default=60, help="judged pairs of each project (60)")
    parser.add_argument("--worlds", nargs="+", choices=tuple(WORLDS), default=tuple(WORLDS))
    parser.add_argument("--measures", nargs="+", choices=tuple(QUALITIES), default=MEASURES)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)

    def run() -> int:
        for line in table(options):
            print(line, flush=True)
        return 0

    return guarded(run)


def table(options: argparse.Namespace) -> Iterator[str]:
    """Lines of the table.

    Parameters
    ----------
    options : argparse.Namespace
        Those of :func:`main`.

    Yields
    ------
    str
    """
    yield (
        f"Root mean square error of Cohen's kappa against the project's own, {options.judgements} judged pairs, {options.projects} projects a row. "
        "The judged pairs of the calibrations are drawn at random from answers to one item, but for the last two columns, which use an audit's sheet."
    )
    yield ""
    yield f"| project | measure | {' | '.join(ESTIMATES)} | left out |"
    yield "|---|---|" + "---|" * (len(ESTIMATES) + 1)
    for name in options.worlds:
        seed = options.seed + zlib.crc32(name.encode()) % 10_000
        for measure in options.measures:
            found = []
            for number in range(options.projects):
                rng = np.random.default_rng((seed, number))
                project = Project.draw(WORLDS[name], QUALITIES[measure], rng)
                try:
                    found.append(errors_of_project(project, options.judgements, rng, seed=number))
                except InputError:
                    continue  # (nearly) all pairs judged alike: nothing to calibrate on
            mean = np.sqrt(np.mean(np.square(found), axis=0)).tolist() if found else [float("nan")] * len(ESTIMATES)
            cells = " | ".join("–" if np.isnan(error) else f"{error:.3f}" for error in mean)
            yield f"| {name} | {measure} | {cells} | {options.projects - len(found)} |"


def errors_of_project(project: Project, judgements: int, rng: np.random.Generator, *, seed: int = 0) -> list[float]:
    """Errors of kappa of one project by each of ``ESTIMATES``.

    Parameters
    ----------
    project : Project
    judgements : int
        Judged pairs of different texts.
    rng : numpy.random.Generator
        Draws the pairs from answers to one item.
    seed : int
        Seed of the audit's sheet.

    Returns
    -------
    list of float
        Estimate minus the project's own kappa.

    Raises
    ------
    InputError
        If the judgements can't calibrate: nearly all of them are alike.
    """
    measure = _SimulatedMeasure(project)
    answers = _table(project)
    on_items = _calibrated(measure, _pairs_of_items(project, judgements, rng))
    sheet = sample(answers, measure, judgements=judgements, seed=seed, progress=None)
    drawn = np.array([(_number(unit.text_a), _number(unit.text_b)) for unit in sheet.units], dtype=np.int64)
    by_sheet = _calibrated(measure, drawn)
    same = project.same(drawn[:, 0], drawn[:, 1]) > 0.5
    said = {(unit.id, 1): "same" if is_same else "different" for unit, is_same in zip(sheet.units, same, strict=True)}
    audited = apply(answers, measure, [Judgements("truth", said)], progress=None)
    truth = table_truth(project)["cohen_kappa"]
    values = [
        *(
            agreement(answers, each, reasons=False, progress=None).coefficients["cohen_kappa"].value
            for each in (measure, _OneCurve(on_items), on_items, by_sheet)
        ),
        audited.coefficients["cohen_kappa"].value,
    ]
    return [np.nan if value is None else value - truth for value in values]


def _calibrated(measure: _SimulatedMeasure, pairs: Ints) -> CorrectedMeasure:
    """The measure, calibrated on true judgements of pairs of texts, shape (n, 2)."""
    a, b = pairs.T
    return corrected(measure, fit(measure.project.p[a, b], measure.project.same(a, b), measure=measure.name))


def _pairs_of_items(project: Project, judgements: int, rng: np.random.Generator) -> Ints:
    """Random pairs of different texts of two raters' answers to one item, each pair once, shape (n, 2)."""
    comparisons = project.ratings.comparisons
    left, right = (project.ratings.answer[rows] for rows in (comparisons.left, comparisons.right))
    texts = project.text_pairs(left, right)
    order = rng.permutation(len(texts.left))
    pairs = np.sort(np.stack([texts.left[order], texts.right[order]], axis=1), axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    return np.asarray(pairs[np.sort(first)[:judgements]])


def _table(project: Project) -> AnnotationTable:
    """The project's answers, in texts that hold their numbers."""
    ratings = project.ratings
    rows = zip(ratings.item.tolist(), ratings.rater.tolist(), ratings.answer.tolist(), strict=True)
    return AnnotationTable.from_answers(
        Answer(str(item), str(rater), tuple(f"text {text}" for text in project.wording[answer].tolist() if text >= 0))
        for item, rater, answer in rows
    )


def _number(text: str) -> int:
    return int(text.rpartition(" ")[2])


@dataclass(frozen=True, eq=False)
class _SimulatedMeasure:
    """The P of a simulated project, as a measure of the texts of :func:`_table`."""

    project: Project
    name: str = "simulated"

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        return self.project.p[np.ix_([_number(a) for a in rows], [_number(b) for b in cols])].astype(np.float32)

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        return np.array([self.project.p[_number(a), _number(b)] for a, b in pairs])

    def provenance(self) -> Provenance:
        return Provenance(self.name)


@dataclass(frozen=True, eq=False)
class _OneCurve:
    """A calibrated measure that takes its curve for pairs of different items too: what the prior of chance pairs is compared with."""

    calibrated: CorrectedMeasure

    @property
    def name(self) -> str:
        return self.calibrated.name

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        made: NDArray[np.float32] = self.calibrated.block(rows, cols)  # type: ignore[attr-defined]
        return made

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        return self.calibrated.score(pairs)

    def provenance(self) -> Provenance:
        return Provenance(self.name)
