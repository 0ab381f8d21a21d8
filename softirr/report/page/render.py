"""Templates, styles and scripts of the page, and the page as one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from softirr.report.page.figures import figures
from softirr.report.page.formats import FORMATS
from softirr.report.page.rater_table import matrix, pair_list
from softirr.report.page.sentences import ITEMS
from softirr.report.page.view import page_view

__all__ = ["SCRIPTS", "STATIC", "STYLES", "TEMPLATES", "inlined", "report_page"]

STATIC = Path(__file__).parent / "static"
TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("pages.css", "report.css")
SCRIPTS = ("tabs.js",)


def inlined() -> dict[str, Any]:
    """Styles and scripts for a page that is one file, and the policy that allows them and nothing else.

    Variables of ``page.html``.

    Returns
    -------
    dict
        ``policy``, ``inline_styles`` and ``inline_scripts``.
    """
    styles, scripts = ([_read(name) for name in names] for names in (STYLES, SCRIPTS))
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hashes(styles)}; script-src {_hashes(scripts)}; base-uri "
        "'none'; form-action 'none'"
    )
    return {"policy": policy, "inline_styles": styles, "inline_scripts": scripts}


def report_page(report: Mapping[str, Any], *, source: str | None = None) -> str:
    """A report as one HTML file with its figures, which needs no server and no network; every text is escaped.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` or ``AuditReport.to_dict()`` gives.
    source : str, optional
        Name of the input, for the heading.

    Returns
    -------
    str
    """
    view = page_view(report, source=source)
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    return environment.get_template("file.html").render(
        report=view,
        charts=figures(view, ITEMS, ITEMS),
        matrix=matrix(view),
        pair_list=pair_list(view),
        words=ITEMS,
        facts=view["facts"],
        live=False,
        **FORMATS,
        **inlined(),
    )


def _read(name: str) -> Markup:
    return Markup((STATIC / name).read_text(encoding="utf-8"))  # noqa: S704 - our own files, never somebody's text


def _hashes(texts: Sequence[str]) -> str:
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
