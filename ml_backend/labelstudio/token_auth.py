"""Authorization at Label Studio by a legacy token or a personal access token."""

import time
from collections.abc import Generator

import httpx

from ml_backend.labelstudio.errors import Unauthorized, Unreachable


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
