"""The charts of the report page: what each shows of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from markupsafe import Markup

from softirr.numbers import interval, number
from softirr.plural import plural
from softirr.report.charts import NARROW, WIDE, Line, Point, bar_chart, forest_chart, interval_chart, line_chart
from softirr.report.drawing import Drawing
from softirr.report.forest import Row
from softirr.report.page.sentences import Words

__all__ = ["both_widths", "figures"]

MOST_PEOPLE = 8
"""Annotators whose agreement over time is drawn: those with most tasks."""
_Draw = Callable[[float], Drawing]


def figures(report: Mapping[str, Any], words: Words, whole: Words) -> dict[str, Markup]:
    """The charts that a report has data for.

    Parameters
    ----------
    report : mapping
        As the page gets it.
    words, whole : Words
        What the page calls items, and what it calls them where it counts whole tasks.

    Returns
    -------
    dict of str to Markup
        SVG by the name of the chart.
    """
    drawn: dict[str, _Draw] = {}
    target = report.get("target") or {}
    mean = (
        [(target["observed"], f"target {number(target['value'])}: mean {number(target['observed'])}")]
        if (target.get("observed") is not None)
        else []
    )
    rows = [
        _row(one["name"], one["value"], one.get("ci95")) for one in report["coefficients"] if one["value"] is not None
    ]
    if rows:
        drawn["coefficients"] = lambda width: forest_chart(
            rows, "Coefficients", target=target.get("value"), low=0.0, width=width
        )
    if histogram := report.get("histogram"):
        drawn["histogram"] = lambda width: _histogram(histogram, whole.item, width)
    if shares := report.get("distributions"):
        drawn["distributions"] = lambda width: _distributions(shares, words.item, width)
    if groups := report.get("subgroups"):
        lines = [_row(one["label"], one["agreement"], one["ci95"], one["link"]) for one in groups["groups"]]
        drawn["subgroups"] = lambda width: forest_chart(
            lines, "Agreement", target=target.get("observed"), low=0.0, width=width
        )
    for name in ("over_time", "batches"):
        if len(report.get(name) or ()) > 1:
            drawn[name] = partial(_grouped, report[name], whole.item, mean)
    if trends := report.get("person_trends"):
        drawn["person_trends"] = lambda width: _people(trends, whole.item, mean, width)
    svg = {name: both_widths(draw) for name, draw in drawn.items()}
    head = report["headline"]
    if head["value"] is not None:
        chart = interval_chart(head["value"], head["ci95"], head["name"], target=target.get("value"))
        svg["interval"] = Markup(chart.svg(themed=True))  # noqa: S704 - Drawing escapes its texts
    return svg


def both_widths(draw: _Draw) -> Markup:
    """A chart for wide windows and one for narrow windows: the style sheet shows one of them.

    Parameters
    ----------
    draw : callable
        Gives the drawing of a width.

    Returns
    -------
    Markup
    """
    wide, narrow = (draw(width).svg(themed=True) for width in (WIDE, NARROW))
    return Markup(f'<div class="wide-chart">{wide}</div><div class="narrow-chart">{narrow}</div>')  # noqa: S704


def _row(label: str, value: float | None, ci95: Sequence[float] | None, link: str | None = None) -> Row:
    return Row(label, value, (ci95[0], ci95[1]) if ci95 else None, link=link)


def _histogram(bins: Sequence[Mapping[str, Any]], item: str, width: float) -> Drawing:
    def title(one: Mapping[str, Any]) -> str:
        return f"Agreement {one['low']:.1f} to {one['high']:.1f}: {plural(one['n'], item)}"

    points = [Point(n, one["n"], None, title(one), one.get("link") if one["n"] else None) for n, one in enumerate(bins)]
    edges = [f"{one['low']:.1f}" for one in bins] + ["1.0"]
    return bar_chart(points, edges, f"Number of {item}s by agreement", f"{item}s", width=width)


def _distributions(shares: Mapping[str, Sequence[float]], item: str, width: float) -> Drawing:
    def steps(values: Sequence[float]) -> list[Point]:
        n = len(values)
        return [Point(edge / n, value) for at, value in enumerate(values) for edge in (at, at + 1)]

    lines = [
        Line(f"same {item}", steps(shares["same_item"]), is_area=True),
        Line(f"different {item}s (chance)", steps(shares["different_items"]), is_area=True),
    ]
    highest = max([*shares["same_item"], *shares["different_items"], 0.1])
    return line_chart(
        lines,
        f"Share of pairs of answers by equivalence: same {item}, and different {item}s",
        x_name="equivalence",
        y_name="share of pairs",
        y_range=(0.0, highest),
        y_format="{:.0%}",
        width=width,
    )


def _point(x: float, one: Mapping[str, Any], item: str) -> Point:
    known = f" ({interval(one['ci95'])})" if one["ci95"] else ""
    title = f"{one['label']}: {number(one['agreement'])}{known}, {plural(one['n'], item)}"
    return Point(x, one["agreement"], one["ci95"], title, one["link"])


def _grouped(rows: Sequence[Mapping[str, Any]], item: str, marks: Sequence[tuple[float, str]], width: float) -> Drawing:
    points = [_point(n, one, item) for n, one in enumerate(rows)]
    labels = [one["label"] for one in rows]
    title = "Mean agreement with 95% intervals"
    return line_chart(
        [Line(title, points, has_dots=True)], title, y_name="mean agreement", x_labels=labels, marks=marks, width=width
    )


def _people(trends: Mapping[str, Any], item: str, marks: Sequence[tuple[float, str]], width: float) -> Drawing:
    def points(one: Mapping[str, Any]) -> Iterable[Point]:
        for x, (value, n) in enumerate(zip(one["values"], one["counts"], strict=True)):
            if value is not None:
                title = f"{one['name']}, {trends['periods'][x]}: {number(value)}, {plural(n, item)}"
                yield Point(x, value, None, title)

    lines = [Line(one["name"], list(points(one)), has_dots=True) for one in trends["people"][:MOST_PEOPLE]]
    return line_chart(
        lines,
        "Agreement of each annotator with the others over time",
        y_name="agreement with the others",
        x_labels=trends["periods"],
        marks=marks,
        width=width,
    )
