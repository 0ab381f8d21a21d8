"""Tasks with predictions that `softirr score --label-studio` writes, imported into a real Label Studio."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from softirr.cli.main import main
from tests.labelstudio.conftest import Harness, annotation


def test_predictions_of_an_export_and_of_a_table_are_imported(
    ls: Harness, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = ls.create_project()
    ls.import_tasks(
        project,
        [
            {"data": {"text": f"narrative {n}"}, "annotations": [annotation(ls.admin, ["fever", f"rash {n}"])]}
            for n in range(2)
        ],
    )
    export = json.loads(ls.export_file(project, tmp_path).read_text(encoding="utf-8"))
    for task in export:  # a second annotator
        task["annotations"] += [{**task["annotations"][0], "id": 9000 + task["id"], "completed_by": 9000}]
    (tmp_path / "export.json").write_text(json.dumps(export), encoding="utf-8")
    (tmp_path / "table.csv").write_text("item,rater,text\n1,ann,fever\n1,bob,fever\n2,ann,rash\n2,bob,rash\n")
    for file in ("export.json", "table.csv"):
        command = ["score", str(tmp_path / file), "--measure", "indel", "--label-studio", str(tmp_path / "tasks.json")]
        assert main(command) == 0
        config = re.search(r"configuration: (<View>.*</View>)", capsys.readouterr().err)
        tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
        imported_project = ls.create_project(**({"label_config": config[1]} if config else {}))
        ids = ls.import_tasks(imported_project, tasks)
        stored = {entry["task"]: entry for entry in ls.predictions(imported_project)}
        assert sorted(stored) == sorted(ids)
        for number, task in zip(ids, tasks, strict=True):
            (prediction,) = task["predictions"]
            (region,), (expected_region,) = stored[number]["result"], prediction["result"]
            assert stored[number]["score"] == prediction["score"] and stored[number]["model_version"] == "agreement"
            assert region["value"] == expected_region["value"] and region["from_name"] == expected_region["from_name"]
        assert ls.api.get(f"/api/projects/{imported_project}/")["config_has_control_tags"]
