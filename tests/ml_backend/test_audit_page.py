"""The audit from drawing to the audited coefficient: blind, one judge or several, equal to the command line."""

import csv
import io
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.demo import example
from ml_backend.review.computations import COMPUTATIONS
from ml_backend.review.requests import RESULT
from softirr.audit import apply
from tests.ml_backend.audit_browser import KEY, Browser, demo_answers
from tests.ml_backend.seeded_store import NUMBER, Seeded

pytestmark = pytest.mark.slow  # tests/browser/test_audit_page.py judges pairs, too


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return demo_answers(seed)


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


def write_answers(seeded: Seeded, path: Path) -> Path:
    """Write the project's answers as a table, in reverse: their order must not matter."""
    rows = [
        (number, rater, text)
        for number, fields in seeded.store.answers(seeded.project)
        for rater, texts in fields["findings"]["answers"].items()
        for text in texts
    ]
    with path.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines).writerows([("item", "rater", "text"), *reversed(rows)])
    return path


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
    table = write_answers(seeded, tmp_path / "answers.csv")
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


def test_of_sets_too_as_many_pairs_are_drawn_as_requested(seed: Callable[..., Seeded]) -> None:
    raters = {name: str(number) for number, name in enumerate(example.annotators(), start=2)}
    tasks = {
        number: {raters[name]: list(texts) for name, texts in narrative.answers.items() if texts}
        for number, narrative in enumerate(example.narratives(), start=5200)
    }
    browser = Browser(seed(tasks))
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


def test_command_line_reads_the_sheet(seeded: Seeded) -> None:
    browser = Browser(seeded)
    audit = browser.draw()
    rows = list(csv.reader(io.StringIO(browser.send("GET", f"/audit/{NUMBER}/{audit}.csv").text)))
    assert rows[0] == ["unit", "pair", "text_a", "text_b", "judgment"] and {row[4] for row in rows[1:]} == {""}
