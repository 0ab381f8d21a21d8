"""Functions that return a single coefficient."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from softirr.answers.frames_and_lists import lists_table
from softirr.answers.read_options import ReadOptions
from softirr.answers.table import AnnotationTable
from softirr.meaning.measures import DEFAULT_MEASURE, Measure
from softirr.meaning.measures.pairs import CacheOption, ProgressOption
from softirr.meaning.policy.rules import Policy
from softirr.report.agreement import agreement
from softirr.report.inputs import AgreementOptions, table_from
from softirr.statistics.coefficients.intervals import Coefficient


def cohen_kappa(
    a: Any,
    b: Any = None,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    policy: Policy | str | None = None,
    casefold: bool = False,
    missing: str | Sequence[str] | None = None,
    reading: ReadOptions | None = None,
    options: AgreementOptions | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Coefficient:
    """Soft Cohen's kappa of two raters' answers to the same items.

    Parameters
    ----------
    a, b : list, tuple, array or column of a data frame, equally long
        The answers, item by item: a text, or a list, tuple or set of texts. None, NaN and masked entries are missing:
        the item is left out. "" and an empty list are empty answers. NA, n/a, - and similar texts are missing, too, and
        a Python warning counts them. Without ``b``, ``a`` has the answers of all raters in any form that
        :func:`softirr.agreement` takes.
    measure : str or Measure
        Equivalence of two texts.
    policy : Policy or str, optional
        Policy, name of a preset, or file.
    casefold : bool
        Texts that differ only in case are one text.
    missing : str or sequence of str, optional
        Texts that mean that an answer is missing, as for :class:`softirr.ReadOptions`; ``"none"`` takes every text for
        an answer.
    reading : ReadOptions, optional
        Further options of reading.
    options : AgreementOptions, optional
        How chance and the matching of sets are computed.
    cache, progress
        As for :func:`softirr.agreement`.

    Returns
    -------
    Coefficient
        ``value``, ``standard_error`` and ``ci95``. Without a value, ``undefined`` is the reason.

    Raises
    ------
    InputError
        If the lists have different lengths, have no order, or contain anything but texts.

    Examples
    --------
    >>> kappa = cohen_kappa(["fever", "cough", "rash"], ["fevers", "dry cough", "itch"], measure="indel")
    >>> round(kappa.value, 2), kappa > 0.3
    (0.42, True)
    >>> cohen_kappa(["fever", None], ["fever", "rash"], measure="exact").value is None
    True
    """
    table = _table(a, b, casefold, missing, reading)
    return _coefficient("cohen_kappa", table, measure, options, policy=policy, cache=cache, progress=progress)


def krippendorff_alpha(
    a: Any,
    b: Any = None,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    policy: Policy | str | None = None,
    casefold: bool = False,
    missing: str | Sequence[str] | None = None,
    reading: ReadOptions | None = None,
    options: AgreementOptions | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Coefficient:
    """Soft Krippendorff's alpha of two raters' answers to the same items, or of any number of raters.

    Parameters
    ----------
    a, b, measure, policy, casefold, missing, reading, options, cache, progress
        As for :func:`softirr.cohen_kappa`.

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
    table = _table(a, b, casefold, missing, reading)
    return _coefficient("krippendorff_alpha", table, measure, options, policy=policy, cache=cache, progress=progress)


def fleiss_kappa(
    answers: Any,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    policy: Policy | str | None = None,
    reading: ReadOptions | None = None,
    options: AgreementOptions | None = None,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> Coefficient:
    """Soft Fleiss' kappa of any number of raters.

    Parameters
    ----------
    answers : AnnotationTable, data frame, Dataset, list, dict or array
        As for :func:`softirr.agreement`.
    measure, policy, reading, options, cache, progress
        As for :func:`softirr.cohen_kappa`.

    Raises
    ------
    InputError
        As for :func:`softirr.agreement`.

    Examples
    --------
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "dry cough")]
    >>> round(fleiss_kappa(rows, "indel").value, 2)
    0.63
    """
    table = _table(answers, None, False, None, reading)
    return _coefficient("fleiss_kappa", table, measure, options, policy=policy, cache=cache, progress=progress)


def _table(
    a: Any, b: Any, casefold: bool, missing: str | Sequence[str] | None, reading: ReadOptions | None
) -> AnnotationTable:
    options = reading or ReadOptions()
    missing = options.missing if missing is None else missing
    options = replace(options, casefold=casefold or options.casefold, missing=missing)
    table = table_from(a, options) if b is None else lists_table({"a": a, "b": b}, options)
    if table is not a:  # whoever has read a table has its warnings
        for sentence in table.warnings:
            warnings.warn(sentence, UserWarning, stacklevel=3)
    return table


def _coefficient(
    key: str, table: AnnotationTable, measure: str | Measure, options: AgreementOptions | None, **scoring: Any
) -> Coefficient:
    options = replace(options or AgreementOptions(), reasons=False, what_if=False)
    return agreement(table, measure, options=options, **scoring).coefficients[key]
