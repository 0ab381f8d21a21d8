"""Agreement by chance by a method that is chosen by name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from softirr.answers.ratings import Floats, Marginals, Ratings
from softirr.defaults import PERMUTATIONS
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import Chance, Equivalence
from softirr.statistics.chance.permutation import EXPECTATIONS, permutation
from softirr.statistics.chance.sample import Drawing, sample


@dataclass(frozen=True, eq=False)
class Method:
    """How agreement by chance is computed.

    Attributes
    ----------
    name : {"exact", "permutation", "sample"}
    permutations : int
        Number of permutations, for ``permutation``.
    drawing : Drawing
        Seed of the permutations or of the sample, and how the sample is drawn.
    """

    name: str
    permutations: int = PERMUTATIONS
    drawing: Drawing = field(default_factory=Drawing)

    def chance(
        self,
        ratings: Ratings,
        equivalence: Equivalence,
        scores: Floats,
        marginals: Marginals = "answers",
        expectations: Collection[str] = EXPECTATIONS,
    ) -> Chance | None:
        """Agreement by chance of scored ratings.

        Parameters
        ----------
        expectations : collection of str
            Those that are needed: a permutation has no others.

        Returns
        -------
        Chance or None
            None if no answers can be compared.
        """
        if not len(scores):
            return None
        if self.name == "exact":
            return exact(ratings, equivalence, scores, marginals=marginals)
        if self.name == "sample":
            return sample(ratings, equivalence.score, scores, self.drawing, marginals=marginals)
        return permutation(
            ratings,
            equivalence,
            permutations=self.permutations,
            marginals=marginals,
            seed=self.drawing.seed,
            expectations=expectations,
        )
