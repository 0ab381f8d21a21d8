"""The triage tab's columns in the data of the tasks: which values, when, and how many requests."""

from typing import Any

from ml_backend.labelstudio import triage
from ml_backend.labelstudio.config import unused_fields
from ml_backend.settings import ProjectSettings, effective, refused
from ml_backend.sync import columns
from tests.ml_backend.seeded_store import NUMBER, Seeded


class DataManager:
    """The part of Label Studio's API that the columns need."""

    def __init__(self, *own: str) -> None:
        self.fields = {"text", *own}
        self.data: dict[int, dict[str, Any]] = {}
        self.tabs = [{"id": 7, "data": {**triage.tab(NUMBER, {"case"})["data"], "softirr": {"a": 1}}}]
        self.calls: list[str] = []

    def views(self, number: int) -> list[dict[str, Any]]:
        assert number == NUMBER
        return self.tabs

    def create(self, path: str, body: Any) -> Any:
        return self.request("POST", path, body=body)

    def request(self, method: str, path: str, *, params: Any = None, body: Any = None, repeat: Any = None) -> Any:
        self.calls.append(f"{method} {path}")
        if path == "/api/dm/columns":
            return {"columns": [{"id": name, "parent": "data"} for name in sorted(self.fields)]}
        if path == "/api/dm/actions":
            assert params == {"id": "add_data_field", "project": NUMBER} and body["selectedItems"]["all"] is False
            assert isinstance(body["value"], str) == (body["value_type"] == "String")
            for task in body["selectedItems"]["included"]:
                self.data.setdefault(task, {})[body["value_name"]] = body["value"]
            return {}
        if (method, path) == ("POST", "/api/dm/views/"):
            self.tabs.append({"id": 8, "data": body["data"]})
            return self.tabs[-1]
        assert (method, path) == ("PATCH", "/api/dm/views/7/")
        self.tabs[0]["data"] = body["data"]
        return {}


def write(seeded: Seeded, server: DataManager, *, full: bool = False) -> Any:
    return columns.write(seeded.store, server, seeded.row, full=full)  # type: ignore[arg-type]


def listed(seeded: Seeded) -> list[dict[str, Any]]:
    query = {"project": NUMBER, "k": seeded.key("report")}
    queue = seeded.client.get("/api/queue", query_string=query).json["tasks"]
    assert isinstance(queue, list)
    return queue


def test_the_tab_has_the_list_and_the_order_of_the_report(seeded: Seeded) -> None:
    server, reviews = DataManager(), seeded.reviews
    reviews.mark_done(seeded.project, 101, answers_hash=_hash(seeded, 101), reviewer="Rae")
    reviews.send_back(seeded.project, 103, answers_hash=_hash(seeded, 103), reviewer="Rae", note="Again.")
    assert write(seeded, server) is None
    rows = listed(seeded)
    assert sorted(server.data, key=lambda task: (-server.data[task]["triage"], task)) == [row["task"] for row in rows]
    # an annotator who has not answered yet sees these columns, too
    assert [server.data[row["task"]]["agreement"] for row in rows] == [
        "" if row["state"] == "waiting" else round(row["agreement"], 2) for row in rows
    ]
    assert [server.data[row["task"]]["done"] for row in rows] == [
        *("no", "no", "no, waits for answers", "sent back by Rae", "done by Rae")
    ]
    assert all(set(columns) == set(triage.COLUMNS) for columns in server.data.values())
    shown = server.tabs[0]["data"]
    hidden = shown["hiddenColumns"]["explore"]
    assert [name for name in hidden if "data." in name] == ["tasks:data.case", "tasks:data.triage"]
    assert shown["ordering"] == ["-tasks:data.triage"] and shown["columnsDisplayType"]["tasks:data.triage"] == "Number"
    assert shown["softirr"] == {"a": 1}, "what else the tab holds stays"


def test_tasks_sent_back_have_a_tab_that_stays_removed(seeded: Seeded) -> None:
    server = DataManager()
    write(seeded, server)
    triage_tab, sent_back = (tab["data"] for tab in server.tabs)
    assert sent_back["title"] == triage.SENT_BACK_TITLE
    assert [one["filter"] for one in sent_back["filters"]["items"]] == ["filter:tasks:data.done"]
    assert sent_back["hiddenColumns"] == triage_tab["hiddenColumns"]
    del server.tabs[1]
    seeded.reviews.mark_done(seeded.project, 102, answers_hash=_hash(seeded, 102), reviewer="")
    write(seeded, server)
    assert len(server.tabs) == 1, "somebody removed it"


def test_a_new_tab_shows_the_columns_although_no_task_has_changed(seeded: Seeded) -> None:
    """The project was disconnected, which removes the tabs, and connected again."""
    server = DataManager()
    write(seeded, server, full=True)
    shown = server.tabs[0]["data"]["ordering"]
    server.tabs = DataManager().tabs
    write(seeded, server)
    assert server.tabs[0]["data"]["ordering"] != shown and len(server.tabs) == 1
    write(seeded, server, full=True)
    assert server.tabs[0]["data"]["ordering"] == shown and len(server.tabs) == 2


def test_only_what_changed_is_written_again(seeded: Seeded) -> None:
    server, reviews = DataManager(), seeded.reviews
    write(seeded, server)
    server.calls.clear()
    assert write(seeded, server) is None and server.calls == []
    reviews.mark_done(seeded.project, 102, answers_hash=_hash(seeded, 102), reviewer="")
    server.data.clear()
    write(seeded, server)
    assert server.data.keys() == {102} and server.data[102]["done"] == "done"
    reviews.unmark(seeded.project, 102)
    write(seeded, server)
    assert server.data[102]["done"] == "no"
    seeded.put({104: {"2": ["migraine"], "3": ["migraine"], "4": ["migraine"]}})
    seeded.score()
    server.data.clear()
    write(seeded, server)
    assert server.data == {104: {"agreement": 1.0, "reason": "", "done": "no", "triage": 30.0}}


def test_requests_do_not_grow_with_the_tasks(seeded: Seeded) -> None:
    seeded.put(
        {
            1000 + n: {"2": [f"severe rash {n}"], "3": [f"severe rash {n}"], "4": [f"severe rash {n}"]}
            for n in range(300)
        }
    )
    seeded.score()
    server = DataManager()
    write(seeded, server)
    assert len(server.data) == 305 and len(server.calls) < 30


def test_fields_of_the_tasks_own_are_left_alone(seeded: Seeded) -> None:
    server = DataManager("reason")
    note = write(seeded, server)
    assert note is not None and "'reason'" in note.what and server.data == {}


def test_only_the_operator_switches_it_on_and_no_score_depends_on_it() -> None:
    from ml_backend.settings import Settings

    settings = Settings.from_environment({})
    assert "triage_columns" in refused(settings, {"triage_columns": True})
    assert not effective(settings, connection={"triage_columns": True}).values.triage_columns
    assert effective(settings, chosen={"triage_columns": True}).values.triage_columns
    assert ProjectSettings(triage_columns=True).fingerprint() == ProjectSettings().fingerprint()


def test_a_mark_has_the_columns_written_again(seeded: Seeded) -> None:
    body, headers = {"project": NUMBER, "task": 102}, {"X-Softirr-Key": seeded.key("report")}
    seeded.client.post("/api/queue", json=body, headers=headers)
    assert seeded.row["wanted_at"] is None
    seeded.update(chosen={"triage_columns": True})
    seeded.client.post("/api/queue", json=body, headers=headers)
    assert seeded.row["wanted_at"] is not None


def _hash(seeded: Seeded, task: int) -> str:
    stored_hash = seeded.task(task)["answers_hash"]
    assert isinstance(stored_hash, str)
    return stored_hash


def test_fields_that_no_annotator_sees_are_hidden() -> None:
    config = '<View><Text name="t" value="$narrative"/><Header value="Case of $my-site, seen"/><TextArea name="f" toName="t"/></View>'
    fields = {"narrative", "my-site", "id", "case"}
    assert unused_fields(config, fields) == {"id", "case"}
    assert unused_fields("<View/>", fields) == frozenset()
