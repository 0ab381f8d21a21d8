"""``softirr compare``: coefficients and their differences."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from softirr.answers.answer import MODEL
from softirr.cli.arguments import (
    Group,
    add_json,
    add_judgments,
    add_option,
    add_scoring,
    agreement_options,
    build_measure,
    chosen_policy,
    in_own_terms,
)
from softirr.cli.read_answers import add_reading_options, read_table
from softirr.defaults import MARGIN
from softirr.errors import InputError
from softirr.terminal import fraction, not_negative, print_json

_WITHIN_ONE_FILE = ("measures", "policies", "models")


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of ``compare``."""
    add_option(command, "files FILE", "two or more files, or one file with an option below", nargs="+")
    choice = command.add_argument_group("what is compared in one file").add_mutually_exclusive_group()
    add = partial(add_option, choice)
    add("--measures NAME", "compare the agreement under these measures", nargs="+")
    add("--policies NAME", "compare the agreement under these policies (presets or files)", nargs="+")
    add(
        "--models RATER",
        "compare each model with the people: these raters, or predictions of an export and raters named model:NAME",
        nargs="*",
    )
    group = command.add_argument_group("how it is compared")
    _add_comparison(group)
    add_judgments(group)
    add_json(command)
    add_reading_options(command)
    add_scoring(command)
    command.set_defaults(run=_compare)


def _add_comparison(group: Group) -> None:
    from softirr.statistics.coefficients.registry import coefficient_keys

    add = partial(add_option, group)
    add("--coefficient NAME", "what is compared (the headline; cohen_kappa with --models)", choices=coefficient_keys())
    same = group.add_mutually_exclusive_group()
    add_option(same, "--paired", "use only items that all files have in common")
    add_option(same, "--independent", "treat items with the same id in two files as different items")
    add(
        "--margin X",
        f"with --models: difference below the people that counts as within their range ({MARGIN:g})",
        type=not_negative,
    )
    add(
        "--epsilon X",
        "with --models: cost advantage of a model in the alternative annotator test: 0.2 if the people are "
        "experts, 0.15 if they are skilled, 0.1 for crowd workers (0.15)",
        type=fraction,
    )
    add(
        "--fail-unless within|equivalent|passed",
        "with --models: exit with status 1 unless every model is within the range of the people, equivalent to "
        "them, or passed the alternative annotator test",
    )


def _compare(arguments: argparse.Namespace) -> int:
    _check(arguments)
    comparison = in_own_terms(_compared(arguments) if arguments.models is None else _compared_models(arguments))
    if arguments.json:
        print_json(comparison.to_dict())
    else:
        print(comparison)
    return 1 if arguments.fail_unless and not comparison.satisfies(arguments.fail_unless) else 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that contradict each other."""
    from softirr.meaning.measures import DEFAULT_MEASURE

    within = next((name for name in _WITHIN_ONE_FILE if getattr(arguments, name) is not None), None)
    n_files = len(arguments.files)
    of_models = [name for name in ("margin", "epsilon", "fail_unless") if getattr(arguments, name) is not None]
    of_files = "paired" if arguments.paired else "independent" if arguments.independent else ""
    refusals = (
        (within and n_files > 1, f"--{within} compares within one file, but there are {n_files}."),
        (not within and n_files == 1, "Name two files, or compare within one with --measures, --policies or --models."),
        (of_files and within, f"--{of_files} is about items of several files, so it does not go with --{within}."),
        (of_models and within != "models", f"--{next(iter(of_models), '').replace('_', '-')} needs --models."),
        (
            arguments.measures and arguments.measure != DEFAULT_MEASURE,
            f"--measures names the measures, so it does not go with --measure {arguments.measure}.",
        ),
    )
    for is_wrong, sentence in refusals:
        if is_wrong:
            raise InputError(sentence)


def _compared_models(arguments: argparse.Namespace) -> Any:
    from softirr.report.alternative_annotator import EPSILON
    from softirr.report.compare_models import compare_models

    # without names, or with the name of a model version, models are predictions of an export
    path, names = arguments.files[0], arguments.models
    table = read_table(arguments, path, models=not names or any(name.startswith(MODEL) for name in names))
    if path != "-" and table.reading.format.startswith("label-studio") and not set(names) <= set(table.raters):
        table = read_table(arguments, path, models=True)  # the refusal of a name lists the models
    return compare_models(
        table,
        names or None,
        build_measure(arguments),
        agreement_options(arguments),
        coefficient=arguments.coefficient or "cohen_kappa",
        margin=MARGIN if arguments.margin is None else arguments.margin,
        epsilon=EPSILON if arguments.epsilon is None else arguments.epsilon,
        judgments=arguments.judgments,
        cache=arguments.cache or "auto",
    )


def _compared(arguments: argparse.Namespace) -> Any:
    from softirr.meaning.measures.pairs import cache_and_progress
    from softirr.report.compare import compare, labels_of

    labels = labels_of(arguments.files)
    tables = {label: read_table(arguments, path) for label, path in zip(labels, arguments.files, strict=True)}
    measures, policies = arguments.measures or (), arguments.policies or ()
    compared: Any = next(iter(tables.values())) if measures or policies else tables
    if policies and not chosen_policy(arguments).is_default:
        raise InputError("--policies names the policies, so --policy, --ignore and the like do not go with it.")
    scorers = [build_measure(arguments, name) for name in measures or (arguments.measure,)]
    uses_cache = max(scorers, key=lambda scorer: scorer.is_cached)
    with cache_and_progress(uses_cache, arguments.cache or "auto", "auto") as (cache, progress):
        return compare(
            compared,
            scorers[0],
            agreement_options(arguments),
            measures=scorers if measures else (),
            policies=policies,
            coefficient=arguments.coefficient,
            items="other" if arguments.independent else "same" if arguments.paired else "auto",
            judgments=arguments.judgments,
            cache=cache,
            progress=progress,
        )
