"""The store in SQLite and in PostgreSQL: the same calls, the same results, also with many callers at once."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ml_backend.review.requests import RequestStore
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import NO_RUN, Store
from softirr.errors import InputError, SoftirrError
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import URL
from tests.ml_backend.fake_project import NUMBER
from tests.ml_backend.store_calls import HANDS, read, scored, together


@pytest.fixture
def project(store: Store) -> int:
    return int(store.ensure_project(URL, NUMBER)["id"])


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
    def test_unusable_address_is_refused_in_a_sentence(self, url: str) -> None:
        with pytest.raises(SoftirrError) as caught:
            Store(url).migrate()
        assert str(caught.value)[-1] in ".?"
        assert "\n" not in str(caught.value)

    def test_the_secret_is_made_once(self, store: Store) -> None:
        secrets = together(lambda _: store.secret())
        assert len(set(secrets)) == 1
        assert len(secrets[0]) == 32
        other_store = Store(store.url)
        assert other_store.secret() == secrets[0]
        other_store.close()


def test_errors_of_the_database_quote_no_answer(store: Store, project: int) -> None:
    import sqlalchemy as sa

    with pytest.raises(sa.exc.SQLAlchemyError) as caught:
        store.put_read(10**9, [read(1, "unmistakable finding")])
    assert "unmistakable" not in str(caught.value)


class TestManyHands:
    def test_one_project_is_made_once(self, store: Store) -> None:
        assert len({row["id"] for row in together(lambda _: store.ensure_project(URL, NUMBER))}) == 1

    def test_simultaneous_requests_are_served_by_one_run(self, store: Store, project: int) -> None:
        together(lambda _: store.want(project))
        assert store.due(time.time()) == [project]
        assert store.begin_run(project, NO_RUN)
        assert store.due(time.time()) == []

    def test_a_full_request_marks_every_task(self, store: Store, project: int) -> None:
        store.put_read(project, [read(1), read(2)])
        store.update_project(project, pulled_at=1.0)
        store.want(project, full=True)
        assert store.marked(project, 10) == [1, 2]
        assert store.project_by_id(project)["pulled_at"] is None  # type: ignore[index]

    def test_simultaneous_changes_of_settings_lose_nothing(self, store: Store, project: int) -> None:
        together(lambda k: [store.choose(project, {f"option {k} {n}": n}) for n in range(5)])
        assert len(store.project_by_id(project)["chosen"]) == 5 * HANDS  # type: ignore[index]

    def test_simultaneous_judgments_lose_nothing(self, store: Store, project: int) -> None:
        reviews = ReviewStore(store)
        audit = reviews.add_audit(project, control="findings", measure="indel", seed=0, wanted=40)
        together(lambda k: [reviews.judge(audit, [index], f"judge {k}", "same") for index in range(5)])
        assert reviews.judges(audit) == {f"judge {k}": 5 for k in range(HANDS)}

    def test_a_request_is_made_once(self, store: Store, project: int) -> None:
        queue = RequestStore(store)
        assert len(set(together(lambda _: queue.ask(project, "people", {"control": "findings"})))) == 1

    def test_no_run_begins_while_a_command_reserves_the_project(self, store: Store, project: int) -> None:
        assert store.begin_run(project, {"state": "running"})
        store.hold(project, 60)
        assert not store.begin_run(project, {"state": "running"})
        store.want(project)
        assert store.due(time.time()) == []
        store.release(project)
        assert store.due(time.time()) == [project]
        assert not store.begin_run(999, {"state": "running"})

    def test_reservation_waits_for_a_run_that_begins(
        self, store: Store, project: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Otherwise a command would find no run although one begins at the same moment."""
        observed: list[Any] = []

        def hold() -> None:
            store.hold(project, 60)
            observed.append((store.run_of(project) or {}).get("state"))

        holding, upsert = threading.Thread(target=hold), store.upsert

        def meanwhile(*arguments: Any, **values: Any) -> Any:
            if not holding.ident:
                holding.start()
                holding.join(1.0)
            return upsert(*arguments, **values)

        monkeypatch.setattr(store, "upsert", meanwhile)
        assert store.begin_run(project, {"state": "running"})
        holding.join(30)
        assert observed == ["running"]


class TestTasks:
    def test_only_other_answers_are_scored_again(self, store: Store, project: int) -> None:
        assert store.put_read(project, [read(1), read(2)]) == 2
        assert [row["number"] for row in store.unscored(project, 10)] == [1, 2]
        store.put_scored(project, [scored(1), scored(2)])
        assert store.unscored(project, 10) == []
        assert store.put_read(project, [read(1), read(2, "rash")]) == 1
        assert [row["number"] for row in store.unscored(project, 10)] == [2]
        assert store.count_unscored(project) == 1

    def test_tasks_with_another_prediction_than_desired_are_written(self, store: Store, project: int) -> None:
        store.put_read(project, [read(n) for n in (1, 2, 3)])
        store.put_scored(project, [scored(1), scored(2), scored(3, desired=None)])
        assert [row["number"] for row in store.to_write(project)] == [1, 2]
        store.put_written(project, {1: (77, "wanted")})
        assert [row["number"] for row in store.to_write(project)] == [2]
        # Read again as it was written: nothing to do. Read again with another prediction: to be written.
        store.put_read(project, [read(1, prediction=(77, "wanted")), read(3, prediction=(78, "stray"))])
        assert [row["number"] for row in store.to_write(project)] == [2, 3]
        assert store.totals(project) == {"tasks": 3, "annotations": 6, "predictions": 2}

    def test_a_task_with_an_unknown_prediction_is_read_and_not_written(self, store: Store, project: int) -> None:
        store.put_read(project, [read(n) for n in range(1, 1203)])
        store.put_scored(project, [scored(n) for n in range(1, 1203)])
        store.forget_predictions(project, list(range(1, 1203)))
        assert store.unknown_predictions(project) == len(store.marked(project, 2000)) == 1202
        assert store.to_write(project) == []
        store.put_written(project, {n: (n, "wanted") for n in range(1, 1203)})
        assert store.unknown_predictions(project) == 0
        store.all_predictions_removed(project)
        assert len(store.to_write(project)) == 1202
        assert len(store.get_tasks(project, list(range(1203)))) == 1202

    def test_marked_tasks_have_no_stamp(self, store: Store, project: int) -> None:
        now = time.time()
        store.put_read(
            project, [{**read(n), "again_at": again_at} for n, again_at in ((1, None), (2, now - 1), (3, now + 60))]
        )
        store.read_again(project, [3])
        assert store.stamps(project) == {1: ("2026-11-20T12:00:00Z", 2), 2: (None, 2), 3: (None, 2)}
        assert store.marked(project, 10) == [2, 3]
        store.drop_tasks(project, [1, 2])
        assert [number for number, _ in store.answers(project)] == [3]

    def test_recreated_project_forgets_the_old_one(self, store: Store) -> None:
        old = store.ensure_project(URL, NUMBER, born="2026-11-20")["id"]
        store.put_read(old, [read(1)])
        assert store.begin_run(old, {"state": "running"})
        store.decide(old, "a", "b", same=True)
        ReviewStore(store).mark_done(old, 1, answers_hash="x", reviewer="Ann")
        assert store.ensure_project(URL, NUMBER, born="2026-11-20")["id"] == old
        new = store.ensure_project(URL, NUMBER, born="2026-11-21")["id"]
        assert store.project_by_id(old) is None or new == old
        assert list(store.answers(new)) == []
        assert store.decisions(new) == []
        assert store.jobs(new) == []

    def test_counts_tasks_with_an_agreement(self, store: Store, project: int) -> None:
        store.put_read(project, [read(n) for n in range(1, 5)])
        rows = [{**scored(n), "agreement": value} for n, value in ((1, 0.9), (2, 0.1), (3, 0.5))]
        store.put_scored(project, rows)
        assert store.count_agreements(project) == 3


class TestRequests:
    def test_an_answer_ends_the_wait_unless_it_was_asked_again(self, store: Store, project: int) -> None:
        queue = RequestStore(store)
        number = queue.ask(project, "people", {"control": "findings"})
        (waiting,) = queue.wanted(project)
        assert queue.ask(project, "people", {"control": "findings"}) == number
        queue.answer(waiting, result={"alpha": 0.5}, problem=None, based_on="x")
        assert [row["id"] for row in queue.wanted(project)] == [number], "asked again meanwhile"
        queue.answer(queue.wanted(project)[0], result={"alpha": 0.6}, problem=None, based_on="y")
        assert queue.wanted(project) == []
        assert queue.find(project, "people", {"control": "findings"})["result"] == {"alpha": 0.6}  # type: ignore[index]

    def test_the_oldest_are_dropped(self, store: Store, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ml_backend.review.requests.MOST_REQUESTS", 3)
        queue = RequestStore(store)
        for k in range(5):
            queue.ask(project, "people", {"control": k})
        cluster_request = queue.ask(project, "clusters", {})
        remaining = [(row["kind"], row["question"].get("control")) for row in queue.wanted(project)]
        assert remaining == [("clusters", None), ("people", 4), ("people", 3), ("people", 2)]
        assert queue.find(project, "clusters", {})["id"] == cluster_request  # type: ignore[index]


class TestDecisions:
    HOSTILE = ("fe\x00ver", "‮حمى", "\udbfflone", "<script>", "🤒" * 10, "'; DROP TABLE decisions; --", "x" * 100_000)

    @pytest.mark.parametrize("text", HOSTILE)
    def test_any_text_can_be_judged(self, store: Store, project: int, text: str) -> None:
        store.decide(project, text, "fever", same=True, reviewer="Ann", task=3)
        store.decide(project, "fever", text, same=False, reviewer="Ben")
        (row,) = store.decisions(project)
        assert (row["same"], row["reviewer"], row["task"]) == (False, "Ben", None)
        assert store.undecide(project, "fever", text)
        assert not store.undecide(project, "fever", text)
        assert store.decisions(project) == []

    def test_the_log_only_grows(self, store: Store, project: int) -> None:
        store.decide(project, "a", "b", same=True, reviewer="Ann", reviewer_id="2", known_by="session")
        decision_log_before = store.decision_log(project)
        store.decide(project, "b", "a", same=False, reviewer="Ben", reviewer_id="3", known_by="link")
        store.decide(project, "a", "c", same=True)
        assert [(row["text_b"], row["same"]) for row in store.decisions(project)] == [("b", False), ("c", True)]
        assert store.undecide(project, "a", "b", reviewer="Cleo", reviewer_id="4", known_by="session")
        assert [row["text_b"] for row in store.decisions(project)] == ["c"]
        log = store.decision_log(project)
        assert log[:1] == decision_log_before
        assert [(row["reviewer"], row["withdrawn"]) for row in log] == [
            ("Ann", False),
            ("Ben", False),
            ("", False),
            ("Cleo", True),
        ]
        store.decide(project, "a", "b", same=True)
        assert [(row["text_b"], row["same"]) for row in store.decisions(project)] == [("c", True), ("b", True)]

    def test_a_decision_needs_two_texts(self, store: Store, project: int) -> None:
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
    score_before = bench.fake.predictions()[tasks[8]][0]["score"]
    bench.store.decide(bench.row["id"], "cough 1", "cough", same=True)
    bench.store.forget_scores(bench.row["id"])
    bench.sync(full=True)
    assert (score_before < 1.0, bench.fake.predictions()[tasks[8]][0]["score"]) == (True, 1.0)
    assert bench.row["summary"]["controls"]["findings"]["n_items"] == len(tasks) - 1
    assert time.time() - bench.row["checked_at"] < 600
