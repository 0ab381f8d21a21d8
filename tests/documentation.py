"""The pages of the documentation, their code blocks, and the parsers of the programs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import ml_backend.cli
import ml_backend.demo
import softirr
import softirr.cli.main

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = "docs/reference/"


def _pages() -> dict[str, str]:
    paths = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


PAGES = _pages()
SCIENCE = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "softirr").rglob("*.md"))
}
"""Pages with measurements: their commands are parsed, not run."""


def commands_of(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every subcommand that does something, by its full name."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for subcommand, subparser in action.choices.items():
            yield from commands_of(subparser, f"{name} {subcommand}")
    if not below:
        yield name, parser


@cache
def programs() -> dict[str, argparse.ArgumentParser]:
    parsers = dict(commands_of(softirr.cli.main.parser(), "softirr")) | dict(
        commands_of(ml_backend.cli.parser(), "softirr-ls")
    )
    parsers["softirr-ls demo"] = ml_backend.demo.parser()
    return parsers


def blocks(page: str, language: str) -> list[str]:
    text = (PAGES | SCIENCE)[page]
    return re.findall(rf"^ *```{language}\n(.*?)```", text, flags=re.DOTALL | re.MULTILINE)


def shown(page: str) -> list[str]:
    """Commands in shell blocks; lines that end with a backslash are joined."""
    text = "\n".join(blocks(page, "(?:sh|bash|shell|console)")).replace("\\\n", " ")
    return [re.split(r"\s#", line)[0].strip() for line in text.splitlines() if line.split("#")[0].strip()]
