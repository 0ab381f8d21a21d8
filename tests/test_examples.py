"""The examples in docstrings give the documented results."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import ml_backend
import softirr

_NOT_HERE = ("lab.",)  # experiments take long


def modules() -> list[str]:
    """Every module of both packages."""
    return [
        module.name
        for package in (softirr, ml_backend)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not f"{module.name}.".startswith(_NOT_HERE) and not module.name.endswith("__main__")
    ]


@pytest.mark.parametrize("name", modules())
def test_examples_give_documented_results(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_classical_coefficients_have_examples() -> None:
    for module in ("cohen", "pooled", "krippendorff"):
        examples = doctest.DocTestFinder().find(importlib.import_module(f"softirr.statistics.coefficients.{module}"))
        assert any(test.examples for test in examples), module
