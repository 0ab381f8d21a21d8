"""The report of a project: the page, its files and its JSON show the numbers of one view."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from ml_backend.web.report import FILES
from softirr.numbers import number
from tests.ml_backend.seeded_store import NUMBER, Seeded, ask

HOSTILE = "<img src=x onerror=alert(1)>"


def page(seeded: Seeded, role: str = "reviewer", **query: str) -> Any:
    return html.fromstring(seeded.as_person(role).get(f"/report/{NUMBER}", query_string=query).data)


def download(seeded: Seeded, name: str) -> bytes:
    reply = seeded.as_person().get(f"/report/{NUMBER}/{name}")
    assert reply.status_code == 200 and name in reply.headers["Content-Disposition"]
    data: bytes = reply.data
    return data


def test_page_shows_the_numbers_of_the_json(seeded: Seeded) -> None:
    shown_page, data = page(seeded), seeded.report()
    assert shown_page.xpath("//*[@id='verdict']")[0].text_content() == data["verdict"]["sentence"]
    rows = shown_page.xpath("//tr[@data-item]")
    assert [row.get("data-item") for row in rows] == [item["id"] for item in data["items"]]
    for row, item in zip(rows, data["items"], strict=True):
        cells = [cell.text_content().strip() for cell in row.xpath("./td")]
        assert cells[:2] == [number(item["agreement"]), item["sentence"]]
    for cell in shown_page.xpath("//td[@data-coefficient]"):
        (value,) = [
            coefficient["value"]
            for coefficient in data["coefficients"]
            if coefficient["key"] == cell.get("data-coefficient")
        ]
        assert cell.text_content().strip() == number(value)
    people = {row.get("data-rater"): row for row in shown_page.xpath("//tr[@data-rater]")}
    for person in data["people"]:
        assert number(person["agreement"]) in people[person["id"]].text_content()


def test_value_is_the_one_of_the_summary(seeded: Seeded) -> None:
    summary = seeded.row["summary"]["controls"]["findings"]
    verdict = seeded.report()["verdict"]
    assert verdict["value"] == summary["coefficients"][verdict["coefficient"]]["value"]


def test_task_has_the_sentence_of_the_panel_and_the_order_of_next(seeded: Seeded) -> None:
    items = seeded.report()["items"]
    for item in items:
        assert item["sentence"] == ask(seeded, int(item["id"])).json["sentence"]
    queued = seeded.get("/api/queue").json["tasks"]
    assert [row["sentence"] for row in queued if row["task"] == 102] == [ask(seeded, 102).json["sentence"]]
    ready = [str(row["task"]) for row in queued if row["state"] == "ready"]
    assert [item["id"] for item in items if item["id"] in ready] == ready


def test_files_have_the_same_content(seeded: Seeded) -> None:
    data = json.loads(download(seeded, "report.json"))
    text = download(seeded, "tasks.csv").decode().removeprefix("\ufeff")
    table = list(csv.DictReader(io.StringIO(text)))
    assert {row["task"]: row["sentence"] for row in table} == {item["id"]: item["sentence"] for item in data["items"]}
    assert data["verdict"]["sentence"] in download(seeded, "report.html").decode()
    with zipfile.ZipFile(io.BytesIO(download(seeded, "report.zip"))) as archive:
        assert set(archive.namelist()) == set(FILES) - {"report.zip"}
        assert json.loads(archive.read("report.json"))["items"] == data["items"]
    assert seeded.as_person().get(f"/report/{NUMBER}/nothing.csv").status_code == 404


def test_downloaded_page_loads_nothing(seeded: Seeded) -> None:
    text = download(seeded, "report.html").decode()
    tree = html.fromstring(text)
    assert not tree.xpath("//link[@rel='stylesheet'] | //script[@src] | //button")
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'") and seeded.key("report") not in text


def test_texts_and_names_are_escaped(seeded: Seeded) -> None:
    seeded.update(title=HOSTILE, raters={"2": HOSTILE, "3": "Ben", "4": "Chloé"})
    seeded.put({101: {"2": [HOSTILE], "3": ["fever"], "4": ["fever"]}})
    seeded.score()
    for tree in (page(seeded), html.fromstring(download(seeded, "report.html"))):
        assert not tree.xpath("//img[@src='x']") and HOSTILE in tree.text_content()


def test_names_can_be_hidden(seeded: Seeded) -> None:
    seeded.update(chosen={"hide_names": True})
    text = json.dumps(seeded.report()) + page(seeded).text_content()
    assert "Annotator 1" in text and "Ann Example" not in text and "Ben Sample" not in text


def test_done_and_causes_are_counted(seeded: Seeded) -> None:
    seeded.send("/api/queue", task=102)
    body = {"task": 102, "pairs": [["heart attack", "myocardial infarction"]], "verdict": "same", "cause": "slip"}
    assert seeded.send("/api/decisions", client=seeded.as_person(), **body).status_code == 201
    data = seeded.report()
    assert [item["id"] for item in data["items"] if item["is_done"]] == ["102"]
    assert data["decisions"] == {"n": 1, "same": 1, "causes": {"slip": 1}}
    assert "Causes: slip 1." in " ".join(page(seeded).xpath("//*[@id='reviewed']")[0].text_content().split())


def test_lead_sets_the_target_and_the_policy(seeded: Seeded) -> None:
    lead = seeded.as_person("lead", "8", "Lee Lead")
    assert seeded.send("/api/report/target", client=seeded.as_person(), target=0.8).status_code == 403
    assert seeded.send("/api/report/target", client=lead, target=0.8).json == {"target": 0.8}
    verdict = seeded.report()["verdict"]
    assert (verdict["target"], verdict["target_source"]) == (0.8, "set for this project")
    assert seeded.send("/api/report/target", client=lead, target=2).status_code == 400
    reply = seeded.send("/api/report/policy", client=lead, policy="any-severity")
    assert reply.status_code == 202 and seeded.row["chosen"]["policy"]["ignore"] == ["severity"]
    assert seeded.send("/api/report/policy", client=lead, policy="nonsense").status_code == 400


def test_version_changes_with_results_and_marks(seeded: Seeded) -> None:
    def state() -> dict[str, Any]:
        return dict(seeded.get("/api/report/state").json)

    state_before = state()
    seeded.send("/api/queue", task=102)
    marked_state = state()
    assert (marked_state["version"], marked_state["marks"] != state_before["marks"]) == (state_before["version"], True)
    seeded.put({102: {"2": ["a"], "3": ["a"], "4": ["a"]}})
    seeded.score()
    assert state()["version"] != state_before["version"]


def test_unchanged_json_costs_no_body(seeded: Seeded) -> None:
    client = seeded.as_person()
    first = seeded.get("/api/report", client=client)
    second = client.get(
        "/api/report", query_string={"project": NUMBER}, headers={"If-None-Match": first.headers["ETag"]}
    )
    assert second.status_code == 304 and not second.data


@pytest.mark.parametrize("address", ["api/report", f"report/{NUMBER}", f"report/{NUMBER}/report.json"])
def test_unknown_field_is_refused(seeded: Seeded, address: str) -> None:
    known_field, unknown_field = (seeded.get(f"/{address}", control=name) for name in ("findings", "nothing"))
    assert (known_field.status_code, unknown_field.status_code) == (200, 404) and "no such field" in unknown_field.text


def test_project_without_scores_shows_that_it_is_being_scored(tmp_path: Path) -> None:
    project = Seeded(tmp_path)
    assert "is being read and scored" in project.as_person().get(f"/report/{NUMBER}").text
    assert project.get("/api/report").status_code == 409
