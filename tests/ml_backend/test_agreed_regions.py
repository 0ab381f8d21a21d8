"""Agreed texts of regions are saved with the choices and ratings that most annotators give to the region."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ml_backend.web.agreed import agreed_results
from softirr.answers.labelstudio import AGREED_ID, is_agreed_answer
from tests.ml_backend.answered_fields import panel_of
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio

CONFIG = """<View><Text name="note" value="$note"/><Labels name="span" toName="note"><Label value="Drug"/></Labels>
<TextArea name="meaning" toName="note" perRegion="true"/>
<Choices name="severity" toName="note" perRegion="true"><Choice value="mild"/><Choice value="severe"/></Choices>
</View>"""
SEVERITIES = [("mild", "mild"), ("severe", "severe"), ("severe", "")]
"""Severity of each region by annotator: most call the first one severe, and two differ on the second."""


def span(user: int, number: int, severity: str) -> list[dict[str, Any]]:
    """The results of a region of an annotator."""
    extent = {"start": 20 * number + user % 2, "end": 20 * number + 10}
    values = {"labels": ["Drug"], "text": ["aspirin" if number else "fever"], "choices": [severity]}
    controls = {"span": "labels", "meaning": "text", "severity": "choices"}
    types = {"span": "labels", "meaning": "textarea", "severity": "choices"}
    return [
        {
            "id": f"region-{user}-{number}",
            "from_name": name,
            "to_name": "note",
            "type": types[name],
            "origin": "manual",
            "value": {**extent, key: values[key]},
        }
        for name, key in controls.items()
        if name != "severity" or severity
    ]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, FakeLabelStudio(CONFIG), measure="exact")
    bench.choose(regions="matched")
    task = bench.fake.add_task()
    for user, severities in enumerate(SEVERITIES, start=1):
        results = [result for number, severity in enumerate(severities) for result in span(user, number, severity)]
        bench.fake.annotate(task, user, [], result=results)
    bench.sync()
    return bench


def test_panel_has_no_row_for_choices_of_regions(bench: Bench) -> None:
    assert [field["name"] for field in panel_of(bench, "9", "reviewer", position=0)["fields"]] == ["meaning"]


def test_majority_of_a_region_is_saved_with_its_text(bench: Bench) -> None:
    (task,) = bench.fake.tasks
    people = bench.fake.tasks[task]["annotations"]
    saved = list(agreed_results(bench.row, bench.task(task), {"meaning": ["fever", "aspirin"]}, people))
    by_region: dict[str, dict[str, Any]] = {}
    for result in saved:
        by_region.setdefault(result["id"], {})[result["from_name"]] = result["value"]
    first, second = by_region.values()
    assert all(id.startswith(AGREED_ID) for id in by_region) and len(by_region) == 2
    extent = {name: first["span"][name] for name in ("start", "end")}
    assert first["severity"] == {**extent, "choices": ["severe"]} and first["meaning"] == {**extent, "text": ["fever"]}
    assert second.keys() == {"span", "meaning"}, "no majority: the region stays without a severity"


def test_empty_answer_is_recognized_as_agreed(bench: Bench) -> None:
    (task,) = bench.fake.tasks
    result = list(agreed_results(bench.row, bench.task(task), {"meaning": []}, bench.fake.tasks[task]["annotations"]))
    assert is_agreed_answer({"result": result})
    assert [entry["value"] for entry in result] == [{"text": []}]
