"""Requests over httpx with a legacy token or a personal access token; failed tries are repeated if that is safe."""

import logging
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx
import tenacity

from ml_backend.labelstudio.errors import (
    LabelStudioError,
    Unauthorized,
    Unreachable,
    WriteUnknown,
    json_objects,
    refusal,
    reply_json,
)

TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0
READ_TIMEOUT = 120.0
_JSON = {"Content-Type": "application/json"}


class TokenAuth(httpx.Auth):
    """Authorization by a legacy token, or by a personal access token, which is exchanged for access tokens.

    An access token is valid for five minutes. It is renewed when the server answers 401, so that the clock of this
    machine does not matter.

    Parameters
    ----------
    url : str
        Address of Label Studio.
    token : str
        Legacy token, or personal access token (a JSON web token).

    Raises
    ------
    Unauthorized
        If the personal access token has expired.
    """

    requires_response_body = True

    def __init__(self, url: str, token: str):
        import jwt

        self._refresh = f"{url}/api/token/refresh/"
        self._token = token
        self._access: str | None = None
        try:
            expires = jwt.decode(token, options={"verify_signature": False}).get("exp")
        except jwt.InvalidTokenError:
            self.is_legacy = True
            return
        self.is_legacy = False
        if not isinstance(expires, int | float) or expires < time.time():
            raise Unauthorized("The Label Studio token has expired: make a new one under Account & Settings.", 401)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the header; with a personal access token, get an access token first and once more on 401."""
        if self.is_legacy:
            request.headers["Authorization"] = f"Token {self._token}"
            yield request
            return
        token = self._access
        if token is None:
            token = self._access = _access_token((yield self._exchange()))
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == 401:
            if self._access == token:  # no other thread has renewed it meanwhile
                self._access = _access_token((yield self._exchange()))
            request.headers["Authorization"] = f"Bearer {self._access}"
            yield request

    def _exchange(self) -> httpx.Request:
        return httpx.Request("POST", self._refresh, json={"refresh": self._token})


def _access_token(response: httpx.Response) -> str:
    status = response.status_code
    if status in (400, 401, 403):
        raise Unauthorized(
            "Label Studio refused the personal access token: it is wrong, was revoked, or belongs to another server.",
            401,
        )
    if status >= 400:
        raise Unreachable(f"Label Studio answered {status} when asked for an access token.", status)
    try:
        access = response.json()["access"]
    except (ValueError, KeyError, TypeError):  # usually a proxy's error page
        access = None
    if not isinstance(access, str):
        raise Unreachable("Label Studio gave no usable access token.")
    return access


log = logging.getLogger(__name__)


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

        Parameters
        ----------
        body : object, optional
            Sent as JSON; bytes are JSON already.

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

        content = {"content": body, "headers": _JSON} if isinstance(body, bytes) else {"json": body}
        try:
            response = self._http.request(method, path, params=params, timeout=timeout, **content)
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
