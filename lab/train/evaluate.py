"""Evaluation of any equivalence measure on the tables used for the bundled model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.experiments.calibration import expected_calibration_error
from lab.results_table import Table
from lab.terminologies import load
from lab.train.annotators import clusters, same_item
from lab.train.challenge import challenge_tables, read_challenge
from lab.train.develop import auroc, mean
from lab.train.labeled import read_pairs
from lab.train.set_aside_part import PARTS, Part, concepts_of, without_set_aside
from softirr.errors import InputError
from softirr.inference.models import bundled_model
from softirr.meaning.measures import Measure
from softirr.meaning.terminology import Terminology

if TYPE_CHECKING:
    from lab.experiments.generate import Generator

_TERMINOLOGIES = ("hpo", "cl", "icd10cm")
_MIXED = ("hpo", "cl")
_BINS = ((0.0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.0))


def evaluate(
    measure: str,
    *,
    tables: Sequence[str],
    data: str | None = None,
    challenge: Sequence[str] = (),
    populations: int = 8,
    parts: Sequence[Part] = PARTS,
    device: str = "auto",
    precision: str = "auto",
    say: Callable[[str], None] = lambda sentence: None,
) -> list[Table]:
    """The tables of one measure.

    Parameters
    ----------
    measure
        Its name, as for :func:`softirr.meaning.measures.measure`.
    tables
        ``kappa``, ``challenge``, ``nli``, ``calibration``, ``direction``, ``clusters``, ``same-item``, ``speed``.
    data
        Folder with ``benchmark/`` and ``eval/``; tables that need it are left out without it.
    challenge
        Files for :func:`read_challenge`; the tables of them are left out without one.
    populations
        Synthetic populations for each terminology and kind of negative.
    parts
        Which parts of terminologies and annotators' tables are used, each with tables of its own
        (:mod:`lab.train.set_aside_part`).
    device, precision
        Of a measure with a model behind it.

    Raises
    ------
    InputError
        If the measure or a file can't be used, or no table is left.
    """
    scorer = make(measure, device, precision)
    root = Path(data) if data else None
    if root is not None and not root.is_dir():
        raise InputError(f"{root} is not a folder.")
    results: list[Table] = []
    for name in tables:
        if (name == "challenge" and not challenge) or (name not in ("challenge", "speed") and root is None):
            say(f"No data for the table {name}: it is left out.")
            continue
        say(f"Measuring: {name}.")
        if name == "challenge":
            for file in challenge:
                results += challenge_tables(scorer, read_challenge(file), Path(file).name)
        elif name == "speed":
            results.append(speed(scorer))
        elif name == "nli":
            assert root is not None
            results.append(nli(scorer, sorted((root / "eval" / "nli").glob("*.tsv*"))))
        else:
            assert root is not None
            results += [_of_part(name, scorer, root, populations, part) for part in parts]
    if not results:
        raise InputError("There is nothing to measure on: name a folder with --data, or a file with --challenge.")
    return results


def _of_part(name: str, measure: Measure, root: Path, populations: int, part: Part) -> Table:
    """One table of one part."""
    people = root / "benchmark" / "annotators"
    if name == "kappa":
        table = kappa(measure, _terminologies(root, _TERMINOLOGIES), populations, part)
    elif name == "calibration":
        table = calibration(measure, _terminologies(root, _MIXED), part=part)
    elif name == "direction":
        table = direction(measure, _terminologies(root, ("cl", "hpo")), part)
    elif name == "same-item":
        table = same_item(measure, people, part)
    else:
        table = clusters(measure, people / "protoqa" / "dev.crowdsourced.jsonl", part=part)
    return replace(table, title=f"{table.title}, {part} part")


def make(name: str, device: str = "auto", precision: str = "auto") -> Measure:
    """The measure, on a device and in a precision where it has one."""
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
        drawn = [generator.population(number, kind) for kind in NEGATIVES for number in range(populations)]
        shared = SharedScorer(measure, [p.table() for p in drawn])
        for p in drawn:
            scored = score_table(p.table(), shared, Chance("permutation", 3), key=p.digest)
            estimate, true = (one.estimates["optimal"]["cohen_kappa"] for one in (scored, truth(p.gold())))
            if estimate is not None and true is not None:
                errors.setdefault((t.name, p.negatives), []).append(estimate - true)
    rows: list[tuple[Any, ...]] = []
    for kind in NEGATIVES:
        own = [np.array(errors.get((t.name, kind), [])) for t in terminologies]
        rows.append((kind, *(mean(np.abs(e)) for e in own), *(mean(e) for e in own)))
    return Table(
        "Mean absolute error of Cohen's kappa",
        columns,
        tuple(rows),
        f"Single labels, {populations} populations of 100 concepts (fewer where a part has fewer) with three names "
        "or more for each cell, "
        "chance by 3 permutations. "
        "Bias: mean of estimate minus truth.",
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
        rows.append(
            (data.name, len(pairs), mean((p >= 0.5) == (truth == 1)), float(max(truth.mean(), 1 - truth.mean())))
        )
    return Table("Entailment between sentences", ("set", "pairs", "accuracy", "larger class"), tuple(rows))


def mix(
    terminology: Terminology, size: int, seed: int = 0, part: Part | None = None
) -> tuple[list[tuple[str, str]], list[int]]:
    """Pairs as in a project: a third each of one concept in other words, of close concepts, and at random."""
    rng = Random(f"{seed}/{terminology.name}")
    if part == "visible":
        terminology = without_set_aside(terminology)
    among = concepts_of(terminology, part)
    named = [k for k in range(len(terminology)) if len(terminology.names[k]) > 1 and k in among]
    if len(named) < 2:
        raise InputError(f"{terminology.name} has too few concepts with two names.")
    pairs: list[tuple[str, str]] = []
    truth: list[int] = []

    def take(a: int, b: int) -> None:
        if terminology.folded[a].isdisjoint(terminology.folded[b]):
            pairs.append((rng.choice(terminology.names[a]), rng.choice(terminology.names[b])))
            truth.append(0)

    for _ in range(size // 3):
        k = rng.choice(named)
        one, other = rng.sample(terminology.names[k], 2)
        pairs.append((one, other))
        truth.append(1)
        k = rng.choice(named)
        near = (*terminology.siblings(k), *terminology.ancestors(k))
        if near:
            take(k, rng.choice(near))
        take(rng.choice(named), rng.choice(named))
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
        "random; ECE over 10 bins. "
        "Right: share of true pairs (pairs) in ranges of P.",
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


def speed(measure: Measure, size: int = 2000) -> Table:
    """Unordered pairs per second on this machine, and the size of the model."""
    words = [
        f"{side} {organ} {what}"
        for organ in _ORGANS
        for what in _WHATS
        for side in ("left", "right", "acute", "chronic")
    ]
    rng = Random(0)
    pairs = [(rng.choice(words), rng.choice(words)) for _ in range(size)]
    measure.score(pairs[:64])
    started = time.perf_counter()
    measure.score(pairs)
    seconds = time.perf_counter() - started
    provenance = measure.provenance()
    folder = bundled_model().folder if measure.name == "nli" else Path(provenance.model) if provenance.model else None
    megabytes = (
        sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6
        if folder is not None and folder.is_dir()
        else None
    )
    return Table(
        "Speed and size",
        ("pairs", "pairs a second", "device", "precision", "MB"),
        ((size, round(size / seconds), provenance.device, provenance.precision, megabytes),),
        "Unordered pairs (both directions) of about four words each; the figure depends on the machine.",
    )


_ORGANS = ("kidney", "lung", "ankle", "ear", "eyelid", "heart valve", "knee joint", "optic nerve")
_WHATS = ("inflammation", "pain", "swelling", "fracture", "tumour", "infection with fever")


def _terminologies(root: Path, names: Sequence[str]) -> list[Terminology]:
    return [load(f"{name}={root / 'benchmark' / 'terminology' / name}") for name in names]
