"""Answers of models from files of their own: names, ids that do not match, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import softirr
from softirr.answers.outputs import with_outputs
from softirr.errors import InputError
from tests import Cli


def table(*rows: tuple[str, str, str]) -> softirr.AnnotationTable:
    return softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)


PEOPLE = table(("1", "ann", "fever"), ("1", "ben", "fever"), ("2", "ann", "rash"), ("2", "ben", "rash"))


def test_models_have_their_prefix_and_the_reference_and_other_items_are_left_out() -> None:
    log = table(("1", "model:a", "fever"), ("1", "reference", "fever"), ("3", "model:a", "x"), ("2", "model:a", "itch"))
    both = with_outputs(PEOPLE, {"log": log, "more": table(("2", "gpt", "rash"))})
    assert both.raters == ("ann", "ben", "model:a", "model:gpt") and both.items == ("1", "2")
    assert both.warnings == ("Left out: 1 item of log that the others have not answered.",)


def test_people_of_a_log_with_models_are_no_models() -> None:
    """Langfuse exports scores of annotators beside the generations of models."""
    log = table(("1", "model:a", "fever"), ("1", "dora", "fever"), ("1", "reference", "fever"))
    both = with_outputs(PEOPLE, {"log": log})
    assert both.raters == ("ann", "ben", "model:a")
    assert both.warnings == ("Left out: the raters of log that are not models: dora.",)


def test_other_ids_and_names_that_are_taken_are_refused() -> None:
    with pytest.raises(InputError, match="log has none of the items: its ids are x, and the others 1, 2"):
        with_outputs(PEOPLE, {"log": table(("x", "gpt", "fever"))})
    with pytest.raises(InputError, match="answers of model:gpt already"):
        with_outputs(PEOPLE, {name: table(("1", "gpt", "fever")) for name in ("log", "more")})


@pytest.mark.parametrize("name", ["log.jsonl", "log.csv"])
def test_the_log_of_a_single_model(tmp_path: Path, cli: Cli, name: str) -> None:
    people, log = tmp_path / "people.csv", tmp_path / name
    people.write_text("item,rater,text\n" + "".join(f"{i},{who},word {i % 3}\n" for i in range(9) for who in "abc"))
    calls = [{"id": str(i), "model": "gpt", "response": f"word {i % 3}"} for i in range(9)]
    lines = [",".join(calls[0])] + [",".join(call.values()) for call in calls]
    log.write_text("\n".join(lines if name.endswith("csv") else map(json.dumps, calls)) + "\n")
    groups = cli("compare", people, "--models", "--outputs", log, "--measure", "exact", "--json")["groups"]
    assert [one["label"] for one in groups] == ["others", "model:gpt"]
    assert "has answers of one rater only: agreement needs two." in cli("score", log, "--measure", "exact", status=2)


def test_the_command(tmp_path: Path, cli: Cli) -> None:
    """Lists in one box are split in both files, and a model that is not named is not one of the people."""
    people, log = tmp_path / "people.csv", tmp_path / "log.jsonl"
    rows = [f'{item},{who},"fever; cough {item}"' for item in range(12) for who in ("ann", "ben")]
    people.write_text("item,rater,text\n" + "\n".join(rows) + "\n")
    calls = [(item, model) for item in range(12) for model in ("a", "b")]
    texts = {"a": "cough {}; fever", "b": "rash; cough {}"}
    log.write_text(
        "\n".join(json.dumps({"id": str(i), "model": m, "response": texts[m].format(i)}) for i, m in calls) + "\n"
    )
    command = ["compare", str(people), "--measure", "exact", "--split", "auto", "--outputs", str(log)]
    own = ["--coefficient", "observed_agreement", "--json"]
    result = cli(*command, "--models", "model:a", *own)
    assert [(one["label"], one["n_raters"], one["value"]) for one in result["groups"]] == [
        ("others", 2, 1.0),
        ("model:a", 3, 1.0),
    ]
    result = cli(*command, "--models", *own)
    assert {one["rater"]: one["agreement"] for one in result["furthest"]} == {"model:b": 0.5}
    for wrong in (["--rater", "ann"], ["--models", "--sheets", "x.csv"]):
        assert "--outputs" in cli(*command, *wrong, status=2)


def test_what_is_left_out_of_a_file_is_reported_and_its_marks_are_those_of_the_people(tmp_path: Path, cli: Cli) -> None:
    people, own = tmp_path / "people.csv", tmp_path / "own.csv"
    rows = [f"{item},{who},{text}" for item, text in ((1, "fever"), (2, "rash"), (3, "N/A")) for who in ("ann", "ben")]
    people.write_text("item,rater,text\n" + "\n".join(rows) + "\n")
    own.write_text("item,rater,text\n1,gpt,fever\n2,gpt,itch\n3,gpt,N/A\n9,gpt,x\n")
    command = ["compare", str(people), "--measure", "exact", "--models", "--outputs", str(own), "--json"]

    def compared(*more: str) -> tuple[list[int], str]:
        result = cli(*command, *more)
        return [one["n_items"] for one in result["groups"]], "\n".join(result["warnings"])

    n_items, warnings = compared()
    assert n_items == [2, 2]
    assert f"Left out: 1 item of {own}" in warnings
    assert "ann 1 (N/A)" in warnings and f"{own}: 1 text" in warnings
    assert compared("--missing", "none")[0] == [3, 3]
