"""Ratings and coefficients in the forms that publications print."""

from __future__ import annotations

import numpy as np

from softirr.coefficients.intervals import standard_error, wald
from softirr.coefficients.matrix import matrix_agreement


def from_counts(table):
    """Ratings of two raters from their contingency table: rows are the first rater's categories."""
    return np.array([[i, j] for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)])


def from_distribution(table):
    """Ratings from items × categories counts.

    Which rater gave which answer is not known, and does not matter to pooled coefficients.
    """
    return np.array([[k for k, count in enumerate(row) for _ in range(count)] for row in table])


def columns(rows):
    """Ratings from a list of raters' answers, None where missing."""
    return np.array([[-1 if value is None else value for value in rater] for rater in rows]).T


def recoded(matrix):
    """Category values to numbers from 0; the values in order of the numbers."""
    values = np.unique(matrix[matrix >= 0])
    codes = np.searchsorted(values, matrix)
    return np.where(matrix >= 0, codes, -1), values.astype(float)


def similarity(values, distance):
    """1 - distance / its maximum, for a distance between category values."""
    d = np.array([[distance(a, b) for b in values] for a in values])
    return 1 - d / d.max()


def plain_interval(estimate):
    """Student's t around the value, as most packages give it."""
    return wald(estimate.value, standard_error(estimate), df=len(estimate.influence) - 1)


def of(matrix, weights=None, **options):
    return matrix_agreement(matrix, weights, **options).summary.coefficients


def uniform_chance(report):
    """Bennett's S, Brennan and Prediger's kappa, Randolph's free-marginal kappa."""
    return report.summary.coefficients["brennan_prediger"].value


def ordinal(values, frequency):
    """Krippendorff's ordinal distance between ranks, from the pooled frequency of each value."""
    frequency = np.asarray(frequency, dtype=float)

    def distance(a, b):
        low, high = sorted((list(values).index(a), list(values).index(b)))
        return (frequency[low : high + 1].sum() - (frequency[low] + frequency[high]) / 2) ** 2

    return distance


KRIPPENDORFF_2011 = columns(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
)
