"""Tables of any measure on labeled pairs: challenge sets, written by hand, and entailment between sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.results_table import Table
from lab.train.develop import auroc, mean
from lab.train.labeled import read_pairs
from softirr.errors import InputError
from softirr.meaning.measures import Measure
from softirr.meaning.terminology.readers import read_table
from softirr.text import normalize

OPPOSITES = ("look-alike", "opposite", "negation", "laterality", "number")
"""Kinds of the challenge set in which different pairs look alike."""


@dataclass(frozen=True)
class ChallengePair:
    """A pair of the challenge set; `gold` is equivalent, different, first entails second, or second entails first."""

    kind: str
    first: str
    second: str
    gold: str


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


def challenge_tables(measure: Measure, pairs: Sequence[ChallengePair], name: str) -> list[Table]:
    """A challenge set, as a whole and by kind."""
    p = measure.score([(c.first, c.second) for c in pairs])
    gold = np.array([c.gold for c in pairs])
    same, different = gold == "equivalent", gold == "different"
    is_opposite = np.array([c.kind in OPPOSITES for c in pairs])
    summary = Table(
        f"Challenge set {name}",
        ("figure", "value"),
        (
            ("pairs", len(pairs)),
            ("AUROC, equivalent against different", auroc(p[same], p[different])),
            ("AUROC, equivalent against all others", auroc(p[same], p[~same])),
            ("opposites called equivalent", mean(p[different & is_opposite] >= 0.5)),
            ("all different pairs called equivalent", mean(p[different] >= 0.5)),
            ("equivalent pairs found", mean(p[same] >= 0.5)),
            ("directions right", _directions(measure, [c for c in pairs if "entails" in c.gold])),
        ),
        f"A pair is called equivalent if P is 0.5 or more. Opposites: {', '.join(OPPOSITES)}.",
    )
    return [summary, _table_by_kind(pairs, p, gold, name)]


def _table_by_kind(pairs: Sequence[ChallengePair], p: NDArray[np.float64], gold: NDArray[np.str_], name: str) -> Table:
    same, different = gold == "equivalent", gold == "different"
    rows: list[tuple[Any, ...]] = []
    for kind in dict.fromkeys(c.kind for c in pairs):
        of_kind = np.array([c.kind == kind for c in pairs])
        yes, no, narrower = of_kind & same, of_kind & different, of_kind & ~same & ~different
        negatives = no if no.any() else narrower if narrower.any() else different
        area = auroc(p[yes if yes.any() else same], p[negatives])
        rows.append((kind, int(of_kind.sum()), area, *(mean(p[group] >= 0.5) for group in (yes, no, narrower))))
    return Table(
        f"Challenge set {name} by kind",
        ("kind", "pairs", "AUROC", "equivalent found", "different called equivalent", "one-way called equivalent"),
        tuple(rows),
        "AUROC of a kind with pairs of one truth only is against all pairs of the other truth.",
    )


def _directions(measure: Measure, pairs: Sequence[ChallengePair]) -> float | None:
    if not measure.directional or not pairs:
        return None
    directions = measure.both([(c.first, c.second) for c in pairs])
    first = np.array([c.gold == "first entails second" for c in pairs])
    return float(np.where(first, directions[:, 0] > directions[:, 1], directions[:, 1] > directions[:, 0]).mean())


def sentence_table(measure: Measure, files: Sequence[str]) -> Table:
    """Accuracy of entailment against no entailment, and the share of the larger class, for each set."""
    rows: list[tuple[Any, ...]] = []
    for file in files:
        data = read_pairs(file)
        pairs = [(a, b) for a, b, _ in data.pairs]
        truth = np.array([label for _, _, label in data.pairs])
        p = measure.entail(pairs) if measure.directional else measure.score(pairs)
        larger = float(max(truth.mean(), 1 - truth.mean()))
        rows.append((data.name, len(pairs), mean((p >= 0.5) == (truth == 1)), larger))
    return Table("Entailment between sentences", ("set", "pairs", "accuracy", "larger class"), tuple(rows))
