"""How agreement is computed: the options that travel together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from softirr.answers.ratings import Marginals
from softirr.defaults import PERMUTATIONS
from softirr.errors import InputError
from softirr.statistics.coefficients.registry import coefficient_keys

ChanceMethod = Literal["auto", "exact", "permutation", "sample"]


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """How :func:`softirr.agreement` computes chance and the matching of sets.

    Parameters
    ----------
    chance : {"auto", "exact", "permutation", "sample"}
        How agreement by chance is computed: exactly, by permutation as in Wullschleger et al. 2026, or from a random
        sample of pairs. ``auto`` is exact if that fits the budget (see :mod:`softirr.report.agreement`), else a sample;
        the report names the method.
    permutations : int
        D, for ``chance="permutation"``.
    target_se : float, optional
        Standard error of the expected agreement that ``chance="sample"`` stops at: 0.005, or 0.001 where the
        measure is cheap.
    seed : int
        Seed of all random draws.
    assignment : {"optimal", "greedy"}
        How two sets are matched.
    marginals : {"answers", "gwet2014"}
        Whose answers make up chance for Fleiss and Gwet, see :class:`softirr.answers.ratings.Pooling`.
    reasons : bool
        Say for each pair of texts of an item that does not match why, see :mod:`softirr.meaning.policy.reasons`.
    matches : bool
        Match the texts of each item and suggest an answer; without, its agreement and pairs of raters are all it has,
        which saves most of the time where measures are cheap.
    meanings : bool
        Also cluster the texts of the whole table by their meaning.
    what_if : bool
        Also compute the headline coefficient without each attribute that raters disagree about.

    Raises
    ------
    InputError
        If an option can't have this value.

    Examples
    --------
    >>> AgreementOptions(chance="permutation", permutations=10).permutations
    10
    """

    chance: ChanceMethod = "auto"
    permutations: int = PERMUTATIONS
    target_se: float | None = None
    seed: int = 0
    assignment: str = "optimal"
    marginals: Marginals = "answers"
    reasons: bool = True
    matches: bool = True
    meanings: bool = False
    what_if: bool = False

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("chance", self.chance, ("auto", "exact", "permutation", "sample")),
            ("marginals", self.marginals, ("answers", "gwet2014")),
        ):
            if value not in allowed:
                raise InputError(f"The option {name} is {value!r}, but can be {', '.join(allowed)}.")
        if self.permutations < 1:
            raise InputError(f"The number of permutations is {self.permutations}, but must be at least 1.")
        if self.target_se is not None and not self.target_se > 0:
            raise InputError(f"The target standard error is {self.target_se}, but must be above 0.")

    @property
    def coefficients(self) -> tuple[str, ...]:
        """Keys of the coefficients of a report, in its order."""
        return coefficient_keys()
