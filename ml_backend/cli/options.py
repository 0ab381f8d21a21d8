"""The options of a project on the command line, and the settings that they make."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from ml_backend.options import CHOICES, checked_options
from ml_backend.project_settings import ProjectSettings, present_value
from softirr.answers.splitting import SPLITS
from softirr.errors import InputError
from softirr.meaning.policy.rules import AS_WRITTEN, MORE_GENERAL, PRESETS, find_policy

_VALUES = {
    "--measure": ("NAME", "how two texts are compared (softirr measures lists the names)"),
    "--permutations": ("N", "number of permutations for --chance permutation (default 3)"),
    "--threshold": ("P", "least equivalence of texts that match (default 0.5)"),
    "--missing": (
        "TEXTS",
        "texts that mark a missing answer, such as NA,n/a; none: no text does (default: auto: NA, n/a, -, ? and "
        "similar)",
    ),
    "--policy": ("NAME", f"what counts as the same: {', '.join(PRESETS)}, or a JSON file"),
    "--ignore": ("KINDS", "attributes that do not count, separated by commas"),
    "--count": (
        "KINDS",
        "attributes that decide, separated by commas: texts with different values of one are not the same",
    ),
    "--split": ("MODE", f"how a box that contains a list is split: {', '.join(SPLITS)}, or the marks, such as ';|'"),
    "--score": (
        "WHAT",
        "what orders the tasks and is the score of their predictions: texts (default), the mean or the lowest of all "
        "fields, or the name of one",
    ),
    "--target": ("X", "value that the project's coefficient should reach"),
}
_TYPES = {"--permutations": int, "--threshold": float, "--target": float}
_REPEATED = {
    "--control": ("controls", "NAME", "a TextArea to score; repeatable (default: all)"),
    "--field": (
        "fields",
        "NAME=KIND",
        "kind of a control other than a TextArea, such as severity=ordinal:low,high; repeatable (none: by their types)",
    ),
    "--reviewer": (
        "reviewers",
        "EMAIL",
        "a reviewer, by email address or id; repeatable (none: no reviewers)",
    ),
    "--terminology": (
        "terminologies",
        "PATH",
        "look texts up in this terminology first; repeatable (none: no terminology)",
    ),
}
_SWITCHES = {
    "--casefold": "treat “Fever” and “fever” as the same text",
    "--predictions-as-raters": "count the newest prediction of each model as a rater's answer",
    "--suggestions": "write suggested texts with the score",
    "--hide-names": "show numbers instead of annotators' names to reviewers",
    "--count-reviewers": "count reviewers' own answers as annotators' answers (default: they are excluded)",
}
_CHOSEN = {
    "--chance": (CHOICES["chance"], "how chance agreement is computed"),
    "--regions": (
        CHOICES["regions"],
        "texts of regions: pooled per task, or compared between regions that are matched by their overlap",
    ),
    "--predictions": (
        CHOICES["predictions"],
        "when to write a task's prediction: with all its annotations, or from the second one on",
    ),
    "--more-general": (MORE_GENERAL, "whether a more general text counts as the same"),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that set a project's settings."""
    group = parser.add_argument_group("settings of the project (kept for later runs)")
    for flag, (metavar, text) in _VALUES.items():
        group.add_argument(flag, metavar=metavar, type=_TYPES.get(flag, str), help=text)
    for flag, (name, metavar, text) in _REPEATED.items():
        group.add_argument(flag, action="append", dest=name, metavar=metavar, help=text)
    for flag, text in _SWITCHES.items():
        group.add_argument(flag, action=argparse.BooleanOptionalAction, help=text)
    for flag, (choices, text) in _CHOSEN.items():
        name = flag.removeprefix("--").replace("-", "_")
        group.add_argument(flag, choices=choices, type=partial(present_value, name), help=text)


def given_options(parsed: argparse.Namespace) -> dict[str, Any]:
    """The settings that the options name, checked."""
    names = [setting.name for setting in fields(ProjectSettings)]
    values = {name: getattr(parsed, name) for name in names if getattr(parsed, name) is not None}
    if "reviewers" in values:
        values["reviewers"] = [user for user, _ in find_users([name for name in values["reviewers"] if name != "none"])]
    values.pop("policy", None)
    if (policy := _policy(parsed)) is not None:
        values["policy"] = policy
    if "terminologies" in values:
        values["terminologies"] = [_terminology(path) for path in values["terminologies"] if path != "none"]
    if "fields" in values:
        values["fields"] = [spec for spec in values["fields"] if spec != "none"]
    options = checked_options(values, source="softirr-ls")
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}


def _policy(parsed: argparse.Namespace) -> dict[str, Any] | None:
    """The policy of a command, None if it has no options of a policy."""
    choices = (parsed.policy, parsed.ignore, parsed.count, parsed.more_general, parsed.split)
    if all(choice is None for choice in choices):
        return None
    policy = AS_WRITTEN if parsed.policy is None else find_policy(parsed.policy)
    ignore, count = (
        None if kinds is None else [kind.strip() for kind in kinds.split(",") if kind.strip()]
        for kinds in (parsed.ignore, parsed.count)
    )
    return policy.changed(ignore=ignore, more_general=parsed.more_general, split=parsed.split, count=count).to_dict()


def _terminology(source: str) -> str:
    """A terminology by its absolute path, once it has been read.

    Raises
    ------
    InputError
        If it can't be read.
    """
    from softirr.meaning.terminology import load, named_path

    name, file = named_path(source)
    path = f"{name}={file.resolve()}" if name else str(file.resolve())
    load(path)
    return path


def find_users(names: Sequence[str]) -> list[tuple[str, str]]:
    """Id and name of users of Label Studio, by email address or id.

    Raises
    ------
    InputError
        Naming who is not there.
    """
    if not names:
        return []
    with open_services().client() as client:
        emails, names_of_users = client.user_emails(), client.users()
    ids = [name if name in names_of_users else emails.get(name.lower(), "") for name in names]
    for name, user in zip(names, ids, strict=True):
        if not user:
            raise InputError(f"Label Studio has no user {name}.")
    return [(user, names_of_users[user]) for user in ids]


def print_result(parsed: argparse.Namespace, values: Any, *lines: str) -> None:
    """Print the result of a command: as JSON with ``--json``, else in these lines."""
    print(json.dumps(values, ensure_ascii=False) if parsed.json else "\n".join(lines))


def open_services(**overrides: Any) -> Any:
    """Store, queue and scorer of this process, with the store in its present form."""
    from ml_backend.services import Services
    from ml_backend.settings import Settings
    from ml_backend.store.database import keep_private

    services = Services(Settings.from_environment(**overrides))
    keep_private(services.settings.data)
    services.store.migrate()
    return services
