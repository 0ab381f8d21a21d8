"""Policies on the command line and in the library: the same numbers, and the policy in every report."""

from __future__ import annotations

from pathlib import Path

import pytest

import softirr
from tests import Cli

ROWS = [
    ("severe knee pain", "mild knee pain"),
    ("rash", "rash on the left arm"),
    ("fever for 3 days", "fever"),
    ("cough", "nausea"),
    ("slight headache", "headache"),
]


@pytest.fixture
def answers(tmp_path: Path) -> str:
    lines = [
        "item,rater,text",
        *(f"{i},{rater},{text}" for i, row in enumerate(ROWS) for rater, text in zip("ab", row, strict=True)),
    ]
    (tmp_path / "answers.csv").write_text("\n".join(lines))
    return str(tmp_path / "answers.csv")


SCORED = ("--measure", "indel", "--json")


def test_the_command_line_and_the_library_give_the_same(answers: str, cli: Cli) -> None:
    result = cli("score", answers, "--policy", "any-severity", *SCORED)
    report = softirr.agreement(softirr.read(answers), "indel", policy="any-severity")
    assert result["coefficients"] == report.to_dict()["coefficients"]
    assert result["provenance"]["policy"] == {
        "name": "clinical finding, any severity",
        "ignore": ["severity"],
        "more_general": "graded",
        "split": None,
    }
    assert [item["agreement"] == 1.0 for item in result["items"]] == [True, False, False, False, True]
    default_result = cli("score", answers, *SCORED)
    assert default_result["provenance"]["policy"]["name"] == "as written"
    assert default_result["coefficients"]["cohen_kappa"]["value"] < result["coefficients"]["cohen_kappa"]["value"]
    assert default_result["coefficients"] == softirr.agreement(softirr.read(answers), "indel").to_dict()["coefficients"]


def test_options_replace_parts_of_the_policy(answers: str, cli: Cli) -> None:
    result = cli(
        "score", answers, "--policy", "any-severity", "--ignore", "time, severity", "--more-general", "strict", *SCORED
    )
    assert result["provenance"]["policy"]["ignore"] == ["severity", "time"]
    assert result["provenance"]["policy"]["more_general"] == "strict"
    assert result["provenance"]["policy"]["name"] == ""
    assert result["items"][2]["agreement"] == 1.0


def test_printed_report_names_the_policy(answers: str, cli: Cli) -> None:
    assert "texts as written · " in cli("score", answers, "--measure", "indel")
    ignoring = cli("score", answers, "--measure", "indel", "--ignore", "side")
    assert "measure indel (without side)\n" in ignoring
    assert " · side does not count · " in ignoring
    assert "texts as written" not in ignoring


def test_item_agreement_and_two_lists_take_a_policy(answers: str) -> None:
    table = softirr.read(answers)
    items = softirr.item_agreement(table, "indel", policy=softirr.Policy(ignore=frozenset({"severity"})))
    assert items[0].agreement == 1.0
    first_texts, second_texts = zip(*ROWS, strict=True)
    kappa = softirr.cohen_kappa(first_texts, second_texts, "indel", policy="any-severity").value
    assert kappa == softirr.agreement(table, "indel", policy="any-severity").coefficients["cohen_kappa"].value


def test_a_policy_splits_lists(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "answers.csv"
    path.write_text('item,rater,text\n1,a,"fever, severe cough"\n1,b,mild cough; fever\n2,a,rash\n2,b,nausea\n')
    policy = softirr.Policy("ours", ignore=frozenset({"severity"}), split="commas")
    policy.save(tmp_path / "policy.json")
    report = softirr.agreement(softirr.read(path), "indel", policy=policy)
    assert report.items[0].agreement == 1.0
    assert report.provenance.policy == policy.to_dict()
    result = cli("score", str(path), "--policy", str(tmp_path / "policy.json"), *SCORED)
    assert (result["items"], result["provenance"]["policy"]) == (report.to_dict()["items"], policy.to_dict())
    result = cli("score", str(path), "--policy", str(tmp_path / "policy.json"), "--split", "none", *SCORED)
    assert result["items"][0]["agreement"] < 1
    assert result["provenance"]["policy"]["split"] == "none"


def test_a_choice_of_directions_that_the_measure_lacks_is_a_note(answers: str, cli: Cli) -> None:
    def notes(*options: str) -> str:
        return " ".join(cli("score", answers, "--measure", "indel", *options, "--json")["warnings"])

    assert "the policy's choice lenient changes nothing" in notes("--more-general", "lenient")
    assert "the policy's choice strict changes nothing" in notes("--policy", "exact-concept")
    assert "changes nothing" not in notes("--policy", "finding")
