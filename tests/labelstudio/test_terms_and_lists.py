"""Terminologies and lists in one box, in a real Label Studio.

Codes, suggested choices, and answers that are split and joined again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ml_backend.settings import MODEL_VERSION
from tests.labelstudio.backend import Commands, wrong
from tests.labelstudio.conftest import Harness, annotation
from tests.meaning.terminology.terms import FEVER_OBO

CONFIG = """<View><Text name="text" value="$text"/><TextArea name="findings" toName="text" maxSubmissions="20"/>
<Choices name="code" toName="text" choice="multiple">
<Choice value="Fever" alias="HP:0001945"/><Choice value="Cough" alias="HP:0012735"/></Choices>
<Taxonomy name="tree" toName="text"><Choice value="Finding"><Choice value="HP:0001945"/></Choice></Taxonomy></View>"""


def regions(ls: Harness, project: int, task: int) -> dict[str, dict[str, Any]]:
    """The result of our only prediction for a task, by control."""
    (prediction,) = [p for p in ls.predictions(project) if p["task"] == task and p["model_version"] == MODEL_VERSION]
    return {region["from_name"]: region for region in prediction["result"]}


def test_codes_and_lists(ls: Harness, tmp_path: Path) -> None:
    (tmp_path / "hp.obo").write_text(FEVER_OBO)
    commands = Commands(tmp_path / "state", ls.url, ls.token)
    ann, ben = ls.person("Ann"), ls.person("Ben")
    project = ls.create_project(label_config=CONFIG)
    lists, boxes, single, _ = ls.import_tasks(
        project,
        [
            {"data": {"text": "x"}, "annotations": [annotation(ann.id, first), annotation(ben.id, second)]}
            for first, second in (
                (["pyrexia, cough; headache"], ["headache; fever, cough"]),
                (["fever, cough; headache"], ["fever", "cough", "headache"]),
                (["fever"], ["pyrexia"]),
                (["cough"], ["coughs"]),
            )
        ],
    )
    options = ("--terminology", str(tmp_path / "hp.obo"))
    commands.json("connect", "--project", str(project), "--pull-only", *options)
    commands.sync(project)
    results = regions(ls, project, single)
    assert results["findings"]["score"] == 1.0
    assert wrong(ls, project, tmp_path, *options) == []

    commands.sync(project, "--split", "commas")
    results = regions(ls, project, lists)
    (text,) = results["findings"]["value"]["text"]
    assert results["findings"]["score"] == 1.0
    assert sorted(text.split(", ")) in (["cough", "fever", "headache"], ["cough", "headache", "pyrexia"])
    assert regions(ls, project, boxes)["findings"]["score"] == 1.0
    split = (*options, "--split", "commas")
    assert wrong(ls, project, tmp_path, *split) == []

    commands.sync(project, "--split", "none")
    assert wrong(ls, project, tmp_path, *options) == []
    assert regions(ls, project, boxes)["findings"]["score"] < 1.0
