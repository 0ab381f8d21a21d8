"""Reads published.toml: ratings and coefficients as papers, manuals and other libraries have published them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DISTANCES = {
    "linear": lambda a, b: abs(a - b),
    "squared": lambda a, b: (a - b) ** 2,
    "ratio": lambda a, b: ((a - b) / (a + b)) ** 2,
    "gwet ordinal": lambda a, b: abs(a - b) * (abs(a - b) + 1) / 2,  # 1 - C(|k - l| + 1, 2) / C(q, 2)
}


def similarity(values, distance):
    """1 - distance / its maximum, for a distance between category values."""
    d = np.array([[distance(a, b) for b in values] for a in values])
    return 1 - d / d.max()


def ordinal(matrix):
    """Krippendorff's distance between ranks, by how often each value was given to an item with two answers."""
    rows = matrix[(matrix >= 0).sum(axis=1) >= 2]
    row = rows[rows >= 0]

    def distance(a, b):
        low, high = sorted((a, b))
        ends = (np.sum(row == low) + np.sum(row == high)) / 2
        return (np.sum((row >= low) & (row <= high)) - ends) ** 2

    return distance


def ratings_of(form):
    """Category values, shape (items, raters), -1 where missing."""
    if "raters" in form:
        return np.array([[-1 if answer == "." else int(answer) for answer in rater] for rater in form["raters"]]).T
    if "counts" in form:
        rows = enumerate(form["counts"])
        return np.array([[i, j] for i, row in rows for j, count in enumerate(row) for _ in range(count)])
    # which rater gave which answer does not matter to pooled coefficients
    return np.array([[k for k, count in enumerate(row) for _ in range(count)] for row in form["distribution"]])


@dataclass(frozen=True)
class Published:
    """Values of a source.

    Attributes
    ----------
    matrix : shape (items, raters)
        Categories, numbered from 0.
    weights : shape (V, V) or None
    """

    source: str
    matrix: np.ndarray
    weights: np.ndarray | None
    options: dict[str, Any]
    values: list[tuple[str, str, float, float]]

    @classmethod
    def of(cls, entry, named_ratings):
        """An entry of the file."""
        matrix = ratings_of(named_ratings.get(entry.get("ratings"), entry))
        values = np.unique(matrix[matrix >= 0])
        weights = entry.get("weights")
        if "distance" in entry:
            weights = similarity(values, DISTANCES.get(entry["distance"]) or ordinal(matrix))
        numbered = np.where(matrix >= 0, np.searchsorted(values, matrix), -1)
        options = {"marginals": entry["marginals"]} if "marginals" in entry else {}
        numbers = [_number(word.split()) for word in entry["values"].split(",")]
        return cls(entry["source"], numbered, weights, options, numbers)


def _number(words):
    number, _, within = words[-1].partition("±")
    half_a_unit = 0.500001 * 10 ** -len(number.partition(".")[2])
    return words[0], " ".join(words[1:-1]), float(number), float(within or half_a_unit)


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RATINGS = {name: ratings_of(form) for name, form in _FILE["ratings"].items()}
PUBLISHED = [Published.of(entry, _FILE["ratings"]) for entry in _FILE["published"]]
