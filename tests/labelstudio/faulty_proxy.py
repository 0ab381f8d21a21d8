"""Something between our backend and Label Studio that goes wrong on demand."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Fault = Callable[[str, str], str]
"""Method and path of a request -> "", or a fault.

"refuse": the connection ends, and nothing was passed on. "cut": the request was passed on and carried out, but the
connection ends before the reply. "half": half of a bulk import is passed on, then the connection ends. "late reply"
and "late": the proxy waits for `is_patient` after or before passing on, so that the caller has given up. "500", "401"
and the like: a reply with this status.
"""
PATIENCE = 300.0
"""Seconds after which a late request is passed on, even if the test has failed."""


class FaultyProxy:
    """Passes everything on to `target`, except what `fault` names."""

    def __init__(self, target: str):
        self.target = urlsplit(target)
        self.fault: Fault = lambda method, path: ""
        self.seen: list[tuple[str, str, str]] = []
        self.is_patient = threading.Event()
        """Ends the wait of requests that are late."""
        self.belated = threading.Event()
        """Set when Label Studio has carried out what was passed on "late"."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def pass_on(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                kind = proxy.fault(self.command, self.path)
                proxy.seen.append((self.command, self.path, kind))
                if kind == "refuse":
                    self.close_connection = True
                    return
                if kind.isdigit():
                    answer(self, int(kind), b'{"detail": "Invalid token."}', "application/json")
                    return
                if kind == "half":
                    body = half_of(body)
                if kind == "late":
                    proxy.is_patient.wait(PATIENCE)
                with contextlib.suppress(OSError, http.client.HTTPException):
                    status, reply, content = proxy.ask(self.command, self.path, body, dict(self.headers))
                    if kind == "late reply":
                        proxy.is_patient.wait(PATIENCE)
                    if kind == "late":
                        proxy.belated.set()
                    if kind in ("cut", "half"):
                        self.close_connection = True
                        return
                    answer(self, status, reply, content)
                    return
                self.close_connection = True

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = pass_on

        return Handler

    def ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes, str]:
        connection = http.client.HTTPConnection(self.target.hostname or "", self.target.port, timeout=120)
        try:
            forwarded_headers = {
                name: value
                for name, value in headers.items()
                if name.lower() not in ("host", "content-length", "connection", "accept-encoding")
            }
            connection.request(method, path, body=body or None, headers=forwarded_headers)
            reply = connection.getresponse()
            return reply.status, reply.read(), reply.getheader("Content-Type") or "text/plain"
        finally:
            connection.close()


def answer(handler: BaseHTTPRequestHandler, status: int, body: bytes, content: str) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", content)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def half_of(body: bytes) -> bytes:
    import json

    entries = json.loads(body)
    return json.dumps(entries[: len(entries) // 2]).encode() if isinstance(entries, list) else body


@contextlib.contextmanager
def faulty_proxy(target: str) -> Iterator[FaultyProxy]:
    """A proxy for the length of a with statement."""
    proxy = FaultyProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
