"""What reviewers do in the panel: the verdict they read, taking the suggestion, and saying what does not count."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from seeded_store import LABEL_STUDIO, NUMBER, Seeded

from ml_backend.labelstudio.config import Control
from ml_backend.labelstudio.own_session import results_of
from ml_backend.review.verdict import verdict

NAMES = {"2": "Anna", "3": "Ben", "4": "Devon"}


def field(
    texts: dict[str, list[str]],
    *,
    rows: tuple[tuple[dict[str, str], float], ...] = (),
    unmatched: dict[str, list[str]] | None = None,
    reasons: tuple[dict[str, Any], ...] = (),
    agreement: float = 0.4,
) -> dict[str, Any]:
    """One field as the panel shows it."""
    return {
        "raters": [{"id": rater, "name": NAMES[rater], "n_texts": len(given)} for rater, given in texts.items()],
        "matches": [{"texts": row, "equivalence": value, "pairs": []} for row, value in rows],
        "unmatched": unmatched or {},
        "reasons": list(reasons),
        "agreement": agreement,
    }


def reason(kind: str, words: str, a: tuple[str, str], b: tuple[str, str], name: str = "") -> dict[str, Any]:
    return {
        "kind": kind,
        "name": name or kind,
        "words": words,
        "also": [],
        "raters": [a[0], b[0]],
        "texts": [a[1], b[1]],
        "equivalence": 0.2,
    }


DEVON = [("2", "3", 1.0), ("2", "4", 0.0), ("3", "4", 0.0)]
NOBODY = [("2", "3", 0.3), ("2", "4", 0.3), ("3", "4", 0.3)]
SIDES = {"2": ["left knee pain"], "3": ["left knee pain"], "4": ["right knee pain", "rash"]}


class TestVerdict:
    def test_who_differs_in_what(self) -> None:
        given = field(
            SIDES,
            rows=(({"2": "left knee pain", "3": "left knee pain"}, 1.0),),
            unmatched={"4": ["right knee pain", "rash"]},
            reasons=(
                reason("side", "left against right", ("2", "left knee pain"), ("4", "right knee pain")),
                reason("side", "left against right", ("3", "left knee pain"), ("4", "right knee pain")),
                reason("one rater only", "only one of the two says rash", ("2", ""), ("4", "rash")),
            ),
            agreement=0.33,
        )
        assert verdict(given, DEVON, 0.5) == "Devon differs: right instead of left; one text only Devon has."

    @pytest.mark.parametrize(
        "words, told",
        [("no severity against severe", "adds severe"), ("severe against no severity", "leaves out severe")],
    )
    def test_what_is_added_and_left_out(self, words: str, told: str) -> None:
        given = field(
            {"2": ["a"], "3": ["a"], "4": ["b"]},
            rows=(({"2": "a", "3": "a"}, 1.0),),
            unmatched={"4": ["b"]},
            reasons=(reason("severity", words, ("2", "a"), ("4", "b")),),
            agreement=0.33,
        )
        assert verdict(given, DEVON, 0.5) == f"Devon differs: {told}."

    def test_two_annotators_differ_from_each_other(self) -> None:
        given = field(
            {"2": ["a"], "3": ["b"]},
            unmatched={"2": ["a"], "3": ["b"]},
            reasons=(reason("side", "left against no side", ("2", "a"), ("3", "b")),),
        )
        assert verdict(given, [("2", "3", 0.0)], 0.5) == "Anna and Ben differ: left against no side."
        given["reasons"] = [reason("unrelated", "a against b", ("2", "a"), ("3", "b"))]
        assert verdict(given, [("2", "3", 0.0)], 0.5) == "Anna and Ben differ: each wrote something else."

    def test_nobody_in_particular_differs(self) -> None:
        given = field(
            {"2": ["a", "x"], "3": ["b", "x"], "4": ["c", "d"]},
            rows=(({"2": "x", "3": "x"}, 1.0),),
            unmatched={"2": ["a"], "3": ["b"], "4": ["c", "d"]},
            agreement=0.3,
        )
        said = verdict(given, NOBODY, 0.5)
        assert said == "The annotators differ: four texts only one annotator has; one text not everybody has."

    def test_what_one_lacks_and_an_empty_answer(self) -> None:
        rows = (({"2": "x", "3": "x"}, 1.0),)
        given = field({"2": ["x"], "3": ["x"], "4": ["y"]}, rows=rows, unmatched={"4": ["y"]}, agreement=0.33)
        assert verdict(given, DEVON, 0.5).startswith("Devon differs: another text than the others")
        given = field({"2": ["x"], "3": ["x"], "4": []}, rows=rows, agreement=0.33)
        assert verdict(given, DEVON, 0.5) == "Devon differs: an empty answer."

    def test_agreement_is_said_too(self) -> None:
        rows = (({"2": "x", "3": "y", "4": "x"}, 0.9),)
        texts = {"2": ["x"], "3": ["y"], "4": ["x"]}
        assert verdict(field(texts, rows=rows, agreement=0.9), [], 0.5) == "All 3 annotators say the same."
        two = field({"2": [], "3": []}, agreement=1.0)
        assert verdict(two, [], 0.5) == "Anna and Ben found nothing to write."
        assert verdict(field({"2": ["x"]}), [], 0.5) == ""

    def test_many_differences_are_counted(self) -> None:
        kinds = ("side", "severity", "time", "number", "certainty")
        given = field(
            {"2": ["a"], "3": ["b"]},
            unmatched={"2": ["a"], "3": ["b"]},
            reasons=tuple(reason(kind, f"{kind} 1 against {kind} 2", ("2", "a"), ("3", "b")) for kind in kinds),
        )
        assert verdict(given, [("2", "3", 0.1)], 0.5).endswith("time 1 against time 2; two more.")

    def test_words_of_another_direction_do_not_turn_the_sentence(self) -> None:
        given = field({"2": ["a"], "3": ["b"]}, unmatched={"2": ["a"], "3": ["b"]})
        given["raters"][0]["name"] = "ليلى"
        assert verdict(given, [("2", "3", 0.1)], 0.5).startswith("\u2068ليلى\u2069 and Ben differ")

    def test_the_panel_says_it(self, seeded: Seeded) -> None:
        body = seeded.as_person().get("/api/panel", query_string={"project": NUMBER, "task": 104}).json
        assert body["verdict"].endswith(".") and "differ" in body["verdict"]
        same = seeded.as_person().get("/api/panel", query_string={"project": NUMBER, "task": 103}).json
        assert same["verdict"] == "All 3 annotators say the same."


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[Seeded]:
    made = Seeded(tmp_path)
    made.services.store.update_project(
        made.project, controls=[{"name": "findings", "to_name": "text", "per_region": False}]
    )
    made.put()
    made.score()
    yield made
    made.services.store.close()


class LabelStudio:
    """What Label Studio answers to a person's own session, and what it was sent."""

    def __init__(self) -> None:
        self.role: str | None = "RE"
        self.status = 201
        self.drafts: list[tuple[httpx.Request, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if "sessionid=mine" not in request.headers.get("cookie", ""):
            return httpx.Response(401)
        if path == "/api/current-user/whoami":
            membership = {"organization_membership": {"role": self.role}}
            return httpx.Response(200, json={"id": 9, "first_name": "Rae", "last_name": "Viewer", **membership})
        if path == f"/api/projects/{NUMBER}/":
            return httpx.Response(200, json={"id": NUMBER})
        if path.endswith("/drafts"):
            self.drafts.append((request, json.loads(request.content)))
            return httpx.Response(self.status, json={"id": 77})
        return httpx.Response(404)


@pytest.fixture
def label_studio(monkeypatch: pytest.MonkeyPatch) -> LabelStudio:
    answers, plain = LabelStudio(), httpx.Client
    monkeypatch.setattr(httpx, "Client", lambda **given: plain(**given, transport=httpx.MockTransport(answers)))
    return answers


class TestTake:
    def take(self, seeded: Seeded, client: Any = None, **change: Any) -> Any:
        texts = ["heart attack"]
        body = {"project": NUMBER, "task": 102, "suggestions": [{"control": "findings", "texts": texts}]}
        if client is None:
            client = seeded.app.test_client()
            client.set_cookie("sessionid", "mine")
            client.set_cookie("csrftoken", "c" * 32)
        return client.post("/api/take", json=body | change)

    def test_it_becomes_a_draft_of_the_persons_own(self, seeded: Seeded, label_studio: LabelStudio) -> None:
        reply = self.take(seeded)
        assert (reply.status_code, reply.json) == (201, {"draft": 77})
        ((request, sent),) = label_studio.drafts
        assert str(request.url) == f"{LABEL_STUDIO}/api/tasks/102/drafts?project={NUMBER}"
        # their session and nobody else's: no token of this backend goes with it
        assert "sessionid=mine" in request.headers["cookie"] and "authorization" not in request.headers
        assert request.headers["x-csrftoken"] == "c" * 32
        (region,) = sent["result"]
        assert region["value"] == {"text": ["heart attack"]} and region["to_name"] == "text"
        assert region["origin"] == "prediction", "it would count as an annotator's independent answer"

    def test_who_may_not(self, seeded: Seeded, label_studio: LabelStudio) -> None:
        assert self.take(seeded, seeded.app.test_client()).status_code == 403
        by_link = self.take(seeded, seeded.as_person())
        assert by_link.status_code == 403 and "login does not reach" in by_link.json["error"]
        label_studio.role = None  # an annotator
        assert self.take(seeded).status_code == 403
        assert label_studio.drafts == []

    def test_what_changed_meanwhile_is_not_taken(self, seeded: Seeded, label_studio: LabelStudio) -> None:
        stale = self.take(seeded, suggestions=[{"control": "findings", "texts": ["something else"]}])
        assert stale.status_code == 409 and "changed" in stale.json["error"]
        for wrong in ([], "x", [{"control": "findings"}], [{"control": 1, "texts": []}]):
            assert self.take(seeded, suggestions=wrong).status_code == 400
        assert self.take(seeded, task=999).status_code == 404
        assert label_studio.drafts == []

    def test_label_studios_refusal_is_told(self, seeded: Seeded, label_studio: LabelStudio) -> None:
        label_studio.status = 403
        reply = self.take(seeded)
        assert reply.status_code == 502 and "does not let you annotate" in reply.json["error"]
        label_studio.status = 500
        assert "answered 500" in self.take(seeded).json["error"]

    def test_the_panel_offers_it_to_a_session_only(self, seeded: Seeded, label_studio: LabelStudio) -> None:
        query = {"project": NUMBER, "task": 102}
        client = seeded.app.test_client()
        client.set_cookie("sessionid", "mine")
        assert client.get("/api/panel", query_string=query).json["viewer"]["can_take"] is True
        assert seeded.as_person().get("/api/panel", query_string=query).json["viewer"]["can_take"] is False

    def test_texts_of_regions_are_left_out(self) -> None:
        controls = (Control("a", "t"), Control("b", "t", per_region=True), Control("c", "t"))
        assert [one["from_name"] for one in results_of(controls, {"a": ["x"], "b": ["y"]})] == ["a"]


class TestUncounted:
    def say(self, seeded: Seeded, client: Any = None, **change: Any) -> Any:
        body = {"project": NUMBER, "task": 102, "attribute": "severity"}
        return (client or seeded.as_person()).post("/api/uncounted", json=body | change)

    def test_it_is_noted_for_the_lead_and_changes_no_score(self, seeded: Seeded) -> None:
        before = seeded.row["summary"], seeded.services.store.get_tasks(seeded.project, [102])[102]
        assert self.say(seeded).status_code == 201
        assert (seeded.row["summary"], seeded.services.store.get_tasks(seeded.project, [102])[102]) == before
        assert seeded.row["chosen"].get("ignore") is None and seeded.row["wanted_at"] is None
        lead = seeded.as_person("lead", user="1", name="Lena Lead")
        (said,) = lead.get("/api/uncounted", query_string={"project": NUMBER}).json["uncounted"]
        assert (said["attribute"], said["task"], said["who"], said["known_by"]) == (
            "severity",
            102,
            "Rae Viewer",
            "link",
        )
        shown = seeded.as_person().get("/api/panel", query_string={"project": NUMBER, "task": 102}).json
        assert [(one["attribute"], one["who"]) for one in shown["uncounted"]] == [("severity", "Rae Viewer")]

    def test_it_can_be_taken_back_and_stays_in_the_log(self, seeded: Seeded) -> None:
        number = self.say(seeded).json["said"]
        self.say(seeded, task=101)
        gone = seeded.as_person().delete(f"/api/uncounted/{number}", query_string={"project": NUMBER})
        assert gone.status_code == 200
        again = seeded.as_person().delete(f"/api/uncounted/{number}", query_string={"project": NUMBER})
        assert again.status_code == 404
        client = seeded.as_person()
        now = client.get("/api/uncounted", query_string={"project": NUMBER}).json["uncounted"]
        log = client.get("/api/uncounted", query_string={"project": NUMBER, "log": "1"}).json["uncounted"]
        assert [one["task"] for one in now] == [101] and [one["withdrawn"] for one in log] == [False, False, True]

    @pytest.mark.parametrize("change", [{"attribute": "color"}, {"attribute": None}, {"task": "x"}])
    def test_nonsense_is_refused(self, seeded: Seeded, change: dict[str, Any]) -> None:
        assert self.say(seeded, **change).status_code == 400

    def test_annotators_and_strangers_say_nothing(self, seeded: Seeded) -> None:
        assert self.say(seeded, seeded.as_person("annotator", user="2", name="Ann")).status_code == 403
        assert self.say(seeded, seeded.app.test_client()).status_code == 403
        assert self.say(seeded, task=999).status_code == 404
        annotator = seeded.as_person("annotator", user="2", name="Ann")
        assert annotator.get("/api/uncounted", query_string={"project": NUMBER}).status_code == 403
        body = annotator.get("/api/panel", query_string={"project": NUMBER, "task": 102}).json
        assert body["uncounted"] == [] and body["viewer"]["can_take"] is False and body["viewer"]["can_mark"] is False
