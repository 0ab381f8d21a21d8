"""The queue of tasks that need a look, and the next task of it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.ml_backend.seeded_store import HOSTILE, NUMBER, Seeded


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return seed(excluded={101: [("3", "older answer of the same rater")], 107: [("2", "skipped")]})


class TestQueue:
    def send(self, seeded: Seeded, task: Any = 102, **more: Any) -> Any:
        return seeded.send("/api/queue", task=task, who=" Rae   Viewer ", **more)

    def test_queue_lists_every_task_with_an_agreement(self, seeded: Seeded) -> None:
        result = seeded.get("/api/queue").json
        assert result["total"] == 5 and {row["task"] for row in result["tasks"]} == {101, 102, 103, 104, 105}
        priorities = [round(row["priority"], 2) for row in result["tasks"] if row["state"] == "ready"]
        assert len(priorities) == 4 and priorities == sorted(priorities, reverse=True)
        assert all(row["sentence"] and row["link"].endswith(f"task={row['task']}") for row in result["tasks"])

    def test_pages(self, seeded: Seeded) -> None:
        all_tasks = [row["task"] for row in seeded.get("/api/queue").json["tasks"]]
        page = seeded.get("/api/queue", limit=2, offset=1).json
        assert [row["task"] for row in page["tasks"]] == all_tasks[1:3]

    def test_done_goes_to_the_end_and_comes_back(self, seeded: Seeded) -> None:
        reply = self.send(seeded)
        assert reply.status_code == 201 and reply.json["done"]["who"] == "Rae Viewer"
        last = seeded.get("/api/queue").json["tasks"][-1]
        assert last["task"] == 102 and last["done"]["who"] == "Rae Viewer"
        assert [row["task"] for row in seeded.get("/api/queue", done=1).json["tasks"]] == [102]
        assert [item["id"] for item in seeded.report()["items"] if item["is_done"]] == ["102"]
        for _ in ("", "again"):
            reply = seeded.delete("/api/queue/102")
            assert reply.status_code == 200 and reply.json["done"] is None
        assert seeded.get("/api/queue", done=1).json["tasks"] == []

    def test_the_report_lists_tasks_in_this_order(self, seeded: Seeded) -> None:
        in_order = [item["id"] for item in seeded.report()["items"]]
        self.send(seeded, int(in_order[0]))
        self.send(seeded, int(in_order[1]), state="sent back", note="Again, please.")
        items = seeded.report()["items"]
        queue = seeded.get("/api/queue").json["tasks"]
        assert [item["id"] for item in items] == [str(row["task"]) for row in queue]
        assert [row["state"] for row in queue] == ["ready", "ready", "waiting", "sent back", "done"]
        notes = ["", "", "Waits for more answers.", "Sent back to the annotators.", ""]
        assert [item["note"] for item in items] == notes and notes[3] in seeded.page()

    def test_mark_lapses_when_the_answers_change(self, seeded: Seeded) -> None:
        self.send(seeded)
        seeded.put({102: {"2": ["heart attack"], "3": ["angina"], "4": ["heart attack"]}})
        seeded.score()
        assert seeded.get("/api/queue", done=1).json["tasks"] == []

    def test_tasks_that_every_annotator_has_finished_with_come_first(self, seeded: Seeded) -> None:
        result = seeded.get("/api/queue").json["tasks"]
        assert [row["state"] for row in result] == ["ready"] * 4 + ["waiting"] and result[-1]["task"] == 105
        seeded.put(
            {105: {"2": ["asthma"], "3": ["bronchial asthma"]}}, excluded={105: [("4", "skipped")]}
        )  # who skipped it is finished with it
        seeded.score()
        assert {row["state"] for row in seeded.get("/api/queue").json["tasks"]} == {"ready"}

    def test_a_task_is_sent_back_and_returns_with_a_new_answer(self, seeded: Seeded) -> None:
        for wrong in ("", "   ", None, 3, "x" * 2001):
            assert self.send(seeded, state="sent back", note=wrong).status_code == 400
        assert self.send(seeded, state="gone").status_code == 400
        reply = self.send(seeded, state="sent back", note=f" Name the side. {HOSTILE} ")
        assert reply.status_code == 201 and reply.json["done"] is None
        assert reply.json["sent_back"]["note"] == f"Name the side. {HOSTILE}"
        last = seeded.get("/api/queue").json["tasks"][-1]
        assert (last["task"], last["state"], last["sent_back"]["who"]) == (102, "sent back", "Rae Viewer")
        rows = seeded.csv(f"/report/{NUMBER}/tasks.csv")
        assert rows[-1]["state"] == "sent back" and rows[-1]["note"].startswith("Name the side.")
        seeded.put({102: {"2": ["heart attack"], "3": ["angina"], "4": ["heart attack"]}})
        seeded.score()
        back = next(row for row in seeded.get("/api/queue").json["tasks"] if row["task"] == 102)
        assert back["state"] == "ready" and back["answered_again"]

    def test_a_send_back_is_taken_back(self, seeded: Seeded) -> None:
        self.send(seeded, state="sent back", note="Again, please.")
        reply = seeded.delete("/api/queue/102")
        assert reply.json["sent_back"] is None
        self.send(seeded, state="sent back", note="Again, please.")
        reply = self.send(seeded)  # done replaces it
        assert reply.json["sent_back"] is None and reply.json["done"]["who"] == "Rae Viewer"

    def test_next_walks_the_list_to_its_end(self, seeded: Seeded) -> None:
        listed = [row for row in seeded.get("/api/queue").json["tasks"] if row["state"] == "ready"]
        visited, task = [], None
        while True:
            result = seeded.get("/api/queue/next", **({} if task is None else {"task": task})).json
            if result["task"] is None:
                break
            visited.append((result["task"], result["link"], result["position"]))
            task = result["task"]
        assert visited == [(row["task"], row["link"], position) for position, row in enumerate(listed, 1)]
        assert (result["left"], result["link"]) == (3, None)

    def test_next_continues_after_the_task_just_done(self, seeded: Seeded) -> None:
        listed = [row["task"] for row in seeded.get("/api/queue").json["tasks"]][:4]
        self.send(seeded, listed[1])
        assert seeded.get("/api/queue/next", task=listed[1]).json["task"] == listed[2]
        assert seeded.get("/api/queue/next", task=listed[0]).json["task"] == listed[2]
        for task in (listed[0], *listed[2:]):
            self.send(seeded, task)
        end = seeded.get("/api/queue/next", task=listed[3]).json
        assert (end["task"], end["link"], end["left"]) == (None, None, 0)

    def test_links_stay_in_the_triage_tab(self, seeded: Seeded) -> None:
        seeded.update(connection={"mode": "connected", "view": 7})
        row = seeded.get("/api/queue").json["tasks"][0]
        assert row["link"].endswith(f"/projects/{NUMBER}/data?tab=7&task={row['task']}")
        reply = seeded.get("/api/queue/next", tab="H4sIAAAA").json
        assert "?tab=H4sIAAAA&task=" in reply["link"]
        reply = seeded.get("/api/queue/next", tab="7&task=1#").json
        assert "?tab=7&task=" in reply["link"] and "#" not in reply["link"]

    def test_next_after_an_invalid_task_is_refused(self, seeded: Seeded) -> None:
        assert seeded.get("/api/queue/next", task="x").status_code == 400

    @pytest.mark.parametrize("task, status", [(999, 404), ("x", 400), (None, 400), (-1, 400)])
    def test_nonsense_is_refused(self, seeded: Seeded, task: Any, status: int) -> None:
        assert self.send(seeded, task).status_code == status
