"""Figures of a command as files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from softirr.errors import writing

__all__ = ["add_plot", "write_picture"]

_PAGES = (".html", ".htm")


def add_plot(command: argparse.ArgumentParser, what: str) -> None:
    """Add ``--plot``, whose file has an ending for a figure."""
    command.add_argument("--plot", type=_figure, metavar="FILE", help=f"write {what} as .svg or .html")


def _figure(path: str) -> str:
    if not path.lower().endswith((".svg", *_PAGES)):
        raise argparse.ArgumentTypeError(f"a figure can be .svg or .html, not {path}")
    return path


def write_picture(svg: str, lines: Iterable[str], title: str, path: str) -> None:
    """Write a figure as .svg, or with its text as .html.

    Raises
    ------
    InputError
        If it can't be written.
    """
    from html import escape

    if path.lower().endswith(_PAGES):
        text = escape("\n".join(lines))
        svg = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>{svg}<pre>{text}</pre></html>'
        )
    with writing(path), open(path, "w", encoding="utf-8") as file:
        file.write(f"{svg}\n")
