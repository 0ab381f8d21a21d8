"""As much of Label Studio 1.23.2's API as our client uses, in memory, with faults on demand.

It keeps the traps that were seen on real servers: a bulk import drops what it does not like and answers 201, it never
replaces, deleting a version forgets the chosen one, deletions touch no date, and a request that fails may have been
carried out.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import httpx

from ml_backend.services import Background
from tests.ml_backend.fake_project import LABEL_CONFIG, NUMBER, FakeProject

URL = "http://labels.example"

Fault = Callable[[httpx.Request], httpx.Response | BaseException | None]


def drain(background: Background) -> None:
    """Wait until everything that is due is done: the thread works in the order of time."""
    done = threading.Event()
    background.do(done.set)
    assert done.wait(10), "the background thread is still at work"


class FakeLabelStudio(FakeProject):
    """One project on one server. Faults are functions of a request: before it is carried out, and after."""

    def __init__(self, label_config: str = LABEL_CONFIG):
        super().__init__(label_config)
        self.webhooks: list[dict[str, Any]] = []
        self.connections: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.before: Fault = lambda request: None
        self.after: Fault = lambda request: None
        self.drop_in_bulk: Callable[[Mapping[str, Any]], bool] = lambda prediction: False
        self.most_people: float = float("inf")  # of whom one page may have answers: 999 with SQLite
        self.calls: list[tuple[str, str]] = []
        self.read: list[int] = []  # tasks given out whole

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.calls.append((request.method, request.url.path))
        broken = self.before(request)
        reply = broken or self._carry_out(request)
        if broken is None:
            reply = self.after(request) or reply
        if isinstance(reply, BaseException):
            raise reply
        assert isinstance(reply, httpx.Response)
        return reply

    def writes(self) -> list[tuple[str, str]]:
        """Requests so far that change something."""
        return [call for call in self.calls if call[0] != "GET"]

    def _carry_out(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.rstrip("/")
        body = json.loads(request.content) if request.content else None
        routes: list[tuple[str, str, Callable[..., httpx.Response]]] = [
            ("GET", "/api/version", lambda: _reply({"release": "1.23.2"})),
            ("GET", "/api/current-user/whoami", lambda: _reply({"id": 1})),
            ("GET", "/api/users", lambda: _reply(list(self.users.values()))),
            ("GET", "/api/tasks", lambda: self._list_tasks(request)),
            ("GET", f"/api/projects/{NUMBER}", lambda: _reply(self._project_view())),
            ("PATCH", f"/api/projects/{NUMBER}", lambda: self._patch_project(body)),
            ("POST", f"/api/projects/{NUMBER}/validate", lambda: httpx.Response(204)),
            ("POST", f"/api/projects/{NUMBER}/import/predictions", lambda: self._bulk(body)),
            ("GET", f"/api/projects/{NUMBER}/model-versions", lambda: _reply(self._versions())),
            ("DELETE", f"/api/projects/{NUMBER}/model-versions", lambda: self._delete_version(body)),
            ("GET", "/api/predictions", lambda: self._list_predictions(request)),
            ("POST", "/api/predictions", lambda: self._post_prediction(body)),
            ("PATCH", r"/api/predictions/(\d+)", lambda number: self._patch_prediction(int(number), body)),
            ("DELETE", r"/api/predictions/(\d+)", lambda number: self._delete_prediction(int(number))),
            ("GET", "/api/ml", lambda: _reply(self.connections)),
            ("GET", "/api/webhooks", lambda: _reply(self.webhooks)),
            ("GET", "/api/dm/views", lambda: _reply(self.views)),
            ("GET", "/api/dm/columns", lambda: _reply({"columns": self._columns()})),
            ("POST", "/api/dm/views", lambda: self._add(self.views, body)),
            ("PATCH", r"/api/dm/views/(\d+)", lambda number: self._change(self.views, int(number), body)),
            ("DELETE", r"/api/dm/views/(\d+)", lambda number: self._remove(self.views, int(number))),
            ("POST", r"/api/tasks/(\d+)/annotations", lambda number: self._post_annotation(int(number), body)),
            ("PATCH", r"/api/annotations/(\d+)", lambda number: self._patch_annotation(int(number), body)),
            ("DELETE", r"/api/annotations/(\d+)", lambda number: self._delete_annotation(int(number))),
            ("POST", "/api/ml", lambda: self._add(self.connections, {"state": "CO", **(body or {})})),
            ("DELETE", r"/api/ml/(\d+)", lambda number: self._remove(self.connections, int(number))),
            ("POST", "/api/webhooks", lambda: self._add(self.webhooks, body)),
            ("DELETE", r"/api/webhooks/(\d+)", lambda number: self._remove(self.webhooks, int(number))),
        ]
        for method, pattern, function in routes:
            match = re.fullmatch(pattern, path)
            if match and method == request.method:
                return function(*match.groups())
        return _reply({"detail": "Not found."}, 404)

    def _add(self, listed: list[dict[str, Any]], body: Any) -> httpx.Response:
        listed.append({"id": next(self._ids), **body})
        return _reply(listed[-1], 201)

    @staticmethod
    def _change(listed: list[dict[str, Any]], number: int, body: Any) -> httpx.Response:
        for entry in listed:
            if entry["id"] == number:
                entry.update(body)
                return _reply(entry)
        return _reply({"detail": "Not found."}, 404)

    @staticmethod
    def _remove(listed: list[dict[str, Any]], number: int) -> httpx.Response:
        remaining = [entry for entry in listed if entry["id"] != number]
        if len(remaining) == len(listed):
            return _reply({"detail": "Not found."}, 404)
        listed[:] = remaining
        return httpx.Response(204)

    def _columns(self) -> list[dict[str, Any]]:
        names = {name for task in self.tasks.values() for name in task["data"]}
        return [{"id": name, "parent": "data"} for name in sorted(names)]

    def _project_view(self) -> dict[str, Any]:
        tasks = [a for task in self.tasks.values() for a in task["annotations"] if not a["was_cancelled"]]
        return {**self.project, "task_number": len(self.tasks), "total_annotations_number": len(tasks)}

    def _patch_project(self, body: Mapping[str, Any]) -> httpx.Response:
        if body.get("model_version") not in (None, "", *self._versions(), *(c["title"] for c in self.connections)):
            return _reply({"detail": "Model version doesn't exist."}, 400)
        if "show_collab_predictions" in body and not body["show_collab_predictions"] and "model_version" not in body:
            self.project["model_version"] = ""
        self.project.update(body)
        return _reply(self._project_view())

    def _list_tasks(self, request: httpx.Request) -> httpx.Response:
        params = dict(request.url.params)
        included = set(params["include"].split(","))
        if params.get("fields") == "all":
            # Applies to nested objects, too: unlisted fields are missing there.
            assert {"annotations", "result", "completed_by", "predictions", "model_version"} <= included
        rows = self._matching(json.loads(params["query"]))
        if isinstance(rows, httpx.Response):
            return rows
        if not rows:
            return _reply({"tasks": [], "total": 0})
        page = rows[: int(params["page_size"])]
        if (
            len({str(annotation["completed_by"]) for row in page for annotation in row["annotations"]})
            > self.most_people
        ):
            return httpx.Response(500, content=b"<html>Expression tree is too large</html>")  # as 1.23.2 does
        if params.get("fields") != "all":
            n_answers = {row["id"]: sum(not a["was_cancelled"] for a in row["annotations"]) for row in page}
            page = [{name: row[name] if name in row else n_answers[row["id"]] for name in included} for row in page]
        elif any("\ud800" in json.dumps(row["annotations"], ensure_ascii=False) for row in page):
            return httpx.Response(500, content=b"<html>surrogates not allowed</html>")  # as 1.23.2 does
        else:
            self.read += [row["id"] for row in page]
        return _reply({"tasks": page, "total": len(rows)})

    def _matching(self, query: Mapping[str, Any]) -> list[dict[str, Any]] | httpx.Response:
        """The tasks that a query selects, in its order; the reply to a query that 1.23.2 can not read."""
        rows = [self.tasks[number] for number in sorted(self.tasks)]
        if query["ordering"] == ["-tasks:updated_at"]:
            rows.sort(key=lambda row: _date(row["updated_at"]), reverse=True)
        elif query["ordering"] == ["-tasks:id"]:
            rows.reverse()
        for condition in query.get("filters", {"items": []})["items"]:
            column = condition["filter"].removeprefix("filter:tasks:")
            value = condition["value"]
            if condition["type"] == "Datetime" and not re.fullmatch(r"[\d-]+T[\d:]+\.\d+Z", value):
                return httpx.Response(500, content=b"<html>does not match format</html>")  # as 1.23.2 does
            match column, condition["operator"]:
                case "id", "equal":
                    rows = [row for row in rows if row["id"] == value]
                case "id", "greater":
                    rows = [row for row in rows if row["id"] > value]
                case "updated_at", "greater":
                    rows = [row for row in rows if _date(row["updated_at"]) > _date(value)]
                case unknown:
                    raise AssertionError(f"the fake knows no filter {unknown}")
        return rows

    def _list_predictions(self, request: httpx.Request) -> httpx.Response:
        return _reply(self.tasks[int(request.url.params["task"])]["predictions"])

    def _post_annotation(self, task: int, body: Mapping[str, Any]) -> httpx.Response:
        number = self.annotate(task, 1, [], updated_by=1, **body)
        return self._patch_annotation(number, body, 201)

    def _patch_annotation(self, annotation: int, body: Mapping[str, Any], status: int = 200) -> httpx.Response:
        for task in self.tasks.values():
            edited = next((entry for entry in task["annotations"] if entry["id"] == annotation), None)
            if edited is None:
                continue
            if body.get("ground_truth"):  # there is one for each task
                for entry in task["annotations"]:
                    entry["ground_truth"] = False
            edited.update({**body, "updated_by": 1, "updated_at": self.now()})
            task["updated_at"] = self.now()
            return _reply(edited, status)
        return _reply({"detail": "Not found."}, 404)

    def _delete_annotation(self, annotation: int) -> httpx.Response:
        self.delete_annotation(annotation)
        return httpx.Response(204)

    def _versions(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for task in self.tasks.values():
            for prediction in task["predictions"]:
                counts[prediction["model_version"]] = counts.get(prediction["model_version"], 0) + 1
        return counts

    def _store(self, prediction: Mapping[str, Any]) -> int:
        stored = {"id": next(self._ids), "created_at": self.now(), "result": [], "score": None, **prediction}
        self.tasks[prediction["task"]]["predictions"].append(json.loads(json.dumps(stored)))
        return stored["id"]

    def _bulk(self, body: list[Mapping[str, Any]]) -> httpx.Response:
        if any(prediction["task"] not in self.tasks for prediction in body):
            return _reply({"detail": "Task does not exist."}, 400)
        kept_predictions = [prediction for prediction in body if not self.drop_in_bulk(prediction)]
        for prediction in kept_predictions:
            self._store(prediction)
        return _reply({"created": len(kept_predictions)}, 201)

    def _post_prediction(self, body: Mapping[str, Any]) -> httpx.Response:
        if body["task"] not in self.tasks:
            return _reply({"task": ["Invalid pk - object does not exist."]}, 400)
        return _reply({"id": self._store(body)}, 201)

    def _of(self, number: int) -> tuple[dict[str, Any], dict[str, Any]] | None:
        return next(
            ((task, p) for task in self.tasks.values() for p in task["predictions"] if p["id"] == number),
            None,
        )

    def _patch_prediction(self, number: int, body: Mapping[str, Any]) -> httpx.Response:
        task_and_prediction = self._of(number)
        if task_and_prediction is None:
            return _reply({"detail": "Not found."}, 404)
        task_and_prediction[1].update(body)
        return _reply(task_and_prediction[1])

    def _delete_prediction(self, number: int) -> httpx.Response:
        task_and_prediction = self._of(number)
        if task_and_prediction is None:
            return _reply({"detail": "Not found."}, 404)
        task_and_prediction[0]["predictions"].remove(task_and_prediction[1])
        return httpx.Response(204)

    def _delete_version(self, body: Mapping[str, Any]) -> httpx.Response:
        version = body["model_version"]
        n = self._versions().get(version, 0)
        for task in self.tasks.values():
            task["predictions"] = [p for p in task["predictions"] if p["model_version"] != version]
        if self.project["model_version"] == version:
            self.project["model_version"] = None
        return _reply({"deleted_predictions": n})


def _reply(body: Any, status: int = 200) -> httpx.Response:
    return httpx.Response(status, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"})


def _date(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
