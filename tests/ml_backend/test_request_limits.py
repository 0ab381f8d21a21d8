"""Slow and greedy clients: limits of their requests, and service for everybody else."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from ml_backend import web_process as server_module
from ml_backend.app import create_app
from ml_backend.auth.keys import CONNECTION_USER, Keys
from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.web import request_limits
from ml_backend.web.request_limits import GREATEST_DEPTH, SMALL_BODY, KnownSecrets, WrongKeys, body_is_bounded, nesting
from ml_backend.web_process import make_server, secrets_of_programs
from tests.ml_backend.bench import OPEN
from tests.servers import free_port

CONFIG = '<View><Text name="text" value="$text"/><TextArea name="findings" toName="text"/></View>'
AUTH = ("operator", "right password")
HALF = (
    b"GET /health HTTP/1.1\r\nHost: loc",
    b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 999\r\n\r\n{"tasks": [',
)


def connected(folder: Path, environment: Mapping[str, str] | None = None, **options: Any) -> Services:
    """A store with a project as `softirr-ls connect` leaves it: before, only /health is answered."""
    services = Services(Settings.from_environment(environment or {}, data=folder, **options))
    services.store.migrate()
    OPEN.append(services.store)
    row = services.store.ensure_project(services.settings.label_studio_url, 99)
    services.store.update_project(row["id"], connection={"mode": "connected"})
    return services


@contextlib.contextmanager
def running(folder: Path, **options: Any) -> Iterator[str]:
    """URL of a web server in this process."""
    port = free_port()
    environment = {"BASIC_AUTH_USER": AUTH[0], "BASIC_AUTH_PASS": AUTH[1], "PORT": str(port)}
    services = connected(folder, environment, **options)
    secrets = KnownSecrets(lambda: secrets_of_programs(services))
    secrets.refresh()
    server = make_server(create_app(services=services), services.settings, secrets)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.asyncore.close_all(server._map)
        thread.join(10)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with running(tmp_path) as address:
        yield address


def test_label_studio_may_send_a_large_body_with_the_secret_that_connect_made(tmp_path: Path) -> None:
    """Some hundred long narratives in one /predict: 3 MB, of a program that carries the connection's secret."""
    with running(tmp_path) as url:
        services = Services(Settings.from_environment({}, data=tmp_path))
        password = Keys(services.store.secret()).password(99)
        services.store.close()
        tasks = [{"id": n, "data": {"text": "x" * 30_000}, "annotations": []} for n in range(1, 101)]
        body = {"tasks": tasks, "project": "99.1", "label_config": CONFIG, "params": {}}
        assert len(json.dumps(body)) > 3_000_000
        reply = httpx.post(f"{url}/predict", json=body, auth=(CONNECTION_USER, password), timeout=60)
        assert reply.status_code == 200
        assert len(reply.json()["results"]) == 100
        for wrong in ((CONNECTION_USER, "99.wrong"), None):
            assert httpx.post(f"{url}/predict", json=body, auth=wrong, timeout=60).status_code == 413


def send(url: str, data: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=30)
    connection.sendall(data)
    return connection


class TestSlowClients:
    def test_health_answers_during_200_half_sent_requests(self, url: str) -> None:
        with contextlib.ExitStack() as stack:
            for k in range(200):
                stack.enter_context(send(url, HALF[k % 2]))
            for _ in range(10):
                assert httpx.get(f"{url}/health", auth=AUTH, timeout=5).json()["status"] == "UP"

    def test_health_answers_while_all_threads_work(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        busy, release = threading.Semaphore(0), threading.Event()

        def work(**_names: str) -> str:
            busy.release()
            release.wait(30)
            return "done"

        original_create_app = create_app

        def with_work(**options: Any) -> Any:
            app = original_create_app(**options)
            app.view_functions["report.files"] = work
            return app

        monkeypatch.setattr(sys.modules[__name__], "create_app", with_work)
        with running(tmp_path, web_threads=2) as url, contextlib.ExitStack() as stack:
            for _ in range(4):
                stack.enter_context(send(url, b"GET /report/static/1/slow.js HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            assert busy.acquire(timeout=10) and busy.acquire(timeout=10)
            assert httpx.get(f"{url}/health", auth=AUTH, timeout=5).status_code == 200
            release.set()

    @pytest.mark.slow
    def test_a_request_that_does_not_arrive_is_given_up(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(server_module, "ARRIVES_WITHIN", -1.0)
        for half in HALF:
            with send(url, half) as connection:
                assert connection.recv(100) == b"", "closed by the server, at its next look around"

    def test_the_oldest_makes_room(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(server_module, "MOST_CONNECTIONS", server_module.SPARE_CONNECTIONS + 5)
        with contextlib.ExitStack() as stack:
            connections = [stack.enter_context(send(url, HALF[0])) for _ in range(8)]
            assert httpx.get(f"{url}/health", auth=AUTH, timeout=5).status_code == 200
            assert connections[0].recv(100) == b""


class TestLargeBodies:
    def test_nobody_without_a_secret_sends_much(self, url: str) -> None:
        head = (
            "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {40 * SMALL_BODY}\r\n\r\n"
        )
        with send(url, head.encode()) as connection:
            assert b" 413 " in connection.recv(1000), "refused by its head, before any of the body is sent"

    def test_chunks_of_unsaid_length_neither(self, url: str) -> None:
        head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        with send(url, head) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(chunk)
            connection.sendall(chunk)
            assert b" 413 " in connection.recv(1000)

    def test_label_studio_sends_all_selected_tasks(self, url: str) -> None:
        tasks = [{"id": k, "data": {"text": "x" * 1000}, "annotations": []} for k in range(1, 3001)]
        body = json.dumps({"project": "1.2", "tasks": tasks}).encode()
        assert len(body) > 2 * SMALL_BODY
        reply = httpx.post(
            f"{url}/predict", content=body, auth=AUTH, headers={"Content-Type": "application/json"}, timeout=60
        )
        assert reply.status_code == 404
        assert "not connected" in reply.text, "it was read"
        assert httpx.post(f"{url}/predict", content=body, auth=("operator", "wrong"), timeout=60).status_code == 413

    def test_body_limit_applies_to_authenticated_callers(self, tmp_path: Path) -> None:
        with running(tmp_path, largest_body_mb=2) as url:
            body = b" " * (3 * SMALL_BODY)
            assert httpx.post(f"{url}/predict", content=body, auth=AUTH, timeout=60).status_code == 413


class TestJson:
    @pytest.mark.parametrize(
        ("body", "depth", "values"),
        [
            (b"{}", 1, 2),
            (b'{"a": [1, 2, {"b": 3}]}', 3, 6),
            (rb'{"[[[": "]]]\" [[["}', 1, 2),
            (b'"[[[[', 0, 1),
            (b"[" * 1000, 1000, 1001),
        ],
    )
    def test_depth_and_size_are_seen_before_parsing(self, body: bytes, depth: int, values: int) -> None:
        assert nesting(body) == (depth, values)

    def test_text_without_end_takes_no_longer(self) -> None:
        """One pass: each of these quotes could begin a text that never ends."""
        assert nesting(b'"' + b'\\"' * 2_000_000)[0] == 0

    def test_deep_and_crowded_bodies_are_refused(self) -> None:
        assert body_is_bounded(b"[" * GREATEST_DEPTH + b"]" * GREATEST_DEPTH, SMALL_BODY) is None
        assert "deeply" in (body_is_bounded(b"[" * (GREATEST_DEPTH + 1), SMALL_BODY) or "")
        assert "values" in (body_is_bounded(b"[" + b"{}," * 1_000_000 + b"{}]", SMALL_BODY) or "")

    def test_through_the_server(self, url: str) -> None:
        reply = httpx.post(f"{url}/predict", content=b'{"a":' * 50_000, auth=AUTH)
        assert (reply.status_code, reply.json()["error"]) == (400, "The request's body is nested too deeply.")


class TestIntegers:
    @pytest.mark.parametrize(
        "path",
        [
            "/report/{}",
            "/audit/{}",
            "/report/{}/summary.json",
            "/audit/1/{}.csv",
            "/panel?project={}",
            "/api/panel?project={}&task={}",
            "/api/audit/{}",
            "/api/queue?project=1&limit={}&offset={}",
            "/api/report/state?project={}",
        ],
    )
    def test_numbers_out_of_range_are_refused(
        self, path: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        services = connected(tmp_path)
        with create_app(services=services).test_client() as client:
            for number in (2**31, 2**63, 99999999999999999999999, -1):
                reply = client.get(path.replace("{}", str(number)))
                assert reply.status_code < 500, number
        assert "Traceback" not in caplog.text


class TestWrongKeys:
    def test_many_from_one_address_are_refused_but_right_ones_stay(self) -> None:
        keys = WrongKeys(limit=3)
        keys.note("a", b"right", right=True)
        for k in range(3):
            assert keys.wait("a", b"%d" % k) == 0
            keys.note("a", b"%d" % k, right=False)
        assert keys.wait("a", b"another") > 0
        assert keys.wait("a", b"right") == 0, "Label Studio behind the same proxy goes on"
        assert keys.wait("b", b"another") == 0

    def test_through_the_app(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(request_limits, "WRONG_KEYS", 5)
        environment = {"BASIC_AUTH_USER": AUTH[0], "BASIC_AUTH_PASS": AUTH[1]}
        services = connected(tmp_path, environment)
        with create_app(services=services).test_client() as client:
            assert client.get("/metrics", auth=AUTH).status_code == 200
            tries = [client.get("/metrics", auth=("operator", f"guess {k}")).status_code for k in range(8)]
            assert tries == [401] * 5 + [429] * 3
            assert client.get("/metrics", auth=AUTH).status_code == 200

    def test_wrong_keys_of_known_and_unknown_projects_count(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(request_limits, "WRONG_KEYS", 5)
        services = connected(tmp_path)
        key = Keys(services.store.secret()).key(99, "report")
        address = "/api/report/state?project="
        with create_app(services=services).test_client() as client:
            for _ in range(8):  # without a key, or with the right one, nothing is guessed
                assert client.get(f"{address}99").status_code == 403
                assert client.get(f"{address}99&k={key}").status_code == 200
            tries = [client.get(f"{address}{98 + k % 3}&k=guess{k}").status_code for k in range(8)]
            assert tries == [403] * 5 + [429] * 3
            assert client.get(f"{address}99&k={key}").status_code == 200, "a key that was right before stays valid"
