"""Audits that are refused, or that have no pairs or no result."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ml_backend.audit_browser import Browser, demo_answers
from tests.ml_backend.seeded_store import NUMBER, Seeded

pytestmark = pytest.mark.slow  # tests/browser/test_audit_page.py judges pairs, too


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return demo_answers(seed)


def test_judged_pairs_that_left_the_project_are_counted(seeded: Seeded) -> None:
    browser = Browser(seeded)
    audit = browser.draw(40)
    browser.judge_all(audit)
    assert browser.send("GET", "/api/audit").json["audit"]["unused"] == ""
    text = browser.pairs(audit)["pairs"][0]["texts"][0]
    answers = {
        number: {rater: ["another text" if t == text else t for t in texts] for rater, texts in by_rater.items()}
        for number, entry in seeded.store.answers(seeded.project)
        if [text] in (by_rater := entry["findings"]["answers"]).values()
    }
    seeded.put(answers)
    seeded.score()
    gone = sum(text in pair["texts"] for pair in browser.pairs(audit)["pairs"])
    summary = browser.pairs(audit)["result"]["audit"]
    assert summary["unused"] == gone > 0 and summary["judgments"] + gone == 40
    sentence = f"{summary['unused']} of 40 judged pairs"
    for reply in (browser.send("GET", "/api/audit").json["audit"], browser.pairs(audit)):
        assert reply["unused"].startswith(sentence) and "can inform the calibration only, or nothing" in reply["unused"]
        assert reply["status"] == "done"


def test_an_audit_of_a_project_with_other_answers_has_no_result(seeded: Seeded) -> None:
    browser = Browser(seeded)
    audit = browser.draw()
    browser.judge_all(audit)
    numbers = [number for number, _ in seeded.store.answers(seeded.project)]
    seeded.put({number: {"2": [f"left {number}"], "3": [f"right {number}"]} for number in numbers})
    seeded.score()
    state = browser.pairs(audit)
    assert (state["status"], state["result"]) == ("judging", None) and "start a new audit" in state["problem"]


def test_audit_without_pairs_gives_the_reason(seed: Callable[..., Seeded]) -> None:
    browser = Browser(seed({1: {"2": ["fever"], "3": ["fever"]}, 2: {"2": ["fever"], "3": ["fever"]}}))
    audit = browser.draw()
    state = browser.pairs(audit)
    assert state["status"] == "failed" and state["problem"].endswith(".")


class TestRefused:
    @pytest.mark.parametrize(
        "change",
        [{"judgments": 0}, {"judgments": 9}, {"judgments": 10**6}, {"judgments": "many"}, {"judgments": True}],
    )
    def test_odd_numbers(self, seeded: Seeded, change: dict[str, Any]) -> None:
        assert Browser(seeded).send("POST", "/api/audit", **change).status_code == 400

    @pytest.mark.parametrize(
        "change",
        [
            {"verdict": "maybe"},
            {"verdict": []},
            {"rows": [10**6]},
            {"rows": []},
            {"rows": [True]},
            {"rows": "0"},
            {"judge": " "},
        ],
    )
    def test_odd_judgments(self, seeded: Seeded, change: dict[str, Any]) -> None:
        browser = Browser(seeded)
        audit = browser.draw()
        body = {"judge": "Rae", "rows": [0], "verdict": "same", **change}
        assert browser.send("POST", f"/api/audit/{audit}/judgments", **body).status_code == 400

    def test_another_projects_audit_is_not_there(self, seeded: Seeded) -> None:
        audit = Browser(seeded).draw()
        store = seeded.store
        other_project = store.ensure_project(seeded.settings.label_studio_url, 13)
        store.update_project(other_project["id"], summary=seeded.row["summary"], connection={"mode": "connected"})
        reply = seeded.client.get(
            f"/api/audit/{audit}", query_string={"project": 13, "judge": "x", "k": seeded.key("report", 13)}
        )
        assert reply.status_code == 404


def test_hostile_names_and_texts_stay_texts(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    seeded = Seeded(tmp_path)
    seeded.update(title=hostile)
    seeded.put({n: {"2": [hostile], "3": [f"{hostile} {n}"]} for n in range(1, 15)})
    seeded.score()
    browser = Browser(seeded, hostile)
    browser.draw(10)
    page = browser.send("GET", f"/audit/{NUMBER}").text
    assert "<script>alert" not in page
    assert json.dumps(hostile)[1:-1] in browser.send("GET", "/api/audit").text.replace("\\u003c", "<").replace(
        "\\u003e", ">"
    )
