"""The report: who gets it, what stands in it, its files, the triage queue, comparisons of measures."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ml_backend.report.on_demand import run_wanted
from ml_backend.report.tables import TABLES
from ml_backend.settings import ProjectSettings
from ml_backend.store.schema import tasks
from ml_backend.store.side_by_side import SideBySideStore
from softirr.coefficients.registry import coefficient_keys
from tests.ml_backend.seeded_store import LABEL_STUDIO, NUMBER, TASKS, Seeded

HOSTILE = "</script><script>window.__pwned=1</script><img src=x onerror=alert(1)>"


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return seed(excluded={101: [("3", "older answer of the same rater")], 107: [("2", "skipped")]})


def get(seeded: Seeded, path: str, key: str | None = None, **parameters: Any) -> Any:
    seeded.client._cookies.clear() if hasattr(seeded.client, "_cookies") else None
    query = {"k": seeded.key("report") if key is None else key, **parameters}
    return seeded.client.get(path, query_string=query)


def data(seeded: Seeded) -> dict[str, Any]:
    found = get(seeded, "/api/report", project=NUMBER).json
    assert isinstance(found, dict)
    return found


INDEL = ProjectSettings(measure="indel")


class TestAccess:
    def test_unknown_project_answers_like_a_wrong_key(self, seeded: Seeded) -> None:
        assert get(seeded, "/report/99").status_code == 403

    def test_refusal_is_a_page_that_asks_for_the_key(self, seeded: Seeded) -> None:
        reply = get(seeded, f"/report/{NUMBER}", "wrong")
        assert reply.content_type.startswith("text/html") and 'name="k"' in reply.get_data(as_text=True)

    def test_key_stays_with_the_browser_and_out_of_the_page(self, seeded: Seeded) -> None:
        reply = get(seeded, f"/report/{NUMBER}")
        assert "HttpOnly" in reply.headers["Set-Cookie"] and "SameSite=Lax" in reply.headers["Set-Cookie"]
        assert seeded.key("report") not in reply.get_data(as_text=True)
        assert seeded.client.get(f"/report/{NUMBER}").status_code == 200

    def test_wrong_key_is_not_remembered(self, seeded: Seeded) -> None:
        get(seeded, f"/report/{NUMBER}")
        reply = seeded.client.get(f"/report/{NUMBER}", query_string={"k": "wrong"})
        assert "Set-Cookie" not in reply.headers

    def test_in_no_frame_and_kept_by_nobody(self, seeded: Seeded) -> None:
        reply = get(seeded, f"/report/{NUMBER}")
        policy = reply.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert reply.headers["Cache-Control"] == "private, no-store"
        for name in ("report.json", "tasks.csv"):
            assert "no-store" in get(seeded, f"/report/{NUMBER}/{name}").headers["Cache-Control"]


class TestContent:
    def test_says_what_the_science_says(self, seeded: Seeded) -> None:
        summary = seeded.row["summary"]["controls"]["findings"]
        found = data(seeded)
        alpha = summary["coefficients"]["krippendorff_alpha"]
        assert found["headline"]["value"] == alpha["value"] and found["headline"]["ci95"] == alpha["ci95"]
        assert found["headline"]["n_tasks"] == 5 and found["n_tasks"] == 7
        assert {row["key"]: row["value"] for row in found["coefficients"]} == {
            key: value["value"] for key, value in summary["coefficients"].items()
        }
        assert found["distributions"] == summary["distributions"]

    def test_page_shows_the_values(self, seeded: Seeded) -> None:
        text = get(seeded, f"/report/{NUMBER}").get_data(as_text=True)
        found = data(seeded)
        assert f'data-value="{found["headline"]["value"]}"' in text
        for rater in ("Ann Example", "Ben Sample", "Chloé Martin"):
            assert rater in text
        assert "older answer of the same annotator" in text and "skipped" in text
        assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan", "", text.lower())

    def test_decisions_are_mentioned_once_there_are_some(self, seeded: Seeded) -> None:
        text = get(seeded, f"/report/{NUMBER}").get_data(as_text=True)
        assert "What reviewers decided" not in text and "0 decisions" not in text
        seeded.services.store.decide(seeded.project, "asthma", "bronchial asthma", same=True, reviewer="Rae")
        text = get(seeded, f"/report/{NUMBER}").get_data(as_text=True)
        assert "1 decision on pairs of texts, 1 of them “the same”" in " ".join(text.split())

    def test_sentence_is_plain_and_complete(self, seeded: Seeded) -> None:
        sentence = data(seeded)["headline"]["sentence"]
        assert (
            sentence.startswith("Annotators agree beyond chance: average agreement is 0.")
            and "over 5 tasks answered by 3 annotators" in sentence
        )

    def test_every_number_leads_to_label_studio(self, seeded: Seeded) -> None:
        found = data(seeded)
        links = [
            row["link"]
            for name in ("coefficients", "raters", "rater_pairs", "queue", "histogram")
            for row in found[name]
        ]
        links += [row["link"] for row in found["excluded"]["reasons"]]
        links += [pair["link"] for kind in found["reasons"]["kinds"] for pair in kind["examples"]]
        assert len(links) > 20
        assert all(link.startswith(f"{LABEL_STUDIO}/projects/{NUMBER}/data?") for link in links)

    def test_links_lead_where_browsers_open_label_studio(self, tmp_path: Path) -> None:
        made = Seeded(tmp_path, label_studio_origins=("https://labels.example",))
        made.put()
        made.score()
        assert data(made)["project"]["link"] == f"https://labels.example/projects/{NUMBER}/data"
        made.services.store.close()

    def test_undefined_is_said_and_never_nan(self, tmp_path: Path) -> None:
        made = Seeded(tmp_path)
        made.put({1: {"2": ["fever"]}, 2: {"2": ["cough"]}})
        made.score()
        text = get(made, f"/report/{NUMBER}").get_data(as_text=True)
        assert "There is no agreement to report yet" in text and "NaN" not in text
        made.services.store.close()

    def test_not_scored_yet(self, tmp_path: Path) -> None:
        made = Seeded(tmp_path)
        text = get(made, f"/report/{NUMBER}").get_data(as_text=True)
        assert "is being read and scored" in text
        assert get(made, "/api/report", project=NUMBER).status_code == 409
        assert get(made, f"/report/{NUMBER}/report.json").status_code == 409
        made.services.store.close()

    def test_unchanged_report_costs_no_body(self, seeded: Seeded) -> None:
        first = get(seeded, "/api/report", project=NUMBER)
        again = seeded.client.get(
            "/api/report",
            query_string={"project": NUMBER, "k": seeded.key("report")},
            headers={"If-None-Match": first.headers["ETag"]},
        )
        assert again.status_code == 304

    def test_news_are_told(self, seeded: Seeded) -> None:
        before = get(seeded, "/api/report/state", project=NUMBER).json
        assert not before["working"]
        seeded.put({102: {"2": ["a"], "3": ["a"], "4": ["a"]}})
        seeded.score()
        after = get(seeded, "/api/report/state", project=NUMBER).json
        assert after["version"] != before["version"]
        assert f'data-version="{after["version"]}"' in get(seeded, f"/report/{NUMBER}").get_data(as_text=True)


class TestHostileTexts:
    @pytest.fixture
    def hostile(self, tmp_path: Path) -> Iterator[Seeded]:
        made = Seeded(tmp_path)
        made.services.store.update_project(made.project, title=HOSTILE, raters={"2": HOSTILE, "3": "=cmd()", "4": "@x"})
        made.put(
            {n: {"2": [HOSTILE], "3": ["=1+1"], "4": [HOSTILE + "?"]} for n in range(1, 12)},
            excluded={1: [("3", HOSTILE)]},
        )
        made.score()
        yield made
        made.services.store.close()

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["", "/report.html"])
    def test_stay_texts(self, hostile: Seeded, name: str) -> None:
        text = get(hostile, f"/report/{NUMBER}{name}").get_data(as_text=True)
        assert "<script>window.__pwned" not in text and "<img" not in text
        assert "&lt;/script&gt;" in text

    def test_do_not_become_formulas(self, hostile: Seeded) -> None:
        for name in TABLES:
            text = get(hostile, f"/report/{NUMBER}/{name}.csv").get_data(as_text=True).removeprefix("\ufeff")
            for row in csv.reader(io.StringIO(text)):
                assert not any(cell[:1] in ("=", "@", "+") for cell in row)


class TestFiles:
    def test_one_file_needs_no_network(self, seeded: Seeded) -> None:
        reply = get(seeded, f"/report/{NUMBER}/report.html")
        text = reply.get_data(as_text=True)
        assert "attachment" in reply.headers["Content-Disposition"]
        assert "<script src" not in text and '<link rel="stylesheet"' not in text
        assert "default-src 'none'" in unescape(text) and text.count("sha256-") == 3
        assert 'id="viewer-name"' not in text and "<form" not in text

    def test_json_is_the_api(self, seeded: Seeded) -> None:
        found = json.loads(get(seeded, f"/report/{NUMBER}/report.json").get_data(as_text=True))
        assert found["coefficients"] == data(seeded)["coefficients"]

    @pytest.mark.parametrize(
        "name, rows", [("tasks", 5), ("annotators", 3), ("annotator_pairs", 3), ("coefficients", 8), ("left_out", 2)]
    )
    def test_csv(self, seeded: Seeded, name: str, rows: int) -> None:
        text = get(seeded, f"/report/{NUMBER}/{name}.csv").get_data(as_text=True)
        table = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
        assert len(table) == rows + 1 and len({len(row) for row in table}) == 1

    def test_other_names_are_refused(self, seeded: Seeded) -> None:
        for name in ("report.exe", "secrets.csv", "x", "report.csv"):
            assert get(seeded, f"/report/{NUMBER}/{name}").status_code == 404


class TestQueue:
    def send(self, seeded: Seeded, task: Any = 102, **more: Any) -> Any:
        body = {"project": NUMBER, "task": task, "who": " Rae   Viewer ", **more}
        return seeded.client.post("/api/queue", json=body, headers={"X-Softirr-Key": seeded.key("report")})

    def test_holds_every_task_with_an_agreement(self, seeded: Seeded) -> None:
        found = get(seeded, "/api/queue", project=NUMBER).json
        assert found["total"] == 5 and {row["task"] for row in found["tasks"]} == {101, 102, 103, 104, 105}
        priorities = [round(row["priority"], 2) for row in found["tasks"] if row["state"] == "ready"]
        assert len(priorities) == 4 and priorities == sorted(priorities, reverse=True)
        assert all(row["reasons"] and row["link"].endswith(f"task={row['task']}") for row in found["tasks"])

    def test_pages(self, seeded: Seeded) -> None:
        whole = [row["task"] for row in get(seeded, "/api/queue", project=NUMBER).json["tasks"]]
        part = get(seeded, "/api/queue", project=NUMBER, limit=2, offset=1).json
        assert [row["task"] for row in part["tasks"]] == whole[1:3]

    def test_done_goes_to_the_end_and_comes_back(self, seeded: Seeded) -> None:
        reply = self.send(seeded)
        assert reply.status_code == 201 and reply.json["done"]["who"] == "Rae Viewer"
        last = get(seeded, "/api/queue", project=NUMBER).json["tasks"][-1]
        assert last["task"] == 102 and last["done"]["who"] == "Rae Viewer"
        assert [row["task"] for row in get(seeded, "/api/queue", project=NUMBER, done=1).json["tasks"]] == [102]
        assert data(seeded)["n_queue_done"] == 1
        for _ in ("", "again"):
            reply = seeded.client.delete("/api/queue/102", query_string={"project": NUMBER, "k": seeded.key("report")})
            assert reply.status_code == 200 and reply.json["done"] is None
        assert get(seeded, "/api/queue", project=NUMBER, done=1).json["tasks"] == []

    def test_mark_lapses_when_the_answers_change(self, seeded: Seeded) -> None:
        self.send(seeded)
        seeded.put({102: {"2": ["heart attack"], "3": ["angina"], "4": ["heart attack"]}})
        seeded.score()
        assert get(seeded, "/api/queue", project=NUMBER, done=1).json["tasks"] == []

    def test_tasks_that_every_annotator_has_finished_with_come_first(self, seeded: Seeded) -> None:
        found = get(seeded, "/api/queue", project=NUMBER).json["tasks"]
        assert [row["state"] for row in found] == ["ready"] * 4 + ["waiting"] and found[-1]["task"] == 105
        assert data(seeded)["n_queue_waiting"] == 1
        seeded.put(
            {105: {"2": ["asthma"], "3": ["bronchial asthma"]}}, excluded={105: [("4", "skipped")]}
        )  # who skipped it is finished with it
        seeded.score()
        assert {row["state"] for row in get(seeded, "/api/queue", project=NUMBER).json["tasks"]} == {"ready"}

    def test_a_task_is_sent_back_and_returns_with_a_new_answer(self, seeded: Seeded) -> None:
        for wrong in ("", "   ", None, 3, "x" * 2001):
            assert self.send(seeded, state="sent back", note=wrong).status_code == 400
        assert self.send(seeded, state="gone").status_code == 400
        reply = self.send(seeded, state="sent back", note=f" Name the side. {HOSTILE} ")
        assert reply.status_code == 201 and reply.json["done"] is None
        assert reply.json["sent_back"]["note"] == f"Name the side. {HOSTILE}"
        last = get(seeded, "/api/queue", project=NUMBER).json["tasks"][-1]
        assert (last["task"], last["state"], last["sent_back"]["who"]) == (102, "sent back", "Rae Viewer")
        found = data(seeded)
        assert (found["n_queue_sent_back"], found["n_queue_done"]) == (1, 0)
        text = get(seeded, f"/report/{NUMBER}").get_data(as_text=True)
        assert "Name the side." in text and HOSTILE not in text
        rows = list(csv.DictReader(io.StringIO(get(seeded, f"/report/{NUMBER}/tasks.csv").get_data(as_text=True))))
        assert rows[-1]["state"] == "sent back" and rows[-1]["note"].startswith("Name the side.")
        seeded.put({102: {"2": ["heart attack"], "3": ["angina"], "4": ["heart attack"]}})
        seeded.score()
        back = next(row for row in get(seeded, "/api/queue", project=NUMBER).json["tasks"] if row["task"] == 102)
        assert back["state"] == "ready" and back["reasons"][0] == "answered again after Rae Viewer sent it back"

    def test_a_send_back_is_taken_back(self, seeded: Seeded) -> None:
        self.send(seeded, state="sent back", note="Again, please.")
        reply = seeded.client.delete("/api/queue/102", query_string={"project": NUMBER, "k": seeded.key("report")})
        assert reply.json["sent_back"] is None and reply.json["queue"]["sent_back"] == 0
        self.send(seeded, state="sent back", note="Again, please.")
        assert self.send(seeded).json["queue"] == {"low": 3, "done": 1, "sent_back": 0}  # done replaces it

    def test_next_walks_the_list_to_its_end(self, seeded: Seeded) -> None:
        listed = [row for row in get(seeded, "/api/queue", project=NUMBER).json["tasks"] if row["state"] == "ready"]
        seen, task = [], None
        while True:
            found = get(seeded, "/api/queue/next", project=NUMBER, **({} if task is None else {"task": task})).json
            if found["task"] is None:
                break
            seen.append((found["task"], found["link"], found["place"]))
            task = found["task"]
        assert seen == [(row["task"], row["link"], place) for place, row in enumerate(listed, 1)]
        assert (found["left"], found["waiting"]) == (3, 1) and found["first"]["task"] == listed[0]["task"]

    def test_next_goes_on_from_a_task_that_was_just_done(self, seeded: Seeded) -> None:
        listed = [row["task"] for row in get(seeded, "/api/queue", project=NUMBER).json["tasks"]][:4]
        self.send(seeded, listed[1])
        assert get(seeded, "/api/queue/next", project=NUMBER, task=listed[1]).json["task"] == listed[2]
        assert get(seeded, "/api/queue/next", project=NUMBER, task=listed[0]).json["task"] == listed[2]
        for task in (listed[0], *listed[2:]):
            self.send(seeded, task)
        end = get(seeded, "/api/queue/next", project=NUMBER, task=listed[3]).json
        assert (end["task"], end["first"], end["left"], end["done"]) == (None, None, 0, 4)

    def test_links_stay_in_the_triage_tab(self, seeded: Seeded) -> None:
        seeded.services.store.update_project(seeded.project, connection={"mode": "connected", "view": 7})
        row = get(seeded, "/api/queue", project=NUMBER).json["tasks"][0]
        assert row["link"].endswith(f"/projects/{NUMBER}/data?tab=7&task={row['task']}")
        asked = get(seeded, "/api/queue/next", project=NUMBER, tab="H4sIAAAA").json
        assert "?tab=H4sIAAAA&task=" in asked["link"]
        asked = get(seeded, "/api/queue/next", project=NUMBER, tab="7&task=1#").json
        assert "?tab=7&task=" in asked["link"] and "#" not in asked["link"]

    def test_a_project_with_two_fields_has_one_list(self, seeded: Seeded) -> None:
        """The tab sorts by the task's agreement over all fields, so the report of a field shows that list too."""
        answers = {
            name: {"answers": {"2": [one], "3": [two]}, "excluded": []}
            for name, one, two in (("first", "fever", "fever"), ("second", "cough", "rash"))
        }
        seeded.services.store.put_pulled(
            seeded.project,
            [
                {
                    "number": 200,
                    "updated_at": "2026-11-20T12:00:00Z",
                    "generation": 1,
                    "n_annotations": 3,
                    "n_answers": 2,
                    "answers": answers,
                    "answers_hash": "two",
                    "actual": [],
                }
            ],
        )
        seeded.score()
        lists = [
            [(row["task"], row["agreement"]) for row in found["queue"]]
            for found in (get(seeded, "/api/report", project=NUMBER, control=name).json for name in ("first", "second"))
        ]
        whole = get(seeded, "/api/queue", project=NUMBER).json["tasks"]
        assert lists[0] == lists[1] == [(row["task"], row["agreement"]) for row in whole]

    @pytest.mark.parametrize("asked", [{"task": "x"}, {"sort": "x"}])
    def test_next_of_nonsense_is_refused(self, seeded: Seeded, asked: dict[str, str]) -> None:
        assert get(seeded, "/api/queue/next", project=NUMBER, **asked).status_code == 400

    @pytest.mark.parametrize("task, status", [(999, 404), ("x", 400), (None, 400), (-1, 400)])
    def test_nonsense_is_refused(self, seeded: Seeded, task: Any, status: int) -> None:
        assert self.send(seeded, task).status_code == status


class TestComparison:
    def ask(self, seeded: Seeded, measures: Any, control: Any = "findings") -> Any:
        body = {"project": NUMBER, "kind": "measures", "control": control, "measures": measures}
        return seeded.client.post("/api/side-by-side", json=body, headers={"X-Softirr-Key": seeded.key("report")})

    def test_each_measure_as_the_project_would_be_scored_under_it(self, seeded: Seeded) -> None:
        assert self.ask(seeded, ["exact", "jaccard"]).status_code == 202
        assert seeded.row["wanted_at"] is not None
        assert data(seeded)["comparison"]["waiting"]
        assert run_wanted(seeded.services.store, seeded.services.scorer, seeded.row, INDEL) == 1
        found = data(seeded)["comparison"]
        assert [row["measure"] for row in found["rows"]] == ["indel", "exact", "jaccard"]
        assert found["rows"][0]["current"] and not found["waiting"] and not found["stale"]
        assert found["keys"] == list(coefficient_keys(shown=True))
        shown = dict(zip(found["keys"], found["rows"][1]["values"], strict=True))
        assert [key for key, one in shown.items() if one["value"] is None] == ["scott_pi"], "it is of two annotators"
        direct = seeded.services.scorer.summary(
            seeded.services.store.answers(seeded.project), "findings", ProjectSettings(measure="jaccard")
        )
        place = found["keys"].index("krippendorff_alpha")
        assert found["rows"][2]["values"][place]["value"] == direct["coefficients"]["krippendorff_alpha"]["value"]
        assert "jaccard" in get(seeded, f"/report/{NUMBER}").get_data(as_text=True)
        assert run_wanted(seeded.services.store, seeded.services.scorer, seeded.row, INDEL) == 0

    def test_a_page_that_waits_reads_no_results(self, seeded: Seeded, monkeypatch: pytest.MonkeyPatch) -> None:
        """It asks every few seconds, and the results of twenty comparisons may be large."""

        def version() -> str:
            return str(get(seeded, "/api/report/state", project=NUMBER).json["version"])

        before = version()
        self.ask(seeded, ["exact"])
        run_wanted(seeded.services.store, seeded.services.scorer, seeded.row, INDEL)
        monkeypatch.delattr(SideBySideStore, "of")
        assert version() != before

    def test_says_when_answers_changed_since(self, seeded: Seeded) -> None:
        self.ask(seeded, ["exact"])
        run_wanted(seeded.services.store, seeded.services.scorer, seeded.row, INDEL)
        seeded.put({102: {"2": ["x"], "3": ["y"], "4": ["z"]}})
        seeded.score()
        assert data(seeded)["comparison"]["stale"]

    def test_a_measure_that_can_not_be_had_says_so(self, seeded: Seeded) -> None:
        question = {"kind": "measures", "control": "findings", "measures": ["nli:/nowhere", "exact"]}
        SideBySideStore(seeded.services.store).ask(seeded.project, question)
        run_wanted(seeded.services.store, seeded.services.scorer, seeded.row, INDEL)
        rows = data(seeded)["comparison"]["rows"]
        assert rows[1]["error"] and rows[2]["values"][0]["value"] is not None

    @pytest.mark.parametrize("measures", [[], "exact", ["nonsense"], ["exact"] * 20, [["exact"]]])
    def test_nonsense_is_refused(self, seeded: Seeded, measures: Any) -> None:
        assert self.ask(seeded, measures).status_code == 400

    @pytest.mark.parametrize("control", ["nothing", None, 7, ["findings"], {}])
    def test_unknown_field(self, seeded: Seeded, control: Any) -> None:
        assert self.ask(seeded, ["exact"], control).status_code == (400 if control else 202), (
            "the first field without one"
        )


def test_tasks_of_the_seed_are_what_these_tests_count_on() -> None:
    assert sum(len(given) > 1 for given in TASKS.values()) == 5


def test_who_is_known_is_not_asked_for_a_name(seeded: Seeded) -> None:
    known = seeded.as_person("reviewer", "9", "Rae <b>").get(f"/report/{NUMBER}").get_data(as_text=True)
    assert "Rae &lt;b&gt;" in known and 'id="viewer-name"' not in known
    by_key = seeded.client.get(f"/report/{NUMBER}", query_string={"k": seeded.key("report")}).get_data(as_text=True)
    assert 'id="viewer-name"' in by_key


@pytest.mark.parametrize(
    ("counted", "sentence"), [(True, "count in every value"), (False, "are left out of every value")]
)
def test_whether_reviewers_count_is_said(seeded: Seeded, counted: bool, sentence: str) -> None:
    store = seeded.services.store
    settings = {
        "reviewers": {"value": ["rae<b>@example.org"], "source": "softirr-ls"},
        "count_reviewers": {"value": counted, "source": "softirr-ls"},
    }
    store.update_project(seeded.project, summary={**seeded.row["summary"], "settings": settings})
    page = seeded.as_person("reviewer").get(f"/report/{NUMBER}").get_data(as_text=True)
    assert f"Reviewers’ own answers {sentence}" in page and "rae&lt;b&gt;@example.org" in page


@pytest.mark.parametrize("page", ["audit", "compare", "codebook"])
def test_a_field_that_is_not_there_is_refused_and_not_another_ones_numbers_shown(seeded: Seeded, page: str) -> None:
    seeded.client.get(f"/{page}/{NUMBER}", query_string={"k": seeded.key("report")})  # the browser keeps the key
    known, other = (seeded.client.get(f"/{page}/{NUMBER}?control={name}") for name in ("findings", "nothing"))
    assert known.status_code == 200 and '<header class="top">' in known.get_data(as_text=True)
    assert other.status_code == 404 and "no such field" in other.get_data(as_text=True)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [(False, "; the triage tab in Label Studio is sorted by agreement alone."), (True, ", and so does the triage tab")],
)
def test_whether_the_triage_tab_has_the_order_of_the_list(seeded: Seeded, columns: bool, sentence: str) -> None:
    settings = {"triage_columns": {"value": columns, "source": "softirr-ls"}}
    seeded.services.store.update_project(seeded.project, summary={**seeded.row["summary"], "settings": settings})
    page = seeded.as_person("reviewer").get(f"/report/{NUMBER}").get_data(as_text=True)
    assert f"follows this order{sentence}" in " ".join(page.split())


def test_one_annotator_has_no_agreement_to_draw(tmp_path: Path) -> None:
    project = Seeded(tmp_path)
    project.put({1: {"2": ["fever"]}, 2: {"2": ["cough"]}})
    project.score()
    page = project.as_person("reviewer").get(f"/report/{NUMBER}").get_data(as_text=True)
    project.services.store.close()
    assert "There is no agreement to report yet: only one annotator." in page
    assert 'id="h-consensus"' not in page and 'id="h-tasks"' not in page


def test_an_empty_project_says_nothing_of_a_computation(tmp_path: Path) -> None:
    project = Seeded(tmp_path)
    project.put({1: {}})
    project.score()
    with project.services.store.engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(sa.delete(tasks))
    page = project.as_person("reviewer").get(f"/report/{NUMBER}").get_data(as_text=True)
    project.services.store.close()
    assert "This project is empty" in page and "How it was computed" not in page
