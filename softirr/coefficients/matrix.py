"""Agreement of a matrix of category numbers: weighted and classical coefficients without texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from softirr.chance.estimates import MatrixEquivalence, exact, permutation
from softirr.chance.expected import Chance
from softirr.chance.stratified import stratified
from softirr.coefficients.intervals import Coefficient, analytic
from softirr.coefficients.summary import Summary, summarize
from softirr.errors import InputError
from softirr.tables.ratings import Floats, Marginals, Ratings

__all__ = ["MatrixAgreement", "matrix_agreement"]


@dataclass(frozen=True, eq=False, repr=False)
class MatrixAgreement:
    """Estimates of a matrix of ratings, with the quantities they were computed from.

    Attributes
    ----------
    ratings : Ratings
    scores : shape (P,)
        Similarity of each of ``ratings.comparisons``.
    chance : Chance or None
        Agreement expected by chance; None where no answers can be compared.
    summary : Summary
    """

    ratings: Ratings
    scores: Floats
    chance: Chance | None
    summary: Summary

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """Every coefficient by name, with its standard error and analytic 95% interval."""
        return {name: analytic(estimate) for name, estimate in self.summary.coefficients.items()}

    def __repr__(self) -> str:
        alpha = self.coefficients["krippendorff_alpha"].value
        shown = "undefined" if alpha is None else f"{alpha:.3f}"
        return f"<MatrixAgreement: {self.ratings.n_items:,} items, {self.ratings.n_raters:,} raters, Krippendorff's alpha {shown}>"


def matrix_agreement(
    matrix: Any,
    similarity: Any = None,
    *,
    chance: str = "exact",
    marginals: Marginals = "answers",
    permutations: int = 3,
    cheap: Any = None,
    target_se: float = 0.005,
    seed: int = 0,
) -> MatrixAgreement:
    """Every coefficient of an items × raters matrix of categories.

    Parameters
    ----------
    matrix : array_like of int, shape (n_items, n_raters)
        Category numbers from 0; negative where the answer is missing.
    similarity : array_like, shape (V, V), optional
        Weights of agreement between the V categories: symmetric, in [0, 1], 1 on the diagonal. The identity (default) gives the classical
        coefficients.
    chance : {"exact", "permutation", "stratified"}
    marginals : {"answers", "gwet2014"}
        Answers pooled for Scott, Fleiss and Gwet, see :class:`softirr.coefficients.chance_corrected.Pooling`.
    permutations : int
        Number of permutations for ``chance="permutation"``.
    cheap : array_like, shape (V, V), optional
        For ``chance="stratified"``: the similarity that sorts pairs into strata (default: ``similarity``).
    target_se : float
        Standard error of the expected agreement to reach with ``chance="stratified"``.
    seed : int

    Returns
    -------
    MatrixAgreement
        The coefficients with intervals, and the observed and expected agreement.

    Raises
    ------
    InputError
        If the similarity does not fit the matrix.

    Examples
    --------
    >>> found = matrix_agreement([[0, 0], [1, 1], [0, 1], [2, 2]])
    >>> round(found.coefficients["cohen_kappa"].value, 3)
    0.636
    """
    ratings = Ratings.from_matrix(matrix)
    weights = np.eye(ratings.n_answers) if similarity is None else np.asarray(similarity, dtype=np.float64)
    _check(weights, ratings)
    equivalence = MatrixEquivalence(weights)
    comparisons = ratings.comparisons
    scores = equivalence.score(ratings.answer[comparisons.left], ratings.answer[comparisons.right])
    if not len(scores):
        return MatrixAgreement(ratings, scores, None, summarize(ratings, scores, None))
    sorting = equivalence if cheap is None else MatrixEquivalence(cheap)

    def expected(wanted: Marginals) -> Chance:
        if chance == "exact":
            return exact(ratings, equivalence, scores, marginals=wanted)
        if chance == "permutation":
            return permutation(ratings, equivalence, permutations=permutations, marginals=wanted, seed=seed)
        if chance == "stratified":
            return stratified(
                ratings, equivalence.score, scores, sorting, target_se=target_se, marginals=wanted, seed=seed
            )
        raise InputError(f"The option chance is {chance!r}, but can be exact, permutation, stratified.")

    known = expected("answers")
    pooled = known if marginals == "answers" else expected(marginals)
    return MatrixAgreement(ratings, scores, known, summarize(ratings, scores, known, pooled))


def _check(similarity: Floats, ratings: Ratings) -> None:
    size = ratings.n_answers
    if similarity.ndim != 2 or similarity.shape[0] != similarity.shape[1] or len(similarity) < size:
        raise InputError(f"The similarity has shape {similarity.shape}, but the ratings have {size} categories.")
    if not np.array_equal(similarity, similarity.T):
        raise InputError("The similarity of the categories is not symmetric.")
    if not np.all(np.diagonal(similarity) == 1):
        raise InputError("The similarity of a category with itself has to be 1.")
    if not (similarity.min(initial=1.0) >= 0 and similarity.max(initial=0.0) <= 1):
        raise InputError("The similarity of two categories has to be in [0, 1].")
