"""The sheet of text pairs that a person judges, to compare measures.

A text pair is judged blind: the sheet holds texts only. Pairs on which measures differ are drawn more often, with known probabilities, so that
few judgements tell much; each pair's weight stands in the sheet and undoes that in every mean.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from softirr.errors import InputError
from softirr.lab.experiments.compare import Comparison, spread
from softirr.lab.experiments.draw import Draw
from softirr.tables.cells import cell_text, plain_cell
from softirr.tables.ratings import Floats
from softirr.tables.sheets import CANT_TELL, HEADER, SAME, checked, rows
from softirr.text import normalise

PAIRS = 30
COLUMNS = (*HEADER, "weight")
_FLOOR = 0.1
"""Least size of a pair in the draw, next to a spread of ranks of at most 1: no pair is out of reach."""


def draw_sheet(comparison: Comparison, *, judgements: int = PAIRS, seed: int = 0) -> tuple[tuple[int, float], ...]:
    """Pairs to judge, in random order, with the weights that undo the unequal chances of being drawn.

    Systematic sampling with probability proportional to count × (floor + spread) (Madow 1949), after a random order.

    Returns
    -------
    tuple of (pair, weight)
    """
    draw = Draw("recommend", seed, len(comparison.pairs))
    size = comparison.count * (_FLOOR + spread(comparison))
    n = min(judgements, len(size))
    chance = np.ones(len(size))
    free = np.ones(len(size), dtype=bool)
    while n - int((~free).sum()) > 0 and free.any():  # those large enough to be certain are taken out first
        chance[free] = (n - int((~free).sum())) * size[free] / size[free].sum()
        certain = free & (chance >= 1)
        if not certain.any():
            break
        chance[certain] = 1
        free &= ~certain
    order = draw.permutation(len(size))
    ends = np.cumsum(chance[order])
    start = draw.unit()
    places = np.searchsorted(ends, start + np.arange(n), side="right")
    chosen = [order[min(int(place), len(order) - 1)] for place in places]
    return tuple((k, float(comparison.count[k] / chance[k])) for k in draw.sample(chosen, len(chosen)))


def sheet_csv(comparison: Comparison, drawn: Sequence[tuple[int, float]]) -> str:
    """The sheet to fill: the columns of an audit's sheet, and the weight."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, (k, weight) in enumerate(drawn, start=1):
        a, b = comparison.pairs[k]
        writer.writerow([number, 1, plain_cell(a), plain_cell(b), "", f"{weight:.6g}"])
    return out.getvalue()


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged pairs of a sheet.

    Attributes
    ----------
    pairs : tuple of (str, str)
    weight, same : shape (n,)
    """

    pairs: tuple[tuple[str, str], ...]
    weight: Floats
    same: Floats


def read_sheet(path: Path) -> Judged:
    """Read a filled sheet, also an audit's, whose pairs weigh the same; pairs without a judgement are left aside.

    Raises
    ------
    InputError
        With file and line.
    """
    pairs, weights, same = [], [], []
    columns = ("text_a", "text_b", "judgement")
    try:
        _, found = rows(path, (*columns, "weight"), "sheet of judged pairs")
    except InputError:
        _, found = rows(path, columns, "sheet of judged pairs")
    for place, (text_a, text_b, judgement, *given) in found:
        said = checked(judgement, place)
        if said in ("", CANT_TELL):
            continue
        try:
            weight = float(given[0]) if given else 1.0
        except ValueError:
            weight = -1.0
        if not 0 < weight < float("inf"):
            raise InputError(f"{place}: the weight {given[0]!r} is not a number above 0.")
        pairs.append((normalise(cell_text(text_a)), normalise(cell_text(text_b))))
        weights.append(weight)
        same.append(float(said == SAME))
    if not pairs:
        raise InputError(f"{path} holds no judgement.")
    return Judged(tuple(pairs), np.array(weights), np.array(same))
