"""``python -m lab.experiments synthetic | real``: errors of measures, with the tables and figures of the paper."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lab.command import LabParser
from lab.experiments.generate import NEGATIVES, SETTINGS
from softirr.cli.arguments import add_model_options
from softirr.numbers import plural
from softirr.terminal import guarded, positive

LEXICAL = ("exact", "jaccard", "masi", "levenshtein", "indel", "lcs")
"""Default measures: all that need no model."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)

    def run() -> None:
        arguments = parser().parse_args(words)
        arguments.run(arguments, words)

    return guarded(run, program="lab")


def parser() -> argparse.ArgumentParser:
    """The parser of the command."""
    top = LabParser(prog="python -m lab.experiments", description="Find the best measure for a kind of text.")
    commands = top.add_subparsers(title="experiments", required=True, metavar="EXPERIMENT", parser_class=LabParser)
    synthetic = commands.add_parser(
        "synthetic",
        help="simulated raters name the concepts of a terminology by their synonyms; the true kappa is known",
    )
    _add_synthetic(synthetic)
    _add_run(synthetic)
    synthetic.set_defaults(run=_synthetic)
    real = commands.add_parser("real", help="compare estimates with the codes of annotated tables")
    real.add_argument(
        "--table",
        action="append",
        required=True,
        metavar="[NAME=]PATH",
        help="CSV item,rater,text,codes; REFLACX folder; Derm1M METADATA[,DUPLICATES]; repeatable",
    )
    _add_run(real)
    real.set_defaults(run=_real)
    return top


def _add_synthetic(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--terminology",
        action="append",
        required=True,
        metavar="[NAME=]PATH",
        help="MeSH XML, ICD-11 tabulation[,synonyms JSON], ICD-10-CM XML, MedDRA or SNOMED CT folder, SKOS, OBO, "
        "OBO Graphs, or a table or folder of concepts; repeatable",
    )
    command.add_argument(
        "--setting",
        action="append",
        choices=SETTINGS,
        help="one label; one label, concepts with three names or more; sets (all)",
    )
    command.add_argument("--negatives", action="append", choices=NEGATIVES, help="kind of wrong concepts (all)")
    command.add_argument("--populations", type=positive, metavar="N", help="populations of each kind (30; 15 for sets)")
    command.add_argument("--size", type=positive, default=100, metavar="N", help="items of a population (100)")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (0)")


def _add_run(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--measure",
        action="append",
        metavar="[LABEL=]NAME",
        help="measure, see softirr measures; repeatable (all that need no model)",
    )
    add_model_options(command)
    command.add_argument(
        "--output",
        required=True,
        metavar="FOLDER",
        help="folder of the tables and figures; a model's scores of pairs stay in the cache",
    )
    command.add_argument("--plot", action="store_true", help="also draw the figures (needs matplotlib)")


def _synthetic(arguments: argparse.Namespace, argv: list[str]) -> None:
    from lab.experiments.run import Plan, run_synthetic
    from lab.terminologies import load

    plan = Plan(
        settings=tuple(s for s in SETTINGS if s in (arguments.setting or SETTINGS)),
        negatives=tuple(n for n in NEGATIVES if n in (arguments.negatives or NEGATIVES)),
        populations=arguments.populations,
        size=arguments.size,
        seed=arguments.seed,
    )
    terminologies = [load(source) for source in arguments.terminology]
    for terminology in terminologies:
        for note in terminology.notes:
            print(f"lab: {terminology.name}: {note}", file=sys.stderr)
    _scored(arguments, argv, partial(run_synthetic, plan, terminologies))


def _real(arguments: argparse.Namespace, argv: list[str]) -> None:
    from lab.experiments.run import run_real
    from lab.experiments.tables import load_table

    tables = [load_table(source) for source in arguments.table]
    for table in tables:
        if table.excluded:
            print(
                f"lab: {table.name}: {plural(len(table.excluded), 'answer is', 'answers are')} not used.",
                file=sys.stderr,
            )
    _scored(arguments, argv, partial(run_real, tables))


def _scored(arguments: argparse.Namespace, argv: list[str], run: Callable[..., Any]) -> None:
    """Score under the chosen measures and write the report."""
    from lab.experiments.analysis import Results
    from lab.experiments.report import PAGE, write_report
    from lab.experiments.run import NamedMeasure
    from softirr.meaning.measures.pairs import cache_and_progress
    from softirr.provenance import version

    names = arguments.measure or LEXICAL
    model_options = {name: getattr(arguments, name) for name in ("device", "precision", "engine")}
    options = {name: value for name, value in model_options.items() if value is not None}
    measures = [NamedMeasure.of(name, **options) for name in names]
    uses_cache = max((entry.measure for entry in measures), key=lambda measure: measure.is_cached)
    with cache_and_progress(uses_cache, arguments.cache or "auto", "auto") as (cache, progress):
        results = Results.of(run(measures, cache=cache, progress=progress))
    folder = Path(arguments.output)
    made_by = f"{shlex.join(['python', '-m', 'lab.experiments', *argv])} (softirr {version()})"
    for table in write_report(results, folder, made_by, with_figures=arguments.plot):
        if table.name.startswith(("mae_", "real")) and "scott" not in table.name:
            print(table.markdown())
    print(f"Tables and {PAGE} are in {folder}.")


if __name__ == "__main__":
    sys.exit(main())
