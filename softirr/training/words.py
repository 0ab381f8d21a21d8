"""The word lists of this project: concepts with their everyday and clinical wordings, abbreviations, and words that may replace each other."""

from __future__ import annotations

from functools import cache
from importlib import resources

LISTS = ("abbreviations", "groups", "findings", "cells")
"""Lists of concepts."""


@cache
def read_groups(name: str) -> tuple[tuple[str, ...], ...]:
    """The groups of one list: a group a line, its wordings between bars, remarks behind a hash."""
    text = resources.files("softirr.training").joinpath("words", f"{name}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(tuple(part.strip() for part in line.split(" | ")) for line in lines)
