"""Two backends on one project: one writes, and the other reports why it does not."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from ml_backend.labelstudio.connect import Connector
from ml_backend.labelstudio.triage import TITLE
from ml_backend.settings import MODEL_VERSION
from tests.ml_backend.bench import Bench, answered
from tests.ml_backend.fake_label_studio import NUMBER


class TestTwoBackendsOnOneServer:
    def test_each_with_its_own_store_they_agree_in_the_end(self, tmp_path: Path) -> None:
        first = Bench(tmp_path / "a")
        second = Bench(tmp_path / "b", first.fake)
        answered(first.fake, 20)
        first.sync()
        second.sync()
        assert first.fake.wrong() == []
        first.fake.add_task({1: ["x"], 2: ["xy"]})
        second.sync()
        first.sync()
        second.sync()
        assert first.fake.wrong() == []


class TestTwoMeasuresOnOneProject:
    """Two backends that score otherwise: one writes, the other says why it does not."""

    @staticmethod
    def _connect(bench: Bench, since: float) -> None:
        row = bench.store.ensure_project(bench.settings.label_studio_url, NUMBER)
        bench.store.update_project(row["id"], connection={"mode": "pull-only", "since": since})

    @pytest.mark.slow
    @pytest.mark.parametrize("last", ["first", "second"])
    def test_the_one_that_was_connected_last_wins(
        self, tmp_path: Path, last: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        first = Bench(tmp_path / "a")
        second = Bench(tmp_path / "b", first.fake, measure="jaccard")
        tasks = answered(first.fake, 20)
        self._connect(first, 2.0 if last == "first" else 1.0)
        self._connect(second, 1.0 if last == "first" else 2.0)
        winner, loser = (first, second) if last == "first" else (second, first)
        measure = "indel" if last == "first" else "jaccard"
        first.sync(full=True)
        second.sync(full=True)
        winner.sync(full=True)
        assert first.fake.wrong(measure=measure) == []
        result = loser.sync(full=True)
        assert f"measure {measure}" in result.notes[-1].what
        assert any(f"measure {measure}" in sentence for sentence in loser.report()["headline"]["notes"])
        assert "writes none" in caplog.text
        for full in (False, True):
            first.fake.edit(first.fake.tasks[tasks[3]]["annotations"][0]["id"], [f"changed {full}"])
            loser.sync(full=full)
            winner.sync()
            first.fake.calls.clear()
            assert loser.sync(full=full).notes, "said by every run"
            winner.sync(full=True)
            assert first.fake.writes() == [], "nobody overwrites anybody"
            assert first.fake.wrong(measure=measure) == []
        self._connect(loser, 3.0)
        loser.sync(full=True)
        assert winner.sync(full=True).notes
        assert first.fake.wrong(measure="jaccard" if measure == "indel" else "indel") == [], (
            "connected again, it writes"
        )

    def test_a_backend_that_is_not_connected_leaves_the_writing_to_one_that_is(self, tmp_path: Path) -> None:
        first = Bench(tmp_path / "a")
        second = Bench(tmp_path / "b", first.fake, measure="jaccard")
        answered(first.fake, 5)
        self._connect(first, 1.0)
        first.sync()
        assert "writes none" in second.sync(full=True).notes[-1].what
        assert first.fake.wrong() == []


class TestTwoBackendsThatWriteScoresOnly:
    """Nothing in the predictions says who wrote them: the backends meet in the project's triage tab."""

    @pytest.fixture
    def two(self, tmp_path: Path) -> tuple[Bench, Bench]:
        first = Bench(tmp_path / "a")
        second = Bench(tmp_path / "b", first.fake, measure="jaccard")
        for bench in (first, second):
            bench.choose(suggestions=False)
        answered(first.fake, 12)
        return first, second

    @staticmethod
    def _connector(bench: Bench, stack: contextlib.ExitStack) -> Connector:
        return Connector(bench.store, stack.enter_context(bench.client()), bench.settings)

    def _connect(self, bench: Bench, url: str | None = None) -> None:
        with contextlib.ExitStack() as stack:
            self._connector(bench, stack).connect(NUMBER, url, panel=False)

    def _disconnect(self, bench: Bench) -> list[str]:
        with contextlib.ExitStack() as stack:
            return self._connector(bench, stack).disconnect(NUMBER).done

    @staticmethod
    def _scores(bench: Bench) -> dict[int, list[float]]:
        return {task: [p["score"] for p in listed] for task, listed in bench.fake.predictions().items()}

    def test_the_one_that_was_connected_last_wins(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        self._connect(first)
        assert first.sync(full=True).notes == ()
        self._connect(second)
        second.sync(full=True)
        assert first.fake.wrong(measure="jaccard") == []
        for full in (True, False):
            assert "measure jaccard" in first.sync(full=full).notes[-1].what
            first.fake.calls.clear()
            first.sync(full=full)
            assert second.sync(full=full).notes == ()
            assert first.fake.writes() == [], "nobody overwrites anybody"
        self._connect(first)
        first.sync(full=True)
        assert "measure indel" in second.sync(full=True).notes[-1].what
        assert first.fake.wrong() == []

    def test_one_that_is_not_connected_writes_nothing_beside_one_that_is(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        self._connect(first)
        first.sync(full=True)
        assert "writes none" in second.sync(full=True).notes[-1].what
        assert first.fake.wrong() == []

    def test_of_two_that_are_not_connected_each_says_that_the_other_one_wrote(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        assert first.sync(full=True).notes == ()
        assert first.sync(full=True).notes == ()
        assert "12 scores of project 4 were written by another" in second.sync(full=True).notes[-1].what
        assert first.fake.wrong(measure="jaccard") == []
        assert "12 scores of project 4 were written by another" in first.sync(full=True).notes[-1].what
        assert first.sync(full=True).notes == (), "it is said once"
        assert first.fake.wrong() == []

    def test_the_loser_leaves_the_winners_things_when_it_goes(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        self._connect(first, "http://first.example")
        first.sync(full=True)
        self._connect(second, "http://second.example")
        second.sync(full=True)
        first.sync(full=True)
        assert "Left predictions" in self._disconnect(first)[-1]
        assert first.fake.wrong(measure="jaccard") == []
        assert [connection["url"] for connection in first.fake.connections] == ["http://second.example"]
        assert [webhook["url"] for webhook in first.fake.webhooks] == ["http://second.example/webhook"]
        assert first.fake.project["model_version"] == MODEL_VERSION
        assert second.sync(full=True).notes == ()
        self._disconnect(second)
        assert (first.fake.predictions(), first.fake.connections, first.fake.webhooks) == ({}, [], [])
        assert TITLE not in [view["data"]["title"] for view in first.fake.views]

    @pytest.mark.parametrize("end", ["disconnected", "its connection is removed", "its predictions are removed"])
    def test_when_the_winner_is_gone_the_other_one_goes_on(self, two: tuple[Bench, Bench], end: str) -> None:
        first, second = two
        self._connect(first)
        first.sync(full=True)
        self._connect(second, "http://second.example")
        second.sync(full=True)
        first.sync(full=True)
        if end == "disconnected":
            assert "Removed 12 predictions" in " ".join(self._disconnect(second))
        elif end == "its connection is removed":
            first.fake.connections.clear()
        else:
            for task in first.fake.tasks.values():
                task["predictions"].clear()
        first.sync()
        assert first.fake.wrong() == []
        assert "rival_note" not in first.row["connection"]
        assert first.sync(full=True).notes == ()
        assert first.fake.wrong() == []
        if end == "its predictions are removed":  # and it is there after all
            second.sync(full=True)
            assert first.fake.wrong(measure="jaccard") == []
            assert "measure jaccard" in first.sync(full=True).notes[-1].what

    def test_predictions_of_a_backend_whose_connection_is_gone_do_not_count(self, two: tuple[Bench, Bench]) -> None:
        """They say who wrote them, and stay behind."""
        first, second = two
        for bench in two:
            bench.choose(suggestions=True)
        self._connect(first)
        first.sync(full=True)
        self._connect(second, "http://second.example")
        second.sync(full=True)
        assert "measure jaccard" in first.sync(full=True).notes[-1].what
        first.fake.connections.clear()
        first.sync(full=True)
        assert first.fake.wrong() == []

    def test_a_tab_that_somebody_removed_does_no_harm(self, two: tuple[Bench, Bench]) -> None:
        first, second = two
        self._connect(first)
        self._connect(second)
        second.sync(full=True)
        first.sync(full=True)
        first.fake.views.clear()
        assert "measure jaccard" in first.sync(full=True).notes[-1].what, "what was met once is remembered"
        assert first.fake.wrong(measure="jaccard") == []
