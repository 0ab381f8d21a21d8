"""Standard errors from the derivatives of a coefficient by the item weights, as other packages compute them."""

from __future__ import annotations

import numpy as np
import scipy.stats

from lab.experiments.influence import item_influence
from softirr.answers.category_matrix import matrix_ratings
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import MatrixEquivalence
from softirr.statistics.coefficients.registry import ByMeasure, definition
from tests.statistics.chance.direct import scored


def by_measure(matrix, weights=None, marginals="answers"):
    """Estimates of a matrix of categories with a similarity, the identity by default."""
    ratings = matrix_ratings(matrix)
    equivalence = MatrixEquivalence(np.eye(ratings.n_answers) if weights is None else weights)
    scores = scored(ratings, equivalence)
    return ByMeasure(ratings, scores, exact(ratings, equivalence, scores, marginals=marginals))


def linear_error(key, matrix, weights=None, marginals="answers"):
    """First-order jackknife: the standard error of the mean of the influences."""
    influence = item_influence(by_measure(matrix, weights, marginals), definition(key))
    return float(influence.std(ddof=1) / np.sqrt(len(influence)))


def linear_interval(key, matrix, weights=None, marginals="answers"):
    """Student's t around the value, as most packages give it."""
    estimates = by_measure(matrix, weights, marginals)
    estimate = estimates.estimate(definition(key))
    reach = scipy.stats.t.ppf(0.975, len(estimate.items) - 1) * linear_error(key, matrix, weights, marginals)
    return estimate.value - reach, min(estimate.value + reach, 1.0)
