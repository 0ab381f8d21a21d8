"""Public functions below the top say in numpydoc what they take, give and raise."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
import types
from collections.abc import Iterator

import pytest

NUMPYDOC = (
    *("audit", "chance", "coefficients", "inference", "matching", "measures", "planning", "policy", "report", "tables"),
    "terminology",
)
"""Packages whose functions have numpydoc sections, one test each."""


def _sections(docstring: str) -> dict[str, str]:
    parts = re.split(r"^(\w[\w ]*)\n-+$", docstring, flags=re.MULTILINE)
    return {title: text.strip("\n") for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def _entries(section: str) -> dict[str, str]:
    """Name of each parameter of a section, and what its line says about it."""
    lines = [line.partition(" : ") for line in section.splitlines() if line and not line.startswith(" ")]
    return {name.strip(): type_line for names, _, type_line in lines for name in names.split(",")}


def _is_array(annotation: str) -> bool:
    return re.match(r"Floats|Ints|NDArray|ArrayLike|np\.ndarray", annotation) is not None


def _lacking(function: types.FunctionType) -> Iterator[str]:
    """What the docstring of a function does not say."""
    sections = _sections(inspect.getdoc(function) or "")
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(function).parameters.values()
    wanted = {f"{marks.get(parameter.kind, '')}{parameter.name}": str(parameter.annotation) for parameter in parameters}
    documented_types = _entries(sections.get("Parameters", ""))
    if sorted(documented_types) != sorted(wanted):
        yield f"Parameters has {', '.join(documented_types) or 'nothing'}, the function {', '.join(wanted)}"
    for name, annotation in wanted.items():
        if _is_array(annotation) and not re.search("shape|^$", documented_types.get(name, "")):
            yield f"the shape of {name}"
    given = str(inspect.signature(function).return_annotation)
    if given != "None" and not sections.keys() & {"Returns", "Yields"}:
        yield "Returns or Yields"
    elif _is_array(given) and "shape" not in sections.get("Returns", ""):
        yield "the shape of what it returns"
    source = ast.parse(textwrap.dedent(inspect.getsource(function)))
    raised = {
        node.exc.func.id
        for node in ast.walk(source)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)
    }
    documented = set(sections.get("Raises", "").splitlines())
    if missing := sorted(name for name in raised - documented if not name.startswith("_")):
        yield f"Raises: {', '.join(missing)}"


@pytest.mark.parametrize("package", NUMPYDOC)
def test_every_function_below_the_top_says_what_it_takes_gives_and_raises(package: str) -> None:
    top = importlib.import_module(f"softirr.{package}")
    lacking = []
    for info in pkgutil.iter_modules(top.__path__, f"{top.__name__}."):
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", [f"{info.name} has no __all__"]):
            assert hasattr(module, name), f"{info.name}: {name}"
            function = getattr(module, name)
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                lacking += [f"{info.name}.{name}: {what}" for what in _lacking(inspect.unwrap(function))]
    assert not lacking, "\n".join(lacking)
