"""Limits per request and address: size and depth of bodies, memory, wrong keys. Access is checked elsewhere."""

import hashlib
import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from flask import Flask, Response, g, jsonify, request
from werkzeug.exceptions import HTTPException
from werkzeug.routing import IntegerConverter

log = logging.getLogger(__name__)

LARGEST_INTEGER = 2**31 - 1
SMALL_BODY = 1024 * 1024  # bytes that requests without a secret may send
GREATEST_DEPTH = 100
BIG_BODY = 4 * 1024 * 1024  # bytes from which bodies are parsed one at a time in each process
BIG_BODY_WAITS = 30.0
BYTES_PER_VALUE = 60  # least memory of Python's objects for one JSON value, besides its text
MEMORY_PER_BYTE = 6  # memory allowed for a parsed body, as a multiple of the largest body
WRONG_KEYS = 30  # from one address within WRONG_KEYS_WINDOW
WRONG_KEYS_WINDOW = 60.0
SECRETS_EVERY = 5.0
_KEY_ARGUMENTS = frozenset({"k", "key"})
WEBHOOK = "/webhook"
NEED_NO_KEY = frozenset({"/health", "/panel"})  # their answers do not depend on a key

# Possessive and with an optional end, so that it takes linear time for every body.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NOT_STRUCTURE = bytes(set(range(256)) - set(b"[]{},"))
_STEP = np.zeros(256, dtype=np.int8)
_STEP[list(b"[{")] = 1
_STEP[list(b"]}")] = -1


class BoundedInteger(IntegerConverter):
    """A whole number in an address that a database column can hold."""

    def __init__(self, map: Any, *arguments: Any, **options: Any):
        super().__init__(map, *arguments, **({"max": LARGEST_INTEGER} | options))


def nesting(body: bytes) -> tuple[int, int]:
    """(depth, number of values) of a JSON text, found without parsing it.

    Right for valid JSON, an upper bound for other text.
    """
    structure = _STRING.sub(b"", body).translate(None, _NOT_STRUCTURE)
    if not structure:
        return 0, 1
    codes = np.frombuffer(structure, dtype=np.uint8)
    depth = int(np.cumsum(_STEP[codes], dtype=np.int64).max())
    closing = int(np.count_nonzero(_STEP[codes] < 0))
    return max(0, depth), 1 + len(structure) - closing


def body_is_bounded(body: bytes, largest: int) -> str | None:
    """Reason to refuse a JSON body before it is parsed; None if it may be parsed."""
    depth, values = nesting(body)
    if depth > GREATEST_DEPTH:
        return "The request's body is nested too deeply."
    if 2 * len(body) + BYTES_PER_VALUE * values > max(MEMORY_PER_BYTE * largest, 64 * SMALL_BODY):
        return "The request's body has too many values."
    return None


class WrongKeys:
    """Counts wrong keys per address and blocks addresses with many.

    Keys that were right before stay valid from a blocked address.
    """

    def __init__(self, limit: int | None = None, window: float = WRONG_KEYS_WINDOW):
        self._limit, self._window = WRONG_KEYS if limit is None else limit, window
        self._wrong: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self._right: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, address: str, key: bytes) -> int:
        """Seconds for which keys from this address are ignored; 0 if they are checked."""
        now = time.monotonic()
        with self._lock:
            since, count = self._wrong.get(address, (now, 0))
            if key in self._right or count < self._limit or now - since >= self._window:
                return 0
            return max(1, int(self._window - (now - since)))

    def note(self, address: str, key: bytes, *, right: bool) -> None:
        """Record whether a key was right."""
        now = time.monotonic()
        with self._lock:
            if right:
                self._right[key] = None
                while len(self._right) > 1000:
                    self._right.popitem(last=False)
                return
            since, count = self._wrong.pop(address, (now, 0))
            if now - since >= self._window:
                since, count = now, 0
            self._wrong[address] = since, count + 1
            while len(self._wrong) > 10_000:
                self._wrong.popitem(last=False)
            if count + 1 == self._limit:
                log.warning("many wrong keys from %s: refused for %.0f s", address, self._window)


class KnownSecrets:
    """Hashes of the secrets of programs, refreshed every few seconds so that checking headers needs no database access.

    Parameters
    ----------
    read : callable
        Returns the values of the headers Authorization and X-Softirr-Token that are right.
    """

    def __init__(self, read: Callable[[], Iterable[str]]):
        self._read = read
        self._known: frozenset[bytes] = frozenset()

    def start(self) -> None:
        """Read the secrets from now on."""
        threading.Thread(target=self._follow, name="secrets", daemon=True).start()

    def knows(self, *values: str | None) -> bool:
        """Whether one of these header values is a secret of ours."""
        return any(value and _hash(value) in self._known for value in values)

    def refresh(self) -> None:
        """Read the secrets once."""
        self._known = frozenset(_hash(value) for value in self._read())

    def _follow(self) -> None:
        while True:
            try:
                self.refresh()
            except Exception as error:  # noqa: BLE001 - the database is away, so the last value stays
                log.warning("the connections' secrets could not be read (%s)", type(error).__name__)
            time.sleep(SECRETS_EVERY)


def install(app: Flask, *, largest_body: int) -> None:
    """Put the limits before all endpoints of the app."""
    app.config["MAX_CONTENT_LENGTH"] = largest_body
    app.url_map.converters["int"] = BoundedInteger
    wrong, one_big_body = WrongKeys(), threading.Semaphore(1)

    @app.before_request
    def begin() -> tuple[Response, int, dict[str, str]] | None:
        key = _sent_key()
        if key is not None and (wait := wrong.wait(request.remote_addr or "", key)):
            return _refusal(429, f"Too many wrong keys: try again in {wait} s.", wait)
        if any(_is_out_of_range(value) for name, value in request.args.items() if name != "k"):
            return _refusal(400, "A number in the address is out of range.", None)
        length = request.content_length or 0
        if not length:
            return None
        if length > BIG_BODY:
            if not one_big_body.acquire(timeout=BIG_BODY_WAITS):
                return _refusal(503, "Other large requests are being served: try again.", 10)
            g.softirr_big_body = True
        try:
            body = request.get_data(cache=True)
        except HTTPException as error:
            return _refusal(error.code or 400, f"{error.name}.", None)
        problem = body_is_bounded(body, largest_body)
        if problem and request.path == WEBHOOK:  # its secret is checked, and its body counts as empty
            g.softirr_ignored_body = True
            return None
        return _refusal(400, problem, None) if problem else None

    @app.after_request
    def note(response: Response) -> Response:
        _note_key(wrong, response.status_code)
        return response

    @app.teardown_request
    def end(_error: BaseException | None) -> None:
        if g.pop("softirr_big_body", False):
            one_big_body.release()


def _note_key(wrong: WrongKeys, status: int) -> None:
    """Record whether the request's key was right, if the answer depended on it."""
    key, rule = _sent_key(), request.url_rule.rule if request.url_rule is not None else None
    if key is None or rule is None or rule in NEED_NO_KEY or "/static/" in rule:
        return
    if status in (401, 403):
        wrong.note(request.remote_addr or "", key, right=False)
    elif status < 400:
        wrong.note(request.remote_addr or "", key, right=True)


def _sent_key() -> bytes | None:
    headers = request.headers
    cookies = [value for name, value in request.cookies.items() if name.startswith("softirr-")]
    headers_sent = [headers.get("Authorization"), headers.get("X-Softirr-Key"), headers.get("X-Softirr-Token")]
    keys = [value for name, value in request.args.items() if name in _KEY_ARGUMENTS]
    sent = [value for value in (*headers_sent, *keys, *cookies) if value]
    return _hash("\n".join(sent)) if sent else None


def _is_out_of_range(value: str) -> bool:
    digits = value.lstrip("+-")
    return digits.isdigit() and (len(digits) > 12 or int(digits) > LARGEST_INTEGER)


def _hash(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "replace")).digest()


def _refusal(status: int, sentence: str, retry_after: int | None) -> tuple[Response, int, dict[str, str]]:
    return jsonify({"error": sentence}), status, {"Retry-After": str(retry_after)} if retry_after else {}
