"""``softirr bench``: speed and accuracy beside other libraries."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from softirr.terminal import Parser

__all__ = ["BENCHES", "add_command", "lines_of"]

BENCHES = (
    "coefficients",
    "inference",
    "coverage",
    "evidence",
    "facts",
    "judgments",
    "models",
    "planning",
    "policies",
    "terminology",
    "wording",
)
"""Tables, each a module of ``lab.bench``: ``add_options(parser)``, and ``table(options)`` gives its lines."""


def add_command(commands: Any) -> None:
    """Add ``bench`` to the commands."""
    bench = commands.add_parser("bench", help="compare speed and accuracy with other libraries")
    bench.add_argument("name", choices=BENCHES, help="benchmark to run")
    bench.add_argument("options", nargs=argparse.REMAINDER, help="its options (see bench NAME --help)")
    bench.set_defaults(run=_bench)


def lines_of(name: str, options: Sequence[str]) -> Iterator[str]:
    """The lines of a benchmark.

    Parameters
    ----------
    name : str
        Of ``BENCHES``.
    options : sequence of str
        As on the command line.

    Yields
    ------
    str
    """
    bench = importlib.import_module(f"lab.bench.{name}")
    description = str(bench.__doc__).partition("\n\n")[0].partition(": ")[2]
    parser = Parser(prog=f"softirr bench {name}", description=description[:1].upper() + description[1:])
    bench.add_options(parser)
    yield from bench.table(parser.parse_args(options))


def _bench(arguments: argparse.Namespace) -> int:
    for line in lines_of(arguments.name, arguments.options):
        print(line, flush=True)
    return 0
