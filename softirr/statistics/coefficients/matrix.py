"""Agreement of a matrix of category numbers: weighted and classical coefficients without texts."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from softirr.answers.category_matrix import matrix_ratings
from softirr.answers.ratings import Floats, Ints, Marginals, Ratings
from softirr.errors import InputError
from softirr.numbers import plural
from softirr.statistics.chance.expected import MatrixEquivalence
from softirr.statistics.chance.method import Method
from softirr.statistics.chance.sample import Drawing
from softirr.statistics.coefficients.registry import ByMeasure

_ROUNDING = 1e-5
"""Maximum rounding error of a similarity, such as of cosines in float32."""


class MatrixAgreement(ByMeasure):
    """Estimates of a matrix of ratings: ``coefficients`` has every coefficient with its standard error and interval."""

    def __repr__(self) -> str:
        alpha = self.coefficients["krippendorff_alpha"].value
        alpha_text = "undefined" if alpha is None else f"{alpha:.2f}"
        return (
            f"<MatrixAgreement: {plural(self.ratings.n_items, 'item')}, {plural(self.ratings.n_raters, 'rater')}, "
            f"Krippendorff's alpha {alpha_text}>"
        )


def matrix_agreement(
    matrix: Any,
    similarity: Any = None,
    *,
    chance: str = "exact",
    marginals: Marginals = "answers",
    permutations: int = 3,
    target_se: float = 0.005,
    seed: int = 0,
) -> MatrixAgreement:
    """Every coefficient of an items × raters matrix of categories.

    Parameters
    ----------
    matrix : array_like, shape (n_items, n_raters)
        Category numbers from 0: lists, an array with or without a mask, or a data frame. Floats that are whole numbers
        and truth values count as numbers; None, NaN, masked and negative cells are missing.
    similarity : array_like, shape (V, V), optional
        Weights of agreement between the V categories: symmetric, in [0, 1], 1 on the diagonal. The identity (default)
        gives the classical coefficients.
    chance : {"exact", "permutation", "sample"}
    marginals : {"answers", "gwet2014"}
        Answers pooled for Scott, Fleiss and Gwet, see :class:`softirr.answers.ratings.Pooling`.
    permutations : int
        Number of permutations for ``chance="permutation"``.
    target_se : float
        Standard error of the expected agreement to reach with ``chance="sample"``.
    seed : int
        Seed of the permutations or of the sample; ``chance="exact"`` does not use it.

    Returns
    -------
    MatrixAgreement
        The coefficients with intervals, and the observed and expected agreement.

    Raises
    ------
    InputError
        If a cell is neither a category number nor missing, the similarity does not fit the categories, or an option
        cannot have this value.

    Examples
    --------
    >>> found = matrix_agreement([[0, 0], [1, 1], [0, 1], [2, 2]])
    >>> round(found.coefficients["cohen_kappa"].value, 3)
    0.636
    """
    for name, value, allowed in (
        ("chance", chance, ("exact", "permutation", "sample")),
        ("marginals", marginals, get_args(Marginals)),
    ):
        if value not in allowed:
            raise InputError(f"The option {name} is {value!r}, but can be {', '.join(allowed)}.")
    if permutations < 1 or not target_se > 0:
        raise InputError(f"permutations is {permutations} and target_se {target_se}, but both must be above 0.")
    ratings = matrix_ratings(_plain_columns(matrix), renumber=similarity is None)
    equivalence = _Identity() if similarity is None else MatrixEquivalence(_weights(similarity, ratings))
    comparisons = ratings.comparisons
    scores = equivalence.score(ratings.answer[comparisons.left_rows], ratings.answer[comparisons.right_rows])
    method = Method(chance, permutations, Drawing(seed, target_se=target_se))
    answer_chance = method.chance(ratings, equivalence, scores)
    pooled = None if marginals == "answers" else method.chance(ratings, equivalence, scores, marginals)
    return MatrixAgreement(ratings, scores, answer_chance, pooled=pooled)


class _Identity:
    """Equivalence of categories that are the same or not, without a matrix of them."""

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """1 where k[i] is l[i], else 0, shape (n,)."""
        return (k == l).astype(np.float64)

    def block(self, ks: Ints, ls: Ints) -> Floats:
        """The same of each category in ks with each in ls, shape (len(ks), len(ls))."""
        return (ks[:, None] == ls[None, :]).astype(np.float64)


def _weights(matrix: Any, ratings: Ratings) -> Floats:
    """A similarity of the categories, checked."""
    try:
        similarity: Floats = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("similarity must be a square matrix of numbers, one row for each category.") from None
    size = ratings.n_answers
    if similarity.ndim != 2 or similarity.shape[0] != similarity.shape[1] or len(similarity) < size:
        raise InputError(
            f"similarity has shape {similarity.shape}, but the largest category is {size - 1:,}: "
            f"it needs {size:,} rows and columns, numbered from 0."
        )
    if not np.isfinite(similarity).all():
        raise InputError("similarity has a value that is missing or infinite.")
    if not np.allclose(similarity, similarity.T, rtol=0, atol=_ROUNDING):
        raise InputError("similarity is not symmetric: two categories have two values.")
    if not np.allclose(np.diagonal(similarity), 1, rtol=0, atol=_ROUNDING):
        raise InputError("similarity must be 1 for a category with itself.")
    if not (similarity.min(initial=1.0) >= -_ROUNDING and similarity.max(initial=0.0) <= 1 + _ROUNDING):
        raise InputError("similarity has a value outside [0, 1].")
    exact_similarity: Floats = np.clip((similarity + similarity.T) / 2, 0, 1)  # without rounding errors
    np.fill_diagonal(exact_similarity, 1)
    return exact_similarity


def _plain_columns(matrix: Any) -> Any:
    """The columns of a pyarrow table or a Dataset as an array; everything else unchanged."""
    if not hasattr(matrix, "column_names"):
        return matrix
    columns = [matrix[name] for name in matrix.column_names]
    cells = [column.to_pylist() if hasattr(column, "to_pylist") else list(column) for column in columns]
    return [list(row) for row in zip(*cells, strict=True)]
