"""One self-contained HTML page with every table and figure."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from softirr.lab.experiments.output import Table

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; background: #fff; }
figure { margin: 2rem 0; overflow-x: auto; } caption, .title { text-align: left; font-weight: 600; padding-bottom: .4rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } td { text-align: right; } th { text-align: left; font-weight: 500; }
th, td { padding: .15rem .7rem; border-bottom: 1px solid #ddd; } thead th { border-bottom: 2px solid #888; }
figcaption { color: #555; font-size: .9em; max-width: 60rem; } img { max-width: 100%; } code { background: #f3f3f3; padding: 0 .3em; }
"""


def page(
    title: str, sections: Mapping[str, tuple[Sequence[Table], Sequence[tuple[str, Path]]]], facts: Sequence[str]
) -> str:
    """The page.

    Parameters
    ----------
    title : str
    sections : mapping
        Heading -> its tables, and its figures as (caption, PNG or SVG file).
    facts : sequence of str
        How it was made; shown at the top.
    """
    body = [f"<h1>{html.escape(title)}</h1>", "<ul>", *(f"<li>{html.escape(fact)}</li>" for fact in facts), "</ul>"]
    for heading, (tables, figures) in sections.items():
        body.append(f"<h2>{html.escape(heading)}</h2>")
        body += [_image(caption, path) for caption, path in figures]
        body += [table.html() for table in tables]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>{"".join(body)}</body></html>\n'
    )


def _image(caption: str, path: Path) -> str:
    kind = {".png": "image/png", ".svg": "image/svg+xml"}.get(path.suffix)
    name = html.escape(caption)
    if kind is None:
        return f'<p><a href="{html.escape(path.name)}">{name}</a></p>'
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<figure><div class="title">{name}</div><img alt="{name}" src="data:{kind};base64,{data}"></figure>'
