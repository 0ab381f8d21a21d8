"""The rows of raters and of pairs of raters in a view."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from softirr.answers.table import MODEL
from softirr.report.view.parts import Links, Names, PairRow, PersonRow
from softirr.report.view.verdict import raters_below_the_others

__all__ = ["level_of_detail", "pair_rows", "person_rows"]


def person_rows(report: Mapping[str, Any], names: Names, links: Links) -> tuple[PersonRow, ...]:
    """The raters of a report, people before models, lowest agreement first.

    Parameters
    ----------
    report : mapping
    names : Names
    links : Links

    Returns
    -------
    tuple of PersonRow
    """
    left_out = Counter(entry["rater"] for entry in report["excluded"])
    tendency = (report.get("reasons") or {}).get("tendency") or {}
    below = {rater["id"] for rater in raters_below_the_others(report)}
    seconds = report.get("median_seconds") or {}
    verdicts = {entry["b"]: entry["verdict"] for entry in (report.get("models") or {}).get("differences") or ()}
    rows = []
    for rater in report["raters"]:
        key, leaning = rater["id"], tendency.get(rater["id"]) or {}
        ci95 = rater["agreement_ci95"]
        rows.append(
            PersonRow(
                id=key,
                name=names.of_rater(key),
                is_model=key.startswith(MODEL),
                agreement=rater["agreement"],
                ci95=None if ci95 is None else (ci95[0], ci95[1]),
                n_items=rater["n_items"],
                left_out=left_out[key],
                detail=level_of_detail(leaning.get("more_general", 0), leaning.get("more_specific", 0)),
                seconds=seconds.get(key),
                stands_out=key in below,
                model_verdict=verdicts.get(key),
                link=links.rater(key),
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.is_model, row.agreement is None, row.agreement or 0.0, row.name)))


def pair_rows(report: Mapping[str, Any], names: Names) -> tuple[PairRow, ...]:
    """The pairs of raters of a report, lowest agreement first.

    Parameters
    ----------
    report : mapping
    names : Names

    Returns
    -------
    tuple of PairRow
    """
    rows = []
    for pair in report["rater_pairs"]:
        if pair["observed_agreement"] is None:
            continue
        a, b = pair["raters"]
        ci95 = pair["observed_agreement_ci95"]
        rows.append(
            PairRow(
                (a, b),
                (names.of_rater(a), names.of_rater(b)),
                pair["observed_agreement"],
                None if ci95 is None else (ci95[0], ci95[1]),
                pair["n_items"],
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.agreement, row.names)))


def level_of_detail(general: int, specific: int) -> str:
    """Whether a rater tends to more general or more specific texts, by a sign test at 5%.

    Parameters
    ----------
    general, specific : int
        How often the rater's text is the more general, and the more specific one of two.

    Returns
    -------
    str
        Empty without differences.

    Examples
    --------
    >>> level_of_detail(9, 1), level_of_detail(2, 1), level_of_detail(0, 0)
    ('more general', 'no tendency', '')
    """
    n, majority = general + specific, max(general, specific)
    if not n:
        return ""
    if n <= 1000:
        tail = sum(math.comb(n, k) for k in range(majority, n + 1)) / 2**n
    else:
        tail = math.erfc((2 * majority - n - 1) / math.sqrt(2 * n)) / 2
    if tail > 0.05:
        return "no tendency"
    return "more general" if general > specific else "more specific"
