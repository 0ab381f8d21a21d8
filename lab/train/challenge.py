"""The challenge sets: pairs written by hand; a measure has to find the equivalent ones, and the directions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.results_table import Table
from lab.train.develop import auroc, mean
from lab.train.labeled import read_pairs
from lab.train.morphology import composed
from lab.train.words import LISTS, read_confused, read_groups
from softirr.errors import InputError
from softirr.meaning.measures import Measure
from softirr.meaning.terminology import read_table
from softirr.text import normalize

__all__ = ["ChallengePair", "challenge_tables", "listed_terms", "read_challenge"]

OPPOSITES = ("look-alike", "opposite", "negation", "laterality", "number")
"""Kinds of the challenge set whose different pairs look alike."""


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
            mean(p[among & other & look] >= 0.5),
            mean(p[among & other] >= 0.5),
            mean(p[among & same] >= 0.5),
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
        "The word lists, which models here are trained on, hold no pair of the set, but single terms; the last "
        "column is without those.",
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
                mean(p[yes] >= 0.5),
                mean(p[no] >= 0.5),
                mean(p[narrower] >= 0.5),
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


def _directions(measure: Measure, pairs: Sequence[ChallengePair]) -> float | None:
    if not measure.directional or not pairs:
        return None
    both = measure.both([(c.first, c.second) for c in pairs])
    first = np.array([c.gold == "first entails second" for c in pairs])
    return float(np.where(first, both[:, 0] > both[:, 1], both[:, 1] > both[:, 0]).mean())
