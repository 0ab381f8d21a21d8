"""Agreement of two lists of texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from softirr.coefficients.intervals import Coefficient
from softirr.errors import InputError
from softirr.measures import DEFAULT_MEASURE, Measure
from softirr.report.agreement import agreement
from softirr.tables.rows import texts_of_cell
from softirr.tables.table import AnnotationTable, Answer

__all__ = ["cohen_kappa"]


def cohen_kappa(
    a: Iterable[Any],
    b: Iterable[Any],
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    casefold: bool = False,
    **options: Any,
) -> Coefficient:
    """Soft Cohen's kappa of two raters' answers to the same items.

    Parameters
    ----------
    a, b : iterable, equally long
        The answers, item by item: a text, or a list, tuple or set of texts. None and NaN are missing: the item is left out. "" and an empty list are
        empty answers.
    measure : str or Measure
        Equivalence of two texts.
    casefold : bool
        Texts that differ only in case are one text.
    **options
        Further keyword arguments of :func:`softirr.agreement`, such as ``chance``, ``interval``, ``seed``, ``cache`` and ``progress``.

    Returns
    -------
    Coefficient
        ``value``, ``standard_error``, ``ci95`` and, where there is no value, the reason in ``undefined``.

    Raises
    ------
    InputError
        If the lists have different lengths, or hold what is not a text.

    Examples
    --------
    >>> kappa = cohen_kappa(["fever", "cough", "rash"], ["fevers", "dry cough", "itch"], measure="indel")
    >>> round(kappa.value, 2)
    0.42
    >>> cohen_kappa(["fever", None], ["fever", "rash"], measure="exact").value is None
    True
    """
    given = []
    for name, values in (("a", a), ("b", b)):
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InputError(f"{name} is a {type(values).__name__}, but has to be a list with an answer for each item.")
        given.append([texts_of_cell(value, f"{name}[{i}]") for i, value in enumerate(values)])
    first, second = given
    if len(first) != len(second):
        raise InputError(
            f"a has {len(first)} answers and b has {len(second)}: each item needs one of each, None where it is missing."
        )
    answers = [
        Answer(str(i), name, texts)
        for name, all_texts in (("a", first), ("b", second))
        for i, texts in enumerate(all_texts)
        if texts is not None
    ]
    table = AnnotationTable.from_answers(answers, items=map(str, range(len(first))), casefold=casefold)
    return agreement(table, measure, **{"reasons": False, **options}).coefficients["cohen_kappa"]
