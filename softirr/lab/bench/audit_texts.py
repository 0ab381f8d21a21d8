"""The audit on real texts: projects in the words of terminologies, judged by the true concepts."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from softirr.audit.design import TextPairs
from softirr.audit.estimate import estimate
from softirr.audit.units import Frames
from softirr.chance import estimates as chances
from softirr.coefficients import chance_corrected as co
from softirr.errors import InputError
from softirr.lab.bench.audit_simulation import all_asked, judge
from softirr.lab.experiments.generate import Generator, Negatives, Population
from softirr.measures import Measure
from softirr.measures import measure as measure_by_name
from softirr.provenance import Provenance
from softirr.tables.ratings import Floats, Ints, Ratings
from softirr.terminology import Terminology, load
from softirr.text import normalize

TERMINOLOGIES = ("hpo", "cl", "icd10cm")
NEGATIVES: tuple[Negatives, ...] = ("random", "sibling", "ancestor", "lexical")
PLAIN, NONE, NOISE, PERFECT = "plain random pairs", "no measure", "noise", "perfect"
_PERMUTATIONS = 5


class _Own:
    """A measure that is a function of two texts."""

    def __init__(self, name: str, of: Callable[[str, str], float]) -> None:
        self.name = name
        self._of = of

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        return np.array([self._of(a, b) for a, b in pairs], dtype=np.float64)

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> np.ndarray:
        return self.score([(a, b) for a in rows for b in cols]).reshape(len(rows), len(cols)).astype(np.float32)

    def provenance(self) -> Provenance:
        return Provenance(measure=self.name)


class _AllAsked(Frames):
    """Identical answers are judged too, like plain random pairs."""

    def text_pairs(self, k: Ints, l: Ints) -> TextPairs:  # noqa: E741
        return all_asked(k, l, self.sizes, self.members, self.scorer.score)


@dataclass
class _Found:
    """Errors of kappa, reported standard errors, and whether the interval held the table's kappa, for one measure and number of judgements."""

    off: list[float] = field(default_factory=list)
    said: list[float] = field(default_factory=list)
    width: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    setting: list[str] = field(default_factory=list)

    def of_setting(self) -> Mapping[str, float]:
        """Mean absolute error by setting."""
        off, where = np.abs(self.off), np.array(self.setting)
        return {name: float(off[where == name].mean()) for name in dict.fromkeys(self.setting)}


def named(name: str) -> Measure:
    """A measure by its name; ``minilm`` is all-MiniLM-L6-v2 from its package."""
    if name != "minilm":
        return measure_by_name(name)
    from softirr.lab.training.folder import default_start

    return measure_by_name(f"embedding:{default_start()}")


def tables(
    folder: str,
    measures: Sequence[str],
    judgements: Sequence[int],
    *,
    items: int,
    populations: int,
    audits: int,
    seed: int,
) -> Iterator[str]:
    """Lines of the tables.

    Parameters
    ----------
    folder : str
        With ``TERMINOLOGIES``.
    measures : sequence of str
        As for :func:`named`, beside no measure, noise and the perfect one.
    judgements : sequence of int
    items : int
        Of a project; fewer where a terminology has too few concepts.
    populations, audits : int
        Projects of each setting, audits of each project.
    seed : int
    """
    made = {name: named(name) for name in measures}
    order = [PLAIN, NONE, NOISE, *measures, PERFECT]
    found = {(name, n): _Found() for name in order for n in judgements}
    alone: dict[str, dict[str, list[float]]] = {name: {} for name in order}
    for terminology in TERMINOLOGIES:
        generator = _generator(load(str(Path(folder) / terminology)), items, seed)
        for negatives in NEGATIVES:
            setting = f"{terminology}, {negatives}"
            for number in range(populations):
                population = generator.population(number, negatives)
                for name in order:
                    plain = _audited(population, setting, name, made.get(name), judgements, audits, found)
                    alone[name].setdefault(setting, []).append(abs(plain))
                print(f"{setting}, {number}", file=sys.stderr, flush=True)
    yield from _errors(order, judgements, found, alone)
    yield from _efficiency(order, judgements, found)


def _generator(terminology: Terminology, items: int, seed: int) -> Generator:
    while True:
        try:
            return Generator(terminology, "paper", seed=seed, size=items)
        except InputError:
            items -= 50
            if items < 100:
                raise


def _audited(
    population: Population,
    setting: str,
    name: str,
    measure: Measure | None,
    judgements: Sequence[int],
    audits: int,
    found: Mapping[tuple[str, int], _Found],
) -> float:
    """Audits of one population; returns the error of kappa by the measure alone."""
    concept = _concepts(population)
    if measure is None:
        measure = _Own(name, _own(name, concept))
    frames: type[Frames] = _AllAsked if name == PLAIN else Frames
    plain = 0.0
    for number in range(audits):
        seed = zlib.crc32(f"{population.key} {number}".encode())
        drawn = frames(population.table(), measure, seed, "optimal", None, None)
        ratings, design, table = drawn.design.ratings, drawn.design, drawn.table
        by_text = np.array([concept[text] for text in table.texts])
        meant = by_text[[answer[0] for answer in table.answers]]

        def same(a: Ints, b: Ints, by_text: np.ndarray = by_text) -> Floats:
            return (by_text[a] == by_text[b]).astype(np.float64)

        chance = chances.permutation(ratings, drawn.answers, permutations=_PERMUTATIONS, seed=seed)
        left, right = _compared(ratings)
        truth = _kappa((meant[left] == meant[right]).astype(np.float64), meant, ratings)
        measured = co.mean_cohen(ratings, design.same.p, chance).value
        plain = (measured if measured is not None else 0.0) - truth
        for n in judgements:
            judged, draws = judge(design, same, n)
            got = estimate(design, judged, draws, chance).coefficients["cohen_kappa"]
            if got.value is None or got.ci95 is None or got.standard_error is None:
                raise InputError(f"Kappa is not defined in {population.key}.")
            cell = found[name, n]
            cell.off.append(got.value - truth)
            cell.said.append(got.standard_error)
            cell.width.append(got.ci95[1] - got.ci95[0])
            cell.held.append(got.ci95[0] <= truth <= got.ci95[1])
            cell.setting.append(setting)
    return plain


def _own(name: str, concept: Mapping[str, str]) -> Callable[[str, str], float]:
    if name == PERFECT:
        return lambda a, b: float(concept[a] == concept[b])
    if name == NOISE:
        return lambda a, b: zlib.crc32("\x1f".join(sorted((a, b))).encode()) / 2**32
    return lambda a, b: 0.0


def _compared(ratings: Ratings) -> tuple[Ints, Ints]:
    comparisons = ratings.comparisons
    return ratings.answer[comparisons.left], ratings.answer[comparisons.right]


def _kappa(same: Floats, meant: np.ndarray, ratings: Ratings) -> float:
    """Cohen's kappa of two raters' concepts."""
    names, number = np.unique(meant, return_inverse=True)
    left, right = (np.bincount(number[side], minlength=len(names)) / len(side) for side in _compared(ratings))
    expected = float(left @ right)
    return (float(same.mean()) - expected) / (1 - expected)


def _concepts(population: Population) -> dict[str, str]:
    """Concept of each text. A text of two concepts counts for the first one."""
    found: dict[str, str] = {}
    for concepts, texts in zip(population.concepts, population.texts, strict=True):
        for meant, written in zip(concepts, texts, strict=True):
            for concept, text in zip(meant, written, strict=True):
                found.setdefault(normalize(text), concept)
    return found


def _errors(
    order: Sequence[str],
    judgements: Sequence[int],
    found: Mapping[tuple[str, int], _Found],
    alone: Mapping[str, Mapping[str, Sequence[float]]],
) -> Iterator[str]:
    """Mean absolute error by setting."""
    settings = list(alone[order[0]])
    yield "Mean absolute error of Cohen's kappa against that of the true concepts: by the measure alone, and audited."
    yield ""
    yield "| measure | judgements | all | " + " | ".join(settings) + " |"
    yield "|---|---|---|" + "---|" * len(settings)
    for name in order:
        rows: list[tuple[str, list[float]]] = []
        if name not in (PLAIN, NONE):
            rows.append(("none", [float(np.mean(alone[name][setting])) for setting in settings]))
        for n in judgements:
            by_setting = found[name, n].of_setting()
            rows.append((str(n), [by_setting[setting] for setting in settings]))
        for judged, errors in rows:
            yield f"| {name} | {judged} | **{np.mean(errors):.3f}** | " + " | ".join(f"{e:.3f}" for e in errors) + " |"


def _efficiency(
    order: Sequence[str], judgements: Sequence[int], found: Mapping[tuple[str, int], _Found]
) -> Iterator[str]:
    """Bias, spread, coverage, and the standard error over that without a measure."""
    yield ""
    yield (
        "Mean error (z: in its own standard errors); root mean square error and mean width of the interval, each over that of as many plain random pairs "
        "(identical texts judged too) and over that of no measure (identical texts known). The interval also allows for the items being a "
        "sample, so it holds this table's own kappa more often than in 95%."
    )
    yield ""
    yield (
        "| measure | judgements | mean error (z) | error over plain, over none | width | width over plain, over none | holds the table's kappa |"
    )
    yield "|---|---|---|---|---|---|---|"
    for name in order:
        for n in judgements:
            cell = found[name, n]
            off = np.array(cell.off)
            error, width = float(np.sqrt(np.mean(off**2))), float(np.mean(cell.width))
            bases = [found[base, n] for base in (PLAIN, NONE)]
            errors = ", ".join(f"{error / np.sqrt(np.mean(np.square(base.off))):.2f}" for base in bases)
            widths = ", ".join(f"{width / np.mean(base.width):.2f}" for base in bases)
            z = off.mean() / max(off.std(ddof=1) / np.sqrt(len(off)), 1e-12)
            yield f"| {name} | {n} | {off.mean():+.4f} ({z:+.1f}) | {errors} | {width:.3f} | {widths} | {np.mean(cell.held):.1%} |"
