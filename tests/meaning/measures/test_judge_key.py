"""The key of a language model's server goes to that server and to no other."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator

import pytest

from softirr.errors import InputError
from softirr.meaning.measures import measure

pytest.importorskip("openai")


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str | None]]]:
    """Address of a server that notes the Authorization header of each request."""
    observed: list[str | None] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            observed.append(self.headers.get("Authorization"))
            body = json.dumps({"data": [{"id": "tiny"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", observed
    server.shutdown()
    server.server_close()


def test_the_key_is_sent_to_its_own_server_only(
    listener: tuple[str, list[str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, sent_keys = listener
    monkeypatch.setenv("SOFTIRR_LLM_API_KEY", "the key")
    monkeypatch.setenv("SOFTIRR_LLM_URL", url)
    measure(f"llm-verbalised:{url}")
    assert sent_keys == ["Bearer the key"]
    for other_url in (
        "http://127.0.0.1:9/v1",
        "https" + url.removeprefix("http"),
        url.replace("127.0.0.1", "localhost"),
    ):
        monkeypatch.setenv("SOFTIRR_LLM_URL", other_url)
        measure(f"llm-verbalised:{url}")
    assert sent_keys[1:] == [None] * 3


def test_a_key_without_the_address_that_it_belongs_to_is_refused(
    listener: tuple[str, list[str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, sent_keys = listener
    monkeypatch.setenv("SOFTIRR_LLM_API_KEY", "the key")
    monkeypatch.delenv("SOFTIRR_LLM_URL", raising=False)
    with pytest.raises(InputError, match="set SOFTIRR_LLM_URL"):
        measure(f"llm-verbalised:{url}")
    assert sent_keys == []
