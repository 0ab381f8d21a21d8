"""Policies: their rules, their sources, and refused policies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from softirr.errors import InputError
from softirr.meaning.policy.rules import AS_WRITTEN, PRESETS, Policy, find_policy


def test_policy_describes_itself() -> None:
    assert AS_WRITTEN.is_default
    policy = Policy("ours", ignore={"time", "severity"}, more_general="strict", split="lines")  # type: ignore[arg-type]
    assert policy.kinds == ("severity", "time")
    assert policy.describe() == (
        "ours: severity, course and time do not count; a more general text does not count as the same; "
        "answers are split (lines)"
    )
    assert policy.rewrite("severe pain for 3 days") == "pain"
    assert not policy.is_default
    assert policy.changes_scores
    assert not Policy(split="lines").changes_scores


def test_a_changed_policy_loses_its_name() -> None:
    preset = PRESETS["any-severity"]
    assert preset.changed(more_general="graded") == preset
    changed = preset.changed(ignore=["severity", "side"])
    assert (changed.name, changed.kinds) == ("", ("side", "severity"))


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_found_and_kept(name: str, tmp_path: Path) -> None:
    policy = find_policy(name)
    policy.save(tmp_path / "policy.json")
    assert find_policy(tmp_path / "policy.json") == policy


@pytest.mark.parametrize(
    "policy_text, message",
    [
        ("{", "not valid JSON"),
        ("[]", "JSON object"),
        ('{"ignore": ["mood"]}', "no attribute 'mood'"),
        ('{"ignore": "severity"}', "no list"),
        ('{"more_general": "maybe"}', "can be strict, graded, lenient"),
        ('{"split": "words"}', "can be none, lines"),
        ('{"ignores": []}', "no key 'ignores'"),
    ],
)
def test_invalid_policy_files_are_refused(policy_text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text(policy_text)
    with pytest.raises(InputError, match=message):
        find_policy(tmp_path / "policy.json")


def test_a_name_that_is_neither_preset_nor_file_is_refused() -> None:
    with pytest.raises(InputError, match="the policies are as-written, exact-concept"):
        find_policy("any-mood")


def test_a_policy_of_one_text_is_refused() -> None:
    with pytest.raises(InputError, match="not one text"):
        Policy(ignore="severity")  # type: ignore[arg-type]


def test_file_may_have_only_some_keys(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text(json.dumps({"ignore": ["side"]}))
    assert find_policy(tmp_path / "policy.json") == Policy(ignore=frozenset({"side"}))
