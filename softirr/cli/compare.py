"""``softirr compare``: two coefficients and their difference."""

from __future__ import annotations

import argparse
from typing import Any

from softirr.cli.arguments import (
    COEFFICIENT_CHOICES,
    add_json,
    add_scoring,
    made_measure,
    read_table,
    scoring,
    write_picture,
)
from softirr.errors import InputError
from softirr.terminal import add_reading_options, not_negative, print_json

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    """Add ``compare`` to the commands."""
    compare = commands.add_parser(
        "compare", help="compare files, groups of items, teams, raters or models, or over time"
    )
    compare.add_argument(
        "files", nargs="+", metavar="FILE", help="two files or more; or one, with one of the options below"
    )
    what = compare.add_mutually_exclusive_group()
    what.add_argument("--by", metavar="FIELD", help="groups of items by a field, such as their site")
    what.add_argument(
        "--over", metavar="FIELD", help="over time: a field with dates or numbers (annotated_at in an export)"
    )
    what.add_argument("--controls", nargs="+", metavar="NAME", help="TextAreas of one export")
    what.add_argument("--teams", nargs="+", metavar="RATERS", help="teams of raters, each as NAME,NAME")
    what.add_argument(
        "--models",
        nargs="*",
        metavar="RATER",
        help="each model with the people: the raters named here, else the predictions of an export",
    )
    what.add_argument(
        "--rounds",
        nargs="+",
        metavar="DATE",
        help="rounds of one export, paired: annotations last changed before this day, and from it on",
    )
    compare.add_argument(
        "--same", metavar="FIELD", help="with --by: a field that names the same item in each group, such as each round"
    )
    compare.add_argument("--rater", metavar="NAME", help="a rater with the others; with --over, the rater's drift")
    compare.add_argument(
        "--margin", type=not_negative, metavar="X", help="how far below the others is within their range (0.05)"
    )
    same = compare.add_mutually_exclusive_group()
    same.add_argument("--paired", action="store_true", help="only the items that all have in common")
    same.add_argument("--independent", action="store_true", help="items of the same id are different items")
    compare.add_argument("--coefficient", choices=COEFFICIENT_CHOICES, help="what is compared (the headline)")
    compare.add_argument(
        "--adjust", choices=("holm", "none"), default="holm", help="p values of several differences (holm)"
    )
    compare.add_argument(
        "--sheets", nargs="+", metavar="SHEET", help="judged audit sheets of the file, with --models or --rater"
    )
    compare.add_argument("--sheets-a", nargs="+", metavar="SHEET", help="judged audit sheets of the first file")
    compare.add_argument("--sheets-b", nargs="+", metavar="SHEET", help="judged audit sheets of the second file")
    add_reading_options(compare, rater="--rater-column")
    add_scoring(compare)
    compare.add_argument("--plot", metavar="FILE", help="write a forest plot: .svg or .html")
    add_json(compare)
    compare.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    from softirr.report.options import AgreementOptions

    _check(arguments)
    options = AgreementOptions(
        chance=arguments.chance,
        permutations=arguments.permutations,
        target_se=arguments.target_error,
        seed=arguments.seed,
        interval=arguments.interval,
        assignment=arguments.assignment,
    )
    measure = made_measure(arguments)
    with scoring(arguments) as kept:
        found = _found(arguments, measure, options, kept)
    if arguments.plot:
        write_picture(found.to_svg(), found.lines(), "Comparison", arguments.plot)
    if arguments.json:
        print_json(found.to_dict())
    else:
        for line in found.lines():
            print(line)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    within = [
        n
        for n in ("by", "over", "controls", "teams", "rounds", "models", "rater")
        if getattr(arguments, n) not in (None, False)
    ]
    if within and len(arguments.files) > 1:
        raise InputError(f"--{within[0]} compares within one file, but there are {len(arguments.files)}.")
    if not within and len(arguments.files) == 1:
        raise InputError(
            "One file is compared by --by, --rounds, --over, --controls, --teams, --models or --rater; or name two files."
        )
    if arguments.rater and within != ["rater"] and within != ["over", "rater"]:
        raise InputError(f"--rater goes with --over only, not with --{within[0]}.")
    if arguments.same and within != ["by"]:
        raise InputError("--same goes with --by.")
    if arguments.margin is not None and arguments.models is None and within != ["rater"]:
        raise InputError("--margin goes with --models or --rater.")
    if arguments.sheets and arguments.models is None and within != ["rater"]:
        raise InputError("--sheets goes with --models or --rater; two files take --sheets-a and --sheets-b.")
    if (arguments.sheets_a or arguments.sheets_b) and len(arguments.files) != 2:
        raise InputError("--sheets-a and --sheets-b go with two files.")


def _found(arguments: argparse.Namespace, measure: Any, options: Any, kept: dict[str, Any]) -> Any:
    from softirr.planning import compare as planning

    adjust = arguments.adjust == "holm"
    wanted = {"coefficient": arguments.coefficient, "adjust": adjust, **kept}
    if arguments.over:
        del wanted["adjust"]
        table = read_table(arguments, arguments.files[0], fields=[arguments.over])
        return planning.compare_time(table, arguments.over, measure, options, rater=arguments.rater, **wanted)
    if arguments.by:
        fields = [arguments.by, *([arguments.same] if arguments.same else [])]
        table = read_table(arguments, arguments.files[0], fields=fields)
        return planning.compare_groups(table, arguments.by, measure, options, same=arguments.same, **wanted)
    if arguments.models is not None or arguments.rater:
        table = read_table(arguments, arguments.files[0], models=arguments.models == [])
        chosen = [arguments.rater] if arguments.rater else arguments.models or None
        margin = planning.MARGIN if arguments.margin is None else arguments.margin
        wanted["coefficient"] = arguments.coefficient or "cohen_kappa"
        sheets = arguments.sheets or ()
        return planning.compare_raters(table, chosen, measure, options, margin=margin, sheets=sheets, **wanted)
    tables = _tables(arguments)
    paired = arguments.paired or arguments.rounds
    items = "other" if arguments.independent else "same" if paired else "auto"
    sheets = dict(zip(tables, (arguments.sheets_a or (), arguments.sheets_b or ()), strict=False))
    return planning.compare(tables, measure, options, items=items, sheets=sheets, **wanted)


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
    found: dict[str, Any] = {}
    for path in arguments.files:
        found[label_of(path, tuple(found))] = read_table(arguments, path)
    return found


def _rounds(arguments: argparse.Namespace) -> dict[str, Any]:
    """The answers before the first date, between two, and from the last one on."""
    from softirr.tables.period import Period

    path, dates = arguments.files[0], sorted(set(arguments.rounds))
    if path == "-":
        raise InputError("--rounds reads the file once for each round: name it instead of standard input.")
    found: dict[str, Any] = {}
    for since, before in zip([None, *dates], [*dates, None], strict=True):
        found[Period.of(since, before).told()] = read_table(arguments, path, since=since, before=before)
    return found
