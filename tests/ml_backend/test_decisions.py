"""Reviewers' decisions about pairs of texts, and the rows in which the panel shows them."""

from collections.abc import Callable
from typing import Any

import pytest

from ml_backend.project_settings import effective
from softirr.meaning.policy.rules import Policy
from tests.ml_backend.seeded_store import NUMBER, Seeded, ask


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return seed(excluded={101: [("3", "older answer of the same rater")]})


class TestDecisions:
    def send(self, seeded: Seeded, pairs: Any, verdict: str = "same", **more: Any) -> Any:
        body = {"project": NUMBER, "task": 102, "pairs": pairs, "verdict": verdict, "who": "Somebody Else", **more}
        return seeded.as_person().post(
            "/api/decisions", json=body, headers={"X-Softirr-Key": seeded.key(), "Origin": "http://localhost"}
        )

    def test_decision_wins_over_the_measure_and_can_be_undone(self, seeded: Seeded) -> None:
        agreement_before = ask(seeded, 102).json["task"]["agreement"]
        assert self.send(seeded, [["heart attack", "myocardial infarction"]]).status_code == 201
        waiting = ask(seeded, 102).json
        assert waiting["status"] == "ready" and waiting["message"].startswith("Being computed")
        assert seeded.row["summary_stale"]
        seeded.score()
        assert ask(seeded, 102).json["task"]["agreement"] == 1.0 > agreement_before
        (decision,) = seeded.get("/api/decisions").json["decisions"]
        assert decision["verdict"] == "same" and decision["who"] == "Rae Viewer" and decision["cause"] is None
        pair = [["myocardial infarction", "heart attack"]]
        lead = seeded.as_person("lead", "8", "Lee Lead")
        undone = seeded.send("/api/decisions", client=lead, task=102, pairs=pair, verdict="none")
        assert undone.json == {"decided": 1}
        seeded.score()
        assert ask(seeded, 102).json["task"]["agreement"] == agreement_before
        assert seeded.get("/api/decisions").json["decisions"] == []
        log = seeded.get("/api/decisions", log=1).json["decisions"]
        assert [(row["verdict"], row["who"], row["user"], row["known_by"]) for row in log] == [
            ("same", "Rae Viewer", "9", "link"),
            ("withdrawn", "Lee Lead", "8", "link"),
        ]
        assert log[0]["id"] == decision["id"], "what was decided stays in the log"

    def test_cause_is_stored_with_the_decision(self, seeded: Seeded) -> None:
        assert self.send(seeded, [["a", "b"]], "different", cause="guideline").status_code == 201
        (decision,) = seeded.get("/api/decisions").json["decisions"]
        assert decision["cause"] == "guideline"
        assert self.send(seeded, [["a", "b"]], "different", cause="because").status_code == 400

    def test_only_tasks_with_both_texts_are_scored_again(self, seeded: Seeded) -> None:
        self.send(seeded, [["heart attack", "myocardial infarction"]])
        assert [row["number"] for row in seeded.store.unscored(seeded.project, 100)] == [102]

    def test_texts_with_quotes_and_wildcards_are_found(self, seeded: Seeded) -> None:
        odd = {"2": ['100% "sure"_\\'], "3": ["çok iyi 😀"], "4": ["100"]}
        seeded.put({108: odd, 109: {"2": ["1000 sure"], "3": ["çok"], "4": ["x"]}})
        seeded.score()
        self.send(seeded, [['100% "sure"_\\', "çok iyi 😀"]], "different")
        assert [row["number"] for row in seeded.store.unscored(seeded.project, 100)] == [108]

    @pytest.mark.parametrize(
        ("original_text", "first", "options"),
        [
            ("rash; fever", "fever", {"policy": Policy(split="semicolons").to_dict()}),
            ("fever\nand rash", "fever and rash", {}),
            ("ｆｅｖｅｒ ٣", "fever 3", {}),
            ("Fever", "fever", {"casefold": True}),
        ],
    )
    def test_texts_that_were_written_otherwise_are_found_and_shown(
        self, seeded: Seeded, original_text: str, first: str, options: dict[str, Any]
    ) -> None:
        """A decision has the texts as they were compared."""
        settings = vars(effective(seeded.settings, command_options=options).values)
        seeded.put({108: {"2": [original_text], "3": ["chills"]}})
        seeded.score(**settings)
        self.send(seeded, [[first, "chills"]])
        assert [row["number"] for row in seeded.store.unscored(seeded.project, 100)] == [108]
        seeded.score(**settings)
        seeded.store.choose(seeded.project, options)
        (field,) = ask(seeded, 108).json["fields"]
        pairs = [entry for card in field["cards"] for entry in card["pairs"]]
        assert [(entry["texts"], entry["decision"]["verdict"]) for entry in pairs] == [(["chills", first], "same")]

    @pytest.mark.parametrize(
        "change",
        [
            {"pairs": []},
            {"pairs": [["a"]]},
            {"pairs": "a"},
            {"pairs": [["a", 1]]},
            {"verdict": "maybe"},
            {"cause": []},
            {"task": "x"},
            {"pairs": [["a", "b"]] * 100},
        ],
    )
    def test_nonsense_is_refused(self, seeded: Seeded, change: dict[str, Any]) -> None:
        reply = self.send(seeded, **{"pairs": [["a", "b"]], **change})
        assert reply.status_code == 400 and reply.json["error"].endswith(".")
        assert seeded.store.decisions(seeded.project) == []
