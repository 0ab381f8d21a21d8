"""Several runs of one model on the same items: how far they agree with each other, and with the other raters."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from softirr.answers.table import MODEL, REFERENCE, AnnotationTable
from softirr.json_object import JsonObject
from softirr.report.scoring import Scored
from softirr.statistics.coefficients.intervals import Coefficient, analytic
from softirr.statistics.coefficients.observed import chosen_agreement

__all__ = ["Runs", "others_than", "runs_of", "runs_of_models"]

_RUN = re.compile(r"(.+)#\d+")


@dataclass(frozen=True)
class Runs(JsonObject):
    """A model that ran several times; its runs are the raters ``NAME#1``, ``NAME#2`` and so on.

    Attributes
    ----------
    model : str
    runs : int
    within : Coefficient
        Mean equivalence of two runs on an item.
    between : Coefficient
        Mean equivalence of a run and a rater who is no run of this model.
    """

    model: str
    runs: int
    within: Coefficient
    between: Coefficient


def runs_of(raters: Sequence[str], name: str) -> tuple[str, ...]:
    """The runs of a model among raters; the name itself where it is a rater or has no runs.

    Parameters
    ----------
    raters : sequence of str
    name : str

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> runs_of(["ann", "model:a#1", "model:a#2"], "model:a")
    ('model:a#1', 'model:a#2')
    """
    runs = [rater for rater in raters if (run := _RUN.fullmatch(rater)) and run[1] == name]
    return (name,) if name in raters or not runs else tuple(runs)


def others_than(raters: Sequence[str], chosen: Collection[str]) -> tuple[str, ...]:
    """The raters that chosen ones are compared with: no reference, and where the chosen ones are models, no model.

    Parameters
    ----------
    raters : sequence of str
    chosen : collection of str

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> others_than(["ann", "ben", "model:a", "model:b", "reference"], ["model:a"])
    ('ann', 'ben')
    >>> others_than(["ann", "ben", "model:a", "reference"], ["ann"])
    ('ben', 'model:a')
    """
    are_models = all(rater.startswith(MODEL) for rater in chosen)
    left_out = {*chosen, REFERENCE}
    return tuple(one for one in raters if one not in left_out and not (are_models and one.startswith(MODEL)))


def runs_of_models(table: AnnotationTable, scored: Scored) -> tuple[Runs, ...]:
    """The models of a table that ran several times.

    Parameters
    ----------
    table : AnnotationTable
    scored : Scored
        Its scores.

    Returns
    -------
    tuple of Runs
    """
    raters: defaultdict[str, list[int]] = defaultdict(list)
    for number, rater in enumerate(table.raters):
        if run := _RUN.fullmatch(rater):
            raters[run[1]].append(number)
    comparisons = scored.ratings.comparisons
    first, second = scored.ratings.rater[comparisons.left], scored.ratings.rater[comparisons.right]
    result = []
    for model, numbers in raters.items():
        if len(numbers) < 2:
            continue
        n_runs = np.isin(first, numbers).astype(np.int64) + np.isin(second, numbers)
        within, between = (
            analytic(chosen_agreement(scored.ratings, scored.scores, np.flatnonzero(n_runs == n))) for n in (2, 1)
        )
        result.append(Runs(model, len(numbers), within, between))
    return tuple(result)
