"""``softirr compare``: two coefficients and their difference."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from softirr.cli.arguments import add_json, add_scoring, agreement_options, made_measure, print_result, scoring
from softirr.cli.pictures import add_plot, write_picture
from softirr.cli.read_answers import add_reading_options, read_table, takes_predictions
from softirr.defaults import MARGIN
from softirr.errors import InputError
from softirr.terminal import fraction, not_negative

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``compare`` to the commands."""
    from softirr.statistics.coefficients.registry import coefficient_keys

    compare = commands.add_parser(
        "compare", help="compare files, groups of items, teams, raters or models, or over time"
    )
    compare.add_argument(
        "files", nargs="+", metavar="FILE", help="two or more files, or one file with an option below that divides it"
    )
    what = compare.add_mutually_exclusive_group()
    what.add_argument("--by", metavar="FIELD", help="compare groups of items by a field, such as site")
    what.add_argument(
        "--over",
        metavar="FIELD",
        help="compare over time, by a field with dates or numbers (annotated_at in an export)",
    )
    what.add_argument("--controls", nargs="+", metavar="NAME", help="compare TextAreas of one export")
    what.add_argument("--teams", nargs="+", metavar="RATERS", help="compare teams of raters, each as NAME,NAME")
    what.add_argument(
        "--models",
        nargs="*",
        metavar="RATER",
        help="compare each model with the people: the raters named here, else predictions of an export and raters "
        "named model:NAME",
    )
    compare.add_argument(
        "--outputs",
        nargs="+",
        metavar="FILE",
        help="with --models: files with the answers of models to the same items, such as logs of evaluations; "
        "predictions of an export count only with --model-raters",
    )
    what.add_argument(
        "--rounds",
        nargs="+",
        metavar="DATE",
        help="compare rounds of one export, paired: annotations last changed before this date, and from this date on",
    )
    compare.add_argument(
        "--same", metavar="FIELD", help="with --by: a field that names the same item in each group, such as each round"
    )
    compare.add_argument(
        "--rater", metavar="NAME", help="compare a rater with the others; with --over, the rater's drift"
    )
    compare.add_argument(
        "--margin",
        type=not_negative,
        metavar="X",
        help=f"difference below the others that counts as within their range ({MARGIN:g})",
    )
    compare.add_argument(
        "--epsilon",
        type=fraction,
        metavar="X",
        help="with --models: cost advantage of a model in the alternative annotator test: 0.2 if the people are "
        "experts, 0.15 if they are skilled, 0.1 for crowd workers (0.15)",
    )
    compare.add_argument(
        "--fail-unless",
        choices=("within", "equivalent", "passed"),
        help="with --models or --rater: exit with status 1 unless every rater has this verdict: within the range of "
        "the others, equivalent to them, or passed the alternative annotator test",
    )
    compare.add_argument(
        "--differences",
        action="store_true",
        help="with --models or --rater: also count omissions, additions, substitutions and other types of difference",
    )
    same = compare.add_mutually_exclusive_group()
    same.add_argument("--paired", action="store_true", help="use only items that all files have in common")
    same.add_argument(
        "--independent", action="store_true", help="treat items with the same id in two files as different items"
    )
    compare.add_argument(
        "--coefficient",
        choices=coefficient_keys(),
        help="what is compared (the headline; cohen_kappa with --models and --rater)",
    )
    compare.add_argument(
        "--adjust",
        choices=("holm", "none"),
        default="holm",
        help="adjust p values and intervals for several differences (holm)",
    )
    compare.add_argument(
        "--sheets", nargs="+", metavar="SHEET", help="judged audit sheets of the file, with --models or --rater"
    )
    compare.add_argument("--sheets-a", nargs="+", metavar="SHEET", help="judged audit sheets of the first file")
    compare.add_argument("--sheets-b", nargs="+", metavar="SHEET", help="judged audit sheets of the second file")
    add_reading_options(compare, rater="--rater-column")
    add_scoring(compare)
    add_plot(compare, "a forest plot")
    add_json(compare)
    compare.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    _check(arguments)
    options = agreement_options(arguments)
    measure = made_measure(arguments)
    with scoring(arguments) as kept:
        comparison = _compared(arguments, measure, options, kept)
    print_result(comparison, arguments)
    if arguments.plot:
        write_picture(comparison.to_svg(), comparison.lines(), "Comparison", arguments.plot)
    return 1 if arguments.fail_unless and not comparison.satisfies(arguments.fail_unless) else 0


_DIVISIONS = ("by", "over", "controls", "teams", "rounds", "models", "rater")
"""Options that divide one file."""


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that do not go together."""

    def is_given(name: str) -> bool:
        value = getattr(arguments, name)
        return value is not None and value is not False  # 0 is a margin

    within, n_files = [name for name in _DIVISIONS if is_given(name)], len(arguments.files)
    first, drift = within[0] if within else "", within == ["over", "rater"]
    models = arguments.models is not None
    judges_raters = models or within == ["rater"]
    of_files = "paired" if arguments.paired else "independent" if arguments.independent else ""
    refusals = (
        (within and n_files > 1, f"--{first} compares within one file, but there are {n_files}."),
        (
            not within and n_files == 1,
            "Name two files, or divide one with --by, --rounds, --over, --controls, --teams, --models or --rater.",
        ),
        (
            arguments.rater and within != ["rater"] and not drift,
            f"--rater can be combined only with --over, not with --{first}.",
        ),
        (arguments.same and within != ["by"], "--same needs --by."),
        (
            of_files and within and first not in ("controls", "teams", "rounds"),
            f"--{of_files} is about items of several files, so it does not go with --{first}.",
        ),
        *(
            (drift and is_given(name), f"--{name.replace('_', '-')} does not go with --over: leave one of them out.")
            for name in ("margin", "fail_unless", "differences", "sheets")
        ),
        (is_given("margin") and not judges_raters, "--margin needs --models or --rater."),
        (is_given("epsilon") and not models, "--epsilon needs --models."),
        (arguments.fail_unless and not judges_raters, "--fail-unless needs --models or --rater."),
        (arguments.fail_unless == "passed" and not models, "--fail-unless passed needs --models."),
        (arguments.outputs and not models, "--outputs needs --models."),
        (
            arguments.outputs and arguments.sheets,
            "--sheets are drawn from one file, so they do not go with --outputs: put all answers into it.",
        ),
        (arguments.differences and not judges_raters, "--differences needs --models or --rater."),
        (
            arguments.sheets and not judges_raters,
            "--sheets needs --models or --rater; for two files use --sheets-a and --sheets-b.",
        ),
        ((arguments.sheets_a or arguments.sheets_b) and n_files != 2, "--sheets-a and --sheets-b need two files."),
    )
    for is_wrong, sentence in refusals:
        if is_wrong:
            raise InputError(sentence)


def _compared(arguments: argparse.Namespace, measure: Any, options: Any, kept: dict[str, Any]) -> Any:
    from softirr.planning.alternative_annotator import EPSILON
    from softirr.planning.compare import compare, compare_groups
    from softirr.planning.compare_raters import compare_raters
    from softirr.planning.compare_time import compare_time

    adjust = arguments.adjust == "holm"
    wanted = {"coefficient": arguments.coefficient, "adjust": adjust, **kept}
    if arguments.over:
        del wanted["adjust"]
        table = read_table(arguments, arguments.files[0], fields=[arguments.over])
        return compare_time(table, arguments.over, measure, options, rater=arguments.rater, **wanted)
    if arguments.by:
        fields = [arguments.by, *([arguments.same] if arguments.same else [])]
        table = read_table(arguments, arguments.files[0], fields=fields)
        return compare_groups(table, arguments.by, measure, options, same=arguments.same, **wanted)
    if arguments.models is not None or arguments.rater:
        outputs = arguments.outputs or ()
        table = read_table(
            arguments,
            arguments.files[0],
            models=takes_predictions(arguments.models) and not outputs,
            outputs=outputs,
        )
        chosen = [arguments.rater] if arguments.rater else arguments.models or None
        margin = MARGIN if arguments.margin is None else arguments.margin
        wanted["coefficient"] = arguments.coefficient or "cohen_kappa"
        sheets = arguments.sheets or ()
        epsilon = None if arguments.models is None else EPSILON if arguments.epsilon is None else arguments.epsilon
        wanted |= {"epsilon": epsilon, "sheets": sheets, "difference_types": arguments.differences}
        comparison = compare_raters(table, chosen, measure, options, margin=margin, **wanted)
        return replace(comparison, warnings=(*comparison.warnings, *table.warnings))
    tables = _tables(arguments)
    paired = arguments.paired or arguments.rounds
    items = "other" if arguments.independent else "same" if paired else "auto"
    sheets = dict(zip(tables, (arguments.sheets_a or (), arguments.sheets_b or ()), strict=False))
    return compare(tables, measure, options, items=items, sheets=sheets, **wanted)


def _tables(arguments: argparse.Namespace) -> dict[str, Any]:
    """What is compared, by label."""
    from softirr.planning.compare import label_of

    if arguments.controls:
        return {name: read_table(arguments, arguments.files[0], control=name) for name in arguments.controls}
    if arguments.rounds:
        return _rounds(arguments)
    if arguments.teams:
        table = read_table(arguments, arguments.files[0])
        teams = {team: [name.strip() for name in team.split(",") if name.strip()] for team in arguments.teams}
        for names in teams.values():
            for name in names:
                if name not in table.raters:
                    raise InputError(f"No rater is named {name!r}; there are {', '.join(table.raters[:20])}.")
        return {team: table.part(raters=names) for team, names in teams.items()}
    tables: dict[str, Any] = {}
    for path in arguments.files:
        tables[label_of(path, tuple(tables))] = read_table(arguments, path)
    return tables


def _rounds(arguments: argparse.Namespace) -> dict[str, Any]:
    """The answers before the first date, between two, and from the last one on."""
    from softirr.answers.period import Period

    path, dates = arguments.files[0], sorted(set(arguments.rounds))
    if path == "-":
        raise InputError("--rounds reads the file several times: name a file instead of standard input.")
    rounds: dict[str, Any] = {}
    for since, before in zip([None, *dates], [*dates, None], strict=True):
        rounds[Period.of(since, before).in_words()] = read_table(arguments, path, since=since, before=before)
    return rounds
