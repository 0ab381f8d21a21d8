"""The real backend as `softirr-ls serve` runs it, and the fake Label Studio behind HTTP."""

from __future__ import annotations

import contextlib
import http.server
import itertools
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import requests

from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import NUMBER

TOKEN = "0123456789abcdef0123456789abcdef01234567"


class ServedLabelStudio(FakeLabelStudio):
    """The fake with a port, and with connections, webhooks and tabs that can be made.

    It calls a new connection as 1.23.2 does.
    """

    def __init__(self) -> None:
        super().__init__()
        self.project["created_by"] = {"id": 1, "email": "lead@example.org"}
        self.sessions: dict[str, dict[str, Any]] = {}  # session cookie -> user
        self.passwords: dict[int, tuple[str, str]] = {}
        self.views: list[dict[str, Any]] = []
        self._numbers = itertools.count(1000)
        self._guard = threading.Lock()
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                url = f"http://{self.headers['Host']}{self.path}"
                request = httpx.Request(self.command, url, headers=dict(self.headers), content=body)
                with fake._guard:
                    reply = fake(request)
                self.send_response(reply.status_code)
                self.send_header("Content-Type", reply.headers.get("Content-Type", "application/json"))
                self.send_header("Content-Length", str(len(reply.content)))
                self.end_headers()
                self.wfile.write(reply.content)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def _carry_out(self, request: httpx.Request) -> httpx.Response:
        path, body = request.url.path.rstrip("/"), json.loads(request.content) if request.content else {}
        session = dict(word.strip().partition("=")[::2] for word in request.headers.get("cookie", "").split(";"))
        user = self.sessions.get(session.get("sessionid", ""))
        if user is None and request.headers.get("authorization") != f"Token {TOKEN}":
            return httpx.Response(401, json={"detail": "Authentication credentials were not provided."})
        match request.method, path:
            case "GET", "/api/current-user/whoami":
                return httpx.Response(200, json=user or {"id": 1, "email": "lead@example.org"})
            case "POST", "/api/ml":
                return self._make_connection(body)
            case "PATCH", _ if path.startswith("/api/ml/"):
                connection = next(c for c in self.connections if c["id"] == int(path.rpartition("/")[2]))
                return self._make_connection({**connection, **body}, connection)
            case "POST", "/api/webhooks":
                self.webhooks.append({**body, "id": next(self._numbers)})
                return httpx.Response(201, json=self.webhooks[-1])
            case "PATCH", _ if path.startswith("/api/webhooks/"):
                webhook = next(h for h in self.webhooks if h["id"] == int(path.rpartition("/")[2]))
                webhook.update(body)
                return httpx.Response(200, json=webhook)
            case "GET", "/api/dm/views":
                return httpx.Response(200, json=self.views)
            case "GET", "/api/dm/columns":
                return httpx.Response(200, json={"columns": []})
            case "POST", "/api/dm/views":
                self.views.append({**body, "id": next(self._numbers)})
                return httpx.Response(201, json=self.views[-1])
        return super()._carry_out(request)

    def _make_connection(self, body: Mapping[str, Any], existing: dict[str, Any] | None = None) -> httpx.Response:
        secret = (body.get("basic_auth_user", ""), body.get("basic_auth_pass", ""))
        setup = {
            "project": f"{NUMBER}.1795179623",
            "schema": self.project["label_config"],
            "hostname": self.url,
            "access_token": "legacy",
            "extra_params": body.get("extra_params"),
        }
        auth = secret if body.get("auth_method") == "BASIC_AUTH" else None
        good = requests.get(f"{body['url']}/health", auth=auth, timeout=5).ok
        good = good and requests.post(f"{body['url']}/setup", json=setup, auth=auth, timeout=5).ok
        if not good and existing is None:
            return httpx.Response(400, json={"detail": "it doesn't look like a valid ML backend"})
        visible_fields = {name: value for name, value in body.items() if name != "basic_auth_pass"}
        connection = {
            "id": next(self._numbers),
            **visible_fields,
            "state": "CO" if good else "ER",
            "basic_auth_pass_is_set": bool(secret[1]),
        }
        if existing is None:
            self.connections.append(connection)
        else:
            existing.update({**connection, "id": existing["id"]})
            connection = existing
        self.passwords[connection["id"]] = secret
        return httpx.Response(201 if existing is None else 200, json=connection)


@contextlib.contextmanager
def served_label_studio() -> Iterator[ServedLabelStudio]:
    """The fake, until the block ends."""
    fake = ServedLabelStudio()
    try:
        yield fake
    finally:
        fake.close()
