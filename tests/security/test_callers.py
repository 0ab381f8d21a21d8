"""Web pages, foreign names that point here, and strangers on the network can't make the backend do anything."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest
import requests

from tests.labelstudio.backend import Commands, Serving
from tests.security.conftest import SECRETS
from tests.security.served import NUMBER, ServedLabelStudio

pytestmark = pytest.mark.slow  # a separate server for most tests

EVIL = "http://evil.example"
OTHER = "llm-verbalised:http://192.0.2.1:9/v1"
SETUP = {"project": f"{NUMBER}.1", "schema": "<View><TextArea name='findings' toName='t'/></View>", "hostname": EVIL}
PREDICT = {"project": f"{NUMBER}.1", "tasks": [{"id": number} for number in range(1, 200)]}
HOOK = {"action": "TASKS_CREATED", "project": {"id": NUMBER}}
POSTS: dict[str, Any] = {"/setup": SETUP, "/predict": PREDICT, "/webhook": HOOK}
GETS = ("/", "/versions", "/metrics", "/panel", f"/report/{NUMBER}", f"/api/panel?project={NUMBER}&task=1")


def rows(commands: Commands) -> list[Any]:
    store = commands.store()
    try:
        return store.projects()
    finally:
        store.close()


def with_host(backend: Serving, path: str, host: str, *, method: str = "GET", body: str = "", **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", backend.port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    for name, value in {"Host": host, "Content-Length": str(len(body)), **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders(body.encode())
    status = connection.getresponse().status
    connection.close()
    return status


def test_before_anything_is_connected_only_health_answers(backend: Serving, commands: Commands) -> None:
    """300 calls of /setup made 300 projects once."""
    assert requests.get(f"{backend.url}/health", timeout=5).json()["status"] == "UP"
    for path, body in POSTS.items():
        assert requests.post(backend.url + path, json=body, timeout=5).status_code == 403
    for path in GETS:
        assert requests.get(backend.url + path, timeout=5).status_code == 403
    assert rows(commands) == []


class TestConnected:
    @pytest.fixture
    def secret(self, connected: Serving, label_studio: ServedLabelStudio) -> tuple[str, str]:
        """User and password that Label Studio was given."""
        (connection,) = label_studio.connections
        assert connection["auth_method"] == "BASIC_AUTH" and "basic_auth_pass" not in connection
        user, password = label_studio.passwords[connection["id"]]
        assert user == "softirr" and len(password) >= 32
        return user, password

    @pytest.mark.parametrize("path", POSTS)
    def test_a_page_of_another_site(self, connected: Serving, commands: Commands, path: str) -> None:
        """As a page sends it without being asked back: simple requests, in text/plain, with the body it likes."""
        body = json.dumps({**POSTS[path], "extra_params": {"measure": OTHER}})
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            headers = {"Origin": EVIL, "Content-Type": kind, "Sec-Fetch-Site": "cross-site"}
            reply = requests.post(connected.url + path, data=body, headers=headers, timeout=5)
            assert reply.status_code in (401, 403, 415)
            assert not any(secret in reply.text for secret in SECRETS)
            assert "Access-Control-Allow-Origin" not in reply.headers
        (row,) = rows(commands)
        assert (row["extra_params"], row["origins"]) == ({}, [])
        settings = commands.json("settings", "--project", str(NUMBER))
        assert settings["measure"] == {"value": "indel", "source": "environment"}

    @pytest.mark.parametrize("path", POSTS)
    def test_only_json_is_read_even_with_the_secret(
        self, connected: Serving, secret: tuple[str, str], path: str
    ) -> None:
        url, body = connected.url + path, {**POSTS[path], "action": "START_TRAINING", "tasks": [], "schema": None}
        assert requests.post(url, json=body, auth=secret, timeout=5).ok
        headers = {"Content-Type": "text/plain"}
        reply = requests.post(url, data=json.dumps(body), headers=headers, auth=secret, timeout=5)
        # a webhook only reports a change: its body is not read
        assert reply.status_code == (202 if path == "/webhook" else 415)
        assert requests.post(url, json=body, headers={"Origin": EVIL}, auth=secret, timeout=5).status_code == 403

    def test_texts_can_not_be_listed(self, connected: Serving, secret: tuple[str, str]) -> None:
        """Ids 1 to 199 gave all texts of a project once."""
        for auth in (None, ("softirr", ""), ("softirr", f"{NUMBER}.x"), ("softirr", secret[1][:-1]), ("us", secret[1])):
            reply = requests.post(f"{connected.url}/predict", json=PREDICT, auth=auth, timeout=5)
            assert reply.status_code == 401
            assert not any(text in reply.text for text in SECRETS)
        assert SECRETS[0] in requests.post(f"{connected.url}/predict", json=PREDICT, auth=secret, timeout=20).text

    def test_no_project_is_made_and_no_site_is_let_in(
        self, connected: Serving, commands: Commands, secret: tuple[str, str], label_studio: ServedLabelStudio
    ) -> None:
        for number in range(5, 10):  # fewer than the wrong keys that are allowed in a minute
            body = {**SETUP, "project": f"{number}.1"}
            for auth in (None, secret):
                assert requests.post(f"{connected.url}/setup", json=body, auth=auth, timeout=5).status_code == 401
        assert requests.post(f"{connected.url}/setup", json={**SETUP, "schema": None}, auth=secret, timeout=5).ok
        assert [row["number"] for row in rows(commands)] == [NUMBER]
        config = label_studio.project["label_config"]
        key = config.partition("/panel?k=")[2].partition("&quot;")[0].partition('"')[0]
        reply = requests.get(f"{connected.url}/panel", params={"k": key}, timeout=5)
        assert reply.status_code == 200
        assert "evil" not in reply.headers["Content-Security-Policy"]
        foreign = {"Origin": EVIL}
        reply = requests.get(f"{connected.url}/api/panel?project={NUMBER}&task=1&k={key}", headers=foreign, timeout=5)
        assert reply.status_code == 403 and "Access-Control-Allow-Origin" not in reply.headers

    @pytest.mark.parametrize("measure", [OTHER, "embedding:/etc", "nli:some/model", "llm-logprob:/models/x"])
    def test_no_request_chooses_a_measure_that_opens_something(
        self, connected: Serving, commands: Commands, secret: tuple[str, str], measure: str
    ) -> None:
        body = {**SETUP, "schema": None, "extra_params": {"measure": measure}}
        reply = requests.post(f"{connected.url}/setup", json=body, auth=secret, timeout=5)
        assert reply.status_code == 400 and "SOFTIRR_ALLOWED_MEASURES" in reply.json()["error"]
        assert rows(commands)[0]["extra_params"] == {}
        store = commands.store()
        store.update_project(
            rows(commands)[0]["id"], extra_params={"measure": measure}
        )  # as an earlier version noted it
        try:
            assert commands.json("settings", "--project", str(NUMBER))["measure"]["value"] == "indel"
            assert any("SOFTIRR_ALLOWED_MEASURES" in problem["what"] for problem in commands.doctor(NUMBER))
        finally:
            store.update_project(rows(commands)[0]["id"], extra_params={})
            store.close()

    def test_a_foreign_host_name_is_refused(self, connected: Serving, secret: tuple[str, str]) -> None:
        """A page's own name can be pointed at this machine; the browser then thinks that we are that page's site."""
        for path in (*GETS, *POSTS):
            for host in (
                "evil.example",
                f"evil.example:{connected.port}",
                "localhost.evil.example",
                "127.0.0.1.nip.io",
                "",
            ):
                assert with_host(connected, path, host) == 421
        for host in ("localhost", f"127.0.0.1:{connected.port}", f"LOCALHOST:{connected.port}", "[::1]:9090"):
            assert with_host(connected, "/versions", host) == 401
        assert with_host(connected, "/health", "evil.example") == 200

    def test_webhook_has_a_separate_secret(
        self, connected: Serving, label_studio: ServedLabelStudio, secret: tuple[str, str]
    ) -> None:
        """Everybody in the project can read it in Label Studio, so that it opens nothing else."""
        (hook,) = label_studio.webhooks
        (value,) = hook["headers"].values()
        assert value not in secret[1]
        for auth in (("softirr", value), ("softirr", f"{NUMBER}.{value}")):
            assert requests.post(f"{connected.url}/predict", json=PREDICT, auth=auth, timeout=5).status_code == 401
        assert (
            requests.post(f"{connected.url}/webhook", json=HOOK, headers=hook["headers"], timeout=5).status_code == 202
        )


def test_older_connection_is_reported_and_repaired(
    connected: Serving, commands: Commands, label_studio: ServedLabelStudio
) -> None:
    """As connect of an earlier version left it: no secret in the connection."""
    (connection,) = label_studio.connections
    connection |= {"auth_method": "NONE", "basic_auth_user": ""}
    store = commands.store()
    stored = dict(rows(commands)[0]["connection"])
    del stored["secret_round"]
    store.update_project(rows(commands)[0]["id"], connection=stored)
    store.close()
    (problem,) = secretless(commands)
    assert "softirr-ls connect" in problem["fix"]
    changes = commands.json("connect", "--project", str(NUMBER), "--url", connected.url)["changed"]
    assert any("with a secret" in sentence for sentence in changes)
    assert secretless(commands) == []


def secretless(commands: Commands) -> list[dict[str, Any]]:
    """The doctor's finding about a connection without a secret."""
    return [problem for problem in commands.doctor(NUMBER) if not problem["ok"] and "no secret" in problem["what"]]


def test_new_keys_end_the_old_secrets(connected: Serving, commands: Commands, label_studio: ServedLabelStudio) -> None:
    (connection,), (hook,) = label_studio.connections, label_studio.webhooks
    old, old_header = label_studio.passwords[connection["id"]], dict(hook["headers"])
    commands.json("connect", "--project", str(NUMBER), "--url", connected.url, "--rotate-keys")
    new = label_studio.passwords[connection["id"]]
    assert new != old and connection["state"] == "CO"
    body = {**PREDICT, "tasks": []}
    assert requests.post(f"{connected.url}/predict", json=body, auth=old, timeout=5).status_code == 401
    assert requests.post(f"{connected.url}/predict", json=body, auth=new, timeout=5).status_code == 200
    assert requests.post(f"{connected.url}/webhook", json=HOOK, headers=old_header, timeout=5).status_code == 403
    assert requests.post(f"{connected.url}/webhook", json=HOOK, headers=hook["headers"], timeout=5).status_code == 202
