"""``python -m lab.train``: run a recipe, or evaluate a measure on the tables of the model card."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lab.command import LabParser
from softirr.terminal import guarded, positive_number

_HERE = Path(__file__).parent


def parser() -> argparse.ArgumentParser:
    """Options of the command."""
    top = LabParser(prog="python -m lab.train", description="Run a recipe of a model, or evaluate a measure.")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=LabParser)
    run = commands.add_parser("run", help="make a model: data, trainings, calibration, folder")
    run.add_argument("recipe", metavar="RECIPE", help="nli, multilingual, or a TOML file")
    run.add_argument("--data", default=".", metavar="FOLDER", help="folder of the recipe's sources (.)")
    run.add_argument(
        "--work", required=True, metavar="FOLDER", help="prepared data and checkpoints; also continues a run"
    )
    run.add_argument("--prepare", action="store_true", help="only prepare the data and the start model")
    run.add_argument("--minutes", type=positive_number, metavar="N", help="stop with a checkpoint after this time")
    run.add_argument("--workers", type=int, metavar="N", help="processes that make batches (one per core; 0: none)")
    run.set_defaults(call=_run)
    evaluation = commands.add_parser("evaluate", help="print the tables of a measure on labeled pairs")
    evaluation.add_argument("--measure", default="nli", metavar="NAME", help="see softirr measures; nli:FOLDER (nli)")
    evaluation.add_argument(
        "--challenge", nargs="+", default=[], metavar="FILE", help="tables kind, first, second, gold"
    )
    evaluation.add_argument(
        "--sentences", nargs="+", default=[], metavar="FILE", help="tables premise, hypothesis, label"
    )
    evaluation.set_defaults(call=_evaluate)
    for command in (run, evaluation):
        command.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu, cuda, ... (auto)")
        command.add_argument("--precision", choices=("auto", "float32", "bfloat16"), default="auto", help="(auto)")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)

    def run() -> None:
        arguments = parser().parse_args(words)
        arguments.call(arguments)

    return guarded(run, program="lab")


def _run(arguments: argparse.Namespace) -> None:
    from lab.train.recipe import read_recipe
    from lab.train.run import Run
    from lab.train.trainer import Machine

    bundled = _HERE / "recipes" / f"{arguments.recipe}.toml"
    recipe = read_recipe(bundled if bundled.is_file() else Path(arguments.recipe))
    workers = max(0, (os.cpu_count() or 1) - 1) if arguments.workers is None else arguments.workers
    seconds = math.inf if arguments.minutes is None else 60 * arguments.minutes
    say = partial(print, file=sys.stderr, flush=True)
    machine = Machine.of(arguments.device, arguments.precision, workers, seconds, say)
    work = Path(arguments.work)
    run = Run(recipe, Path(arguments.data), work, machine)
    run.prepare()
    if not arguments.prepare and run.train():
        run.finish(work / "model")


def _evaluate(arguments: argparse.Namespace) -> None:
    from lab.train.challenge import challenge_tables, read_challenge, sentence_table
    from softirr.errors import InputError
    from softirr.meaning import measures

    options = {"device": arguments.device, "precision": arguments.precision}
    measure = measures.measure(arguments.measure, **(options if measures.takes(arguments.measure) == "model" else {}))
    tables = [
        table
        for file in arguments.challenge
        for table in challenge_tables(measure, read_challenge(file), Path(file).name)
    ]
    if arguments.sentences:
        tables.append(sentence_table(measure, arguments.sentences))
    if not tables:
        raise InputError("There is nothing to measure on: name files with --challenge or --sentences.")
    for table in tables:
        print(table.markdown())


if __name__ == "__main__":
    sys.exit(main())
