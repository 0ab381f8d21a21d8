"""A Label Studio that answers to a reviewer's session."""

from __future__ import annotations

import itertools
import json
from typing import Any

import httpx

from tests.ml_backend.seeded_store import NUMBER, Seeded


class LabelStudio:
    """The annotations of one task, as Label Studio serves them to a person's session."""

    def __init__(self) -> None:
        self.role: str | None = "RE"
        self.user = 9
        self.broken = False
        self.is_away = False
        self.n_asked = 0
        self.annotations: list[dict[str, Any]] = []
        self.requests: list[httpx.Request] = []
        self._ids = itertools.count(70)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path, method = request.url.path, request.method
        if self.is_away:
            raise httpx.ConnectError("away")
        if "sessionid=mine" not in request.headers.get("cookie", ""):
            return httpx.Response(401)
        if path == "/api/current-user/whoami":
            self.n_asked += 1
            membership = {"organization_membership": {"role": self.role}}
            return httpx.Response(200, json={"id": self.user, "first_name": "Rae", "last_name": "Viewer", **membership})
        if path == f"/api/projects/{NUMBER}/":
            return httpx.Response(200, json={"id": NUMBER})
        self.requests.append(request)
        if self.broken:
            return httpx.Response(500)
        if method == "GET":
            return httpx.Response(200, json=self.annotations)
        body = json.loads(request.content or b"{}")
        if method == "POST":
            self.annotations.append({"id": next(self._ids), "completed_by": self.user, "updated_by": self.user})
            return self._save(self.annotations[-1], body)
        (annotation,) = [entry for entry in self.annotations if path == f"/api/annotations/{entry['id']}/"]
        if method == "DELETE":
            self.annotations.remove(annotation)
            return httpx.Response(204)
        return self._save(annotation, body)

    def _save(self, annotation: dict[str, Any], body: dict[str, Any]) -> httpx.Response:
        if body.get("ground_truth"):  # Label Studio has one ground truth for each task
            for stored in self.annotations:
                stored["ground_truth"] = False
        annotation |= body
        return httpx.Response(201, json=annotation)

    def ground_truths(self) -> list[int]:
        return [annotation["id"] for annotation in self.annotations if annotation.get("ground_truth")]


def reviewer(seeded: Seeded) -> Any:
    client = seeded.app.test_client()
    client.set_cookie("sessionid", "mine")
    client.set_cookie("csrftoken", "c" * 32)
    return client
