"""Exact lookup of texts among names, and the relation of the concepts that two texts name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from softirr.errors import InputError
from softirr.meaning.terminology import opened_terminology
from softirr.meaning.terminology.concepts import NameLookup
from tests.meaning.terminology.terms import KNEE, terminology

KNEE_LOOKUP = NameLookup([KNEE])


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("knee pain", [1]),
        ("GONALGIA", [1]),
        ("  knee\npain ", [1]),
        ("cold", [4, 5]),
        ("knee pains", []),
        ("pain of the knee", []),
        ("severe knee pain", []),
        ("no pain", []),
        ("", []),
    ],
)
def test_find_matches_exact_names_only(text: str, concepts: list[int]) -> None:
    assert KNEE_LOOKUP.find(text) == tuple((0, concept) for concept in concepts)


def test_names_are_bounded_and_taken_in_turn() -> None:
    lookup = NameLookup([terminology(("a0", "shared", *(f"a{i}" for i in range(1, 20))), ("b0", "shared"))])
    assert lookup.names(lookup.find("shared"), 4) == ["a0", "b0", "shared", "a1"]


def test_cycle_is_refused() -> None:
    with pytest.raises(InputError, match=r"has a cycle: C[01] is its own ancestor"):
        NameLookup([terminology(("a",), ("b",), parents={0: (1,), 1: (0,)})])


def test_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text("id,name\n1,fever\n")
    first = opened_terminology(str(path))
    assert opened_terminology(str(path)) is first
    path.write_text("id,name\n1,cough\n")
    os.utime(path, ns=(1, 1))
    second = opened_terminology(str(path))
    assert second.names == (("cough",),) and second.sha256 != first.sha256
