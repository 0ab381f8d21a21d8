"""The audit from drawing to the audited coefficient: blind, one judge or several, equal to the command line."""

import csv
import io
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ml_backend.demo import example
from ml_backend.review.computations import COMPUTATIONS
from ml_backend.review.requests import RESULT
from ml_backend.settings import ProjectSettings
from tests.ml_backend.seeded_store import NUMBER, Seeded

KEY = example.key()

pytestmark = pytest.mark.slow  # tests/browser/test_walk.py judges pairs, too


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    """The demo's answers with known meanings, one text each."""
    raters = {name: str(number) for number, name in enumerate(example.annotators(), start=2)}
    tasks = {}
    for number, narrative in enumerate(example.narratives(), start=5200):
        tasks[number] = {raters[name]: list(texts[:1]) for name, texts in narrative.answers.items() if texts}
    return seed(tasks)


class Browser:
    """Requests of the page."""

    def __init__(self, seeded: Seeded, judge: str = "Rae Viewer"):
        self.seeded, self.judge = seeded, judge

    def send(self, method: str, path: str, **body: Any) -> Any:
        headers = {"X-Softirr-Key": self.seeded.key("report")}
        options = (
            {"query_string": {"project": NUMBER, **body}}
            if method in ("GET", "DELETE")
            else {"json": {"project": NUMBER, **body}}
        )
        return self.seeded.client.open(path, method=method, headers=headers, **options)

    def work(self) -> None:
        """Answer the waiting requests, as the scorer process does."""
        self.seeded.work(ProjectSettings(measure="indel"))

    def draw(self, n: int = 30) -> int:
        reply = self.send("POST", "/api/audit", judgments=n, who=self.judge)
        assert reply.status_code == 202
        self.work()
        return int(reply.json["audit"])

    def pairs(self, audit: int) -> Any:
        return self.send("GET", f"/api/audit/{audit}", judge=self.judge).json

    def say(self, audit: int, rows: list[int], verdict: str) -> Any:
        return self.send("POST", f"/api/audit/{audit}/judgments", judge=self.judge, rows=rows, verdict=verdict)

    def judge_all(self, audit: int) -> None:
        for pair in self.pairs(audit)["pairs"]:
            a, b = (KEY.get(text, text) for text in pair["texts"])
            assert self.say(audit, [pair["row"]], "same" if a == b else "different").status_code == 201
        self.work()


def test_a_judge_sees_value_and_interval_and_so_does_every_other_screen(seeded: Seeded) -> None:
    browser = Browser(seeded)
    audit = browser.draw(40)
    replies = []
    for pair in browser.pairs(audit)["pairs"][:30]:
        a, b = (KEY.get(text, text) for text in pair["texts"])
        replies.append(browser.say(audit, [pair["row"]], "same" if a == b else "different").json)
        if len(replies) % 10 == 0:
            browser.work()
    assert replies[8]["looks"] == [] and {reply["status"] for reply in replies} == {"judging"}
    state = browser.pairs(audit)
    assert [look["judged"] for look in state["looks"]] == [10, 20, 30]
    assert all(set(look) == {"judged", "value", "ci95", "needed"} for look in state["looks"])
    last = state["looks"][-1]
    widths = [look["ci95"][1] - look["ci95"][0] for look in state["looks"]]
    assert 0 < widths[-1] < widths[0] < 1.2
    # no result yet, but there is one number: the report has it
    assert state["result"] is None and state["status"] == "judging"
    verdict = browser.send("GET", "/api/report").json["verdict"]
    assert (verdict["value"], verdict["ci95"], verdict["judgments"]) == (last["value"], last["ci95"], 30)
    # the last look and the result have the same numbers
    assert browser.send("POST", f"/api/audit/{audit}/finish").status_code == 202
    browser.work()
    result = browser.send("GET", f"/api/audit/{audit}", judge=browser.judge, result=1).json["result"]
    alpha = next(c for c in result["coefficients"] if c["key"] == "krippendorff_alpha")
    assert (alpha["value"], alpha["ci95"]) == (last["value"], last["ci95"])


def test_from_drawing_to_the_headline(seeded: Seeded, tmp_path: Path) -> None:
    browser = Browser(seeded)
    assert browser.send("GET", "/api/audit").json["audit"] is None
    audit = browser.draw(40)
    state = browser.pairs(audit)
    assert state["status"] == "judging" and state["n_pairs"] == 40 and state["result"] is None
    browser.judge_all(audit)
    done = browser.pairs(audit)
    assert done["status"] == "done" and done["result"]["audit"]["judgments"] == 40

    # the same judgments through the command line: the same numbers
    sheet_file = browser.send("GET", f"/audit/{NUMBER}/{audit}.csv", judge=browser.judge)
    sheet = tmp_path / "sheet.csv"
    sheet.write_bytes(sheet_file.data)
    table = tmp_path / "answers.csv"
    with table.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines)
        writer.writerow(["item", "rater", "text"])
        rows = [
            (n, r, t)
            for n, e in seeded.store.answers(seeded.project)
            for r, texts in e["findings"]["answers"].items()
            for t in texts
        ]
        writer.writerows(reversed(rows))  # their order must not matter
    import softirr
    from softirr.audit.workflow import apply

    direct = apply(softirr.read(table), "indel", [sheet]).to_dict()
    for coefficient in done["result"]["coefficients"]:
        assert coefficient["value"] == pytest.approx(direct["coefficients"][coefficient["key"]]["value"], abs=1e-9)

    # the report has it, too
    report = browser.send("GET", "/api/report").json
    verdict = report["verdict"]
    coefficient = direct["coefficients"][verdict["coefficient"]]
    assert verdict["judgments"] == direct["audit"]["judgments"] == 40
    assert verdict["value"] == pytest.approx(coefficient["value"], abs=1e-9)
    assert verdict["ci95"] == pytest.approx(coefficient["ci95"], abs=1e-9)
    rows = {row["key"]: row for row in report["coefficients"]}
    assert rows["krippendorff_alpha"]["expected"] == pytest.approx(direct["expected_agreement"]["krippendorff"])
    assert verdict["sentence"].count(f"{coefficient['value']:.2f}") == 1
    page = browser.send("GET", f"/report/{NUMBER}").text
    assert "40 judgments" in page


def test_nothing_pulls_the_judge_in_a_direction(seeded: Seeded) -> None:
    """No score, no rater, no coefficient, no task and no unit id before the judge is through."""
    browser = Browser(seeded)
    audit = browser.draw()
    for reply in (browser.send("GET", "/api/audit"), browser.send("GET", f"/api/audit/{audit}", judge="Rae")):
        body = reply.json
        assert not {"result", "equivalence", "raters", "agreement"} & {
            key for key, value in body.items() if value is not None
        }
    state = browser.pairs(audit)
    pair = state["pairs"][0]
    assert set(pair) == {"row", "texts", "verdict"} and state["own"] is None
    page = browser.send("GET", f"/audit/{NUMBER}").text
    assert "kappa" not in page and "alpha" not in page
    browser.judge_all(audit)
    assert Browser(seeded, "Somebody Else").pairs(audit)["result"] is None


def test_several_judges(seeded: Seeded) -> None:
    first, second = Browser(seeded, "One"), Browser(seeded, "Two")
    audit = first.draw()
    first.judge_all(audit)
    first_result = first.pairs(audit)["result"]["coefficients"]
    assert second.say(audit, [0], "same").json["status"] == "done"
    assert first.send("GET", "/api/report").json["verdict"]["judgments"], "the verdict stays while others judge"
    second.work()
    assert first.pairs(audit)["result"]["coefficients"] == first_result, "who is not through does not count yet"
    second.judge_all(audit)
    joint = first.pairs(audit)
    assert joint["judges"] == [{"name": "One", "n": joint["n_pairs"]}, {"name": "Two", "n": joint["n_pairs"]}]
    assert joint["result"]["audit"]["judges"] == 2
    assert "2 judges" in first.send("GET", f"/report/{NUMBER}").text


def test_a_judgment_during_the_working_out_is_not_lost(seeded: Seeded, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that the scorer computed while a judgment changed is dropped."""
    browser = Browser(seeded)
    audit = browser.draw()
    browser.judge_all(audit)
    result_before = browser.pairs(audit)["result"]["coefficients"]
    evaluate = COMPUTATIONS[RESULT]

    def meanwhile(*arguments: Any) -> Any:
        result = evaluate(*arguments)
        monkeypatch.setitem(COMPUTATIONS, RESULT, evaluate)
        browser.say(audit, list(range(30)), "same")
        return result

    browser.say(audit, [0], "same")
    monkeypatch.setitem(COMPUTATIONS, RESULT, meanwhile)
    browser.work()
    assert browser.pairs(audit)["status"] == "working"
    browser.work()
    assert browser.pairs(audit)["status"] == "done" and browser.pairs(audit)["result"]["coefficients"] != result_before


def test_audit_continues_another_day(seeded: Seeded) -> None:
    browser = Browser(seeded)
    audit = browser.draw()
    browser.say(audit, [0], "same")
    browser.say(audit, [1], "unsure")
    pairs = Browser(seeded).pairs(audit)["pairs"]
    assert [pair["verdict"] for pair in pairs[:3]] == ["same", "unsure", None]


def test_undo_takes_the_result_back(seeded: Seeded) -> None:
    browser = Browser(seeded)
    audit = browser.draw()
    browser.judge_all(audit)
    reply = browser.send("DELETE", f"/api/audit/{audit}/judgments", judge=browser.judge, rows="0")
    assert reply.status_code == 200 and reply.json["status"] == "judging"
    browser.work()
    assert browser.send("GET", "/api/report").json["verdict"]["judgments"] == len(browser.pairs(audit)["pairs"]) - 1
    assert browser.send("DELETE", f"/api/audit/{audit}/judgments", judge=browser.judge, rows="0").status_code == 404


def test_finishing_early(seeded: Seeded) -> None:
    browser = Browser(seeded)
    audit = browser.draw(60)
    assert browser.send("POST", f"/api/audit/{audit}/finish").status_code == 409
    for pair in browser.pairs(audit)["pairs"][:40]:
        a, b = (KEY.get(text, text) for text in pair["texts"])
        browser.say(audit, [pair["row"]], "same" if a == b else "different")
    assert browser.send("POST", f"/api/audit/{audit}/finish").status_code == 202
    browser.work()
    state = browser.send("GET", f"/api/audit/{audit}", judge=browser.judge, result=1).json
    assert state["status"] == "done" and 0 < state["result"]["audit"]["judgments"] <= 40


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
        assert reply["unused"].startswith(sentence) and reply["unused"].endswith("the calibration only.")
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


def test_of_sets_too_as_many_pairs_are_drawn_as_requested(tmp_path: Path) -> None:
    seeded = Seeded(tmp_path)
    raters = {name: str(number) for number, name in enumerate(example.annotators(), start=2)}
    seeded.put(
        {
            number: {raters[name]: list(texts) for name, texts in narrative.answers.items() if texts}
            for number, narrative in enumerate(example.narratives(), start=5200)
        }
    )
    seeded.score()
    browser = Browser(seeded)
    audit = browser.draw(60)
    state = browser.pairs(audit)
    assert state["n_pairs"] == len(state["pairs"]) == 60
    assert all(pair["texts"][0] != pair["texts"][1] for pair in state["pairs"])
    browser.judge_all(audit)
    done = browser.pairs(audit)
    assert done["status"] == "done" and done["result"]["audit"]["judgments"] == 60


def test_judge_who_stops_gets_a_summary_and_the_agreement_of_judges(seeded: Seeded) -> None:
    first, second = Browser(seeded, "One"), Browser(seeded, "Two")
    audit = first.draw()
    first.judge_all(audit)
    for position, verdict in enumerate(["same", "different", "first", "unsure"]):
        first.say(audit, [position], "same" if verdict == "unsure" else verdict)
        second.say(audit, [position], verdict)
    summary = second.send("GET", f"/api/audit/{audit}", judge="Two", own=1).json["own"]
    assert (summary["n"], summary["same"], summary["different"], summary["unsure"]) == (4, 1, 2, 1)
    assert not summary["counts"], "somebody else judged every pair"
    assert summary["agreement"]["pairs"] == 3 and summary["agreement"]["observed_agreement"] == 1.0
    assert second.pairs(audit)["own"] is None, "not while she judges"
    assert first.pairs(audit)["own"]["counts"]


def test_audit_with_only_cant_tell_gives_advice(seeded: Seeded) -> None:
    browser = Browser(seeded)
    audit = browser.draw()
    browser.say(audit, list(range(30)), "unsure")
    browser.work()
    state = browser.pairs(audit)
    assert state["status"] == "done" and state["result"]["audit"]["judgments"] == 0
    warnings = " ".join(seeded.row["summary"]["controls"]["findings"]["warnings"])
    assert "30 pairs were judged as can't tell" in warnings and "ask somebody who knows" in warnings


def test_without_the_audit_there_is_one_number(seeded: Seeded) -> None:
    """A decision after the draw moves the report's own value, and the audit's page and table with it."""
    browser = Browser(seeded)
    audit = browser.draw(40)
    rows = seeded.store.answers(seeded.project)
    a, b = next(
        (x, y)
        for _, entry in rows
        for [x], [y] in itertools.combinations(entry["findings"]["answers"].values(), 2)
        if x != y
    )
    value_before = browser.send("GET", "/api/report").json["verdict"]["value"]
    seeded.store.decide(seeded.project, a, b, same=True, reviewer="Rae")
    seeded.score()
    browser.judge_all(audit)
    key = browser.send("GET", "/api/report").json["verdict"]["coefficient"]
    by_measure = {row["key"]: row["plain"] for row in browser.pairs(audit)["result"]["coefficients"]}
    summary = seeded.row["summary"]["controls"]["findings"]
    assert value_before != by_measure[key] == summary["coefficients"][key]["details"]["by_measure"]


def test_audit_without_pairs_gives_the_reason(tmp_path: Path) -> None:
    seeded = Seeded(tmp_path)
    seeded.put({1: {"2": ["fever"], "3": ["fever"]}, 2: {"2": ["fever"], "3": ["fever"]}})
    seeded.score()
    browser = Browser(seeded)
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


def test_command_line_reads_the_sheet(seeded: Seeded) -> None:
    browser = Browser(seeded)
    audit = browser.draw()
    rows = list(csv.reader(io.StringIO(browser.send("GET", f"/audit/{NUMBER}/{audit}.csv").text)))
    assert rows[0] == ["unit", "pair", "text_a", "text_b", "judgment"] and {row[4] for row in rows[1:]} == {""}
