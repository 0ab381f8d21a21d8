"""Figures of a command as files."""

from __future__ import annotations

from collections.abc import Iterable

from softirr.errors import InputError, writing

__all__ = ["write_picture"]


def write_picture(svg: str, lines: Iterable[str], title: str, path: str) -> None:
    """Write a figure as .svg, or with its text as .html.

    Raises
    ------
    InputError
        If the file has another ending, or can't be written.
    """
    from html import escape

    if path.lower().endswith((".html", ".htm")):
        text = escape("\n".join(lines))
        svg = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>{svg}<pre>{text}</pre></html>'
        )
    elif not path.lower().endswith(".svg"):
        raise InputError(f"A figure can be .svg or .html, not {path}.")
    with writing(path), open(path, "w", encoding="utf-8") as file:
        file.write(f"{svg}\n")
