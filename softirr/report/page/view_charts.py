"""The charts of a view, and its pairs of raters as a matrix."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from softirr.report.charts import NARROW, WIDE, forest_chart, interval_chart
from softirr.report.forest import Row
from softirr.report.view import View

__all__ = ["pair_matrix", "view_charts"]


def view_charts(shown: View) -> dict[str, Markup]:
    """The scale of the verdict with the target on it, and the scale of the cause.

    Parameters
    ----------
    shown : View

    Returns
    -------
    dict of str to Markup
        SVG by the names ``verdict`` and ``cause``.
    """
    charts: dict[str, Markup] = {}
    verdict = shown.verdict
    if verdict.value is not None:
        chart = interval_chart(verdict.value, verdict.ci95, verdict.title or "", target=verdict.target)
        charts["verdict"] = Markup(chart.svg(themed=True))  # noqa: S704 - Drawing escapes its texts
    if shown.cause is not None and shown.cause.scale:
        rows = [Row(scale.label, scale.value, scale.ci95) for scale in shown.cause.scale]
        wide, narrow = (
            forest_chart(rows, "Agreement", low=0.0, width=width).svg(themed=True) for width in (WIDE, NARROW)
        )
        charts["cause"] = Markup(  # noqa: S704
            f'<div class="wide-chart">{wide}</div><div class="narrow-chart">{narrow}</div>'
        )
    return charts


def pair_matrix(shown: View) -> dict[str, Any]:
    """The pairs of raters as a symmetric matrix, in the order of the people.

    Parameters
    ----------
    shown : View

    Returns
    -------
    dict
        ``names`` of the raters who share items with another one, and ``rows`` of pairs, None if two share none.
    """
    pairs = {raters: pair for pair in shown.pairs for raters in (pair.raters, pair.raters[::-1])}
    paired = {rater for raters in pairs for rater in raters}
    people = [row for row in shown.people if row.id in paired]
    rows = [[pairs.get((a.id, b.id)) for b in people] for a in people]
    return {"names": [row.name for row in people], "rows": rows}
