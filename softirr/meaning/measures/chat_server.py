"""A chat model on an OpenAI-compatible server (vLLM, llama.cpp, Ollama and others), through the openai client."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from softirr.errors import InputError
from softirr.meaning.measures.arrays import Floats
from softirr.provenance import Provenance

_TOP = 20
"""Number of most likely tokens requested, the maximum of OpenAI's interface."""
_LONGEST_ANSWER = 48


class ServerModel:
    """A model of an OpenAI-compatible server.

    Parameters
    ----------
    url
        Base URL, such as ``http://localhost:8000/v1``, with the model's name after ``#``; the name is optional if the
        server has one model.
    api_key
        Sent as bearer token. By default SOFTIRR_LLM_API_KEY, and that only to the server of SOFTIRR_LLM_URL.
    concurrency
        Number of concurrent requests.
    retries
        Maximum number of repetitions of a request after a refused connection, a time-out or an overloaded server.
    timeout
        Seconds to wait for an answer.

    Raises
    ------
    InputError
        If the openai package is missing, the server can't be reached or has several models and none is named, or if
        SOFTIRR_LLM_API_KEY is set without SOFTIRR_LLM_URL.
    """

    def __init__(
        self, url: str, *, api_key: str | None = None, concurrency: int = 16, retries: int = 5, timeout: float = 60.0
    ) -> None:
        try:
            import openai
        except ImportError:
            raise InputError(
                "A language model on a server needs the openai package: pip install softirr[judge]."
            ) from None
        self._openai: Any = openai
        base, _, model = url.partition("#")
        self._concurrency = concurrency
        self._shown = re.sub(r"//[^/@]*@", "//", base).rstrip("/")
        key = api_key or _key_for(base)
        self._client = openai.OpenAI(base_url=base, api_key=key or "none", max_retries=retries, timeout=timeout)
        self._headers: dict[str, Any] = {} if key else {"Authorization": openai.Omit()}
        # a server may refuse options that it does not know; later requests leave them out
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

    def yes_minus_no(self, prompts: Sequence[str]) -> Floats:
        """l_yes - l_no of each prompt, shape (n,), from the most likely first tokens; nan if neither is among them.

        A word that is not among them gets the remaining probability, at most the probability of the least likely listed
        token.
        """

        def ask(prompt: str) -> float:
            choice = self._ask(prompt, 1, {"logprobs": True, "top_logprobs": _TOP})
            content = choice.logprobs.content if choice.logprobs is not None else None
            if not content or not content[0].top_logprobs:
                raise InputError(f"The server {self._shown} gives no log-probabilities; use llm-verbalised instead.")
            return _odds([(entry.token, float(entry.logprob)) for entry in content[0].top_logprobs])

        return np.array(self._all(ask, prompts), dtype=np.float64)

    def write(self, prompts: Sequence[str]) -> list[str]:
        """The greedy answer to each prompt."""
        return self._all(lambda prompt: self._ask(prompt, _LONGEST_ANSWER, {}).message.content or "", prompts)

    def _all(self, ask: Callable[[str], Any], prompts: Sequence[str]) -> list[Any]:
        with ThreadPoolExecutor(self._concurrency) as pool:
            try:
                return list(pool.map(ask, prompts))
            except BaseException:  # an interrupted run drops waiting prompts
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _ask(self, prompt: str, length: int, options: dict[str, Any]) -> Any:
        reply = None
        while reply is None:
            reply = self._called(
                self._client.chat.completions.create,
                model=self._name,
                messages=[{"role": "user", "content": prompt}],
                temperature=0,
                extra_body=self._extras,
                **{self._length: length, **options},
            )
        if not reply.choices:
            raise InputError(f"The server {self._shown} gave an answer without a choice.")
        return reply.choices[0]

    def _called(self, call: Callable[..., Any], **options: Any) -> Any:
        """The result of a call, or None if it can be repeated without an option that the server does not know.

        Neither body nor prompt is shown in errors, because they hold annotations.
        """
        openai = self._openai
        try:
            return call(extra_headers=self._headers, **options)
        except (openai.AuthenticationError, openai.PermissionDeniedError):
            raise InputError(
                f"The server {self._shown} needs an API key; set SOFTIRR_LLM_API_KEY, and SOFTIRR_LLM_URL to the "
                "server's address."
            ) from None
        except openai.APIStatusError as error:
            complaint = str(error) if isinstance(error, openai.BadRequestError) else ""
            if "chat_template_kwargs" in complaint and options.get("extra_body"):
                self._extras = {}
            elif "max_completion_tokens" in complaint and "max_tokens" in options:
                self._length = "max_completion_tokens"
            else:
                problem = f"The server {self._shown} refused a request (HTTP status {error.status_code})."
                raise InputError(problem) from None
            return None
        except openai.APIError as error:  # no connection, a time-out, or an answer that is not JSON
            raise InputError(f"The server {self._shown} does not answer.") from error

    def _only_model(self) -> str:
        names = [str(model.id) for model in self._called(self._client.models.list).data or []]
        if len(names) != 1:
            example = names[0] if names else "MODEL"
            raise InputError(
                f"The server {self._shown} has {len(names)} models; name one behind #, such as {self._shown}#{example}."
            )
        return names[0]


def _key_for(base: str) -> str | None:
    """The key in the environment if `base` is on the server that it belongs to, so that no other server receives it."""
    key, owner = os.environ.get("SOFTIRR_LLM_API_KEY"), os.environ.get("SOFTIRR_LLM_URL")
    if not key:
        return None
    if not owner:
        raise InputError(
            "SOFTIRR_LLM_API_KEY is set, but not the server that it belongs to: "
            "set SOFTIRR_LLM_URL to that server's address."
        )
    return key if _origin(base) == _origin(owner) else None


def _origin(url: str) -> tuple[str, str, int | None]:
    address = urlsplit(url)
    return address.scheme, address.hostname or "", address.port or {"http": 80, "https": 443}.get(address.scheme)


def _odds(top: list[tuple[str, float]]) -> float:
    words: dict[str, list[float]] = {"yes": [], "no": []}
    for token, log_p in top:
        word = token.replace("▁", " ").replace("Ġ", " ").strip().casefold()
        if word in words:
            words[word].append(log_p)
    if not words["yes"] and not words["no"]:
        return math.nan
    remaining = 1.0 - sum(math.exp(log_p) for _, log_p in top)
    unlisted = min(math.log(max(remaining, 1e-12)), min(log_p for _, log_p in top))
    yes, no = (float(np.logaddexp.reduce(logs)) if logs else unlisted for logs in words.values())
    return yes - no
