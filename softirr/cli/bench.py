"""``softirr bench``: speed and accuracy beside other libraries."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

__all__ = ["BENCHES", "add_command"]

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
"""Tables, each a module of ``softirr.lab.bench``: ``parser()`` has its options, ``table(options)`` gives its lines."""


def add_command(commands: Any) -> None:
    """Add ``bench`` to the commands."""
    bench = commands.add_parser("bench", help="compare speed and accuracy with other libraries")
    bench.add_argument("name", choices=BENCHES, help="benchmark to run")
    bench.add_argument("options", nargs=argparse.REMAINDER, help="its options (see bench NAME --help)")
    bench.set_defaults(run=_bench)


def _bench(arguments: argparse.Namespace) -> int:
    bench = importlib.import_module(f"softirr.lab.bench.{arguments.name}")
    for line in bench.table(bench.parser().parse_args(arguments.options)):
        print(line, flush=True)
    return 0
