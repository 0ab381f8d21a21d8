"""The part of Label Studio's API that we use, over label-studio-sdk's authentication.

Replies are taken as plain JSON rather than as the SDK's models: those differ between its releases, and pages of a thousand
tasks are read several times faster without them.
"""

import logging
import threading
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from ml_backend.labelstudio.errors import LabelStudioError, NotFound, Unauthorized, Unreachable, WriteUnknown

log = logging.getLogger(__name__)

TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0
READ_TIMEOUT = 120.0
BULK_TIMEOUT = 600.0


class SdkAuth(httpx.Auth):
    """Authorization as the SDK does it: legacy token, or personal access token with its five-minute access tokens.

    The SDK renews an access token when our own clock says so; a server whose clock differs answers 401 before. Then the
    access token is renewed and the request sent once more.
    """

    def __init__(self, url: str, token: str):
        from label_studio_sdk import LabelStudio
        from label_studio_sdk.core.api_error import ApiError

        self._sdk_error = ApiError
        self._lock = threading.Lock()
        try:
            sdk = LabelStudio(base_url=url, api_key=token, httpx_client=httpx.Client(timeout=30.0))
        except ApiError:
            raise Unauthorized(
                "The Label Studio token has expired: make a new one under Account & Settings.", 401
            ) from None
        self._wrapper = sdk._client_wrapper
        self._tokens = self._wrapper._tokens_client
        self.is_legacy = bool(self._tokens._use_legacy_token)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the header; on 401 with a personal access token, renew and try once more."""
        used = self._header()
        request.headers["Authorization"] = used
        response = yield request
        if response.status_code == 401 and not self.is_legacy:
            with self._lock:
                if self._header() == used:
                    self._tokens._access_token = None
            request.headers["Authorization"] = self._header()
            yield request

    def _header(self) -> str:
        try:
            return self._wrapper.get_headers()["Authorization"]
        except self._sdk_error as error:
            if error.status_code in (400, 401, 403):
                raise Unauthorized(
                    "Label Studio refused the personal access token: it is wrong, was revoked, or belongs to another server.",
                    401,
                ) from None
            raise Unreachable(
                f"Label Studio answered {error.status_code} when asked for an access token.", error.status_code
            ) from None
        except ValueError:  # the reply to the renewal was no JSON: a proxy's error page, as a rule
            raise Unreachable("Label Studio gave no usable access token.") from None

    def close(self) -> None:
        """Close the connections used for renewing."""
        self._wrapper.httpx_client.httpx_client.close()


class Client:
    """A Label Studio server, as the user whom the token belongs to.

    Parameters
    ----------
    url : str
    token : str
        Personal access token or legacy token.
    transport : httpx.BaseTransport, optional
        For tests.
    on_error : callable, optional
        Called with a short word for each failed request, for the counters.
    wait : callable, optional
        Sleeps between tries; raises to break off.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        auth: httpx.Auth | None = None,
        transport: httpx.BaseTransport | None = None,
        on_error: Callable[[str], None] | None = None,
        wait: Callable[[float], None] = time.sleep,
    ):
        if not token and auth is None:
            raise Unauthorized("No Label Studio token: set LABEL_STUDIO_API_KEY to a personal access token.", 401)
        self.url = url.rstrip("/")
        self._auth = auth or SdkAuth(self.url, token)
        self._http = httpx.Client(base_url=self.url, auth=self._auth, timeout=READ_TIMEOUT, transport=transport)
        self._on_error = on_error or (lambda _kind: None)
        self._wait = wait

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        if isinstance(self._auth, SdkAuth):
            self._auth.close()

    @property
    def token_kind(self) -> str:
        """``legacy token`` or ``personal access token``."""
        return "legacy token" if getattr(self._auth, "is_legacy", False) else "personal access token"

    # --- one request --------------------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        timeout: float | None = None,
        repeat: bool | None = None,
        tries_on_500: int = TRIES,
    ) -> Any:
        """Send a request and return the reply's JSON (None if it has no body).

        Parameters
        ----------
        timeout : float, optional
            Seconds; `READ_TIMEOUT` unless given.
        repeat : bool, optional
            Whether doing it twice is as good as once; by default all but POST. Such requests are tried again after
            connection errors, time-outs, 429 and 5xx.
        tries_on_500 : int
            Fewer, where a 500 may be about what is asked for rather than about the server.

        Raises
        ------
        Unreachable, WriteUnknown, Unauthorized, NotFound, LabelStudioError
        """
        repeat = method != "POST" if repeat is None else repeat
        wait = FIRST_WAIT
        for attempt in range(1, TRIES + 1):
            last = attempt == TRIES
            try:
                response = self._http.request(method, path, params=params, json=body, timeout=timeout or READ_TIMEOUT)
            except (httpx.ConnectError, httpx.ConnectTimeout):  # nothing was sent
                self._on_error("connect")
                if last:
                    raise Unreachable(f"Label Studio at {self.url} can't be reached.") from None
            except httpx.TimeoutException:
                self._on_error("timeout")
                self._give_up_or_go_on(last, repeat, f"Label Studio did not answer {method} {path} in time.")
            except httpx.TransportError:
                self._on_error("connection")
                self._give_up_or_go_on(last, repeat, f"The connection broke during {method} {path}.")
            else:
                status = response.status_code
                if status < 400:
                    return _json(response, f"{method} {path}")
                if status != 429 and status < 500:
                    raise _refusal(status, method, path, response)
                self._on_error(str(status))
                sentence = f"Label Studio answered {status} to {method} {path}."
                last = last or (status == 500 and attempt >= tries_on_500)
                if status == 429 or status == 503:  # not carried out
                    if last:
                        raise Unreachable(sentence, status)
                else:
                    self._give_up_or_go_on(last, repeat, sentence, status)
            log.warning(
                "Label Studio: %s %s failed (try %d of %d), trying again in %.1f s", method, path, attempt, TRIES, wait
            )
            self._wait(wait)
            wait = min(2 * wait, LONGEST_WAIT)
        raise AssertionError("unreachable")

    @staticmethod
    def _give_up_or_go_on(last: bool, repeat: bool, sentence: str, status: int | None = None) -> None:
        if not repeat:
            raise WriteUnknown(sentence, status)
        if last:
            raise Unreachable(sentence, status)

    # --- project ------------------------------------------------------------------------------------------------------

    def version(self) -> str:
        """Release of the server, such as ``1.23.2``; empty if it does not say."""
        reply = self.request("GET", "/api/version")
        return str(reply.get("release", "")) if isinstance(reply, dict) else ""

    def whoami(self) -> dict[str, Any]:
        """The token's user."""
        return self.request("GET", "/api/current-user/whoami")

    def project(self, number: int) -> dict[str, Any]:
        """The project."""
        try:
            return self.request("GET", f"/api/projects/{number}/")
        except NotFound:
            raise NotFound(f"Label Studio has no project {number}, or the token's user may not see it.", 404) from None

    def update_project(self, number: int, **values: Any) -> dict[str, Any]:
        """Change fields of the project, all in one request."""
        return self.request("PATCH", f"/api/projects/{number}/", body=values)

    def check_label_config(self, number: int, label_config: str) -> None:
        """LabelStudioError if the server would not take this label config for the project."""
        self.request("POST", f"/api/projects/{number}/validate/", body={"label_config": label_config}, repeat=True)

    def users(self) -> dict[str, str]:
        """User id -> name, or email address where there is no name."""
        reply = self.request("GET", "/api/users/")
        found = reply.get("results", []) if isinstance(reply, dict) else reply or []
        return {
            str(user["id"]): f"{user.get('first_name') or ''} {user.get('last_name') or ''}".strip()
            or user.get("email")
            or user.get("username")
            or str(user["id"])
            for user in found
        }

    # --- predictions --------------------------------------------------------------------------------------------------

    def create_predictions(self, number: int, predictions: list[dict[str, Any]]) -> int:
        """Write predictions in one request; returns how many the server says it stored (it drops invalid ones silently)."""
        path = f"/api/projects/{number}/import/predictions"
        reply = self.request("POST", path, body=predictions, timeout=BULK_TIMEOUT)
        return int(reply.get("created", 0)) if isinstance(reply, dict) else 0

    def create_prediction(self, prediction: dict[str, Any]) -> int:
        """Write one prediction; returns its id."""
        return int(self.request("POST", "/api/predictions/", body=prediction)["id"])

    def update_prediction(self, prediction: int, **values: Any) -> None:
        """Change a prediction in its place."""
        self.request("PATCH", f"/api/predictions/{prediction}/", body=values)

    def delete_prediction(self, prediction: int) -> None:
        """Remove a prediction; fine if it is gone already."""
        try:
            self.request("DELETE", f"/api/predictions/{prediction}/")
        except NotFound:
            pass

    def delete_version(self, number: int, version: str) -> int:
        """Remove all predictions of a model version; the project's ``model_version`` is null afterwards if it was this one."""
        path = f"/api/projects/{number}/model-versions/"
        reply = self.request("DELETE", path, body={"model_version": version}, timeout=BULK_TIMEOUT)
        return int(reply.get("deleted_predictions", 0)) if isinstance(reply, dict) else 0

    def model_versions(self, number: int) -> dict[str, int]:
        """Number of predictions of each model version."""
        reply = self.request("GET", f"/api/projects/{number}/model-versions/")
        return {str(name): int(n) for name, n in reply.items() if isinstance(n, int)} if isinstance(reply, dict) else {}

    # --- connections, webhooks, tabs ----------------------------------------------------------------------------------

    def connections(self, number: int) -> list[dict[str, Any]]:
        """The project's ML backends."""
        return self.request("GET", "/api/ml/", params={"project": number}) or []

    def webhooks(self, number: int) -> list[dict[str, Any]]:
        """The project's webhooks."""
        return self.request("GET", "/api/webhooks/", params={"project": number}) or []

    def views(self, number: int) -> list[dict[str, Any]]:
        """The project's Data Manager tabs."""
        return self.request("GET", "/api/dm/views/", params={"project": number}) or []


def _json(response: httpx.Response, what: str) -> Any:
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        host = urlsplit(str(response.url)).netloc
        raise LabelStudioError(f"{what}: {host} answered, but not as Label Studio does (no JSON).") from None


def _refusal(status: int, method: str, path: str, response: httpx.Response) -> LabelStudioError:
    detail = _detail(response)
    if status == 401:
        if "legacy token" in detail.lower():
            return Unauthorized(
                "Legacy tokens are disabled for this Label Studio organization: use a personal access token, or enable "
                "legacy tokens under Organization > Access token settings.",
                401,
            )
        return Unauthorized(
            "Label Studio refused the token: it is wrong, was revoked, or belongs to another server.", 401
        )
    if status == 404:
        return NotFound(f"Label Studio has nothing at {path}.", 404)
    return LabelStudioError(
        f"Label Studio refused {method} {path} with status {status}: {detail or 'no reason given'}", status
    )


def _detail(response: httpx.Response) -> str:
    """The server's reason. Replies to refused predictions quote what was sent, so only short, known fields are taken."""
    try:
        body = response.json()
    except ValueError:
        return ""
    if not isinstance(body, dict):
        return ""
    detail = body.get("detail")
    return detail[:200] if isinstance(detail, str) else ""
