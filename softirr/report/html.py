"""A report as HTML, for notebooks: the tables of the terminal; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from softirr.report.forest import Row, forest_svg
from softirr.report.headline import COEFFICIENT_NAMES
from softirr.report.text import printable, report_blocks

__all__ = ["report_html", "report_page", "table_html"]


def report_html(report: Mapping[str, Any]) -> str:
    """The readable form of a report as HTML without scripts or styles of its own.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` gives.

    Returns
    -------
    str

    Examples
    --------
    >>> from softirr.report.html import table_html
    >>> table_html(("rater",), [("<b>",)])
    '<table><thead><tr><th>rater</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    parts = [
        f"<p>{escape(block)}</p>" if isinstance(block, str) else table_html(*block)
        for block in report_blocks(report)
        if block != ""
    ]
    return f"<div>{''.join(parts)}</div>"


def report_page(report: Mapping[str, Any], *, source: str | None = None) -> str:
    """One page with the readable form of a report, its coefficients and items as figures, and every item with its texts.

    It loads nothing and has no scripts.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` gives.
    source : str, optional
        Name of the input, for the heading.

    Returns
    -------
    str
    """
    title = "Agreement" if source is None else f"Agreement: {printable(source)}"
    rows = [
        Row(
            COEFFICIENT_NAMES.get(name, name),
            one["value"],
            None if one["ci95"] is None else (one["ci95"][0], one["ci95"][1]),
        )
        for name, one in report["coefficients"].items()
    ]
    shown = report["items"][:_MOST_ITEMS]
    items = "".join(map(_item, shown))
    rest = len(report["items"]) - len(shown)
    more = f"<p>{rest:,} more items are in items.csv and matches.csv.</p>" if rest else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body><main>'
        f"<h1>{escape(title)}</h1>{report_html(report)}<h2>Coefficients</h2>{forest_svg(rows, 'Coefficient')}"
        f"<h2>Items by agreement</h2>{_histogram(report['items'])}<h2>Items</h2>{items}{more}</main></body></html>\n"
    )


_MOST_ITEMS = 2000
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1b1b1b;background:#fff}main{max-width:60rem;margin:auto;padding:1rem}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ddd;vertical-align:top}"
    "svg{max-width:100%;height:auto}details{margin:.3rem 0}summary{cursor:pointer}td,summary{overflow-wrap:anywhere}"
)


def _item(item: Mapping[str, Any]) -> str:
    """An item that opens: its matches, and the texts that nobody else has."""
    agreement = "not compared" if item["agreement"] is None else f"{item['agreement']:.3f}"
    rows = [
        (
            "; ".join(f"{rater}: {text}" for rater, text in match["texts"].items()),
            f"{match['equivalence']:.3f}",
            match["relation"],
        )
        for match in item["matches"]
    ]
    rows += [(f"{rater}: {text}", "", "unmatched") for rater, texts in item["unmatched"].items() for text in texts]
    return (
        f"<details><summary>{escape(printable(item['id']))}: {agreement}</summary>"
        f"{table_html(('texts', 'equivalence', 'relation'), rows)}</details>"
    )


def _histogram(items: Sequence[Mapping[str, Any]]) -> str:
    """Items by their agreement, in ten bars."""
    bars = [0] * 10
    for item in items:
        if item["agreement"] is not None:
            bars[min(9, max(0, int(item["agreement"] * 10)))] += 1
    most = max(max(bars), 1)
    parts = []
    for n, count in enumerate(bars):
        x, height = 40 + n * 50, round(140 * count / most, 1)
        parts.append(f'<rect x="{x}" y="{160 - height}" width="44" height="{height}" fill="#1f4e79"/>')
        parts.append(f'<text x="{x + 22}" y="{154 - height}" text-anchor="middle">{count:,}</text>')
        parts.append(f'<text x="{x}" y="178" text-anchor="middle">{n / 10:.1f}</text>')
    told = ", ".join(f"{n / 10:.1f} to {(n + 1) / 10:.1f}: {count}" for n, count in enumerate(bars))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 570 190" width="570" height="190" role="img" font-family="sans-serif" font-size="13">'
        f"<title>Items by agreement</title><desc>{told}</desc>{''.join(parts)}"
        '<text x="540" y="178" text-anchor="middle">1.0</text></svg>'
    )


def table_html(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """An HTML table; its cells are escaped.

    Parameters
    ----------
    head : iterable of str
    rows : iterable of iterable of str

    Returns
    -------
    str
    """
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
