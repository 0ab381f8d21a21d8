"""Suggested answers as a file that Label Studio imports; tests/labelstudio imports one into a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from softirr.cli.main import main
from softirr.report.label_studio_tasks import labeling_config
from tests.answers.formats.annotation_tools import label_studio
from tests.answers.formats.common import ITEMS, text_table

OPTIONS = ["--measure", "indel", "--label-studio"]


def written(folder: Path, *words: str) -> list[dict[str, Any]]:
    assert main(["score", *words, *OPTIONS, str(folder / "tasks.json"), "--json"]) == 0
    return json.loads((folder / "tasks.json").read_text(encoding="utf-8"))


def test_tasks_of_an_export_keep_their_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = label_studio(tmp_path)
    export = json.loads(path.read_text(encoding="utf-8"))
    export.append({"id": 9, "data": {"text": "Case 9"}, "annotations": export[0]["annotations"][:1]})
    path.write_text(json.dumps(export), encoding="utf-8")
    tasks = written(tmp_path, str(path))
    output = capsys.readouterr()
    items = {item["id"]: item for item in json.loads(output.out)["items"]}
    assert [task["data"] for task in tasks] == [{"text": f"Case {item}"} for item in (*ITEMS, "9")]
    for item, task in zip(ITEMS, tasks, strict=False):
        (prediction,) = task["predictions"]
        assert prediction["score"] == items[item]["agreement"] and prediction["model_version"] == "agreement"
        (region,) = prediction["result"]
        assert (region["from_name"], region["to_name"], region["type"]) == ("finding", "text", "textarea")
        assert region["value"] == {"text": items[item]["suggestion"]}
    assert tasks[-1]["predictions"] == [], "one rater"
    assert "has 5 tasks with predictions" in output.err and "configuration of the export" in output.err


@pytest.mark.slow
def test_tasks_of_a_table_show_the_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["1", "ann", "hot; cold", "rest"], ["1", "bob", "hot", "rest"], ["2", "ann", "rash", ""]]
    path = text_table([["case", "rater", "what?", "what!"], *rows], tmp_path / "table.csv")
    tasks = written(tmp_path, str(path), "--item", "case", "--text", "what?,what!", "--split", "semicolons")
    assert tasks[0]["data"] == {
        "item": "1",
        "what_answers": "ann: hot; cold\nbob: hot",
        "what__answers": "ann: rest\nbob: rest",
    }
    (prediction,) = tasks[0]["predictions"]
    assert [region["from_name"] for region in prediction["result"]] == ["what", "what_"]
    assert tasks[1]["predictions"] == []
    config = labeling_config(["what?", "what!"])
    assert config in capsys.readouterr().err
    controls = {
        prediction.get("name"): prediction.get("toName")
        for prediction in ElementTree.fromstring(config).iter("TextArea")
    }
    assert controls == {region["from_name"]: region["to_name"] for region in prediction["result"]}


def test_fields_that_predictions_cannot_show_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = label_studio(tmp_path)
    export = json.loads(path.read_text(encoding="utf-8"))
    export[0]["annotations"][0]["result"][0]["value"] |= {"x": 1, "y": 2}
    path.write_text(json.dumps(export), encoding="utf-8")
    assert main(["score", str(path), *OPTIONS, str(tmp_path / "tasks.json")]) == 2
    assert "The texts of finding are of regions" in capsys.readouterr().err
    table = text_table([["item", "rater", "side"], ["1", "ann", "left"], ["1", "bob", "left"]], tmp_path / "sides.csv")
    assert main(["score", str(table), "--field", "side=nominal", *OPTIONS, str(tmp_path / "tasks.json")]) == 2
    assert "no field has texts" in capsys.readouterr().err
    assert main(["score", str(label_studio(tmp_path)), *OPTIONS, str(tmp_path)]) == 2
    assert "can't be written" in capsys.readouterr().err
