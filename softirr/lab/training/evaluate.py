"""Evaluation of any equivalence measure on the tables used for the bundled model."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.inference.models import bundled_model
from softirr.lab.training.annotators import clusters, same_item
from softirr.lab.training.card import Table
from softirr.lab.training.develop import auroc
from softirr.lab.training.labelled import read_pairs
from softirr.lab.training.morphology import composed
from softirr.lab.training.set_aside import PARTS, Part, concepts_of, without_set_aside
from softirr.lab.training.words import LISTS, read_confused, read_groups
from softirr.measures import DirectionalMeasure, Measure
from softirr.measures.reliability import expected_calibration_error
from softirr.terminology import Terminology, load, read_table
from softirr.text import normalize

if TYPE_CHECKING:
    from softirr.lab.experiments.generate import Generator

Floats = NDArray[np.float64]
OPPOSITES = ("look-alike", "opposite", "negation", "laterality", "number")
"""Kinds of the challenge set whose different pairs look alike."""
_TERMINOLOGIES = ("hpo", "cl", "icd10cm")
_MIXED = ("hpo", "cl")
_BINS = ((0.0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.0))


@dataclass(frozen=True)
class ChallengePair:
    """A pair of the challenge set; `gold` is equivalent, different, first entails second, or second entails first."""

    kind: str
    first: str
    second: str
    gold: str


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
        Its name, as for :func:`softirr.measures.measure`.
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
        (:mod:`softirr.lab.training.set_aside`).
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
    from softirr import measures as equivalence

    options = {"device": device, "precision": precision} if equivalence.takes_model(name) else {}
    return equivalence.measure(name, **options)


def read_challenge(file: str) -> list[ChallengePair]:
    """A table ``kind, first, second, gold``."""
    path = Path(file)
    rows = [
        ChallengePair(row["kind"], normalize(row["first"]), normalize(row["second"]), row["gold"])
        for _, row in read_table(path, ("kind", "first", "second", "gold"))
    ]
    read_pairs(path)  # the error names the line of an unknown gold word
    if not any(r.gold == "equivalent" for r in rows) or not any(r.gold == "different" for r in rows):
        raise InputError(f"{path} needs pairs that are equivalent and pairs that are different.")
    return rows


def kappa(measure: Measure, terminologies: Sequence[Terminology], populations: int, part: Part | None = None) -> Table:
    """Mean absolute error of Cohen's kappa by kind of negative (Wullschleger et al. 2026, synthetic experiments; concepts with three names or more)."""
    from softirr.lab.experiments.generate import NEGATIVES
    from softirr.lab.experiments.scoring import Chance, SharedScorer, score_table, truth

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
        own = [np.array(errors.get((t.name, kind), [np.nan])) for t in terminologies]
        rows.append((kind, *(_known(np.abs(e).mean()) for e in own), *(_known(e.mean()) for e in own)))
    return Table(
        "Mean absolute error of Cohen's kappa",
        columns,
        tuple(rows),
        f"Single labels, {populations} populations of 100 concepts (fewer where a part has fewer) with three names or more for each cell, "
        "chance by 3 permutations. "
        "Bias: mean of estimate minus truth.",
    )


def _generator(terminology: Terminology, part: Part | None) -> Generator:
    """Populations of one part; negatives of concepts that are set aside may be visible concepts."""
    from softirr.lab.experiments.generate import NEIGHBOURS, SIZE, Generator

    if part is None:
        return Generator(terminology, "hard", seed=1)
    t = without_set_aside(terminology) if part == "visible" else terminology
    among = concepts_of(t, part)
    pool = Generator(t, "hard", seed=1, size=2 * NEIGHBOURS, among=among).pool
    return Generator(t, "hard", seed=1, size=min(SIZE, len(pool)), among=among)


def _known(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def challenge_tables(measure: Measure, pairs: Sequence[ChallengePair], name: str) -> list[Table]:
    """A challenge set, as a whole and by kind."""
    p = measure.score([(c.first, c.second) for c in pairs])
    same = np.array([c.gold == "equivalent" for c in pairs])
    other = np.array([c.gold == "different" for c in pairs])
    look = np.array([c.kind in OPPOSITES for c in pairs])
    listed = listed_terms()
    unlisted = np.array([c.first.casefold() not in listed and c.second.casefold() not in listed for c in pairs])

    def summary(among: NDArray[np.bool_]) -> tuple[Any, ...]:
        one_way = [c for c, mine in zip(pairs, among, strict=True) if mine and "entails" in c.gold]
        return (
            int(among.sum()),
            auroc(p[among & same], p[among & other]),
            auroc(p[among & same], p[among & ~same]),
            _share(p[among & other & look] >= 0.5),
            _share(p[among & other] >= 0.5),
            _share(p[among & same] >= 0.5),
            _directions(measure, one_way),
        )

    names = (
        "pairs",
        "AUROC, equivalent against different",
        "AUROC, equivalent against all others",
        "opposites called equivalent",
        "all different pairs called equivalent",
        "equivalent pairs found",
        "directions right",
    )
    whole = Table(
        f"Challenge set {name}",
        ("what", "all", "no term in the word lists"),
        tuple(zip(names, summary(np.ones(len(pairs), dtype=bool)), summary(unlisted), strict=True)),
        "A pair is called equivalent if P is 0.5 or more. Opposites: " + ", ".join(OPPOSITES) + ". "
        "The word lists, which models here are trained on, hold no pair of the set, but single terms; the last column is without those.",
    )
    rows: list[tuple[Any, ...]] = []
    for kind in dict.fromkeys(c.kind for c in pairs):
        mine = np.array([c.kind == kind for c in pairs])
        yes, no = mine & same, mine & other
        narrower = mine & ~same & ~other
        rows.append(
            (
                kind,
                int(mine.sum()),
                auroc(p[yes if yes.any() else same], p[no if no.any() else narrower if narrower.any() else other]),
                _share(p[yes] >= 0.5),
                _share(p[no] >= 0.5),
                _share(p[narrower] >= 0.5),
            )
        )
    by_kind = Table(
        f"Challenge set {name} by kind",
        ("kind", "pairs", "AUROC", "equivalent found", "different called equivalent", "one-way called equivalent"),
        tuple(rows),
        "AUROC of a kind with pairs of one truth only is against all pairs of the other truth.",
    )
    return [whole, by_kind]


def listed_terms() -> frozenset[str]:
    """Every text of the word lists and of the composed terms, case-folded."""
    groups = itertools.chain(*(read_groups(name) for name in LISTS), read_confused(), composed().forms)
    return frozenset(text.casefold() for group in groups for text in group)


def _share(flags: NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if len(flags) else None


def _directions(measure: Measure, pairs: Sequence[ChallengePair]) -> float | None:
    if not isinstance(measure, DirectionalMeasure) or not pairs:
        return None
    both = measure.entail_both([(c.first, c.second) for c in pairs])
    first = np.array([c.gold == "first entails second" for c in pairs])
    return float(np.where(first, both[:, 0] > both[:, 1], both[:, 1] > both[:, 0]).mean())


def nli(measure: Measure, files: Sequence[Path]) -> Table:
    """Accuracy of entailment against no entailment, and the share of the larger class, for each set."""
    rows = []
    for file in files:
        data = read_pairs(file)
        pairs = [(a, b) for a, b, _ in data.pairs]
        truth = np.array([label for _, _, label in data.pairs])
        p = measure.entail(pairs) if isinstance(measure, DirectionalMeasure) else measure.score(pairs)
        rows.append(
            (data.name, len(pairs), _share((p >= 0.5) == (truth == 1)), float(max(truth.mean(), 1 - truth.mean())))
        )
    return Table("Entailment between sentences", ("set", "pairs", "accuracy", "larger class"), tuple(rows))


def mix(
    terminology: Terminology, size: int, seed: int = 0, part: Part | None = None
) -> tuple[list[tuple[str, str]], list[int]]:
    """Pairs as in a project: a third of the same concept in other words, a third of close concepts, a third at random."""
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
        "A third synonyms (never the same string), a third siblings, parents and grandparents, a third pairs at random; ECE over 10 bins. "
        "Right: share of true pairs (pairs) in ranges of P.",
    )


def direction(measure: Measure, terminologies: Sequence[Terminology], part: Part | None = None) -> Table:
    """Whether a child entails its parent more than the reverse."""
    rows: list[tuple[Any, ...]] = []
    for given in terminologies:
        t = without_set_aside(given) if part == "visible" else given
        edges = [(t.names[k][0], t.names[p][0]) for k in sorted(concepts_of(t, part)) for p in t.parents[k]]
        if not isinstance(measure, DirectionalMeasure):
            rows.append((t.name, len(edges), None, None, None))
            continue
        both = measure.entail_both(edges)
        rows.append(
            (
                t.name,
                len(edges),
                float((both[:, 0] > both[:, 1]).mean()),
                float(both[:, 0].mean()),
                float(both[:, 1].mean()),
            )
        )
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
        ((size, float(size / seconds), provenance.device, provenance.precision, megabytes),),
        "Unordered pairs (both directions) of about four words each; the figure depends on the machine.",
    )


_ORGANS = ("kidney", "lung", "ankle", "ear", "eyelid", "heart valve", "knee joint", "optic nerve")
_WHATS = ("inflammation", "pain", "swelling", "fracture", "tumour", "infection with fever")


def _terminologies(root: Path, names: Sequence[str]) -> list[Terminology]:
    return [load(f"{name}={root / 'benchmark' / 'terminology' / name}") for name in names]
