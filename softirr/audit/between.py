"""Audited agreement of one rater with others, and of these among themselves, from one sheet drawn from the answers of all."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from softirr.audit.audited import Judgements, judged_units, read_sheet
from softirr.audit.design import Design
from softirr.audit.estimate import estimate
from softirr.audit.units import Frames, seed_of
from softirr.chance import estimates as chances
from softirr.coefficients.estimate import Estimate
from softirr.coefficients.intervals import Coefficient
from softirr.errors import InputError
from softirr.measures import Measure
from softirr.measures.cache import MemoryCache, PairCache
from softirr.provenance import Progress
from softirr.tables.table import AnnotationTable

__all__ = ["AuditedPart", "AuditedRaters"]

_LEAST = (6, 2)
"""Fewest judged pairs of answers to one item and to different items for an interval."""


@dataclass(frozen=True, eq=False)
class AuditedPart:
    """An audited coefficient of some pairs of raters.

    Attributes
    ----------
    coefficient : Coefficient
        Without an interval where too few pairs are judged.
    estimate : Estimate
        By the calibrated measure, with the influence of each item.
    items : tuple of str
        Ids of these items.
    judged : int
        Judged pairs of texts that it rests on.
    """

    coefficient: Coefficient
    estimate: Estimate
    items: tuple[str, ...]
    judged: int


class AuditedRaters:
    """Judged sheets of a table, by which raters are compared with the others.

    Parameters
    ----------
    table : AnnotationTable
        The whole table that the units were drawn from, with every rater.
    measure : Measure
        The measure that they were drawn with.
    sheets : sequence of Judgements or paths
    assignment : str
    cache, progress
        As for :class:`softirr.audit.units.Frames`.

    Raises
    ------
    InputError
        If a sheet does not belong to this table and measure, or nothing is judged.

    References
    ----------
    Särndal, C.-E., Swensson, B. and Wretman, J. (1992). Model assisted survey sampling, chapter 10 (estimation for domains).
    """

    def __init__(
        self,
        table: AnnotationTable,
        measure: Measure,
        sheets: Sequence[Judgements | str | os.PathLike[str]],
        *,
        assignment: str = "optimal",
        cache: PairCache | None = None,
        progress: Progress | None = None,
    ) -> None:
        read = [sheet if isinstance(sheet, Judgements) else read_sheet(sheet) for sheet in sheets]
        ids: Mapping[str, str] = {
            unit: judgements.place((unit, pair)) for judgements in read for unit, pair in judgements.values
        }
        if not ids:
            raise InputError("The sheets hold no units: name at least one sheet that audit sample has drawn.")
        self._seed = seed_of(ids)
        self._frames = Frames(table, measure, self._seed, assignment, cache or MemoryCache(), progress)
        self._judged, self._draws = judged_units(self._frames, read, ids)
        if not self._judged:
            raise InputError("No pair is judged.")

    def compared(
        self, rater: str, others: Collection[str], items: Collection[str], coefficient: str
    ) -> tuple[AuditedPart, AuditedPart]:
        """The others among themselves, and the rater with the others, on the same items.

        Parameters
        ----------
        rater : str
        others, items : collection of str
        coefficient : {"cohen_kappa", "observed_agreement"}

        Returns
        -------
        (AuditedPart, AuditedPart)
        """
        table, ratings = self._frames.table, self._frames.design.ratings
        number = table.raters.index(rater)
        people = np.array([name == rater or name in others for name in table.raters])
        kept = np.array([name in items for name in table.items])
        rows = np.flatnonzero(people[ratings.rater] & kept[ratings.item])
        among, own = (
            self._part(self._frames.design.part(rows, number, with_rater=with_rater, n_draws=self._draws), coefficient)
            for with_rater in (False, True)
        )
        return among, own

    def _part(self, design: Design, name: str) -> AuditedPart:
        permutations = 5 if self._frames.answers.scorer.cheap else 2
        chance = chances.permutation(design.ratings, self._frames.answers, permutations=permutations, seed=self._seed)
        found = estimate(design, self._judged, len(design.order or ()), chance)
        coefficient, imputed = found.coefficients[name], found.imputed[name]
        needed = _LEAST if name == "cohen_kappa" else (_LEAST[0], 0)
        pairs = (len(design.same.rank), len(design.different.rank))
        if coefficient.value is not None and any(
            got < min(least, there) for got, least, there in zip(found.judged, needed, pairs, strict=True)
        ):
            coefficient = Coefficient(coefficient.value)
        places = () if imputed.items is None else tuple(self._frames.table.items[i] for i in imputed.items.tolist())
        return AuditedPart(coefficient, imputed, places, sum(found.judged))
