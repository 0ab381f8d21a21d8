"""The harness itself: a server that can be annotated by several people and exported, and that calls nobody."""

from __future__ import annotations

import pytest
import requests

from ml_backend.demo.processes import ServerError
from tests.labelstudio.conftest import Harness


def test_pages_ask_nothing_of_an_error_tracker(ls: Harness) -> None:
    page = requests.get(f"{ls.url}/user/login/", timeout=60).text
    assert "sentry-cdn" not in page


def test_unknown_token_raises_a_readable_error(ls: Harness) -> None:
    from ml_backend.demo.server import Api

    with pytest.raises(ServerError, match="did not accept the access token"):
        Api(ls.url, "nonsense").get("/api/projects/")
