"""One coefficient of lists of texts, or of a table: what people call who know the coefficient that they want."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from softirr.answers.answer_lists import lists_table
from softirr.answers.read_options import ReadOptions
from softirr.answers.table import AnnotationTable
from softirr.errors import with_parameters
from softirr.keywords import takes_options
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.report.agreement import agreement
from softirr.statistics.coefficients.intervals import Coefficient

__all__ = ["cohen_kappa", "fleiss_kappa", "krippendorff_alpha"]

_IRRELEVANT = ("reasons", "what_if")
"""Options of a report that change no coefficient."""


@takes_options(agreement, without=(*_IRRELEVANT, *(one.name for one in fields(ReadOptions))))
def cohen_kappa(
    a: Iterable[Any],
    b: Iterable[Any],
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    casefold: bool = False,
    missing: str | Sequence[str] | None = None,
    **keywords: Any,
) -> Coefficient:
    """Soft Cohen's kappa of two raters' answers to the same items.

    Parameters
    ----------
    a, b : list, tuple, array or column of a data frame, equally long
        The answers, item by item: a text, or a list, tuple or set of texts. None, NaN and masked entries are missing:
        the item is left out. "" and an empty list are empty answers. NA, n/a, - and the like are missing, too, and a
        Python warning counts them.
    measure : str or Measure
        Equivalence of two texts.
    casefold : bool
        Texts that differ only in case are one text.
    missing : str or sequence of str, optional
        Texts that mean that an answer is missing, as for :class:`softirr.ReadOptions`; ``"none"`` takes every text for
        an answer.
    **keywords
        Further keyword arguments of :func:`softirr.agreement`, such as ``chance``, ``interval``, ``seed``, ``cache``
        and ``progress``.

    Returns
    -------
    Coefficient
        ``value``, ``standard_error``, ``ci95`` and, where there is no value, the reason in ``undefined``.

    Raises
    ------
    InputError
        If the lists have different lengths, have no order, or hold what is not a text.

    Examples
    --------
    >>> kappa = cohen_kappa(["fever", "cough", "rash"], ["fevers", "dry cough", "itch"], measure="indel")
    >>> round(kappa.value, 2)
    0.42
    >>> cohen_kappa(["fever", None], ["fever", "rash"], measure="exact").value is None
    True
    """
    return _coefficient("cohen_kappa", _of_lists(a, b, casefold, missing), measure, keywords)


@takes_options(agreement, without=_IRRELEVANT)
def krippendorff_alpha(
    a: Any,
    b: Iterable[Any] | None = None,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    casefold: bool = False,
    missing: str | Sequence[str] | None = None,
    **keywords: Any,
) -> Coefficient:
    """Soft Krippendorff's alpha of two raters' answers to the same items, or of a table of any number of raters.

    Parameters
    ----------
    a, b : list, tuple, array or column of a data frame, equally long
        As for :func:`softirr.cohen_kappa`. Without ``b``, ``a`` is a table or a data frame as for
        :func:`softirr.agreement`.
    measure : str or Measure
        Equivalence of two texts.
    casefold : bool
        Texts of the lists that differ only in case are one text.
    missing : str or sequence of str, optional
        As for :func:`softirr.cohen_kappa`, for lists.
    **keywords
        Further keyword arguments of :func:`softirr.agreement`.

    Returns
    -------
    Coefficient

    Raises
    ------
    InputError
        As for :func:`softirr.cohen_kappa` and :func:`softirr.agreement`.

    Examples
    --------
    >>> alpha = krippendorff_alpha(["fever", "cough", "rash"], ["fevers", "dry cough", "itch"], measure="indel")
    >>> round(alpha.value, 2)
    0.49
    """
    table = a if b is None else _of_lists(a, b, casefold, missing)
    return _coefficient("krippendorff_alpha", table, measure, keywords)


@takes_options(agreement, without=_IRRELEVANT)
def fleiss_kappa(
    table: AnnotationTable | Any, measure: str | Measure = DEFAULT_MEASURE, **keywords: Any
) -> Coefficient:
    """Soft Fleiss' kappa of a table of any number of raters.

    Parameters
    ----------
    table : AnnotationTable or data frame
        As for :func:`softirr.agreement`.
    measure : str or Measure
        Equivalence of two texts.
    **keywords
        Further keyword arguments of :func:`softirr.agreement`.

    Returns
    -------
    Coefficient

    Raises
    ------
    InputError
        As for :func:`softirr.agreement`.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "dry cough")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> round(fleiss_kappa(table, "indel").value, 2)
    0.63
    """
    return _coefficient("fleiss_kappa", table, measure, keywords)


def _of_lists(a: Any, b: Any, casefold: bool, missing: str | Sequence[str] | None) -> AnnotationTable:
    table = lists_table({"a": a, "b": b}, casefold=casefold, missing=missing)
    for sentence in table.warnings:
        warnings.warn(with_parameters(sentence), UserWarning, stacklevel=3)
    return table


def _coefficient(key: str, table: Any, measure: str | Measure, keywords: dict[str, Any]) -> Coefficient:
    return agreement(table, measure, **{"reasons": False, **keywords}).coefficients[key]
