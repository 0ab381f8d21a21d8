"""The examples in the docstrings of the coefficients, which quote published values."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import softirr.coefficients

MODULES = [f"softirr.coefficients.{found.name}" for found in pkgutil.iter_modules(softirr.coefficients.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_the_published_values(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_classical_coefficients_have_examples() -> None:
    module = importlib.import_module("softirr.coefficients.chance_corrected")
    tests = {test.name.rpartition(".")[2] for test in doctest.DocTestFinder().find(module) if test.examples}
    assert {"cohen_pair", "fleiss", "krippendorff"} <= tests
