"""A real Chromium, and our browser files served under the strict policy that the product uses."""

import http.server
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.browser.browsers import ROOT

PAGE = b"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Agreement</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="page.css"><link rel="stylesheet" href="panel.css">
</head><body><main id="panel"></main></body></html>"""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)


class _Files(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)
        else:
            super().do_GET()

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="session")
def panel_url() -> Iterator[str]:
    """Address of an empty page on the server of the panel's files."""
    handler = partial(_Files, directory=str(ROOT / "plugin" / "panel"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def page(chromium: Any, panel_url: str) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 900, "height": 700})
    page = context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda message: page.problems.append(message.text) if message.type == "error" else None)
    page.goto(panel_url)
    yield page
    assert page.problems == []
    context.close()
