"""The panel's page and data: access by role, neutral states, and texts."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from ml_backend.labelstudio.snippet import plugin_dir
from ml_backend.store.store import NO_RUN
from softirr.answers.answer import DRAFT
from tests.ml_backend.seeded_store import LABEL_STUDIO, NUMBER, TASKS, Seeded, ask

FRAME = f"{LABEL_STUDIO}/projects/{NUMBER}/data?tab=3&task=101"


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return seed(excluded={101: [("3", "older answer of the same rater")]})


def framed(seeded: Seeded, key: str | None = None, page: str = FRAME) -> Any:
    """The panel's page, in a frame of this page."""
    query = {"k": seeded.key() if key is None else key}
    return seeded.client.get("/panel", query_string=query, headers={"Referer": page})


class TestPage:
    def test_page_has_no_data_and_no_inline_script(self, seeded: Seeded) -> None:
        reply = framed(seeded)
        text = reply.text
        assert reply.status_code == 200
        assert "fever" not in text and "Ann" not in text
        assert "<script>" not in text and "<style>" not in text and "onload" not in text

    def test_only_label_studio_may_frame_it(self, seeded: Seeded) -> None:
        policy = framed(seeded).headers["Content-Security-Policy"]
        assert f"frame-ancestors 'self' {LABEL_STUDIO}" in policy
        assert "default-src 'none'" in policy and "unsafe" not in policy

    @pytest.mark.parametrize("key", ["", "x" * 32])
    def test_needs_the_key(self, seeded: Seeded, key: str) -> None:
        reply = framed(seeded, key)
        assert reply.status_code == 403
        # people read it in the frame: a sentence on a page, which Label Studio may show
        assert reply.mimetype == "text/html" and "connect again" in reply.text
        assert LABEL_STUDIO in reply.headers["Content-Security-Policy"]

    def test_foreign_page_is_refused(self, seeded: Seeded) -> None:
        assert framed(seeded, page="http://evil.example/projects/12/").status_code == 403

    def test_not_kept_by_shared_caches(self, seeded: Seeded) -> None:
        for reply in (framed(seeded), ask(seeded, 101)):
            assert "private" in reply.headers["Cache-Control"]

    def test_files_are_found_and_may_be_kept(self, seeded: Seeded) -> None:
        text = framed(seeded).text
        file_paths = [word.split('"')[0] for word in text.split('="panel/static/')[1:]]
        assert sorted(file_path.partition("/")[2] for file_path in file_paths) == sorted(
            path.name for path in (plugin_dir() / "panel").iterdir()
        )
        for file_path in file_paths:
            reply = seeded.client.get(f"/panel/static/{file_path}")
            assert reply.status_code == 200
            assert "max-age=31536000" in reply.headers["Cache-Control"]
        assert seeded.client.get("/panel/static/x/../../../pyproject.toml").status_code == 404


class TestAccess:
    def test_key_is_needed(self, seeded: Seeded) -> None:
        for key in ("", "x" * 32, seeded.key("panel", 13), seeded.key()[:-1], "é"):
            reply = ask(seeded, 101, key)
            assert reply.status_code == 403
            assert "fever" not in reply.text

    def test_unknown_project_answers_like_a_wrong_key(self, seeded: Seeded) -> None:
        unknown = seeded.client.get("/api/panel", query_string={"project": 99, "task": 1, "k": seeded.key("panel", 99)})
        wrong = ask(seeded, 101, "x" * 32)
        assert (unknown.status_code, unknown.json) == (wrong.status_code, wrong.json)

    def test_rotation_ends_old_keys(self, seeded: Seeded) -> None:
        old = seeded.key()
        seeded.update(key_round=1)
        assert ask(seeded, 101, old).status_code == 403
        assert ask(seeded, 101, seeded.key("panel")).status_code == 200

    @pytest.mark.parametrize("header", ["Referer", "Origin"])
    def test_other_sites_get_nothing_even_with_the_key(self, seeded: Seeded, header: str) -> None:
        query = {"project": NUMBER, "task": 101, "k": seeded.key()}
        for origin in ("http://evil.example", "null", f"{LABEL_STUDIO}.evil.example", "http://labels.example:8081"):
            assert seeded.client.get("/api/panel", query_string=query, headers={header: origin}).status_code == 403
        reply = seeded.client.get("/api/panel", query_string=query, headers={header: LABEL_STUDIO})
        assert reply.status_code == 200

    def test_scripts_on_label_studios_pages_may_read_it_and_no_others(self, seeded: Seeded) -> None:
        query = {"project": NUMBER, "task": 101, "k": seeded.key()}
        reply = seeded.client.get("/api/panel", query_string=query, headers={"Origin": LABEL_STUDIO})
        assert reply.headers["Access-Control-Allow-Origin"] == LABEL_STUDIO
        reply = seeded.client.options("/api/panel", query_string=query, headers={"Origin": "http://evil.example"})
        assert "Access-Control-Allow-Origin" not in reply.headers

    @pytest.mark.parametrize("query", [{}, {"project": "x"}, {"project": "-1"}, {"project": "9" * 30}])
    def test_nonsense_is_answered_in_one_sentence(self, seeded: Seeded, query: dict[str, str]) -> None:
        for headers in ({}, {"Origin": LABEL_STUDIO}):
            reply = seeded.client.get("/api/panel", query_string=query, headers=headers)
            assert reply.status_code == 400
            sentence = (
                reply.json.get("message") or reply.json["error"]
            )  # limits answer before the panel; its page shows either
            assert sentence.endswith(".")


class TestPersonalLinks:
    def test_it_makes_the_browser_known(self, seeded: Seeded) -> None:
        reply = seeded.client.get(f"/enter/{NUMBER}", query_string={"t": seeded.token()})
        assert reply.status_code == 302 and reply.headers["Location"] == "../report/12"
        cookie = reply.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
        body = ask(seeded, 102, client=seeded.client).json
        assert body["viewer"]["can_decide"] is True and body["viewer"]["name"] == "Rae Viewer"

    def test_over_https_the_frame_on_another_host_gets_it_too(self, seeded: Seeded) -> None:
        connection = {"mode": "connected", "panel_base": "https://agreement.example"}
        seeded.update(connection=connection)
        reply = seeded.client.get(
            f"/enter/{NUMBER}", query_string={"t": seeded.token()}, headers={"Host": "agreement.example"}
        )
        assert "SameSite=None" in reply.headers["Set-Cookie"] and "Secure" in reply.headers["Set-Cookie"]

    def test_an_annotators_link_leads_to_no_report(self, seeded: Seeded) -> None:
        reply = seeded.client.get(f"/enter/{NUMBER}", query_string={"t": seeded.token("annotator", "2", "Ann <b>")})
        assert reply.status_code == 200 and "Ann &lt;b&gt;" in reply.text

    def test_foreign_and_expired_tokens_are_refused(self, seeded: Seeded) -> None:
        good = seeded.token()
        other_token = Seeded.token(seeded, until=1.0)
        for token in ("", "x", good[:-1], "A" + good, seeded.key("report"), other_token):
            assert seeded.client.get(f"/enter/{NUMBER}", query_string={"t": token}).status_code == 403
        assert seeded.client.get("/enter/13", query_string={"t": good}).status_code == 403
        seeded.update(key_round=1)
        assert seeded.client.get(f"/enter/{NUMBER}", query_string={"t": good}).status_code == 403


class TestAnnotators:
    """Annotators see nothing but the note with which a task came back, and their own texts."""

    def test_annotator_sees_nothing(self, seeded: Seeded) -> None:
        for user, task, labeling in itertools.product(("2", "7"), (101, 105, 999, None), (0, 1)):
            body = ask(seeded, task, client=seeded.as_person("annotator", user), labeling=labeling).json
            assert (body["status"], body["message"]) == ("hidden", ""), (user, task, labeling)
            assert set(body) == {"status", "message", "project", "task"}, (user, task, labeling)

    def test_annotator_of_a_returned_task_sees_the_note_and_own_texts(self, seeded: Seeded) -> None:
        ben = seeded.as_person("annotator", "3", "Ben")
        body = {"task": 101, "state": "sent back", "note": "Name the side."}
        assert seeded.send("/api/queue", client=ben, **body).status_code == 403
        assert seeded.send("/api/queue", client=seeded.as_person(), **body).status_code == 201
        panel = ask(seeded, 101, client=ben).json
        assert (panel["status"], panel["note"], panel["texts"]) == ("note", "Name the side.", ["Fever.", "a cough"])
        assert "Ann" not in json.dumps(panel) and '"fever"' not in json.dumps(panel), "no text of a colleague"
        assert ask(seeded, 101, client=ben, labeling=1).json["status"] == "hidden", "they are about to answer"
        assert ask(seeded, 101, client=seeded.as_person("annotator", "7")).json["status"] == "hidden"

    @pytest.mark.parametrize(
        ("reason", "status"), [("skipped", "note"), ("copied from a prediction", "note"), (DRAFT, "hidden")]
    )
    def test_note_is_for_who_answered_whether_the_answer_counts_or_not(
        self, seed: Callable[..., Seeded], reason: str, status: str
    ) -> None:
        seeded = seed({101: {"2": ["n/a"], "3": ["fever"], "4": ["rash"]}}, excluded={101: [("5", reason)]})
        body = {"task": 101, "state": "sent back", "note": "Name the side."}
        seeded.send("/api/queue", client=seeded.as_person(), **body)
        panels = {user: ask(seeded, 101, client=seeded.as_person("annotator", user)).json for user in "256"}
        assert {user: panel["status"] for user, panel in panels.items()} == {"2": "note", "5": status, "6": "hidden"}
        assert panels["2"]["texts"] == ["n/a"]

    def test_reviewer_sees_nothing_in_the_label_stream(self, seeded: Seeded) -> None:
        assert {ask(seeded, task, labeling=1).json["status"] for task in (101, None)} == {"hidden"}

    def test_key_alone_shows_nothing_of_any_task(self, seeded: Seeded) -> None:
        bodies = [ask(seeded, task, seeded.key()) for task in (101, 105, 999, None)]
        assert {reply.text for reply in bodies} == {bodies[0].text}, "not even whether a task exists"
        assert bodies[0].json["status"] == "unknown" and "personal link" in bodies[0].json["message"]
        assert ask(seeded, 101, seeded.key(), labeling=1).json["status"] == "hidden"

    def test_report_is_refused(self, seeded: Seeded) -> None:
        reply = seeded.get("/api/report", client=seeded.as_person("annotator", "2", "Ann"))
        assert reply.status_code == 403 and "lead and reviewers" in reply.json["error"]


class TestReviewers:
    def test_task_has_one_sentence_and_one_number(self, seeded: Seeded) -> None:
        body = ask(seeded, 102).json
        assert body["status"] == "ready" and len(body["sentence"]) <= 100
        assert body["task"]["agreement"] == seeded.task(102)["agreement"]
        assert [rater["name"] for rater in body["raters"]] == ["Ann Example", "Ben Sample", "Chloé Martin"]
        assert ask(seeded, 103).json["sentence"] == "All 3 annotators say the same."

    def test_each_meaning_has_a_card(self, seeded: Seeded) -> None:
        (field,) = ask(seeded, 101).json["fields"]
        fever = field["cards"][0]
        assert [text["text"] for text in fever["texts"]] == ["fever", "Fever."]
        assert (fever["has"], fever["lacks"]) == (["2", "3", "4"], [])
        assert field["cards"][1]["lacks"] == ["4"]
        assert field["answers"]["3"] == ["Fever.", "a cough"] and field["suggestion"]

    def test_pairs_in_doubt_and_decided_pairs_are_offered(self, seeded: Seeded) -> None:
        def pairs(task: int) -> list[dict[str, Any]]:
            return [pair for card in ask(seeded, task).json["fields"][0]["cards"] for pair in card["pairs"]]

        pair = ["heart attack", "myocardial infarction"]
        texts_before = [entry["texts"] for entry in pairs(102)]
        body = {"task": 102, "pairs": [pair], "verdict": "same", "cause": "ambiguous"}
        assert seeded.send("/api/decisions", client=seeded.as_person(), **body).status_code == 201
        seeded.score()
        (offered,) = pairs(102)
        assert offered["texts"] == pair and texts_before in ([], [pair])
        assert (offered["decision"]["verdict"], offered["decision"]["cause"]) == ("same", "ambiguous")
        assert pairs(103) == []

    def test_names_can_be_hidden(self, seeded: Seeded) -> None:
        seeded.update(chosen={"hide_names": True})
        body = ask(seeded, 104).json
        names = [rater["name"] for rater in body["raters"]]
        assert sorted(names) == ["Annotator 1", "Annotator 2", "Annotator 3"]
        assert not any(name in json.dumps(body) for name in ("Ann Example", "Ben", "Chloé"))
        assert [entry["name"] for entry in ask(seeded, 103).json["raters"]] == names, "the same in every task"

    def test_waiting_task_shows_the_missing_annotations(self, seeded: Seeded) -> None:
        body = ask(seeded, 105).json
        assert body["status"] == "ready" and body["review"]["waits"] == "2 annotators have answered, of 3."

    def test_progress_counts_done_tasks(self, seeded: Seeded) -> None:
        assert ask(seeded, 101).json["queue"] == {"done": 0, "total": 5}
        seeded.send("/api/queue", task=103)
        assert ask(seeded, 101).json["queue"] == {"done": 1, "total": 5}
        seeded.put({103: {"2": ["x"], "3": ["y"], "4": ["z"]}})
        assert ask(seeded, 101).json["queue"]["done"] == 0, "the answers have changed since"

    def test_nothing_to_compare(self, seeded: Seeded) -> None:
        assert ask(seeded, 106).json["message"].startswith("Only one annotator")
        assert "Nobody" in ask(seeded, 107).json["message"]
        assert ask(seeded, None).json["message"].startswith("Open a task")
        assert ask(seeded, 999).json["status"] == "none"

    def test_changed_answers_are_pending_until_scored(self, seeded: Seeded) -> None:
        agreement_before = ask(seeded, 102).json["task"]["agreement"]
        seeded.put({102: {"2": ["heart attack"], "3": ["heart attack"], "4": ["heart attack"]}})
        assert ask(seeded, 102).json["status"] == "pending"
        seeded.score()
        assert ask(seeded, 102).json["task"]["agreement"] == 1.0 > agreement_before

    def test_progress_of_the_running_job(self, seeded: Seeded) -> None:
        seeded.put({102: {"2": ["a"], "3": ["b"], "4": ["c"]}})
        state = {**NO_RUN, "state": "running", "phase": "scoring", "done": 3, "total": 10}
        assert seeded.store.begin_run(seeded.project, state)
        assert ask(seeded, 102).json["job"] == {"phase": "scoring", "done": 3, "total": 10}

    def test_unchanged_answer_costs_no_body(self, seeded: Seeded) -> None:
        first = ask(seeded, 101)
        second = seeded.as_person().get(
            "/api/panel",
            query_string={"project": NUMBER, "task": 101, "k": seeded.key()},
            headers={"If-None-Match": first.headers["ETag"]},
        )
        assert second.status_code == 304 and not second.data

    def test_several_fields_have_one_sentence(self, seeded: Seeded) -> None:
        seeded.put({101: TASKS[101]}, other_controls={"notes": {101: {"2": ["a"], "3": ["b"], "4": ["a"]}}})
        seeded.score()
        body = ask(seeded, 101).json
        assert [field["name"] for field in body["fields"]] == ["findings", "notes"]
        assert body["sentence"].startswith("notes: ") and len(body["sentence"]) <= 100
