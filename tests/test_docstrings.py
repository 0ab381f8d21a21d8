"""Docstrings agree with the signatures: documented parameters exist, and raised errors are named.

`.ci/style.py` checks that each entry of a section has a description.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pkgutil
import re
import textwrap
import types
from collections.abc import Iterator

import pytest

import softirr

PACKAGES = ("answers", "inference", "meaning", "report", "statistics")


def _sections(docstring: str) -> dict[str, str]:
    titles_and_texts = re.split(r"^(\w[\w ]*)\n-+$", docstring, flags=re.MULTILINE)
    return {title: text.strip("\n") for title, text in zip(titles_and_texts[1::2], titles_and_texts[2::2], strict=True)}


def _entries(section: str) -> dict[str, str]:
    """Type line of each entry of a section, by its name."""
    lines = [line.partition(" : ") for line in section.splitlines() if line and not line.startswith(" ")]
    return {name.strip().lstrip("*"): type_line for names, _, type_line in lines for name in names.split(",")}


def _raised(function: types.FunctionType) -> dict[str, set[str]]:
    """Public errors that a function raises itself, each with the names of its base classes."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node.exc.func for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    names = {call.id for call in calls if isinstance(call, ast.Name) and not call.id.startswith("_")}
    classes = {name: function.__globals__.get(name, getattr(builtins, name, Exception)) for name in names}
    return {name: {base.__name__ for base in error.__mro__} for name, error in classes.items()}


def _problems(function: types.FunctionType) -> Iterator[str]:
    """Disagreements of a docstring with its function."""
    sections = _sections(inspect.getdoc(function) or "")
    documented = _entries(sections.get("Parameters", ""))
    for name in documented.keys() - inspect.signature(function).parameters.keys():
        yield f"there is no parameter {name}"
    matches = set(re.findall(r"\w+", sections.get("Raises", "")))
    for name, bases in _raised(function).items():
        if matches and not matches & bases:
            yield f"Raises lacks {name}"


def _functions(package: str) -> Iterator[tuple[str, types.FunctionType]]:
    top = importlib.import_module(f"{softirr.__name__}.{package}")
    for info in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == module.__name__:
                yield f"{info.name}.{name}", inspect.unwrap(value)


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_agree_with_signatures(package: str) -> None:
    problems = [f"{name}: {problem}" for name, function in _functions(package) for problem in _problems(function)]
    assert not problems, "\n".join(problems)
