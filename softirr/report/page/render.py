"""Templates, styles and scripts of the page, and the page as one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from softirr.provenance import version
from softirr.report.page.formats import FORMATS
from softirr.report.page.view_charts import pair_matrix, view_charts
from softirr.report.view import view
from softirr.text import printable

__all__ = ["SCRIPTS", "STATIC", "STYLES", "TEMPLATES", "inlined", "report_page", "view_variables"]

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


def view_variables(shown: Any) -> dict[str, Any]:
    """The variables that the templates below ``view/`` need.

    Parameters
    ----------
    shown : View

    Returns
    -------
    dict
    """
    return {"view": shown, "charts": view_charts(shown), "matrix": pair_matrix(shown), **FORMATS}


def report_page(report: Mapping[str, Any], *, source: str | None = None) -> str:
    """A report as one HTML file, which needs no server and no network; every text is escaped.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``, and what else :func:`softirr.report.view.view` reads.
    source : str, optional
        Name of the input, for the heading.

    Returns
    -------
    str
    """
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    return environment.get_template("file.html").render(
        title="" if source is None else printable(source),
        version=version(),
        live=False,
        **view_variables(view(report)),
        **inlined(),
    )


def _read(name: str) -> Markup:
    return Markup((STATIC / name).read_text(encoding="utf-8"))  # noqa: S704 - our own files, never somebody's text


def _hashes(texts: Sequence[str]) -> str:
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
