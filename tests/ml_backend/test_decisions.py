"""Reviewers' decisions about pairs of texts, and the rows in which the panel shows them."""

from collections.abc import Callable
from typing import Any

import pytest

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
        before = ask(seeded, 102).json["task"]["agreement"]
        assert self.send(seeded, [["heart attack", "myocardial infarction"]]).status_code == 201
        waiting = ask(seeded, 102).json
        assert waiting["status"] == "ready" and waiting["message"].startswith("Being computed")
        assert seeded.row["wanted_at"] is not None and seeded.row["summary_stale"]
        seeded.score()
        after = ask(seeded, 102).json
        assert after["task"]["agreement"] == 1.0 > before
        (decision,) = after["decisions"]
        assert decision["verdict"] == "same" and decision["who"] == "Rae Viewer" and decision["when"]
        assert all(match["decision"] for match in after["matches"] if len(set(match["texts"].values())) > 1)
        lead = seeded.as_person("lead", "8", "Lee Lead")
        assert seeded.delete(f"/api/decisions/{decision['id']}", lead).status_code == 200
        seeded.score()
        assert ask(seeded, 102).json["task"]["agreement"] == before
        assert ask(seeded, 102).json["decisions"] == []
        log = seeded.get("/api/decisions", log=1).json["decisions"]
        assert [(row["verdict"], row["who"], row["user"], row["known_by"]) for row in log] == [
            ("same", "Rae Viewer", "9", "link"),
            ("withdrawn", "Lee Lead", "8", "link"),
        ]
        assert log[0]["id"] == decision["id"], "what was decided stays in the log"

    def test_a_move_is_one_request(self, seeded: Seeded) -> None:
        parts = [
            {"pairs": [["a", "b"]], "verdict": "same"},
            {"pairs": [["a", "c"], ["a", "d"]], "verdict": "different"},
        ]
        reply = self.send(seeded, None, decisions=parts)
        assert reply.status_code == 201 and reply.json["pairs"] == [["a", "b"], ["a", "c"], ["a", "d"]]
        stored = seeded.store.decisions(seeded.project)
        assert [(row["id"], row["same"]) for row in stored] == list(
            zip(reply.json["ids"], [True, False, False], strict=True)
        )
        broken = [parts[0], {"pairs": [["a", "b"]], "verdict": "maybe"}]
        assert self.send(seeded, None, decisions=broken).status_code == 400
        assert len(seeded.store.decisions(seeded.project)) == 3, "all of it or nothing"

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
        "change",
        [
            {"pairs": []},
            {"pairs": [["a"]]},
            {"pairs": "a"},
            {"pairs": [["a", 1]]},
            {"verdict": "maybe"},
            {"task": "x"},
            {"decisions": []},
            {"decisions": "x"},
            {"pairs": [["a", "b"]] * 100},
        ],
    )
    def test_nonsense_is_refused(self, seeded: Seeded, change: dict[str, Any]) -> None:
        reply = self.send(seeded, **{"pairs": [["a", "b"]], **change})
        assert reply.status_code == 400 and reply.json["error"].endswith(".")
        assert seeded.store.decisions(seeded.project) == []


class TestRows:
    """Which texts share a row, and what is known of each two of them."""

    @staticmethod
    def rows(matches: list[Any], unmatched: Any = None, decisions: Any = ()) -> Any:
        from ml_backend.review.panel_rows import rows_of

        return rows_of({"matches": matches, "unmatched": unmatched or {}}, decisions, 0.5)

    @staticmethod
    def match(relation: str, **values: float) -> dict[str, Any]:
        pairs = [{"raters": list(name), "equivalence": value} for name, value in values.items()]
        raters = sorted({rater for name in values for rater in name})
        mean = sum(values.values()) / len(values)
        return {"texts": {r: f"text of {r}" for r in raters}, "equivalence": mean, "relation": relation,
                "support": len(raters), "pairs": pairs}  # fmt: skip

    def test_texts_that_nothing_matches_stand_apart(self) -> None:
        rows, alone = self.rows([self.match("unrelated", ab=0.08, ac=0.1, bc=0.02)], {"a": ["more"]})
        assert rows == [] and alone == {"a": ["more", "text of a"], "b": ["text of b"], "c": ["text of c"]}

    def test_those_of_them_that_match_stay_a_row(self) -> None:
        rows, alone = self.rows([self.match("unrelated", ab=0.9, ac=0.1, bc=0.02)])
        assert [sorted(row["texts"]) for row in rows] == [["a", "b"]] and rows[0]["equivalence"] == 0.9
        assert alone == {"c": ["text of c"]}

    def test_two_texts_side_by_side_by_assignment_only(self) -> None:
        match = {"texts": {"a": "x", "b": "y"}, "equivalence": 0.03, "relation": "unrelated", "support": 1}
        assert self.rows([match]) == ([], {"a": ["x"], "b": ["y"]})

    def test_a_decision_on_one_pair_shows_on_the_row(self) -> None:
        decision = {"id": 1, "texts": ["text of a", "text of c"], "verdict": "different"}
        ((row,), _) = self.rows([self.match("equivalent", ab=0.97, ac=0.61, bc=0.57)], decisions=[decision])
        assert [pair["decision"] for pair in row["pairs"]] == [None, decision, None] and row["decision"] is None
