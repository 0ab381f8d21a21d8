"""The client's authorization: legacy tokens, and personal access tokens that are exchanged."""

from __future__ import annotations

import time
from typing import Any

import httpx
import jwt
import pytest

from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.errors import Unauthorized, Unreachable, WriteUnknown

URL = "http://label-studio.test"


def personal_token(expires_in: float = 3600) -> str:
    return jwt.encode({"token_type": "refresh", "exp": int(time.time() + expires_in)}, "x" * 32, algorithm="HS256")


class Server:
    """Gives out access tokens and takes the newest one only."""

    def __init__(self, exchange: httpx.Response | None = None):
        self.exchange = exchange
        self.given = 0
        self.seen: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/token/refresh/":
            self.given += 1
            return self.exchange or httpx.Response(200, json={"access": f"access-{self.given}"})
        self.seen.append(request.headers["Authorization"])
        good = self.seen[-1] in (f"Bearer access-{self.given}", "Token 0123456789abcdef")
        return httpx.Response(200 if good else 401, json={"id": 1})

    def client(self, token: str, **more: Any) -> Client:
        return Client(URL, token, transport=httpx.MockTransport(self), wait=lambda _: None, **more)


def test_legacy_token_is_sent_unchanged() -> None:
    server = Server()
    client = server.client("0123456789abcdef")
    assert client.whoami() == {"id": 1}
    assert server.seen == ["Token 0123456789abcdef"]
    assert server.given == 0
    assert client.token_kind == "legacy token"


def test_a_personal_access_token_is_exchanged_once() -> None:
    server = Server()
    client = server.client(personal_token())
    client.whoami()
    client.whoami()
    assert server.seen == ["Bearer access-1", "Bearer access-1"]
    assert client.token_kind == "personal access token"


def test_an_access_token_that_the_server_no_longer_takes_is_renewed() -> None:
    server = Server()
    client = server.client(personal_token())
    client.whoami()
    server.given += 1  # the server's clock is ahead of ours
    assert client.whoami() == {"id": 1}
    assert server.seen[-1] == "Bearer access-3"


def test_an_expired_personal_access_token() -> None:
    with pytest.raises(Unauthorized, match="has expired"):
        Server().client(personal_token(-10))


@pytest.mark.parametrize(
    ("reply", "error", "sentence"),
    [
        (httpx.Response(401, json={}), Unauthorized, "refused the personal access token"),
        (httpx.Response(502, text="bad gateway"), Unreachable, "answered 502 when asked for an access token"),
        (httpx.Response(200, text="<html>"), Unreachable, "no usable access token"),
        (httpx.Response(200, json=[]), Unreachable, "no usable access token"),
    ],
)
def test_an_exchange_that_fails(reply: httpx.Response, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        Server(reply).client(personal_token()).whoami()


def test_failed_request_is_retried_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    replies = iter([httpx.Response(503), httpx.Response(429), httpx.Response(200, json={"id": 1})])
    waits: list[float] = []
    client = Client(URL, "0123456789abcdef", transport=httpx.MockTransport(lambda _: next(replies)), wait=waits.append)
    assert client.whoami() == {"id": 1}
    assert waits == [0.5, 1.0]
    assert "(try 1 of 5), trying again in 0.5 s" in caplog.text


def test_a_write_whose_reply_is_lost_is_not_repeated() -> None:
    sent = []

    def lost(request: httpx.Request) -> httpx.Response:
        sent.append(request.method)
        raise httpx.ReadTimeout("late")

    client = Client(URL, "0123456789abcdef", transport=httpx.MockTransport(lost), wait=lambda _: None)
    with pytest.raises(WriteUnknown):
        client.request("POST", "/api/predictions/", body={})
    assert sent == ["POST"]
