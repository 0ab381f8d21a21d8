"""The panel's page and data: who gets what, when it stays neutral, and what it says."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ml_backend.plugin_files import plugin_dir
from ml_backend.review.panel_payload import payload
from ml_backend.store.store import NO_RUN
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
    def test_page_holds_no_data_and_no_inline_script(self, seeded: Seeded) -> None:
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
        places = [part.split('"')[0] for part in text.split('="panel/static/')[1:]]
        assert sorted(place.partition("/")[2] for place in places) == sorted(
            path.name for path in (plugin_dir() / "panel").iterdir()
        )
        for place in places:
            reply = seeded.client.get(f"/panel/static/{place}")
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
        for place in ("http://evil.example", "null", f"{LABEL_STUDIO}.evil.example", "http://labels.example:8081"):
            assert seeded.client.get("/api/panel", query_string=query, headers={header: place}).status_code == 403
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


class TestBlind:
    def test_label_stream_shows_nothing(self, seeded: Seeded) -> None:
        for task in (101, None):
            body = ask(seeded, task, labeling=1).json
            assert body["status"] == "blind"
            assert not set(body) & {"matches", "matrix", "suggestion"}
            assert "fever" not in json.dumps(body)

    def test_incomplete_task_shows_nothing(self, seeded: Seeded) -> None:
        body = ask(seeded, 105).json
        assert body["status"] == "blind"
        assert body["message"] == "Agreement is shown once all 3 annotators have answered; 2 annotators have so far."

    def test_who_skipped_a_task_has_had_a_turn(self, seeded: Seeded) -> None:
        """Nobody else is to answer it: a panel that waited for the third answer would wait for ever."""
        task = {105: {"2": ["asthma"], "3": ["bronchial asthma"]}}
        seeded.put(task, excluded={105: [("4", "skipped")]})
        seeded.score()
        body = ask(seeded, 105).json
        assert body["status"] == "ready" and body["excluded"][0]["reason"] == "skipped"
        # an annotator who skipped first and answered then counts once
        seeded.put(task, excluded={105: [("3", "skipped")]})
        seeded.score()
        assert ask(seeded, 105).json["status"] == "blind"

    def test_project_can_show_it_from_the_second_answer_on(self, seeded: Seeded) -> None:
        seeded.update(chosen={"panel": "always"})
        assert ask(seeded, 105).json["status"] == "ready"
        assert ask(seeded, 105, labeling=1).json["status"] == "blind"


class TestWhoIsShownWhat:
    """The key in the label config opens the panel for people; it shows nothing to who has nothing but the key."""

    def test_nobody_in_particular_sees_nothing_of_any_task(self, seeded: Seeded) -> None:
        bodies = [
            ask(seeded, task, seeded.key(), **more) for task in (101, 105, 999, None) for more in ({}, {"labeling": 0})
        ]
        assert {(reply.status_code, reply.text) for reply in bodies} == {(200, bodies[0].text)}, (
            "not even whether a task is there"
        )
        assert bodies[0].json["status"] == "blind" and "personal link" in bodies[0].json["message"]
        assert "Findings" not in bodies[0].text

    def test_an_annotator_sees_a_task_once_answered_and_decides_nothing(self, seeded: Seeded) -> None:
        seeded.put({110: {"2": ["gout"], "3": ["gout"], "4": ["gouty arthritis"]}})
        seeded.score()
        ann, stranger = seeded.as_person("annotator", "2", "Ann"), seeded.as_person("annotator", "7", "New")
        shown = ask(seeded, 110, client=ann).json
        assert shown["status"] == "ready" and shown["links"] == {}
        assert shown["viewer"] == {
            "can_decide": False,
            "can_take": False,
            "can_mark": False,
            "name": "Ann",
            "role": "annotator",
        }
        hidden = ask(seeded, 110, client=stranger).json
        assert hidden["status"] == "blind" and "your own answer" in hidden["message"]
        assert "gout" not in json.dumps(hidden)
        stream = ask(seeded, 110, client=stranger, labeling=1).json
        assert (
            stream["status"] == "blind"
            and "not shown while you answer" in stream["message"]
            and "Data Manager" not in stream["message"]
        )
        assert ask(seeded, 105, client=ann).json["status"] == "blind", "others have not answered yet"

    def test_an_annotator_who_skipped_a_task_has_given_an_answer(self, seeded: Seeded) -> None:
        seeded.put({110: {"2": ["gout"], "3": ["gout"]}}, excluded={110: [("4", "skipped")]})
        seeded.score()
        assert ask(seeded, 110, client=seeded.as_person("annotator", "4", "Cy")).json["status"] == "ready"
        assert ask(seeded, 110, client=seeded.as_person("annotator", "7", "New")).json["status"] == "blind"

    def test_annotators_are_told_who_reads_the_report(self, seeded: Seeded) -> None:
        ann = seeded.as_person("annotator", "2", "Ann")
        reply = seeded.get("/api/report", client=ann)
        assert reply.status_code == 403 and "lead and reviewers" in reply.json["error"]


def test_annotators_read_the_note_of_a_task_that_was_sent_back(seeded: Seeded) -> None:
    who = seeded.as_person("annotator", "2")
    assert ask(seeded, 101, client=who).json["review"] == {"state": "open"}
    body = {"task": 101, "state": "sent back", "note": "Name the side."}
    assert seeded.send("/api/queue", client=who, **body).status_code == 403
    assert seeded.send("/api/queue", client=seeded.as_person("reviewer"), **body).status_code == 201
    review = ask(seeded, 101, client=who).json["review"]
    assert (review["state"], review["who"], review["note"]) == ("sent back", "Rae Viewer", "Name the side.")


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

    def test_what_is_not_ours_or_over_is_refused(self, seeded: Seeded) -> None:
        good = seeded.token()
        other = Seeded.token(seeded, until=1.0)
        for token in ("", "x", good[:-1], "A" + good, seeded.key("report"), other):
            assert seeded.client.get(f"/enter/{NUMBER}", query_string={"t": token}).status_code == 403
        assert seeded.client.get("/enter/13", query_string={"t": good}).status_code == 403
        seeded.update(key_round=1)
        assert seeded.client.get(f"/enter/{NUMBER}", query_string={"t": good}).status_code == 403


class TestStates:
    @pytest.mark.slow
    def test_ready_says_the_same_as_the_science(self, seeded: Seeded) -> None:
        from softirr.answers.table import AnnotationTable, Answer
        from softirr.report.agreement import item_agreement

        answers = [Answer("101", rater, tuple(texts)) for rater, texts in TASKS[101].items()]
        (item,) = item_agreement(AnnotationTable.from_answers(answers), "indel")
        body = ask(seeded, 101).json
        assert body["status"] == "ready"
        assert body["task"]["agreement"] == pytest.approx(item.agreement, abs=1e-12)
        places = {rater["id"]: place for place, rater in enumerate(body["raters"])}
        for a, b, value in item.pairs:
            assert body["matrix"][places[a]][places[b]] == pytest.approx(value, abs=1e-12)
        assert [m["texts"] for m in body["matches"]] == [m.texts for m in item.matches]
        assert [rater["name"] for rater in body["raters"]] == ["Ann Example", "Ben Sample", "Chloé Martin"]
        assert body["excluded"] == [
            {"rater": "3", "reason": "older answer of the same annotator", "name": "Ben Sample"}
        ]
        assert body["project"]["coefficient"]["name"] == "krippendorff_alpha"

    def test_rank_counts_from_the_lowest(self, seeded: Seeded) -> None:
        best = ask(seeded, 103).json["task"]
        assert (best["rank"], best["n_ranked"], best["word"]) == (5, 5, "very high")

    def test_nothing_to_compare(self, seeded: Seeded) -> None:
        seeded.update(chosen={"panel": "always"})
        assert ask(seeded, 106).json["status"] == "none"
        assert "Nobody" in ask(seeded, 107).json["message"]
        assert ask(seeded, None).json["message"].startswith("Open a task")
        assert ask(seeded, 999).json["status"] == "none"

    def test_changed_answers_are_pending_until_scored(self, seeded: Seeded) -> None:
        before = ask(seeded, 102).json["task"]["agreement"]
        seeded.put({102: {"2": ["heart attack"], "3": ["heart attack"], "4": ["heart attack"]}})
        assert ask(seeded, 102).json["status"] == "pending"
        seeded.score()
        assert ask(seeded, 102).json["task"]["agreement"] == 1.0 > before

    def test_progress_of_the_running_job(self, seeded: Seeded) -> None:
        seeded.put({102: {"2": ["a"], "3": ["b"], "4": ["c"]}})
        state = {**NO_RUN, "state": "running", "phase": "scoring", "done": 3, "total": 10}
        assert seeded.store.begin_run(seeded.project, state)
        assert ask(seeded, 102).json["job"] == {"phase": "scoring", "done": 3, "total": 10}

    def test_unchanged_answer_costs_no_body(self, seeded: Seeded) -> None:
        first = ask(seeded, 101)
        again = seeded.as_person().get(
            "/api/panel",
            query_string={"project": NUMBER, "task": 101, "k": seeded.key()},
            headers={"If-None-Match": first.headers["ETag"]},
        )
        assert again.status_code == 304 and not again.data

    def test_several_controls(self, seeded: Seeded) -> None:
        seeded.put({101: TASKS[101]}, beside={"notes": {101: {"2": ["a"], "3": ["b"], "4": ["a"]}}})
        seeded.score()
        body = ask(seeded, 101).json
        assert [control["name"] for control in body["controls"]] == ["findings", "notes"]

    @pytest.mark.parametrize(
        "relation, broader", [("first is more general", "9"), ("second is more general", "2"), ("equivalent", None)]
    )
    def test_whose_text_is_the_broader_one_is_said_by_name(self, relation: str, broader: str | None) -> None:
        """Browsers put number-like names of an object in order, so that the order of the texts is lost there."""
        match = {"texts": {"9": "infection", "2": "pneumonia"}, "equivalence": 0.4, "relation": relation}
        details = {"controls": {"f": {"agreement": 0.4, "n_raters": 2, "pairs": [["2", "9", 0.4]], "matches": [match]}}}
        details["controls"]["f"] |= {"unmatched": {}, "suggestion": []}
        answers = {"f": {"answers": {"2": ["pneumonia"], "9": ["infection"]}, "excluded": []}}
        project = {"number": 1, "title": "", "summary": None, "raters": {}}
        task = {"number": 1, "agreement": 0.4, "scored_at": None, "details": details, "answers": answers}
        assert payload(project, task, place=None)["matches"][0]["broader"] == broader
