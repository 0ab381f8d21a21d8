"""The page of a report: templates, styles, scripts and charts, as one file that loads nothing and for servers."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from softirr.numbers import interval, number, plural
from softirr.provenance import version
from softirr.report.charts import NARROW, WIDE, Row, forest_chart, interval_chart
from softirr.report.view import View
from softirr.text import printable

STATIC = Path(__file__).parent / "static"
TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("pages.css", "report.css")
SCRIPTS = ("tables.js",)


def inlined() -> dict[str, Any]:
    """Variables of ``page.html`` for a page that is one file.

    Returns
    -------
    dict
        ``inline_styles``, ``inline_scripts``, and ``policy``, which allows them and nothing else.
    """
    styles, scripts = (
        [Markup((STATIC / name).read_text(encoding="utf-8")) for name in names]  # noqa: S704 - never somebody's text
        for names in (STYLES, SCRIPTS)
    )
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hashes(styles)}; script-src {_hashes(scripts)}; base-uri "
        "'none'; form-action 'none'"
    )
    return {"policy": policy, "inline_styles": styles, "inline_scripts": scripts}


def view_variables(report_view: View) -> dict[str, Any]:
    """The variables that the templates below ``view/`` need."""
    return {
        "view": report_view,
        "charts": _charts(report_view),
        "matrix": _matrix(report_view),
        "number": number,
        "interval": interval,
        "plural": plural,
        "count": _count,
        "day": _day,
        "shade": _shade,
    }


def report_page(report_view: View, *, source: str | None = None) -> str:
    """A report as one HTML file, which needs no server and no network; every text is escaped.

    Parameters
    ----------
    source : str, optional
        Name of the input, for the heading.
    """
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    return environment.get_template("file.html").render(
        title="" if source is None else printable(source),
        version=version(),
        live=False,
        **view_variables(report_view),
        **inlined(),
    )


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _day(iso: str | None) -> str:
    """A moment, such as 20 November 2026, 14:05 UTC."""
    if not iso:
        return "–"
    moment = datetime.fromisoformat(iso.replace("Z", "+00:00"))
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def _shade(value: float | None) -> str:
    """Class of a cell's shade, 0 to 10, by the two decimals that it shows."""
    return "" if value is None else f"shade-{min(10, max(0, round(round(value, 2) * 10)))}"


def _charts(report_view: View) -> dict[str, Markup]:
    """The scale of the verdict with the target on it, and the scale of the cause, as SVG."""
    charts: dict[str, Markup] = {}
    verdict = report_view.verdict
    if verdict.value is not None:
        chart = interval_chart(verdict.value, verdict.ci95, verdict.title or "", target=verdict.target)
        charts["verdict"] = Markup(chart.svg(themed=True))  # noqa: S704 - Drawing escapes its texts
    if report_view.cause is not None and report_view.cause.scale:
        rows = [Row(scale.label, scale.value, scale.ci95) for scale in report_view.cause.scale]
        wide, narrow = (
            forest_chart(rows, "Agreement", low=0.0, width=width).svg(themed=True) for width in (WIDE, NARROW)
        )
        charts["cause"] = Markup(  # noqa: S704
            f'<div class="wide-chart">{wide}</div><div class="narrow-chart">{narrow}</div>'
        )
    return charts


def _matrix(report_view: View) -> dict[str, Any]:
    """The pairs of raters as a symmetric matrix, in the order of the people; None if two share no items."""
    pairs = {raters: pair for pair in report_view.pairs for raters in (pair.raters, pair.raters[::-1])}
    paired = {rater for raters in pairs for rater in raters}
    people = [row for row in report_view.people if row.id in paired]
    rows = [[pairs.get((a.id, b.id)) for b in people] for a in people]
    return {"names": [row.name for row in people], "rows": rows}


def _hashes(texts: Sequence[str]) -> str:
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
