"""The codebook page: made on request, merged and parted by known reviewers, exported as a terminology."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ml_backend.settings import ProjectSettings
from ml_backend.store.codebooks import CodebookStore
from softirr.meaning.terminology.load import load
from tests.ml_backend.seeded_store import NUMBER, Seeded

HOSTILE = "<img src=x onerror=alert(1)>"
TASKS = {
    101: {"2": ["fever", "dry cough"], "3": ["fevers"], "4": ["fever"]},
    102: {"2": ["heart attack"], "3": ["myocardial infarction"], "4": ["heart attack"]},
    103: {"2": ["dry coughs"], "3": [HOSTILE], "4": ["dry cough"]},
}


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return seed(TASKS)


def make(seeded: Seeded, **settings: Any) -> None:
    assert seeded.send("/api/codebook").status_code == 202
    chosen = ProjectSettings(**{"measure": "indel", "threshold": 0.8, **settings})
    seeded.update(chosen={"threshold": 0.8})
    assert seeded.work(chosen) == 1


def entries(seeded: Seeded) -> list[list[str]]:
    entries = seeded.get("/api/codebook").json["codebook"]["entries"]
    return [[one["text"] for one in entry["wordings"]] for entry in entries]


def decide(seeded: Seeded, client: Any = None, **what: Any) -> Any:
    return seeded.send("/api/codebook/decisions", client=client or seeded.as_person(), **what)


def page(seeded: Seeded, client: Any = None, **more: Any) -> str:
    return " ".join(seeded.get(f"/codebook/{NUMBER}", client=client, **more).text.split())


class TestMaking:
    def test_it_is_made_on_request_by_the_scorer(self, seeded: Seeded) -> None:
        assert "Make the codebook" in page(seeded)
        make(seeded)
        assert entries(seeded)[:2] == [["dry cough", "dry coughs"], ["fever", "fevers"]]
        assert ["heart attack"] in entries(seeded)
        state = seeded.get("/api/codebook", brief=1).json
        assert state["made_at"] and not state["waiting"] and not state["stale"] and state["codebook"] is None
        text = page(seeded)
        assert "Ann Example" in text and "7 distinct texts" in " ".join(text.split())
        assert HOSTILE not in text and "&lt;img src=x" in text

    def test_changed_answers_are_told(self, seeded: Seeded) -> None:
        make(seeded)
        seeded.put({101: {"2": ["rash"], "3": ["fevers"]}})
        assert "Bring it up to date" in page(seeded)

    def test_what_can_not_be_made_says_why(self, seeded: Seeded) -> None:
        make(seeded, measure="nli:/nowhere/model")
        assert "could not be made" in page(seeded)

    def test_find_and_more(self, seeded: Seeded, monkeypatch: pytest.MonkeyPatch) -> None:
        make(seeded)
        assert page(seeded, q="COUGH").count("data-entry") == 1
        assert "No entry contains this text" in page(seeded, q="xyz")
        monkeypatch.setattr("ml_backend.web.codebook.SHOWN", 2)
        assert page(seeded).count("data-entry") == 2 and "Show all 5 entries" in page(seeded)
        assert page(seeded, all=1).count("data-entry") == 5

    def test_the_report_leads_to_it(self, seeded: Seeded) -> None:
        assert f"codebook/{NUMBER}" in seeded.page()

    def test_forgetting_the_project_forgets_it(self, seeded: Seeded) -> None:
        make(seeded)
        seeded.store.erase_project(seeded.project)
        assert CodebookStore(seeded.store).get(seeded.project, "findings") is None


class TestDecisions:
    def test_merging_applies_at_once_and_counts_as_same(self, seeded: Seeded) -> None:
        make(seeded)
        before = seeded.task(102)["agreement"]
        reply = decide(seeded, merge=["heart attack", "myocardial infarction"])
        assert reply.status_code == 201 and reply.json["decided"] == 1
        assert ["heart attack", "myocardial infarction"] in entries(seeded)
        (decision,) = seeded.store.decisions(seeded.project)
        assert decision["same"] and (decision["reviewer"], decision["known_by"]) == ("Rae Viewer", "link")
        seeded.score()
        assert seeded.task(102)["agreement"] == 1.0 > before

    def test_parting_and_taking_it_back(self, seeded: Seeded) -> None:
        make(seeded)
        reply = decide(seeded, part="fevers")
        assert ["fever"] in entries(seeded) and ["fevers"] in entries(seeded)
        assert [row["same"] for row in seeded.store.decisions(seeded.project)] == [False]
        for number in reply.json["decisions"]:
            seeded.delete(f"/api/decisions/{number}", seeded.as_person())
        assert ["fever", "fevers"] in entries(seeded)

    def test_the_last_word_counts(self, seeded: Seeded) -> None:
        """Merging what was parted, and parting what was merged, leaves no contradiction."""
        make(seeded)
        decide(seeded, part="fevers")
        decide(seeded, merge=["fever", "heart attack"])
        decide(seeded, merge=["fever", "fevers"])
        merged = next(group for group in entries(seeded) if "fever" in group)
        assert set(merged) == {"fever", "fevers", "heart attack"}
        decide(seeded, part="heart attack")
        assert ["heart attack"] in entries(seeded)
        assert seeded.get("/api/codebook").json["codebook"]["contradictions"] == []

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("what", "status"),
        [
            ({"merge": ["fever"]}, 400),
            ({"merge": ["fever", "fever"]}, 400),
            ({"merge": ["fever", 3]}, 400),
            ({"merge": ["fever", "no such entry"]}, 409),
            ({"part": "fever"}, 409),
            ({"part": "nothing"}, 409),
            ({"merge": ["fever", "dry cough"], "part": "fevers"}, 400),
            ({}, 400),
            ({"part": "fevers", "control": "other"}, 404),
        ],
    )
    def test_unusable_input_is_refused(self, seeded: Seeded, what: dict[str, Any], status: int) -> None:
        make(seeded)
        assert decide(seeded, **what).status_code == status
        assert seeded.store.decisions(seeded.project) == []

    def test_only_known_reviewers_have_the_buttons(self, seeded: Seeded) -> None:
        make(seeded)
        assert 'class="part"' not in page(seeded) and "To merge or separate entries" in page(seeded)
        assert 'class="part"' in page(seeded, seeded.as_person())

    @pytest.mark.slow
    def test_without_a_codebook_nothing_can_be_decided(self, seeded: Seeded) -> None:
        assert decide(seeded, part="fevers").status_code == 409


class TestFiles:
    def test_the_tsv_is_a_terminology(self, seeded: Seeded, tmp_path: Path) -> None:
        make(seeded)
        decide(seeded, merge=["heart attack", "myocardial infarction"])
        reply = seeded.get(f"/codebook/{NUMBER}/codebook.tsv")
        (tmp_path / "book.tsv").write_bytes(reply.data)
        assert ("heart attack", "myocardial infarction") in load(str(tmp_path / "book.tsv")).names

    def test_csv_and_nothing_else(self, seeded: Seeded) -> None:
        address = f"/codebook/{NUMBER}/codebook.csv"
        assert seeded.get(address).status_code == 409
        make(seeded)
        (row,) = [row for row in seeded.csv(address) if row["text"] == "fevers"]
        assert (row["name"], row["answers"], row["annotators"]) == ("fever", "1", "Ben Sample (1)")
        assert seeded.get(f"/codebook/{NUMBER}/other.csv").status_code == 404
