"""The options of a project as others give them: the connection in Label Studio, and ``softirr-ls``."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from operator import contains
from typing import Any, get_args

from ml_backend.project_settings import ProjectSettings, present_value
from softirr.answers.kinds import AUTO, TEXT, named_kinds
from softirr.answers.missing import MissingMarks
from softirr.errors import InputError
from softirr.meaning.policy.rules import PRESETS, Policy
from softirr.report.inputs import ChanceMethod

CHOICES = {
    "chance": get_args(ChanceMethod),
    "regions": ("pooled", "matched"),
    "predictions": ("complete", "always"),
}
"""The words that some options may have."""
FORMER = frozenset({"condition", "panel", "triage_columns"})
"""Options of earlier versions, which connections may still have."""
_MAY_BE_NONE = ("controls", "target")


def checked_options(options: Any, *, source: str) -> dict[str, Any]:
    """Options of a project, each of the right kind.

    Parameters
    ----------
    options : mapping or None
        For example the ``extra_params`` of the connection, as Label Studio sends them.
    source : str
        Where they come from, for the message.

    Raises
    ------
    InputError
        Naming the first option that is unknown or has an unusable value.
    """
    if options in (None, "", []):
        return {}
    if isinstance(options, str):
        try:
            options = json.loads(options)
        except ValueError:
            raise InputError(f"{source}: not valid JSON.") from None
    if not isinstance(options, Mapping):
        raise InputError(f"{source}: expected an object with options.")
    names = {f.name for f in fields(ProjectSettings)}
    checked: dict[str, Any] = {}
    for name, value in options.items():
        if name in FORMER:
            continue
        if name not in names:
            raise InputError(
                f"{source}: unknown option {str(name)[:40]!r}; the options are {', '.join(sorted(names))}."
            )
        checked[name] = _checked(name, present_value(name, value), source)
    return checked


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) and text for text in value)


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 < value <= 1


_BOOLEAN = ("true or false", lambda value: isinstance(value, bool), bool)
_SHARE = ("a number above 0 and at most 1", _is_share, float)
_CHECKS: dict[str, tuple[str, Callable[[Any], bool], Callable[[Any], Any]]] = {
    "measure": ("the name of a measure", lambda value: isinstance(value, str) and bool(value.strip()), str.strip),
    "terminologies": ("a list of paths", _are_texts, tuple),
    "reviewers": (
        "a list of ids of users",
        lambda value: _are_texts(value) and all(map(str.isdigit, value)),
        lambda value: tuple(dict.fromkeys(value)),
    ),
    "controls": (
        "a name or a list of names of TextArea controls",
        lambda value: bool(value) and (isinstance(value, str) or _are_texts(value)),
        lambda value: (value,) if isinstance(value, str) else tuple(value),
    ),
    "fields": ("a list of NAME=KIND", _are_texts, lambda value: _kinds(value)),
    "score": (
        "texts, mean, lowest or the name of a control",
        lambda value: isinstance(value, str) and bool(value.strip()),
        str.strip,
    ),
    "threshold": _SHARE,
    "target": _SHARE,
    "permutations": (
        "a whole number from 1 to 10000",
        lambda value: _is_number(value) and isinstance(value, int) and 1 <= value <= 10_000,
        int,
    ),
    "missing": (
        "auto, none, or texts joined by commas",
        lambda value: isinstance(value, str),
        lambda value: MissingMarks.of(value).option,
    ),
    **dict.fromkeys(("casefold", "predictions_as_raters", "suggestions", "count_reviewers", "hide_names"), _BOOLEAN),
    **{name: (f"one of {', '.join(words)}", partial(contains, words), str) for name, words in CHOICES.items()},
}
"""For each option: its valid values in words, the check of a value, and the conversion to the stored value."""


def _checked(name: str, value: Any, source: str) -> Any:
    if name == "policy":
        return _policy(value, source)
    if value is None and name in _MAY_BE_NONE:
        return None
    expected, is_right, convert = _CHECKS[name]
    if not is_right(value):
        raise InputError(f"{source}: {name} must be {expected}.")
    try:
        return convert(value)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _kinds(specs: Sequence[str]) -> tuple[str, ...]:
    """The specs, each of a control and a kind other than text."""
    for name, kind in named_kinds(specs).items():
        if kind in (AUTO, TEXT):
            raise InputError(f"the field {name!r} needs a kind other than text, as {name}=ordinal.")
    return tuple(specs)


def _policy(value: Any, source: str) -> dict[str, Any]:
    """A preset by its name, or a policy as a JSON object.

    Never a file, since whoever edits the project could name any.
    """
    if isinstance(value, str):
        if value not in PRESETS:
            raise InputError(f"{source}: there is no policy {value[:40]!r}; the policies are {', '.join(PRESETS)}.")
        return PRESETS[value].to_dict()
    try:
        return Policy.from_dict(value).to_dict()
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
