"""How each item changes a coefficient: derivatives of its function of draws."""

from __future__ import annotations

import numpy as np

from softirr.answers.ratings import Floats
from softirr.statistics.coefficients.definition import Definition
from softirr.statistics.coefficients.registry import ByMeasure
from softirr.statistics.draws import Draws

_STEP = 1e-4
_AT_ONCE = 500
"""Number of items in one computation of draws."""


def item_influence(by_measure: ByMeasure, definition: Definition) -> Floats:
    """Influence of each comparable item on a coefficient: N times the derivative by its weight, with mean 0.

    Parameters
    ----------
    by_measure : ByMeasure
        Ratings, scores and chance of the project.
    definition : Definition
        Definition of the coefficient.

    Returns
    -------
    shape (N,)
    """
    ratings = by_measure.ratings
    items = ratings.comparable_items
    derivatives = []
    for start in range(0, len(items), _AT_ONCE):
        changed = items[start : start + _AT_ONCE]
        values = []
        for step in (_STEP, -_STEP):
            weights = np.ones((ratings.n_items, len(changed)))
            weights[changed, np.arange(len(changed))] += step
            draws = Draws.of_weights(ratings, by_measure.scores, by_measure.center.chance, weights)
            values.append(draws.over(definition.over_draws))
        derivatives.append((values[0] - values[1]) / (2 * _STEP))
    derivative = np.concatenate(derivatives)
    return np.asarray(len(items) * (derivative - derivative.mean()))
