"""What a coefficient would be if one attribute did not count: the sentence that improves a guideline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from softirr.errors import InputError
from softirr.measures.base import BlockMeasure, Measure
from softirr.measures.corrected import CorrectedMeasure, corrected
from softirr.policy.measure import PolicyMeasure, policy_of, under_policy
from softirr.report.reasons import WhatIf
from softirr.tables.ratings import Ratings
from softirr.tables.table import AnnotationTable

__all__ = ["what_if"]

MOST_ITEMS, COSTLY_MOST_ITEMS = 2_000, 300
"""Items up to which the difference is measured on all of them: cheap measures, and others."""

ValueOf = Callable[[AnnotationTable, Measure], float | None]


def what_if(
    table: AnnotationTable,
    measure: Measure,
    attributes: Sequence[str],
    *,
    coefficient: str,
    value: float,
    value_of: ValueOf,
    seed: int = 0,
) -> tuple[WhatIf, ...]:
    """The coefficient without each of some attributes.

    The difference is measured on the same items with and without the attribute, and added to the coefficient of the
    whole table.

    Parameters
    ----------
    table : AnnotationTable
    measure : Measure
        May be under a policy, which then ignores one attribute more.
    attributes : sequence of str
        Of :data:`softirr.policy.attributes.KINDS`.
    coefficient : str
        Its name.
    value : float
        The coefficient of the whole table.
    value_of : callable
        The coefficient of a table under a measure; None where it is undefined.
    seed : int
        Of the random sample of items, where there are many.

    Returns
    -------
    tuple of WhatIf
        The largest difference first; nothing where the measure cannot be put under another policy.
    """
    policy = policy_of(measure)
    new = [kind for kind in attributes if kind not in policy.ignore]
    part, n = _sample(table, MOST_ITEMS if isinstance(measure, BlockMeasure) else COSTLY_MOST_ITEMS, seed)
    if not new or n < 2:
        return ()
    now = value_of(part, measure)
    if now is None:
        return ()
    found = []
    for kind in new:
        try:
            other = under_policy(_without_policy(measure), policy.changed(ignore=policy.ignore | {kind}))
        except InputError:
            continue
        then = value_of(part, other)
        if then is not None:
            found.append(WhatIf(kind, coefficient, min(1.0, value + then - now), value, n))
    return tuple(sorted(found, key=lambda one: (-one.value, one.attribute)))


def _without_policy(measure: Measure) -> Measure:
    if isinstance(measure, CorrectedMeasure):
        return corrected(_without_policy(measure.raw), measure.decided)
    return measure.raw if isinstance(measure, PolicyMeasure) else measure


def _sample(table: AnnotationTable, most: int, seed: int) -> tuple[AnnotationTable, int]:
    """The table, or a random sample of its items that two raters answered; and how many of these it has."""
    items = Ratings.of(table).comparable_items
    if len(items) <= most:
        return table, len(items)
    chosen = np.sort(np.random.default_rng(seed).choice(items, most, replace=False))
    return table.part(items=[table.items[number] for number in chosen.tolist()]), most
