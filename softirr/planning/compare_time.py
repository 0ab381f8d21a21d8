"""Agreement over time: a coefficient for each period, and a test of the trend."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from softirr.answers.files import answer_table
from softirr.answers.ratings import Floats, Ints
from softirr.answers.table import AnnotationTable
from softirr.answers.weights import refuse_weights
from softirr.errors import InputError
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption
from softirr.planning.compared_parts import (
    NOT_AUDITED,
    choose_coefficient,
    few_items,
    open_scoring,
    require_rater,
    table_values,
    without_value,
)
from softirr.planning.comparison import Comparison
from softirr.planning.comparison_groups import Difference, Group
from softirr.planning.difference import trend
from softirr.planning.runs import others_than
from softirr.report.options import AgreementOptions
from softirr.statistics.coefficients.intervals import of_mean

__all__ = ["PERIODS", "compare_time", "moments_of", "places_of"]

PERIODS = 4


def compare_time(
    table: AnnotationTable | Any,
    field: str,
    measure: str | Measure = DEFAULT_MEASURE,
    options: AgreementOptions | None = None,
    *,
    coefficient: str | None = None,
    rater: str | None = None,
    periods: int = PERIODS,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Comparison:
    """Whether agreement changes over time: a coefficient for each period, and a test of the trend.

    Every period is corrected for the agreement by chance of the whole table. The trend is tested on the items in their
    order.

    Parameters
    ----------
    table : AnnotationTable or data frame
        A table is read with this field, see :func:`softirr.read`.
    field : str
        Dates or numbers, such as ``annotated_at``.
    measure, options, cache, progress
        As for :func:`compare`.
    coefficient : str, optional
        As for :func:`compare`.
    rater : str, optional
        Drift of this rater: the agreement with the others (Cohen's kappa or observed agreement). A model is compared
        with people only.
    periods : int
        Highest number of periods, with about as many items each; items of one moment are in one period.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the table has no such field, or a value is neither a date nor a number, or all items have the same date.

    Examples
    --------
    >>> import softirr
    >>> texts = ["fever", "cough", "rash", "pain"] * 5
    >>> rows = [softirr.Answer(str(i), who, text) for i, text in enumerate(texts) for who in ("ann", "bob")]
    >>> table = softirr.AnnotationTable.from_answers(rows, fields={str(i): {"day": str(i)} for i in range(20)})
    >>> abs(round(compare_time(table, "day", "exact").trend.difference.value, 6))
    0.0
    """
    table = answer_table(table, fields=(field,))
    refuse_weights(table, "A comparison over time")
    at = dict(zip(table.items, moments_of(field, table_values(table, field)), strict=True))
    kept = table.part(items=[item for item, moment in at.items() if moment is not None])
    without = len(table.items) - len(kept.items)
    if rater is not None:
        require_rater(kept, rater)
        kept = kept.part(raters=[*others_than(kept.raters, [rater]), rater])
    with open_scoring(measure, options, cache, progress) as scoring:
        part = scoring.part("all", kept)
        if rater is None:
            name = choose_coefficient({"all": part}, coefficient)
            sample = part.sample(name)
        else:
            name = coefficient or "cohen_kappa"
            sample = part.rater_sample(name, rater)
    if sample.coefficient.value is None:
        raise InputError(f"The coefficient is not defined: {sample.coefficient.undefined}.")
    texts = dict(zip(table.items, table_values(table, field), strict=True))
    moments = np.array([at[item] for item in sample.items], dtype=np.float64)
    if moments.min() == moments.max():
        raise InputError(
            f"All items have the same {field}, {texts[sample.items[0]][:40]}: a trend needs at least two values."
        )
    cuts = _cuts(moments, min(periods, max(len(moments) // 2, 1)))
    values = sample.coefficient.value + sample.estimate.influence
    slope, p = trend(values, places_of(moments))
    ids = sample.items
    groups = tuple(
        Group(
            _span(texts[ids[cut[0]]], texts[ids[cut[-1]]]),
            len(cut),
            len(kept.raters),
            of_mean(values[cut], floor=sample.estimate.floor, expected=sample.estimate.expected),
        )
        for cut in cuts
    )
    more = without_value(without, field)
    return Comparison(
        name,
        groups,
        (),
        measure=scoring.measure.name,
        policy=scoring.policy(table),
        by=field,
        rater=rater,
        trend=Difference("first item", "last item", slope, p, p, len(values)),
        warnings=(*few_items([part.group(sample)]), NOT_AUDITED, *more),
        misfits=part.whole.misfits,
    )


def moments_of(field: str, values: Sequence[str]) -> list[float | None]:
    """Dates or numbers as numbers; None where a value is missing.

    Parameters
    ----------
    field : str
        Name of the field, for the message.
    values : sequence of str

    Returns
    -------
    list of (float or None)

    Raises
    ------
    InputError
        If a value is neither a number nor a date.
    """
    for kind in (float, _timestamp):
        with contextlib.suppress(ValueError):
            return [kind(value) if value else None for value in values]
    wrong = next((value for value in values if value and not _is_date(value)), "")
    raise InputError(
        f"The field {field} has the value {wrong[:40]!r}, which is neither a number nor a date such as 2026-01-31."
    )


def _timestamp(value: str) -> float:
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _is_date(value: str) -> bool:
    try:
        _timestamp(value)
    except ValueError:
        return False
    return True


def places_of(moments: Floats) -> Floats:
    """Position of each item in time order, from 0 to 1; items of one moment share their position.

    Parameters
    ----------
    moments : shape (n,)

    Returns
    -------
    shape (n,)
    """
    from scipy.stats import rankdata

    return np.asarray((rankdata(moments) - 1) / max(len(moments) - 1, 1))


def _cuts(moments: Floats, periods: int) -> list[Ints]:
    """The places of the items of each period, in their order: about as many in each, and items of one moment in one."""
    order = np.argsort(moments, kind="stable")
    starts = np.flatnonzero(np.diff(moments[order])) + 1
    if not len(starts):
        return [order]
    wanted = np.arange(1, periods) * len(order) / periods
    nearest = {int(starts[np.abs(starts - one).argmin()]) for one in wanted}
    return np.split(order, sorted(nearest))


def _span(first: str, last: str) -> str:
    """A period by its first and last moment; times of day are left out where the days differ."""
    a, b = (value[:10] if len(value) > 10 and value[4:5] == "-" else value for value in (first, last))
    return a if a == b else f"{a} to {b}"
