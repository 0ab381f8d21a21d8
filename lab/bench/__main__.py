"""``python -m lab.bench NAME``: speed and accuracy compared with other libraries."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence

from lab.command import LabParser
from softirr.terminal import guarded

BENCHES = ("coefficients", "differences", "evidence", "inference", "judgments", "models", "project", "wording")
"""Modules of ``lab.bench`` with ``add_options(parser)`` and ``table(options)``, which yields the lines of the table."""


def bench_parser(name: str) -> LabParser:
    """The parser of one benchmark."""
    bench = importlib.import_module(f"lab.bench.{name}")
    summary = str(bench.__doc__).partition("\n\n")[0].partition(": ")[2]
    parser = LabParser(prog=f"python -m lab.bench {name}", description=summary[:1].upper() + summary[1:])
    bench.add_options(parser)
    return parser


def bench_lines(name: str, options: Sequence[str]) -> Iterator[str]:
    """Run one of ``BENCHES`` with command-line options and yield the lines of its table."""
    yield from importlib.import_module(f"lab.bench.{name}").table(bench_parser(name).parse_args(options))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = LabParser(prog="python -m lab.bench", description="Compare speed and accuracy with other libraries.")
    parser.add_argument("name", choices=BENCHES, help="benchmark to run; its options follow (NAME --help)")

    def run() -> None:
        for line in bench_lines(parser.parse_args(words[:1]).name, words[1:]):
            print(line, flush=True)

    return guarded(run, program="lab")


if __name__ == "__main__":
    sys.exit(main())
