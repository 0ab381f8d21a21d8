"""Options that travel together in a frozen dataclass, and functions that also take each of them by its name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from softirr.errors import InputError

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Options = TypeVar("_Options")
_KEYWORDS = re.compile(r"^( *)\*\*keywords\n(?:\1 +.*\n)*", re.MULTILINE)
_ENTRY = re.compile(r"^( *)(?=\S)(.+)\n((?:\1 +.*\n)*)", re.MULTILINE)


def changed_options(function: str, options: _Options, keywords: Mapping[str, Any]) -> _Options:
    """The options with single ones changed by name.

    Parameters
    ----------
    function : str
        Name of the function that was called, for the message.

    Raises
    ------
    InputError
        If an option does not exist.
    """
    names = [option.name for option in fields(options)]  # type: ignore[arg-type]
    for name in keywords:
        if name not in names:
            raise InputError(f"{function} has no option {name}: it has {', '.join(names)}.")
    return replace(options, **keywords)  # type: ignore[type-var]


def takes_options(*sources: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """A decorator for functions that take options as ``**keywords``: it adds them to signature and documentation.

    Parameters
    ----------
    *sources : frozen dataclass or function
        The keyword-only parameters of each are options. Parameters of the decorated function are unchanged.
    """

    def decorated(function: _Function) -> _Function:
        signature = inspect.signature(function)
        parameters = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        options = {
            parameter.name: parameter
            for source in sources
            for parameter in inspect.signature(source).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name not in signature.parameters
        }
        section = "".join(_entries(source, options) for source in sources)
        vars(function)["__signature__"] = signature.replace(parameters=[*parameters, *options.values()])
        function.__doc__ = _KEYWORDS.sub(lambda _: section, function.__doc__ or "")
        return function

    return decorated


def _entries(source: Callable[..., Any], options: Mapping[str, inspect.Parameter]) -> str:
    """The documentation of these options, copied from a source."""
    section = (source.__doc__ or "").split("----------\n", 1)[-1].split("\n\n", 1)[0] + "\n"
    return "".join(
        entry[0]
        for entry in _ENTRY.finditer(section)
        if {name.strip() for name in entry[2].split(" : ")[0].split(",")} & options.keys()
    )
