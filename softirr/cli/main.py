"""``softirr``: the science from the command line.

Results go to standard output, progress and warnings to standard error. Exit status: 0 done, 2 unusable input or options (one plain
sentence on standard error), 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from softirr.errors import InputError
from softirr.terminal import (
    Parser,
    add_input_options,
    add_model_options,
    bounded,
    end_program,
    fraction,
    guarded,
    positive,
    print_json,
    progress_bar,
)

_BENCHES = ("coefficients", "inference", "audit", "coverage")
_PROGRAMS = {
    "train": ("softirr.cli.train", "train an entailment model on your terminology, or evaluate a measure"),
    "experiment": ("softirr.cli.experiment", "find the best measure for your kind of text"),
}
"""Commands with a parser of their own: module and help."""
_BETTER_P = (
    "what softirr calibrate learned: the better the scores, the narrower the interval (the same for sample and apply)"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    if argv is None:
        end_program(lambda: _run(sys.argv[1:]))
    return guarded(lambda: _run(list(argv)))


def _run(given: list[str]) -> int | None:
    if given[:1] and given[0] in _PROGRAMS:
        module = importlib.import_module(_PROGRAMS[given[0]][0])
        own: int | None = module.main(given[1:])
        return own
    arguments = parser().parse_args(given)
    status: int | None = arguments.run(arguments)
    return status


def parser() -> argparse.ArgumentParser:
    """The parser of every subcommand; the documentation test walks it."""
    top = Parser(prog="softirr", description="Inter-rater reliability of free text: how far raters agree in meaning.")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    score = commands.add_parser("score", help="print the agreement of a Label Studio export, CSV or JSONL file")
    add_input_options(score)
    _add_measure(score)
    _add_calibration(score, "what softirr calibrate learned; use an audit for the coefficient that you report")
    _add_chance(score)
    _add_seed(score)
    _add_json(score)
    score.set_defaults(run=_score)

    measures = commands.add_parser("measures", help="list the equivalence measures and what each needs")
    _add_json(measures)
    measures.set_defaults(run=_measures)

    audit = commands.add_parser("audit", help="correct the coefficients with judgements of a random sample")
    steps = audit.add_subparsers(title="steps", required=True, metavar="STEP")
    sample = steps.add_parser("sample", help="draw the pairs to judge, as CSV on standard output")
    add_input_options(sample)
    _add_measure(sample)
    _add_calibration(sample, _BETTER_P)
    sample.add_argument(
        "--judgements",
        type=positive,
        default=60,
        metavar="N",
        help="how many pairs of texts to draw, including those of --without (60)",
    )
    sample.add_argument(
        "--without",
        nargs="+",
        action="extend",
        default=[],
        metavar="SHEET",
        help="earlier sheets of this sample: print only what is not on them",
    )
    _add_seed(sample, "seed of the draw (default: that of --without, else 0)", None)
    sample.set_defaults(run=_audit_sample)
    apply = steps.add_parser("apply", help="print coefficients and intervals from a judged sample")
    add_input_options(apply)
    apply.add_argument("sheets", nargs="+", metavar="SHEET", help="judged sheet; one for each draw and judge")
    _add_measure(apply)
    _add_calibration(apply, _BETTER_P)
    _add_json(apply)
    apply.set_defaults(run=_audit_apply)

    calibrate = commands.add_parser("calibrate", help="learn from judged pairs what the scores of a measure mean")
    calibrate.add_argument("pairs", metavar="PAIRS", help="CSV text_a,text_b,judgement with same or different")
    _add_model(calibrate)
    calibrate.add_argument(
        "--method",
        choices=("auto", "isotonic", "platt"),
        default="auto",
        help="the curve to fit (auto: by the number of pairs)",
    )
    calibrate.add_argument("--output", metavar="FILE", help="file for the result, to use as --calibration FILE")
    _add_json(calibrate)
    calibrate.set_defaults(run=_calibrate)

    for name, (_, what) in _PROGRAMS.items():
        commands.add_parser(name, help=what)

    bench = commands.add_parser("bench", help="compare speed and accuracy with other libraries")
    bench.add_argument("name", choices=_BENCHES, help="which table")
    bench.add_argument("options", nargs=argparse.REMAINDER, help="options of the table (see bench NAME --help)")
    bench.set_defaults(run=_bench)
    return top


def _add_measure(command: argparse.ArgumentParser) -> None:
    _add_model(command)
    command.add_argument(
        "--assignment",
        choices=("optimal", "greedy"),
        default="optimal",
        help="how the texts of two sets are paired (optimal)",
    )


def _add_model(command: argparse.ArgumentParser) -> None:
    from softirr.measures import DEFAULT_MEASURE

    command.add_argument(
        "--measure",
        default=DEFAULT_MEASURE,
        metavar="NAME",
        help=f"equivalence measure, see softirr measures ({DEFAULT_MEASURE})",
    )
    add_model_options(command)


def _add_chance(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--chance",
        choices=("auto", "exact", "permutation", "stratified"),
        default="auto",
        help="how chance agreement is computed (auto: exact where it fits the budget, else stratified)",
    )
    command.add_argument(
        "--permutations", type=bounded(1_000_000), default=3, metavar="N", help="for --chance permutation (3)"
    )
    command.add_argument(
        "--target-error",
        type=fraction,
        metavar="X",
        help="standard error at which --chance stratified stops (0.005; 0.001 for measures without a model)",
    )
    command.add_argument(
        "--interval", choices=("analytic", "bootstrap"), default="analytic", help="confidence intervals (analytic)"
    )


def _add_calibration(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--calibration", metavar="FILE", help=what)


def _add_seed(
    command: argparse.ArgumentParser, what: str = "seed of what is drawn at random (0)", default: int | None = 0
) -> None:
    command.add_argument("--seed", type=int, default=default, metavar="N", help=what)


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _table(arguments: argparse.Namespace) -> Any:
    from softirr.tables.files import read

    table = read(
        arguments.file,
        control=arguments.control,
        casefold=arguments.casefold,
        predictions_as_raters=arguments.model_raters,
    )
    if not table.raters:
        why = ", ".join(f"{n:,} {reason}" for reason, n in Counter(e.reason for e in table.excluded).most_common())
        raise InputError(f"{arguments.file} has no answers to compare{f' (left out: {why})' if why else ''}.")
    if len(table.raters) < 2:
        raise InputError(f"{arguments.file} has answers of one rater only: agreement needs two.")
    return table


def _measure(arguments: argparse.Namespace) -> Any:
    from softirr.measures import measure, takes_model

    named = {"device": arguments.device, "precision": arguments.precision, "engine": arguments.engine}
    options = {name: value for name, value in named.items() if value is not None}
    if options and not takes_model(arguments.measure):
        raise InputError(
            f"The measure {arguments.measure} has no model, so --{next(iter(options))} has no effect: leave it out."
        )
    made = measure(arguments.measure, **options)
    if getattr(arguments, "calibration", None) is None:
        return made
    from softirr.measures.calibration import corrected, load_calibration

    return corrected(made, load_calibration(arguments.calibration))


@contextlib.contextmanager
def _scoring(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Cache and progress, as every function that scores takes them."""
    from softirr.measures import takes_model
    from softirr.measures.cache import open_cache

    with contextlib.ExitStack() as stack:
        cache = stack.enter_context(open_cache(arguments.cache)) if takes_model(arguments.measure) else None
        yield {"cache": cache, "progress": stack.enter_context(progress_bar("scoring pairs"))}


def _score(arguments: argparse.Namespace) -> int:
    from softirr.report.agreement import agreement

    table, measure = _table(arguments), _measure(arguments)
    with _scoring(arguments) as scoring:
        report = agreement(
            table,
            measure,
            chance=arguments.chance,
            permutations=arguments.permutations,
            target_se=arguments.target_error,
            seed=arguments.seed,
            interval=arguments.interval,
            assignment=arguments.assignment,
            **scoring,
        )
    _print_report(report.to_dict(), arguments)
    return 0


def _print_report(report: dict[str, Any], arguments: argparse.Namespace) -> None:
    if arguments.json:
        print_json(report)
        return
    from softirr.report.text import report_lines

    for line in report_lines(report, source=arguments.file):
        print(line)


def _measures(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from softirr.measures import catalogue

    entries = catalogue()
    if arguments.json:
        print_json([asdict(entry) for entry in entries])
        return 0
    from softirr.report.text import catalogue_lines

    for line in catalogue_lines(entries):
        print(line)
    return 0


def _audit_sample(arguments: argparse.Namespace) -> int:
    from softirr.audit.audited import sample, seed_of
    from softirr.tables.sheets import read_sheet

    sheets = [read_sheet(path) for path in arguments.without]
    places = {unit: sheet.place((unit, pair)) for sheet in sheets for unit, pair in sheet.values}
    seed = arguments.seed if arguments.seed is not None else seed_of(places) if places else 0
    table, measure = _table(arguments), _measure(arguments)
    with _scoring(arguments) as scoring:
        sheet = sample(
            table,
            measure,
            judgements=arguments.judgements,
            seed=seed,
            assignment=arguments.assignment,
            without=places.keys(),
            **scoring,
        )
    if not sheet.units:
        raise InputError(
            f"Nothing is left to judge: the sheets of --without hold {len(places)} units, and --judgements {arguments.judgements} includes them."
        )
    print(sheet.to_csv(), end="")
    if len(sheet.units) + len(places) < arguments.judgements:
        print(f"softirr: there are only {len(sheet.units) + len(places)} units to judge.", file=sys.stderr)
    return 0


def _audit_apply(arguments: argparse.Namespace) -> int:
    from softirr.audit.audited import apply

    table, measure = _table(arguments), _measure(arguments)
    with _scoring(arguments) as scoring:
        report = apply(table, measure, arguments.sheets, assignment=arguments.assignment, **scoring)
    if arguments.json:
        print_json(report.to_dict())
    else:
        for line in report.lines():
            print(line)
    return 0


def _calibrate(arguments: argparse.Namespace) -> int:
    from softirr.measures.calibration import calibrate

    with _scoring(arguments) as scoring:
        found = calibrate(arguments.pairs, _measure(arguments), method=arguments.method, **scoring)
    if arguments.output is not None:
        found.calibration.save(arguments.output)
    if arguments.json:
        print_json(found.to_dict())
    else:
        for line in found.lines():
            print(line)
    return 0


def _bench(arguments: argparse.Namespace) -> int:
    module = importlib.import_module(f"softirr.lab.bench.{arguments.name}")
    status: int | None = module.main(arguments.options)
    return status or 0
