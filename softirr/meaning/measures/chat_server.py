"""A chat model on an OpenAI-compatible server (vLLM, llama.cpp, Ollama and others), with concurrent requests, retries and time-outs."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, as_completed, wait
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError, SoftirrError
from softirr.provenance import Provenance

__all__ = ["ServerModel"]

_TOP = 20
"""Number of most likely tokens requested, the maximum of OpenAI's interface."""
_LONGEST_ANSWER = 48
_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504}


class ServerModel:
    """A model of an OpenAI-compatible server.

    Parameters
    ----------
    url
        Base URL, such as ``http://localhost:8000/v1``, with the model's name after ``#``; the name is optional where
        the server has one model.
    api_key
        Sent as bearer token. By default SOFTIRR_LLM_API_KEY, and that only to the server of SOFTIRR_LLM_URL.
    concurrency
        Number of concurrent requests.
    retries
        Most repetitions of a request after a refused connection, a time-out or an overloaded server.
    timeout
        Seconds to wait for an answer.
    pause
        Seconds before the first repetition; doubled for each further one. A server's Retry-After takes precedence.

    Raises
    ------
    InputError
        If the server can't be reached or has several models and none is named, or if SOFTIRR_LLM_API_KEY is set and
        SOFTIRR_LLM_URL does not say which server it belongs to.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        concurrency: int = 16,
        retries: int = 5,
        timeout: float = 60.0,
        pause: float = 0.5,
    ) -> None:
        base, _, model = url.partition("#")
        self._concurrency, self._retries, self._pause = concurrency, retries, pause
        key = api_key or _key_for(base)
        self._shown = re.sub(r"//[^/@]*@", "//", base).rstrip("/")
        self._client = httpx.Client(
            base_url=base.rstrip("/") + "/",
            timeout=timeout,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            limits=httpx.Limits(max_connections=concurrency),
        )
        # a server refuses options that it does not know; later requests leave them out
        self._extras: dict[str, Any] = {"chat_template_kwargs": {"enable_thinking": False}}
        self._length = "max_tokens"
        self._name = model or self._only_model()

    @property
    def key(self) -> str:
        """Address and model."""
        return f"{self._shown}#{self._name}"

    def describe(self) -> Provenance:
        """Address and model."""
        return Provenance(measure="", model=self.key, device="server")

    def yes_minus_no(self, prompts: Sequence[str], done: Callable[[int], None]) -> NDArray[np.float64]:
        """l_yes - l_no of each prompt, shape (n,), from the most likely first tokens.

        NaN where neither word is among them.

        A word that is not among them gets the remaining probability, at most the probability of the least likely listed
        token.
        """

        def ask(prompt: str) -> float:
            choice = self._ask(prompt, 1, {"logprobs": True, "top_logprobs": _TOP})
            content = (choice.get("logprobs") or {}).get("content") or []
            if not content or not content[0].get("top_logprobs"):
                raise InputError(f"The server {self._shown} gives no log-probabilities; use llm-verbalised instead.")
            return _odds([(entry["token"], float(entry["logprob"])) for entry in content[0]["top_logprobs"]])

        return np.array(self._all(ask, prompts, done), dtype=np.float64)

    def write(self, prompts: Sequence[str], done: Callable[[int], None]) -> list[str]:
        """The greedy answer to each prompt."""

        def ask(prompt: str) -> str:
            return str((self._ask(prompt, _LONGEST_ANSWER, {}).get("message") or {}).get("content") or "")

        return self._all(ask, prompts, done)

    def _all(self, ask: Callable[[str], Any], prompts: Sequence[str], done: Callable[[int], None]) -> list[Any]:
        with ThreadPoolExecutor(self._concurrency) as pool:
            futures = [pool.submit(ask, prompt) for prompt in prompts]
            try:
                for count, future in enumerate(as_completed(futures), 1):
                    future.result()
                    done(count)
            except BaseException:
                # a request that fails after all retries ends the job: pending requests are dropped
                pool.shutdown(wait=False, cancel_futures=True)
                wait(futures, return_when=FIRST_EXCEPTION)
                raise
            return [future.result() for future in futures]

    def _ask(self, prompt: str, length: int, more: dict[str, Any]) -> dict[str, Any]:
        while True:
            body = {
                "model": self._name,
                "messages": [{"role": "user", "content": prompt}],
                "temperature": 0,
                self._length: length,
                **more,
                **self._extras,
            }
            response = self._request("POST", "chat/completions", json=body)
            if response.status_code == 400 and self._leave_out(response.text, set(body)):
                continue
            try:
                choice: dict[str, Any] = self._checked(response)["choices"][0]
            except (KeyError, IndexError, TypeError) as error:
                raise SoftirrError(f"The server {self._shown} answered, but not with a chat completion.") from error
            return choice

    def _leave_out(self, complaint: str, sent: set[str]) -> bool:
        """Whether a refused request can be repeated without the options that the server does not know."""
        if "chat_template_kwargs" in complaint and "chat_template_kwargs" in sent:
            self._extras = {}
            return True
        if "max_completion_tokens" in complaint and "max_tokens" in sent:
            self._length = "max_completion_tokens"
            return True
        return False

    def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        for attempt in range(self._retries + 1):
            wait_for = self._pause * 2**attempt
            try:
                response = self._client.request(method, path, **options)
            except httpx.TransportError as error:
                if attempt == self._retries:
                    raise InputError(f"The server {self._shown} does not answer.") from error
            else:
                if response.status_code not in _AGAIN or attempt == self._retries:
                    return response
                wait_for = _retry_after(response, wait_for)
            time.sleep(min(wait_for, 60.0))
        raise InputError(f"The server {self._shown} does not answer.")

    def _checked(self, response: httpx.Response) -> Any:
        # neither body nor prompt is shown: they hold annotations
        if response.status_code in (401, 403):
            raise InputError(
                f"The server {self._shown} needs an API key; set SOFTIRR_LLM_API_KEY, and SOFTIRR_LLM_URL to the server's address."
            )
        if response.is_error:
            raise InputError(f"The server {self._shown} refused a request (HTTP status {response.status_code}).")
        try:
            return response.json()
        except ValueError as error:
            raise SoftirrError(f"The server {self._shown} answered, but not with JSON.") from error

    def _only_model(self) -> str:
        listed = self._checked(self._request("GET", "models"))
        names = [str(entry.get("id")) for entry in (listed.get("data") if isinstance(listed, dict) else None) or []]
        if len(names) != 1:
            raise InputError(
                f"The server {self._shown} has {len(names)} models; name one behind #, such as {self._shown}#{names[0] if names else 'MODEL'}."
            )
        return names[0]


def _key_for(base: str) -> str | None:
    """The key in the environment if `base` is on the server that it belongs to, so that no other server receives it."""
    key, owner = os.environ.get("SOFTIRR_LLM_API_KEY"), os.environ.get("SOFTIRR_LLM_URL")
    if not key:
        return None
    if not owner:
        raise InputError(
            "SOFTIRR_LLM_API_KEY is set, but not the server that it belongs to: set SOFTIRR_LLM_URL to that server's address."
        )
    return key if _origin(base) == _origin(owner) else None


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _odds(top: list[tuple[str, float]]) -> float:
    words: dict[str, list[float]] = {"yes": [], "no": []}
    for token, log_p in top:
        word = token.replace("▁", " ").replace("Ġ", " ").strip().casefold()
        if word in words:
            words[word].append(log_p)
    if not words["yes"] and not words["no"]:
        return math.nan
    rest = 1.0 - sum(math.exp(log_p) for _, log_p in top)
    unlisted = min(math.log(max(rest, 1e-12)), min(log_p for _, log_p in top))
    yes, no = (float(np.logaddexp.reduce(logs)) if logs else unlisted for logs in words.values())
    return yes - no


def _retry_after(response: httpx.Response, otherwise: float) -> float:
    try:
        return max(float(response.headers["Retry-After"]), 0.0)
    except (KeyError, ValueError):
        return otherwise
