"""The report: who gets it, what stands in it, its files, the triage queue, comparisons of measures."""

import csv
import io
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ml_backend.report.tables import TABLES
from ml_backend.store.schema import tasks
from tests.ml_backend.seeded_store import HOSTILE, LABEL_STUDIO, NUMBER, TASKS, Seeded


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return seed(excluded={101: [("3", "older answer of the same rater")], 107: [("2", "skipped")]})


class TestAccess:
    def test_unknown_project_answers_like_a_wrong_key(self, seeded: Seeded) -> None:
        assert seeded.get("/report/99").status_code == 403

    def test_refusal_is_a_page_that_asks_for_the_key(self, seeded: Seeded) -> None:
        reply = seeded.get(f"/report/{NUMBER}", "wrong")
        assert reply.content_type.startswith("text/html") and 'name="k"' in reply.text

    def test_key_stays_with_the_browser_and_out_of_the_page(self, seeded: Seeded) -> None:
        reply = seeded.get(f"/report/{NUMBER}")
        assert "HttpOnly" in reply.headers["Set-Cookie"] and "SameSite=Lax" in reply.headers["Set-Cookie"]
        assert seeded.key("report") not in reply.text
        assert seeded.client.get(f"/report/{NUMBER}").status_code == 200

    def test_wrong_key_is_not_remembered(self, seeded: Seeded) -> None:
        seeded.get(f"/report/{NUMBER}")
        reply = seeded.client.get(f"/report/{NUMBER}", query_string={"k": "wrong"})
        assert "Set-Cookie" not in reply.headers

    def test_in_no_frame_and_kept_by_nobody(self, seeded: Seeded) -> None:
        reply = seeded.get(f"/report/{NUMBER}")
        policy = reply.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert reply.headers["Cache-Control"] == "private, no-store"
        for name in ("report.json", "tasks.csv"):
            assert "no-store" in seeded.get(f"/report/{NUMBER}/{name}").headers["Cache-Control"]


class TestContent:
    def test_says_what_the_science_says(self, seeded: Seeded) -> None:
        summary = seeded.row["summary"]["controls"]["findings"]
        report = seeded.report()
        alpha = summary["coefficients"]["krippendorff_alpha"]
        assert report["headline"]["value"] == alpha["value"] and report["headline"]["ci95"] == alpha["ci95"]
        assert report["headline"]["n_tasks"] == 5 and report["n_tasks"] == 7
        assert {row["key"]: row["value"] for row in report["coefficients"]} == {
            key: value["value"] for key, value in summary["coefficients"].items()
        }
        assert report["distributions"] == summary["distributions"]

    def test_page_shows_the_values(self, seeded: Seeded) -> None:
        text = seeded.get(f"/report/{NUMBER}").text
        report = seeded.report()
        assert f'data-value="{report["headline"]["value"]}"' in text
        for rater in ("Ann Example", "Ben Sample", "Chloé Martin"):
            assert rater in text
        assert "older answer of the same annotator" in text and "skipped" in text
        assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan", "", text.lower())

    def test_decisions_are_mentioned_once_there_are_some(self, seeded: Seeded) -> None:
        text = seeded.get(f"/report/{NUMBER}").text
        assert "What reviewers decided" not in text and "0 decisions" not in text
        seeded.store.decide(seeded.project, "asthma", "bronchial asthma", same=True, reviewer="Rae")
        text = seeded.get(f"/report/{NUMBER}").text
        assert "1 decision on pairs of texts, 1 of them “the same”" in " ".join(text.split())

    def test_sentence_is_plain_and_complete(self, seeded: Seeded) -> None:
        sentence = seeded.report()["headline"]["sentence"]
        assert (
            sentence.startswith("Annotators agree beyond chance: average agreement is 0.")
            and "over 5 tasks answered by 3 annotators" in sentence
        )

    def test_every_number_leads_to_label_studio(self, seeded: Seeded) -> None:
        report = seeded.report()
        links = [
            row["link"]
            for name in ("coefficients", "raters", "rater_pairs", "queue", "histogram")
            for row in report[name]
        ]
        links += [row["link"] for row in report["excluded"]["reasons"]]
        links += [pair["link"] for kind in report["reasons"]["kinds"] for pair in kind["examples"]]
        assert len(links) > 20
        assert all(link.startswith(f"{LABEL_STUDIO}/projects/{NUMBER}/data?") for link in links)

    def test_links_lead_where_browsers_open_label_studio(self, tmp_path: Path) -> None:
        seeded = Seeded(tmp_path, label_studio_origins=("https://labels.example",))
        seeded.put()
        seeded.score()
        assert seeded.report()["project"]["link"] == f"https://labels.example/projects/{NUMBER}/data"

    def test_undefined_is_said_and_never_nan(self, tmp_path: Path) -> None:
        seeded = Seeded(tmp_path)
        seeded.put({1: {"2": ["fever"]}, 2: {"2": ["cough"]}})
        seeded.score()
        text = seeded.get(f"/report/{NUMBER}").text
        assert "There is no agreement to report yet" in text and "NaN" not in text

    def test_not_scored_yet(self, tmp_path: Path) -> None:
        seeded = Seeded(tmp_path)
        text = seeded.get(f"/report/{NUMBER}").text
        assert "is being read and scored" in text
        assert seeded.get("/api/report").status_code == 409
        assert seeded.get(f"/report/{NUMBER}/report.json").status_code == 409

    def test_unchanged_report_costs_no_body(self, seeded: Seeded) -> None:
        first = seeded.get("/api/report")
        again = seeded.client.get(
            "/api/report",
            query_string={"project": NUMBER, "k": seeded.key("report")},
            headers={"If-None-Match": first.headers["ETag"]},
        )
        assert again.status_code == 304

    def test_news_are_told(self, seeded: Seeded) -> None:
        before = seeded.get("/api/report/state").json
        assert not before["working"]
        seeded.put({102: {"2": ["a"], "3": ["a"], "4": ["a"]}})
        seeded.score()
        after = seeded.get("/api/report/state").json
        assert after["version"] != before["version"]
        assert f'data-version="{after["version"]}"' in seeded.get(f"/report/{NUMBER}").text

    @pytest.mark.parametrize(
        ("part", "change"),
        [
            ("n_queue_waiting", {"required": 2}),
            ("queue", {"connection": {"mode": "connected", "view": 8}}),
            ("headline", {"connection": {"mode": "connected", "rival_note": "Another backend writes the scores."}}),
        ],
    )
    def test_a_report_shows_the_project_as_it_is(self, seeded: Seeded, part: str, change: dict[str, Any]) -> None:
        """It was kept until a score changed."""
        before = seeded.report()[part]
        seeded.update(**change)
        assert seeded.report()[part] != before


class TestHostileTexts:
    @pytest.fixture
    def hostile(self, tmp_path: Path) -> Seeded:
        seeded = Seeded(tmp_path)
        seeded.update(title=HOSTILE, raters={"2": HOSTILE, "3": "=cmd()", "4": "@x"})
        seeded.put(
            {n: {"2": [HOSTILE], "3": ["=1+1"], "4": [HOSTILE + "?"]} for n in range(1, 12)},
            excluded={1: [("3", HOSTILE)]},
        )
        seeded.score()
        return seeded

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["", "/report.html"])
    def test_stay_texts(self, hostile: Seeded, name: str) -> None:
        text = hostile.get(f"/report/{NUMBER}{name}").text
        assert "<script>window.__pwned" not in text and "<img" not in text
        assert "&lt;/script&gt;" in text

    def test_do_not_become_formulas(self, hostile: Seeded) -> None:
        for name in TABLES:
            text = hostile.get(f"/report/{NUMBER}/{name}.csv").text.removeprefix("\ufeff")
            for row in csv.reader(io.StringIO(text)):
                assert not any(cell[:1] in ("=", "@", "+") for cell in row)


class TestFiles:
    def test_one_file_needs_no_network(self, seeded: Seeded) -> None:
        reply = seeded.get(f"/report/{NUMBER}/report.html")
        text = reply.text
        assert "attachment" in reply.headers["Content-Disposition"]
        assert "<script src" not in text and '<link rel="stylesheet"' not in text
        assert "default-src 'none'" in unescape(text) and text.count("sha256-") == 3
        assert 'id="viewer-name"' not in text and "<form" not in text

    def test_json_is_the_api(self, seeded: Seeded) -> None:
        report = json.loads(seeded.get(f"/report/{NUMBER}/report.json").text)
        assert report["coefficients"] == seeded.report()["coefficients"]

    @pytest.mark.parametrize(
        "name, rows", [("tasks", 5), ("annotators", 3), ("annotator_pairs", 3), ("coefficients", 8), ("left_out", 2)]
    )
    def test_csv(self, seeded: Seeded, name: str, rows: int) -> None:
        text = seeded.get(f"/report/{NUMBER}/{name}.csv").text
        table = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
        assert len(table) == rows + 1 and len({len(row) for row in table}) == 1

    def test_other_names_are_refused(self, seeded: Seeded) -> None:
        for name in ("report.exe", "secrets.csv", "x", "report.csv"):
            assert seeded.get(f"/report/{NUMBER}/{name}").status_code == 404


def test_tasks_of_the_seed_are_what_these_tests_count_on() -> None:
    assert sum(len(given) > 1 for given in TASKS.values()) == 5


def test_who_is_known_is_not_asked_for_a_name(seeded: Seeded) -> None:
    known = seeded.as_person("reviewer", "9", "Rae <b>").get(f"/report/{NUMBER}").text
    assert "Rae &lt;b&gt;" in known and 'id="viewer-name"' not in known
    by_key = seeded.client.get(f"/report/{NUMBER}", query_string={"k": seeded.key("report")}).text
    assert 'id="viewer-name"' in by_key


@pytest.mark.parametrize(
    ("counted", "sentence"), [(True, "count in every value"), (False, "do not count in any value")]
)
def test_whether_reviewers_count_is_said(seeded: Seeded, counted: bool, sentence: str) -> None:
    store = seeded.store
    settings = {
        "reviewers": {"value": ["rae<b>@example.org"], "source": "softirr-ls"},
        "count_reviewers": {"value": counted, "source": "softirr-ls"},
    }
    store.update_project(seeded.project, summary={**seeded.row["summary"], "settings": settings})
    page = seeded.as_person("reviewer").get(f"/report/{NUMBER}").text
    assert f"Reviewers’ own answers {sentence}" in page and "rae&lt;b&gt;@example.org" in page


@pytest.mark.parametrize("address", ["api/report", f"report/{NUMBER}/report.json", f"report/{NUMBER}/annotators.csv"])
def test_a_file_of_a_field_that_is_not_there_is_refused(seeded: Seeded, address: str) -> None:
    known, other = (seeded.get(f"/{address}", control=name) for name in ("findings", "nothing"))
    assert (known.status_code, other.status_code) == (200, 404) and "no such field" in other.text


@pytest.mark.parametrize("page", ["audit", "report"])
def test_a_field_that_is_not_there_is_refused_and_not_another_ones_numbers_shown(seeded: Seeded, page: str) -> None:
    seeded.client.get(f"/{page}/{NUMBER}", query_string={"k": seeded.key("report")})  # the browser keeps the key
    known, other = (seeded.client.get(f"/{page}/{NUMBER}?control={name}") for name in ("findings", "nothing"))
    assert known.status_code == 200 and '<header class="top">' in known.text
    assert other.status_code == 404 and "no such field" in other.text


def test_one_annotator_has_no_agreement_to_draw(tmp_path: Path) -> None:
    project = Seeded(tmp_path)
    project.put({1: {"2": ["fever"]}, 2: {"2": ["cough"]}})
    project.score()
    page = project.as_person("reviewer").get(f"/report/{NUMBER}").text
    assert "There is no agreement to report yet: only one annotator." in page
    assert 'id="h-consensus"' not in page and 'id="h-tasks"' not in page


def test_an_empty_project_says_nothing_of_a_computation(tmp_path: Path) -> None:
    project = Seeded(tmp_path)
    project.put({1: {}})
    project.score()
    with project.store.engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(sa.delete(tasks))
    page = project.as_person("reviewer").get(f"/report/{NUMBER}").text
    assert "This project is empty" in page and "How it was computed" not in page
