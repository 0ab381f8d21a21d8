"""Evaluation of any measure on the tables of the bundled model's card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.experiments.calibration import expected_calibration_error
from lab.results_table import Table
from lab.terminologies import load
from lab.train.challenge import challenge_tables, read_challenge
from lab.train.develop import auroc, mean
from lab.train.labeled import read_pairs
from lab.train.set_aside_part import PARTS, Part, concepts_of, without_set_aside
from softirr.errors import InputError
from softirr.meaning.measures import Measure
from softirr.meaning.terminology import Terminology

if TYPE_CHECKING:
    from lab.experiments.generate import Generator

__all__ = ["TABLES", "Evaluation", "calibration", "direction", "evaluate", "kappa", "make", "mix", "nli"]

TABLES = ("kappa", "challenge", "nli", "calibration", "direction")
_TERMINOLOGIES = {"kappa": ("hpo", "cl", "icd10cm"), "calibration": ("hpo", "cl"), "direction": ("cl", "hpo")}
_BINS = ((0.0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.0))


@dataclass(frozen=True)
class Evaluation:
    """Tables and data of an evaluation.

    Attributes
    ----------
    tables
        Some of :data:`TABLES`.
    data
        Folder with ``benchmark/`` and ``eval/``; without it only the challenge sets are used.
    challenge
        Files for :func:`read_challenge`.
    populations
        Synthetic populations for each terminology and kind of negative.
    parts
        Parts of the terminologies, with separate tables (:mod:`lab.train.set_aside_part`).
    """

    tables: Sequence[str] = TABLES
    data: Path | None = None
    challenge: Sequence[str] = ()
    populations: int = 8
    parts: Sequence[Part] = PARTS


def evaluate(measure: Measure, on: Evaluation, say: Callable[[str], None] = lambda sentence: None) -> list[Table]:
    """The tables of one measure.

    Raises
    ------
    InputError
        If a file cannot be used, or no table is left.
    """
    if on.data is not None and not on.data.is_dir():
        raise InputError(f"{on.data} is not a folder.")
    results: list[Table] = []
    for name in on.tables:
        if (name == "challenge" and not on.challenge) or (name != "challenge" and on.data is None):
            say(f"No data for the table {name}: it is left out.")
            continue
        say(f"Measuring: {name}.")
        if name == "challenge":
            for file in on.challenge:
                results += challenge_tables(measure, read_challenge(file), Path(file).name)
        elif name == "nli" and on.data is not None:
            results.append(nli(measure, sorted((on.data / "eval" / "nli").glob("*.tsv*"))))
        elif on.data is not None:
            folder = on.data / "benchmark" / "terminology"
            terminologies = [load(f"{t}={folder / t}") for t in _TERMINOLOGIES[name]]
            results += [_of_part(name, measure, terminologies, on.populations, part) for part in on.parts]
    if not results:
        raise InputError("There is nothing to measure on: name a folder with --data, or a file with --challenge.")
    return results


def _of_part(name: str, measure: Measure, terminologies: Sequence[Terminology], populations: int, part: Part) -> Table:
    """One table of one part."""
    if name == "kappa":
        table = kappa(measure, terminologies, populations, part)
    else:
        table = (calibration if name == "calibration" else direction)(measure, terminologies, part=part)
    return replace(table, title=f"{table.title}, {part} part")


def make(name: str, device: str = "auto", precision: str = "auto") -> Measure:
    """The measure, on a device and in a precision if it has a model."""
    from softirr.meaning import measures as equivalence

    options = {"device": device, "precision": precision} if equivalence.takes_model(name) else {}
    return equivalence.measure(name, **options)


def kappa(measure: Measure, terminologies: Sequence[Terminology], populations: int, part: Part | None = None) -> Table:
    """Mean absolute error of Cohen's kappa by kind of negative (setting ``hard`` of the synthetic experiments)."""
    from lab.experiments.generate import NEGATIVES
    from lab.experiments.scoring import Chance, SharedScorer, score_table, truth

    columns = ("negatives", *(t.name for t in terminologies), *(f"{t.name}: bias" for t in terminologies))
    errors: dict[tuple[str, str], list[float]] = {}
    for t in terminologies:
        generator = _generator(t, part)
        simulated = [generator.population(number, kind) for kind in NEGATIVES for number in range(populations)]
        shared = SharedScorer(measure, [p.table() for p in simulated])
        for p in simulated:
            scored = score_table(p.table(), shared, Chance("permutation", 3), key=p.digest)
            estimate, true = (s.estimates["optimal"]["cohen_kappa"] for s in (scored, truth(p.gold())))
            if estimate is not None and true is not None:
                errors.setdefault((t.name, p.negatives), []).append(estimate - true)
    rows: list[tuple[Any, ...]] = []
    for kind in NEGATIVES:
        of_kind = [np.array(errors.get((t.name, kind), [])) for t in terminologies]
        rows.append((kind, *(mean(np.abs(e)) for e in of_kind), *(mean(e) for e in of_kind)))
    return Table(
        "Mean absolute error of Cohen's kappa",
        columns,
        tuple(rows),
        f"Single labels, {populations} populations of 100 concepts (fewer if a part has fewer) with three names or "
        "more for each cell, chance by 3 permutations. Bias: mean of estimate minus truth.",
    )


def _generator(terminology: Terminology, part: Part | None) -> Generator:
    """Populations of one part; negatives of concepts that are set aside may be visible concepts."""
    from lab.experiments.generate import NEIGHBOURS, SIZE, Generator

    if part is None:
        return Generator(terminology, "hard", seed=1)
    t = without_set_aside(terminology) if part == "visible" else terminology
    among = concepts_of(t, part)
    pool = Generator(t, "hard", seed=1, size=2 * NEIGHBOURS, among=among).pool
    return Generator(t, "hard", seed=1, size=min(SIZE, len(pool)), among=among)


def nli(measure: Measure, files: Sequence[Path]) -> Table:
    """Accuracy of entailment against no entailment, and the share of the larger class, for each set."""
    rows = []
    for file in files:
        data = read_pairs(file)
        pairs = [(a, b) for a, b, _ in data.pairs]
        truth = np.array([label for _, _, label in data.pairs])
        p = measure.entail(pairs) if measure.directional else measure.score(pairs)
        accuracy, larger = mean((p >= 0.5) == (truth == 1)), float(max(truth.mean(), 1 - truth.mean()))
        rows.append((data.name, len(pairs), accuracy, larger))
    return Table("Entailment between sentences", ("set", "pairs", "accuracy", "larger class"), tuple(rows))


def mix(
    terminology: Terminology, size: int, seed: int = 0, part: Part | None = None
) -> tuple[list[tuple[str, str]], list[int]]:
    """Pairs as in a project: a third each of one concept in other words, of close concepts, and at random."""
    rng = Random(f"{seed}/{terminology.name}")
    if part == "visible":
        terminology = without_set_aside(terminology)
    among = concepts_of(terminology, part)
    with_names = [k for k in range(len(terminology)) if len(terminology.names[k]) > 1 and k in among]
    if len(with_names) < 2:
        raise InputError(f"{terminology.name} has too few concepts with two names.")
    pairs: list[tuple[str, str]] = []
    truth: list[int] = []

    def take(a: int, b: int) -> None:
        if terminology.folded[a].isdisjoint(terminology.folded[b]):
            pairs.append((rng.choice(terminology.names[a]), rng.choice(terminology.names[b])))
            truth.append(0)

    for _ in range(size // 3):
        first, second = rng.sample(terminology.names[rng.choice(with_names)], 2)
        pairs.append((first, second))
        truth.append(1)
        k = rng.choice(with_names)
        near = (*terminology.siblings(k), *terminology.ancestors(k))
        if near:
            take(k, rng.choice(near))
        take(rng.choice(with_names), rng.choice(with_names))
    return pairs, truth


def calibration(
    measure: Measure, terminologies: Sequence[Terminology], size: int = 3000, part: Part | None = None
) -> Table:
    """Expected calibration error on a mix of pairs outside the training data, and its parts."""
    rows: list[tuple[Any, ...]] = []
    for t in terminologies:
        pairs, truth = mix(t, size, part=part)
        p, y = measure.score(pairs), np.array(truth)
        bins = []
        for low, high in _BINS:
            inside = (p >= low) & ((p < high) | (high == 1.0))
            bins.append(f"{y[inside].mean():.2f} ({int(inside.sum())})" if inside.any() else None)
        rows.append((t.name, len(pairs), expected_calibration_error(p, y), auroc(p[y == 1], p[y == 0]), *bins))
    return Table(
        "Calibration on a held-out mix",
        ("set", "pairs", "ECE", "AUROC", *(f"true at P {low}–{high}" for low, high in _BINS)),
        tuple(rows),
        "A third synonyms (never the same string), a third siblings, parents and grandparents, a third pairs at "
        "random; ECE over 10 bins. Right: share of true pairs (pairs) in ranges of P.",
    )


def direction(measure: Measure, terminologies: Sequence[Terminology], part: Part | None = None) -> Table:
    """Whether a child entails its parent more than the reverse."""
    rows: list[tuple[Any, ...]] = []
    for terminology in terminologies:
        t = without_set_aside(terminology) if part == "visible" else terminology
        edges = [(t.names[k][0], t.names[p][0]) for k in sorted(concepts_of(t, part)) for p in t.parents[k]]
        if not measure.directional:
            rows.append((t.name, len(edges), None, None, None))
            continue
        forward, backward = measure.both(edges).T
        rows.append((t.name, len(edges), mean(forward > backward), mean(forward), mean(backward)))
    return Table("Directions of is_a", ("set", "edges", "right", "P(child ⇒ parent)", "P(parent ⇒ child)"), tuple(rows))
