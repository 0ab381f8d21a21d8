"""The store in SQLite and in PostgreSQL: the same words, the same answers, also with many hands at once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ml_backend.store import jobs as job_store
from ml_backend.store import store as store_module
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Store, process_name
from softirr.errors import InputError, SoftirrError
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import NUMBER, URL

HANDS = 8


def together(function: Any, n: int = HANDS) -> list[Any]:
    """What `n` threads that call it at once are given."""
    with ThreadPoolExecutor(n) as pool:
        return [future.result() for future in [pool.submit(function, k) for k in range(n)]]


@pytest.fixture
def project(store: Store) -> int:
    return int(store.ensure_project(URL, NUMBER)["id"])


def pulled(number: int, words: str = "fever", *, generation: int = 1, actual: Any = ()) -> dict[str, Any]:
    return {
        "number": number,
        "updated_at": "2026-11-20T12:00:00Z",
        "generation": generation,
        "n_annotations": 2,
        "n_answers": 2,
        "answers": {"findings": {"answers": {"1": [words], "2": [words]}, "excluded": []}},
        "answers_hash": f"hash of {words}",
        "actual": list(actual),
    }


def scored(number: int, words: str = "fever", desired: str | None = "wanted") -> dict[str, Any]:
    return {
        "number": number,
        "answers_hash": f"hash of {words}",
        "agreement": 0.5,
        "details": {"agreement": 0.5, "controls": {}},
        "desired": desired,
    }


class TestSchema:
    def test_migrating_twice_and_at_once_is_migrating(self, empty_database: str) -> None:
        def migrate(_: int) -> None:
            store = Store(empty_database)
            store.migrate()
            store.close()

        migrate(0) if empty_database.startswith("sqlite") else together(migrate, 4)
        migrate(0)
        store = Store(empty_database)
        assert store.projects() == []
        store.close()

    @pytest.mark.parametrize(
        "url", ["nonsense", "mysql://x/y", "postgresql://", "postgres://nobody@127.0.0.1:1/none", ""]
    )
    def test_an_unusable_address_is_said_in_a_sentence(self, url: str) -> None:
        with pytest.raises(SoftirrError) as caught:
            Store(url).migrate()
        assert str(caught.value)[-1] in ".?"
        assert "\n" not in str(caught.value)

    def test_the_secret_is_made_once(self, store: Store) -> None:
        secrets = together(lambda _: store.secret())
        assert len(set(secrets)) == 1
        assert len(secrets[0]) == 32
        other = Store(store.url)
        assert other.secret() == secrets[0]
        other.close()


def test_errors_of_the_database_quote_no_answer(store: Store, project: int) -> None:
    import sqlalchemy as sa

    with pytest.raises(sa.exc.SQLAlchemyError) as caught:
        store.put_pulled(10**9, [pulled(1, "unmistakable finding")])
    assert "unmistakable" not in str(caught.value)


class TestManyHands:
    def test_counters_lose_nothing(self, store: Store) -> None:
        together(lambda k: [store.count(tasks_scored=k, jobs_done=1) for _ in range(20)])
        assert store.counts() == {"tasks_scored": 20.0 * sum(range(HANDS)), "jobs_done": 20.0 * HANDS}

    def test_one_project_is_made_once(self, store: Store) -> None:
        assert len({row["id"] for row in together(lambda _: store.ensure_project(URL, NUMBER))}) == 1

    def test_a_wake_up_is_new_once_and_served_once(self, store: Store, project: int) -> None:
        assert sum(together(lambda _: store.want(project))) == 1
        assert store.wanted() == [project]
        assert sorted(together(lambda _: store.take_wanted(project)[0])) == [False] * (HANDS - 1) + [True]
        assert store.wanted() == []

    def test_a_complete_pull_is_remembered_beside_an_ordinary_wake_up(self, store: Store, project: int) -> None:
        assert store.want(project)
        assert not store.want(project, full=True), "noted already"
        assert store.take_wanted(project) == (True, True)

    def test_one_lease(self, store: Store, project: int) -> None:
        assert sum(together(lambda k: store.take_lease(project, f"elsewhere:1:{k}"))) == 1

    def test_jobs_of_a_project_are_one_until_it_starts(self, store: Store, project: int) -> None:
        assert len(set(together(lambda _: store.open_job(project, "webhook")))) == 1
        first = store.open_job(project, "webhook")
        assert store.open_job(project, "regular check") == first
        store.update_job(first, state="running")
        assert store.open_job(project, "webhook") != first


class TestLease:
    def test_its_owner_keeps_it_and_others_wait(self, store: Store, project: int) -> None:
        assert store.take_lease(project, "elsewhere:1:a")
        assert store.take_lease(project, "elsewhere:1:a"), "its own"
        assert not store.take_lease(project, "elsewhere:2:b")
        assert store.keep_lease(project, "elsewhere:1:a")
        assert not store.keep_lease(project, "elsewhere:2:b")
        store.drop_lease(project, "elsewhere:2:b")
        assert not store.take_lease(project, "elsewhere:2:b")
        store.drop_lease(project, "elsewhere:1:a")
        assert store.take_lease(project, "elsewhere:2:b")

    def test_a_dead_owner_on_this_machine_is_replaced_at_once(self, store: Store, project: int) -> None:
        done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
        dead = f"{socket.gethostname()[:80]}:{int(done.stdout)}:1"
        assert store.take_lease(project, dead)
        assert store.lease_is_dead(dead)
        assert store.take_lease(project, process_name())

    def test_a_living_owner_is_not(self, store: Store, project: int) -> None:
        assert store.take_lease(project, f"{process_name()}:1")
        assert not store.lease_is_dead(f"{process_name()}:1")
        assert not store.take_lease(project, "elsewhere:1:a")
        assert store.take_lease(project, "elsewhere:1:a", force=True)
        assert not store.keep_lease(project, f"{process_name()}:1")
        assert str(os.getpid()) in process_name()

    def test_one_that_ran_out(self, store: Store, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store_module, "LEASE_SECONDS", -1.0)
        assert store.take_lease(project, "elsewhere:1:a")
        assert store.take_lease(project, "elsewhere:2:b")

    def test_of_a_project_that_is_gone(self, store: Store) -> None:
        assert not store.take_lease(999, "elsewhere:1:a")


class TestTasks:
    def test_only_other_answers_are_scored_again(self, store: Store, project: int) -> None:
        assert store.put_pulled(project, [pulled(1), pulled(2)]) == 2
        assert [row["number"] for row in store.unscored(project, 10)] == [1, 2]
        store.put_scored(project, [scored(1), scored(2)])
        assert store.unscored(project, 10) == []
        assert store.put_pulled(project, [pulled(1), pulled(2, "rash")]) == 1
        assert [row["number"] for row in store.unscored(project, 10)] == [2]
        assert store.count_unscored(project) == 1

    def test_what_is_to_be_written(self, store: Store, project: int) -> None:
        store.put_pulled(project, [pulled(n) for n in (1, 2, 3)])
        store.put_scored(project, [scored(1), scored(2), scored(3, desired=None)])
        assert [row["number"] for row in store.to_write(project)] == [1, 2, 3]
        store.put_written(project, {1: [[77, "wanted"]]})
        store.settle(project, [3])
        assert [row["number"] for row in store.to_write(project)] == [2]
        # Read again as it was written: nothing to do. Read again with another prediction: to be written.
        store.put_pulled(project, [pulled(1, actual=[[77, "wanted"]]), pulled(3, actual=[[78, "stray"]])])
        assert [row["number"] for row in store.to_write(project)] == [2, 3]
        assert store.totals(project) == {"tasks": 3, "annotations": 6, "predictions": 2, "to_write": 2}

    def test_what_a_broken_off_write_leaves_in_doubt(self, store: Store, project: int) -> None:
        store.put_pulled(project, [pulled(n) for n in range(1, 1203)])
        store.put_scored(project, [scored(n) for n in range(1, 1203)])
        store.set_in_flight(project, list(range(1, 1203)))
        assert store.in_flight(project) == 1202
        store.put_written(project, {n: [[n, "wanted"]] for n in range(1, 1203)})
        assert store.in_flight(project) == 0
        store.forget_actual(project)
        assert store.in_flight(project) == len(store.to_write(project)) == 1202
        assert len(store.get_tasks(project, list(range(1203)))) == 1202

    def test_what_is_gone(self, store: Store, project: int) -> None:
        store.put_pulled(project, [pulled(1), pulled(2), pulled(3)])
        store.suspect(project, [2, 3])
        assert store.suspects(project) == [2, 3]
        store.put_pulled(project, [pulled(3, generation=2)])
        assert store.suspects(project) == [2]
        assert store.older(project, 2) == [1, 2]
        store.drop_tasks(project, [1, 2])
        assert [number for number, _ in store.answers(project)] == [3]
        store.drop_tasks(project, [3])
        assert list(store.answers(project)) == []

    def test_a_project_made_anew_forgets_the_old_one(self, store: Store) -> None:
        old = store.ensure_project(URL, NUMBER, born="2026-11-20")["id"]
        store.put_pulled(old, [pulled(1)])
        store.open_job(old, "webhook")
        store.decide(old, "a", "b", same=True)
        ReviewStore(store).mark_done(old, 1, answers_hash="x", reviewer="Ann")
        assert store.ensure_project(URL, NUMBER, born="2026-11-20")["id"] == old
        new = store.ensure_project(URL, NUMBER, born="2026-11-21")["id"]
        assert store.project_by_id(old) is None or new == old
        assert list(store.answers(new)) == []
        assert store.decisions(new) == []
        assert store.jobs(new) == []

    def test_ranks(self, store: Store, project: int) -> None:
        store.put_pulled(project, [pulled(n) for n in range(1, 5)])
        rows = [{**scored(n), "agreement": value} for n, value in ((1, 0.9), (2, 0.1), (3, 0.5))]
        store.put_scored(project, rows)
        assert store.rank(project, 0.5) == (2, 3)


class TestJobs:
    def test_old_ones_are_forgotten_and_broken_ones_closed(
        self, store: Store, project: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(job_store, "KEPT_JOBS", 5)
        numbers = []
        for _ in range(9):
            numbers.append(store.open_job(project, "webhook"))
            store.update_job(numbers[-1], state="running")
        store.close_stale_jobs(project, numbers[-1])
        jobs = store.jobs(project)
        assert [job["id"] for job in jobs] == numbers[:-6:-1]
        assert [job["state"] for job in jobs] == ["running"] + ["failed"] * 4
        assert all(job["message"].startswith("Broken off") for job in jobs[1:])
        assert store.job_states() == {"running": 1, "failed": 4}
        assert store.wanted() == [project], "what is unfinished is found at the next start"


class TestDecisions:
    HOSTILE = ("fe\x00ver", "‮حمى", "\udbfflone", "<script>", "🤒" * 10, "'; DROP TABLE decisions; --", "x" * 100_000)

    @pytest.mark.parametrize("text", HOSTILE)
    def test_any_text_can_be_judged(self, store: Store, project: int, text: str) -> None:
        store.decide(project, text, "fever", same=True, reviewer="Ann", task=3)
        store.decide(project, "fever", text, same=False, reviewer="\ud800Ben\x00" if text == "x" else "Ben")
        (row,) = store.decisions(project)
        assert (row["same"], row["reviewer"], row["task"]) == (False, "Ben", None)
        assert store.undecide(project, "fever", text)
        assert not store.undecide(project, "fever", text)
        assert store.decisions(project) == store.decisions(project, texts=["fever", text]) == []

    def test_the_log_only_grows(self, store: Store, project: int) -> None:
        store.decide(project, "a", "b", same=True, reviewer="Ann", reviewer_id="2", known_by="session")
        before = store.decision_log(project)
        store.decide(project, "b", "a", same=False, reviewer="Ben", reviewer_id="3", known_by="link")
        store.decide(project, "a", "c", same=True)
        assert [(row["text_b"], row["same"]) for row in store.decisions(project)] == [("b", False), ("c", True)]
        assert [row["text_b"] for row in store.decisions(project, texts=["b", "a"])] == ["b"]
        assert store.undecide(project, "a", "b", reviewer="Cleo", reviewer_id="4", known_by="session")
        assert [row["text_b"] for row in store.decisions(project)] == ["c"]
        log = store.decision_log(project)
        assert log[:1] == before
        assert [(row["reviewer"], row["withdrawn"]) for row in log] == [
            ("Ann", False),
            ("Ben", False),
            ("", False),
            ("Cleo", True),
        ]
        store.decide(project, "a", "b", same=True)
        assert [(row["text_b"], row["same"]) for row in store.decisions(project)] == [("c", True), ("b", True)]

    def test_a_judgement_needs_two_texts(self, store: Store, project: int) -> None:
        with pytest.raises(InputError, match="needs two texts"):
            store.decide(project, "fever", " \x00 ", same=True)


def test_a_project_is_followed_on_either_database(empty_database: str, tmp_path: Path) -> None:
    """Pull, score, write, change, delete, judge, with hostile texts: the same on PostgreSQL as on SQLite."""
    Store(empty_database).migrate()
    bench = Bench(tmp_path / "state", database_url=empty_database)
    tasks = [bench.fake.add_task({1: [text, "fever"], 2: [text], 3: ["fever"]}) for text in TestDecisions.HOSTILE]
    tasks += [bench.fake.add_task({1: [f"cough {k}"], 2: ["cough"]}) for k in range(30)]
    assert bench.sync().created == len(tasks)
    assert bench.fake.wrong() == []
    bench.fake.edit(bench.fake.tasks[tasks[0]]["annotations"][0]["id"], ["other"])
    bench.fake.delete_annotation(bench.fake.tasks[tasks[1]]["annotations"][0]["id"])
    bench.fake.delete_annotation(bench.fake.tasks[tasks[-1]]["annotations"][0]["id"])
    bench.fake.tasks.pop(tasks[2])
    bench.sync()
    assert bench.fake.wrong() == []
    before = bench.fake.predictions()[tasks[8]][0]["score"]
    bench.store.decide(bench.row["id"], "cough 1", "cough", same=True)
    bench.store.forget_scores(bench.row["id"])
    bench.sync(full=True)
    assert (before < 1.0, bench.fake.predictions()[tasks[8]][0]["score"]) == (True, 1.0)
    assert bench.row["summary"]["controls"]["findings"]["n_items"] == len(tasks) - 1
    assert time.time() - bench.row["checked_at"] < 600
