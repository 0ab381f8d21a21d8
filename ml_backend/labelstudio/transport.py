"""Requests over httpx; failed tries are repeated if that is safe."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx
import tenacity

from ml_backend.labelstudio.errors import LabelStudioError, Unauthorized, Unreachable, WriteUnknown
from ml_backend.labelstudio.replies import json_objects, refusal, reply_json
from ml_backend.labelstudio.token_auth import TokenAuth

log = logging.getLogger(__name__)

TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0
READ_TIMEOUT = 120.0


@dataclass(frozen=True)
class Attempts:
    """How long and how often a request is tried.

    Attributes
    ----------
    timeout : float
        Seconds for each try.
    repeat : bool, optional
        Whether the request is idempotent; by default all methods but POST. Such requests are repeated after connection
        errors, time-outs, 429 and 5xx.
    tries_on_500 : int
        Number of tries after a 500. Use fewer if the requested content, rather than the server, may be the cause.
    """

    timeout: float = READ_TIMEOUT
    repeat: bool | None = None
    tries_on_500: int = TRIES


class _Again(Exception):
    """A failed try that may be repeated; `final` is raised after the last try."""

    def __init__(self, final: LabelStudioError):
        super().__init__(str(final))
        self.final = final


class Transport:
    """Requests to a Label Studio server, as the user who has the token; failed tries are repeated if that is safe.

    Parameters
    ----------
    token : str
        Personal access token or legacy token.
    transport : httpx.BaseTransport, optional
        For tests.
    wait : callable, optional
        Sleeps between tries; raises to cancel.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        auth: httpx.Auth | None = None,
        transport: httpx.BaseTransport | None = None,
        wait: Callable[[float], None] = time.sleep,
    ):
        if not token and auth is None:
            raise Unauthorized("No Label Studio token: set LABEL_STUDIO_API_KEY to a personal access token.", 401)
        self.url = url.rstrip("/")
        self._auth = auth or TokenAuth(self.url, token)
        self._http = httpx.Client(base_url=self.url, auth=self._auth, timeout=READ_TIMEOUT, transport=transport)
        self._wait = wait

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @property
    def token_kind(self) -> str:
        """``legacy token`` or ``personal access token``."""
        return "legacy token" if getattr(self._auth, "is_legacy", False) else "personal access token"

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        attempts: Attempts = Attempts(),
    ) -> Any:
        """Send a request and return the reply's JSON (None if it has no body).

        Raises
        ------
        Unreachable, WriteUnknown, Unauthorized, NotFound, LabelStudioError
        """
        repeat = method != "POST" if attempts.repeat is None else attempts.repeat

        def enough(state: tenacity.RetryCallState) -> bool:
            assert state.outcome is not None
            error = state.outcome.exception()
            on_500 = isinstance(error, _Again) and error.final.status == 500
            return state.attempt_number >= (attempts.tries_on_500 if on_500 else TRIES)

        def note(state: tenacity.RetryCallState) -> None:
            wait = state.next_action.sleep if state.next_action else 0.0
            log.warning(
                "Label Studio: %s %s failed (try %d of %d), trying again in %.1f s",
                *(method, path, state.attempt_number, TRIES, wait),
            )

        trying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Again),
            stop=enough,
            wait=tenacity.wait_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT),
            sleep=self._wait,
            before_sleep=note,
            reraise=True,
        )
        try:
            return trying(self._once, method, path, params, body, attempts.timeout, repeat)
        except _Again as error:
            raise error.final from None

    def _once(self, method: str, path: str, params: Any, body: Any, timeout: float, repeat: bool) -> Any:
        """Try once; raises `_Again` where another try is safe and may succeed."""

        def unfinished(sentence: str, status: int | None = None) -> Exception:
            return _Again(Unreachable(sentence, status)) if repeat else WriteUnknown(sentence, status)

        try:
            response = self._http.request(method, path, params=params, json=body, timeout=timeout)
        except (httpx.ConnectError, httpx.ConnectTimeout):  # nothing was sent
            raise _Again(Unreachable(f"Label Studio at {self.url} can't be reached.")) from None
        except httpx.TimeoutException:
            raise unfinished(f"Label Studio did not answer {method} {path} in time.") from None
        except httpx.TransportError:
            raise unfinished(f"The connection broke during {method} {path}.") from None
        status = response.status_code
        if status < 400:
            return reply_json(response, f"{method} {path}")
        if status != 429 and status < 500:
            raise refusal(status, method, path, response)
        sentence = f"Label Studio answered {status} to {method} {path}."
        if status in (429, 503):  # not carried out
            raise _Again(Unreachable(sentence, status))
        raise unfinished(sentence, status)

    def create(self, path: str, body: Any) -> dict[str, Any]:
        """POST a body and return the created object, which has an id."""
        return json_objects([self.request("POST", path, body=body)], f"what was made at {path}")[0]
