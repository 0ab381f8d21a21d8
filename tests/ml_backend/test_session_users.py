"""Label Studio is asked once a minute who a browser's session belongs to, whatever its cookies do in between."""

from __future__ import annotations

from typing import Any

import pytest
from itsdangerous import URLSafeSerializer

from ml_backend.app import create_app
from ml_backend.auth import session_users
from ml_backend.auth.browser_auth import PERSON_COOKIE
from ml_backend.auth.keys import Person, PersonalLinks
from ml_backend.auth.session_users import AWAY_SECONDS, LOGIN_COOKIE, WHO_SECONDS
from tests.ml_backend.own_session import LabelStudio, reviewer
from tests.ml_backend.seeded_store import NUMBER, Seeded

KEPT = f"{LOGIN_COOKIE}-{NUMBER}"


@pytest.fixture
def browser(seeded: Seeded, label_studio: LabelStudio) -> Any:
    """A reviewer's browser, which has the answer of Label Studio."""
    client = reviewer(seeded)
    client.set_cookie("sessionid", "mine:1:signature")
    assert role(seeded, client) == "reviewer" and label_studio.n_asked == 1
    return client


def role(seeded: Seeded, client: Any) -> str | None:
    """How the panel knows the person."""
    content = seeded.get("/api/panel", client=client, task=101).json
    return content["viewer"]["role"] if content["status"] == "ready" else None


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    now = session_users.time.time()
    monkeypatch.setattr(session_users.time, "time", lambda: now + seconds)


def test_cookie_that_is_signed_again_is_the_same_login(seeded: Seeded, browser: Any, label_studio: LabelStudio) -> None:
    browser.set_cookie("sessionid", "mine:2:another")
    assert role(seeded, browser) == "reviewer" and label_studio.n_asked == 1


def test_every_process_knows_the_login(seeded: Seeded, browser: Any, label_studio: LabelStudio) -> None:
    seeded.app = create_app(services=seeded.services)
    second = reviewer(seeded)
    second.set_cookie("sessionid", "mine-too:1:signature")
    second.set_cookie(KEPT, browser.get_cookie(KEPT).value)
    assert role(seeded, second) == "reviewer" and label_studio.n_asked == 2, "another login"
    second.set_cookie("sessionid", "mine:1:signature")
    second.set_cookie(KEPT, browser.get_cookie(KEPT).value)
    assert role(seeded, second) == "reviewer" and label_studio.n_asked == 2


def test_label_studio_is_asked_again_after_a_minute(
    seeded: Seeded, browser: Any, label_studio: LabelStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch, WHO_SECONDS + 1)
    label_studio.role = None
    assert role(seeded, browser) is None and label_studio.n_asked == 2


def test_last_answer_is_valid_while_label_studio_is_away(
    seeded: Seeded, browser: Any, label_studio: LabelStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch, WHO_SECONDS + 1)
    label_studio.is_away = True
    assert role(seeded, browser) == "reviewer"
    browser.set_cookie("sessionid", "yours:1:signature")
    assert role(seeded, browser) is None


def test_last_answer_ends_after_an_hour_without_label_studio(
    seeded: Seeded, browser: Any, label_studio: LabelStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch, WHO_SECONDS + AWAY_SECONDS + 1)
    label_studio.is_away = True
    assert role(seeded, browser) is None


def test_another_login_in_the_browser_is_nobody_before_label_studio_is_asked(
    seeded: Seeded, browser: Any, label_studio: LabelStudio
) -> None:
    browser.set_cookie("sessionid", "yours:1:signature")
    assert role(seeded, browser) is None
    browser.set_cookie("sessionid", "mine:1:signature")
    browser.delete_cookie("sessionid")
    assert role(seeded, browser) is None, "logged out"


def test_login_ends_with_the_keys_of_the_project(seeded: Seeded, browser: Any, label_studio: LabelStudio) -> None:
    seeded.update(key_round=seeded.row["key_round"] + 1)
    assert role(seeded, browser) == "reviewer" and label_studio.n_asked == 2


@pytest.mark.parametrize("purpose", ["personal link", "login of somebody else"])
def test_token_of_another_purpose_is_not_read(
    seeded: Seeded, browser: Any, label_studio: LabelStudio, purpose: str
) -> None:
    lead = Person("1", "Lea Lead", "lead", "link")
    token = PersonalLinks(seeded.store.secret(), purpose).make(lead, NUMBER, generation=0, until=2e9)
    browser.set_cookie(KEPT, token)
    assert role(seeded, browser) == "reviewer" and label_studio.n_asked == 2


def test_login_is_not_a_personal_link(seeded: Seeded, browser: Any) -> None:
    thief = seeded.app.test_client()
    thief.set_cookie(f"{PERSON_COOKIE}-{NUMBER}", browser.get_cookie(KEPT).value)
    thief.set_cookie(KEPT, browser.get_cookie(KEPT).value)
    assert role(seeded, thief) is None


def test_reviewer_is_demoted_at_once(seeded: Seeded, browser: Any, label_studio: LabelStudio) -> None:
    label_studio.role = None
    later_browser = reviewer(seeded)
    seeded.update(chosen={"reviewers": ["9"]})
    assert role(seeded, later_browser) == "reviewer"
    seeded.update(chosen={})
    assert role(seeded, later_browser) is None


def test_cookie_is_closed_to_scripts_and_contains_no_session(seeded: Seeded, browser: Any) -> None:
    cookie = browser.get_cookie(KEPT)
    assert cookie.http_only and cookie.same_site == "Lax"
    claims = URLSafeSerializer(b"").loads_unsafe(cookie.value)[1]
    assert claims["user"] == "9" and "mine" not in str(claims)
