"""``python -m lab.bench wording``: error of alpha on projects of texts as people wrote them, by measure.

Each file is a table ``text, concept, source_id, n`` (see :mod:`lab.experiments.wording`). Two simulated raters
draw their texts from it. Every measure scores the same pairs of the same projects, so that the difference between two
measures is a paired one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.experiments.statistics import expected_calibration_error
from lab.experiments.wording import NEGATIVES, Negatives, Wording, read_wording
from lab.results_table import table_head, table_row
from lab.train.develop import auroc
from softirr.meaning.measures import Measure, measure
from softirr.terminal import Parser, positive
from softirr.text import normalize

Floats = NDArray[np.float64]
SHARES = (0.3, 0.5, 0.7, 0.9)
"""How often both raters mean the same concept, in turn."""
ROTATIONS = 3
"""Chance pairs of each item: the first text with the second text of this many other items."""


@dataclass(frozen=True, eq=False)
class Population:
    """A project as pairs: first the pairs of one item, then chance pairs.

    Attributes
    ----------
    same : ndarray, shape (pairs,)
        Whether both texts carry one concept.
    n_items : int
        How many of the pairs are of one item.
    """

    pairs: tuple[tuple[str, str], ...]
    same: NDArray[np.bool_]
    n_items: int

    def alpha(self, values: Floats) -> float:
        """Agreement above chance from P of each pair, shape (pairs,)."""
        observed, chance = values[: self.n_items].mean(), values[self.n_items :].mean()
        return float((observed - chance) / (1 - chance))


def draw(wording: Wording, negatives: Negatives, count: int, n_items: int, seed: int = 0) -> list[Population]:
    """Populations of one set.

    Parameters
    ----------
    negatives : {"random", "similar"}
        See :meth:`lab.experiments.wording.Wording.project`.
    count, n_items : int
        Populations, and items of each.
    """
    result = []
    for number in range(count):
        project = wording.project(n_items, SHARES[number % len(SHARES)], negatives, seed=1000 * seed + number)
        pairs, same = list(project.texts), [a == b for a, b in project.concepts]
        step = max(1, n_items // (ROTATIONS + 1))
        for shift in range(step, step * ROTATIONS + 1, step):
            for k in range(n_items):
                other_item = (k + shift) % n_items
                pairs.append((project.texts[k][0], project.texts[other_item][1]))
                same.append(project.concepts[k][0] == project.concepts[other_item][1])
        result.append(Population(tuple(pairs), np.array(same), n_items))
    return result


def rows(name: str, populations: Sequence[Population], scores: dict[str, list[Floats]]) -> Iterator[str]:
    """One row of the table for each measure.

    Parameters
    ----------
    name : str
        First cell of each row.
    scores : dict of str to list of ndarray
        For each measure P of the pairs of each population. The first measure is the base of the paired gain.
    """
    base: Floats | None = None
    for label, values in scores.items():
        errors = np.array(
            [p.alpha(v) - p.alpha(p.same.astype(float)) for p, v in zip(populations, values, strict=True)]
        )
        gain = "–"
        if base is not None:
            gained = base - np.abs(errors)
            gain = f"{gained.mean():+.3f} ± {gained.std(ddof=1) / len(gained) ** 0.5:.3f}"
        base = np.abs(errors) if base is None else base
        p, same = _of_one_item(populations, values)
        area = auroc(p[same], p[~same])
        error = f"{np.abs(errors).mean():.3f} ({errors.mean():+.3f})"
        means = (f"{p[same].mean():.2f}", f"{p[~same].mean():.2f}")
        ece = expected_calibration_error(p, same.astype(float))
        yield table_row((name, label, error, gain, *means, "–" if area is None else f"{area:.3f}", f"{ece:.3f}"))


def _of_one_item(populations: Sequence[Population], values: Sequence[Floats]) -> tuple[Floats, NDArray[np.bool_]]:
    """P and truth of the pairs of different texts of one item."""
    p, same = [], []
    for population, scores in zip(populations, values, strict=True):
        for k, (a, b) in enumerate(population.pairs[: population.n_items]):
            if normalize(a).casefold() != normalize(b).casefold():
                p.append(scores[k])
                same.append(population.same[k])
    return np.array(p), np.array(same, dtype=bool)


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    measures = {name: measure(name) for name in options.measures}
    means = ("P same", "P other", "AUROC", "ECE")
    errors = ("error of alpha (bias)", "gain over the first")
    yield from table_head(("set, part, other concepts", "measure", *errors, *means))
    total: dict[str, tuple[list[Population], dict[str, list[Floats]]]] = {}
    for file in options.wording:
        for subset in options.parts:
            wording = read_wording(file, subset=subset)
            for negatives in NEGATIVES:
                populations = draw(wording, negatives, options.populations, options.items)
                scores = {name: _score(scorer, populations) for name, scorer in measures.items()}
                yield from rows(f"{wording.name}, {subset}, {negatives}", populations, scores)
                populations_of_subset, scores_of_subset = total.setdefault(
                    subset, ([], {name: [] for name in measures})
                )
                populations_of_subset += populations
                for name, values in scores.items():
                    scores_of_subset[name] += values
    for subset, (populations, scores) in total.items():
        yield from rows(f"all, {subset}", populations, scores)


def _score(measure: Measure, populations: Sequence[Population]) -> list[Floats]:
    """P of the pairs of each population; each different pair is scored once."""
    values = measure.score([pair for p in populations for pair in p.pairs])
    return np.split(values, np.cumsum([len(p.pairs) for p in populations])[:-1])


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument(
        "--wording", nargs="+", required=True, metavar="FILE", help="tables text, concept, source_id, n"
    )
    options.add_argument(
        "--measures", nargs="+", default=["nli"], metavar="NAME", help="the first one is the base of the gains (nli)"
    )
    options.add_argument(
        "--parts", nargs="+", choices=("visible", "aside"), default=["visible"],
        help="visible concepts, or the third that is set aside, for a last look only (visible)",
    )  # fmt: skip
    options.add_argument("--populations", type=positive, default=24, metavar="N", help="projects of each kind (24)")
    options.add_argument("--items", type=positive, default=40, metavar="N", help="items of a project (40)")
