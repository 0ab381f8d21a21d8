"""``softirr``: score and bench from the command line.

Results go to standard output, progress and warnings to standard error. Exit status: 0 done, 2 unusable input or options (one plain
sentence on standard error), 130 interrupted.
"""

import argparse
import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from softirr.errors import InputError, SoftirrError

_BENCHES = ("coefficients", "inference", "audit", "coverage")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    try:
        arguments = parser().parse_args(argv)
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except SoftirrError as error:
        print(f"softirr: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("softirr: interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader (head, less) has gone: nothing more to say, also not when Python shuts down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, like every other unusable input."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"softirr: {message} (see {self.prog} --help).\n")


def parser() -> argparse.ArgumentParser:
    """The parser of every subcommand; the documentation test walks it."""
    top = _Parser(prog="softirr", description="Do people who annotate in free text agree in meaning?")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    score = commands.add_parser("score", help="agreement of a Label Studio export, CSV or JSONL file")
    _add_input(score)
    _add_agreement(score)
    score.add_argument("--json", action="store_true", help="print one JSON object")
    score.set_defaults(run=_score)

    bench = commands.add_parser("bench", help="measure speed and accuracy against other libraries")
    bench.add_argument("name", choices=_BENCHES, help="which table")
    bench.add_argument("options", nargs=argparse.REMAINDER, help="options of the table (see bench NAME --help)")
    bench.set_defaults(run=_bench)
    return top


def _add_input(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "file", metavar="FILE", help="Label Studio JSON export, CSV item,rater,text, or JSONL; - reads standard input"
    )
    command.add_argument("--control", metavar="NAME", help="TextArea to read, when an export has several")
    command.add_argument("--casefold", action="store_true", help="texts that differ only in case are the same text")
    command.add_argument(
        "--model-raters", action="store_true", help="count each model version's predictions in an export as a rater"
    )


def _add_measure(command: argparse.ArgumentParser) -> None:
    from softirr.agreement import DEFAULT_MEASURE

    command.add_argument(
        "--measure",
        default=DEFAULT_MEASURE,
        metavar="NAME",
        help=f"equivalence measure, see softirr measures ({DEFAULT_MEASURE})",
    )
    command.add_argument(
        "--assignment", choices=("optimal", "greedy"), default="optimal", help="how sets are matched (optimal)"
    )


def _add_agreement(command: argparse.ArgumentParser) -> None:
    _add_measure(command)
    command.add_argument(
        "--chance",
        choices=("auto", "exact", "permutation", "stratified"),
        default="auto",
        help="how agreement by chance is computed (auto: exact where it fits the budget, else stratified)",
    )
    command.add_argument("--permutations", type=_positive, default=3, metavar="N", help="for --chance permutation (3)")
    command.add_argument(
        "--target-error",
        type=_fraction,
        default=0.005,
        metavar="X",
        help="standard error that --chance stratified stops at (0.005)",
    )
    command.add_argument(
        "--interval", choices=("analytic", "bootstrap"), default="analytic", help="confidence intervals (analytic)"
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="seed of what is drawn at random (0)")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return value


@contextlib.contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error that appears with the first report of progress, and only on a terminal."""
    from tqdm import tqdm

    with contextlib.ExitStack() as stack:
        bars: list[Any] = []

        def show(done: int, total: int) -> None:
            if not bars:
                bars.append(stack.enter_context(tqdm(desc=what, unit=" pairs", file=sys.stderr, disable=None)))
            bars[0].total = total
            bars[0].update(done - bars[0].n)

        yield show


def _print_json(value: Any) -> None:
    """ASCII only, so that it arrives whole whatever the terminal's encoding."""
    print(json.dumps(value, allow_nan=False))


def _table(arguments: argparse.Namespace) -> Any:
    from softirr.annotations import read

    table = read(
        arguments.file,
        control=arguments.control,
        casefold=arguments.casefold,
        predictions_as_raters=arguments.model_raters,
    )
    if len(table.raters) < 2:
        raise InputError(f"{arguments.file} has answers of one rater only: agreement needs two.")
    return table


def _score(arguments: argparse.Namespace) -> int:
    from softirr.agreement import agreement

    with _progress("scoring pairs") as progress:
        report = agreement(
            _table(arguments),
            arguments.measure,
            chance=arguments.chance,
            permutations=arguments.permutations,
            target_se=arguments.target_error,
            seed=arguments.seed,
            interval=arguments.interval,
            assignment=arguments.assignment,
            progress=progress,
        )
    _print_report(report.to_dict(), arguments)
    return 0


def _print_report(report: dict[str, Any], arguments: argparse.Namespace) -> None:
    if arguments.json:
        _print_json(report)
        return
    from softirr.display import report_lines

    for line in report_lines(report, source=arguments.file):
        print(line)


def _bench(arguments: argparse.Namespace) -> int:
    module = importlib.import_module(f"softirr.bench.{arguments.name}")
    status: int | None = module.main(arguments.options)
    return status or 0
