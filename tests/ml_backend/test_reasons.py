"""Why texts do not match, on the pages and in the prediction."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.predictions import build
from ml_backend.scoring.details import counted_reasons
from ml_backend.settings import ProjectSettings
from ml_backend.store.store import Store
from softirr.answers.table import AnnotationTable, Answer
from softirr.report.agreement import agreement
from softirr.report.options import AgreementOptions
from tests.ml_backend.bench import Bench
from tests.ml_backend.seeded_store import Seeded

TASKS = {
    1: {"2": ["severe headache"], "3": ["mild headache"], "4": ["headache"]},
    2: {"2": ["severe cough"], "3": ["cough"]},
    3: {"2": ["left knee pain"], "3": ["right knee pain"], "4": ["left knee pain"]},
    4: {"2": ["rash"], "3": ["rash"]},
    5: {"2": ["fever"], "3": []},
    6: {"2": ["very severe itching"], "3": ["itching"]},
}


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return seed(TASKS, measure="exact")


def test_the_report_counts_tasks_and_leads_to_them(seeded: Seeded) -> None:
    text = seeded.page()
    assert "Why texts do not match" in text and "severe against mild" in text
    assert "Ann Example and Ben Sample disagree on severity in 50% of their tasks." in text
    assert re.search(r"If severity did not count, Krippendorff(&#39;|')s alpha would be", text)
    bar = re.search(r'class="bar" href="([^"]+)" aria-label="Tasks with this reason: severity"', text)
    assert bar
    filtered = seeded.page(bar[1].replace("&amp;", "&"))
    assert re.findall(r'<tr data-task="(\d+)"', filtered) == ["1", "2", "6"]
    assert re.search(r"severity</strong>\s+\(3 tasks\)", filtered) and re.search(r"Show all\s+tasks", filtered)
    assert len(re.findall(r'<tr data-task="(\d+)"', text)) == 6


def test_a_reason_that_does_not_exist_is_refused(seeded: Seeded) -> None:
    answer = seeded.as_person().get("/report/12?reason=weather")
    assert answer.status_code == 400 and "There is no reason weather" in answer.text


def test_the_queue_is_filtered_and_sorted_by_reason(seeded: Seeded) -> None:
    ask = seeded.as_person()
    queue = ask.get("/api/queue?project=12&reason=severity").json
    assert (queue["total"], [one["task"] for one in queue["tasks"]]) == (3, [1, 2, 6])
    assert queue["tasks"][0]["kinds"] == ["severity"]
    assert "disagreement on severity" in queue["tasks"][0]["reasons"]
    by_reason = ask.get("/api/queue?project=12&sort=reason").json["tasks"]
    assert [one["kinds"][:1] for one in by_reason] == [*([["side"]] + 3 * [["severity"]]), ["one rater only"], []]
    assert ask.get("/api/queue?project=12&sort=weather").status_code == 400
    assert ask.get("/api/queue?project=12&reason=weather").status_code == 400


def test_csv_and_json_hold_reasons(seeded: Seeded) -> None:
    ask = seeded.as_person()
    rows = seeded.csv("/report/12/reasons.csv", ask)
    assert {
        "reason": "severity",
        "first": "Ann Example",
        "second": "Ben Sample",
        "tasks": "3",
        "tasks_of_both": "6",
    } in rows
    tasks = ask.get("/report/12/tasks.csv").text
    assert "disagreement on side" in tasks
    reasons = ask.get("/api/report?project=12").json["reasons"]
    assert [(one["kind"], one["tasks"]) for one in reasons["kinds"]][:1] == [("severity", 3)]
    assert reasons["kinds"][0]["examples"][0]["link"].endswith("task=1")


def test_one_file_has_bars_without_links(seeded: Seeded) -> None:
    text = seeded.as_person().get("/report/12/report.html").text
    assert "<progress" in text and "reason=severity" not in text


def test_the_panel_and_the_prediction_say_why(seeded: Seeded) -> None:
    panel = seeded.as_person().get("/api/panel?project=12&task=3").json
    assert [(one["kind"], one["name"], one["words"]) for one in panel["reasons"]] == [
        ("side", "side", "left against right"),
        ("side", "side", "right against left"),
    ]
    store: Store = seeded.store
    details = store.get_tasks(seeded.project, [3])[3]["details"]
    (region,) = build(details, [Control(name="findings", to_name="text")], suggestions=True)["result"]
    assert region["meta"]["reasons"] == [
        {"raters": ["2", "3"], "kind": "side", "words": "left against right"},
        {"raters": ["3", "4"], "kind": "side", "words": "right against left"},
    ]


def test_details_from_before_there_were_reasons_are_shown(seeded: Seeded) -> None:
    from ml_backend.review.triage_queue import candidate

    assert candidate(1, 0.5, [("2", "3", 0.5)]).kinds == ()
    row = seeded.row["summary"]
    row["controls"]["findings"].pop("reasons")
    seeded.update(summary=row)
    text = seeded.page()
    assert 'id="h-reasons"' not in text and "The reasons were not computed." in text


def test_the_summary_counts_what_was_found_task_by_task(seeded: Seeded, monkeypatch: pytest.MonkeyPatch) -> None:
    store, scorer = seeded.store, seeded.services.scorer
    rows = [Answer(str(task), rater, tuple(texts)) for task, given in TASKS.items() for rater, texts in given.items()]
    whole = agreement(
        AnnotationTable.from_answers(rows), "exact", chance="exact", options=AgreementOptions(what_if=True)
    ).to_dict()["reasons"]
    seeded.services.scorer.measure("exact")

    def again(*_: object, **__: object) -> None:
        raise AssertionError("pairs are explained a second time")

    monkeypatch.setattr("softirr.report.agreement.explain", again)
    summary = scorer.summary(
        store.answers(seeded.project),
        "findings",
        ProjectSettings(measure="exact", chance="exact"),
        reasons=counted_reasons(store.details(seeded.project), "findings"),
    )
    assert summary["reasons"] == whole
    assert (
        scorer.summary(store.answers(seeded.project), "findings", ProjectSettings(measure="exact"))["reasons"] is None
    )


def test_reasons_that_are_not_counted_are_said(tmp_path: Path) -> None:
    """Of a task with 25 annotators who all differ, 200 of 300 pairs of texts are counted."""
    bench = Bench(tmp_path)
    task = bench.fake.add_task({user: [3 * chr(96 + user)] for user in range(1, 26)})
    bench.fake.add_task({1: ["fever"], 2: ["cough"]})
    bench.sync()
    assert [one for one in bench.report()["warnings"] if "are counted" in one] == [
        f"Many texts of task {task} do not match: of a task, the reasons of 200 pairs of texts are counted."
    ]
