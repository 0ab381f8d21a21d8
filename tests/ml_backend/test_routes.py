"""Every route of the app, by every method and in every role, against the table of `ml_backend.auth.routes`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from ml_backend.auth.keys import CONNECTION_USER, Keys, Person, PersonalLinks
from ml_backend.auth.routes import ROUTES, Access, Route
from ml_backend.settings import SECRET_HEADER
from ml_backend.web import request_limits
from tests.ml_backend.seeded_store import NUMBER, Seeded

OPERATOR = ("operator", "correct-horse")
WEBHOOK_SECRET = "webhook-secret"
ELSEWHERE = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
TABLE = {(route.method, route.rule): route for route in ROUTES}

PERSON: frozenset[Access] = frozenset({"anyone", "annotator"})
GRANTS: Mapping[str, frozenset[Access]] = {
    "operator": frozenset({"anyone", "operator", "connection", "connected project", "webhook"}),
    "lead": PERSON | {"reviewer", "known reviewer", "lead"},
    "reviewer": PERSON | {"reviewer", "known reviewer"},
    "annotator": PERSON,
    "anonymous": frozenset({"anyone"}),
    "forged link": frozenset({"anyone"}),
    "link of another project": frozenset({"anyone"}),
    "expired link": frozenset({"anyone"}),
    "lead on a page of another site": frozenset({"anyone"}),
    "report key on a page of another site": frozenset({"anyone"}),
    "personal link in the address": frozenset({"anyone", "personal link"}),
    "panel key": PERSON | {"panel key"},
    "report key": PERSON | {"panel key", "reviewer", "lead"},
    "key of another project": frozenset({"anyone"}),
    "connection": frozenset({"anyone", "connection", "connected project", "webhook"}),
    "webhook": frozenset({"anyone", "webhook"}),
}
"""Permissions of each role; a role has no others."""


class Walk:
    """A seeded app, and requests of its routes in one role after the other."""

    def __init__(self, folder: Path):
        user, password = OPERATOR
        self.seeded = Seeded(folder, basic_auth_user=user, basic_auth_pass=password)
        self.seeded.put()
        self.seeded.score()
        self.seeded.update(webhook_secret=WEBHOOK_SECRET)

    def password(self) -> str:
        return Keys(self.seeded.store.secret()).password(NUMBER, generation=self.seeded.row["key_round"])

    def forged(self) -> str:
        person = Person("9", "Eve", "lead", "link")
        links = PersonalLinks(b"another secret of 32 bytes ......")
        return links.make(person, NUMBER, generation=self.seeded.row["key_round"], until=2e9)

    def other_project(self) -> str:
        links = PersonalLinks(self.seeded.store.secret())
        return links.make(Person("9", "Eve", "lead", "link"), NUMBER + 1, generation=0, until=2e9)

    def sender(self, role: str) -> tuple[FlaskClient, dict[str, Any]]:
        """A browser or program in a role, and what its requests carry."""
        seeded, client = self.seeded, self.seeded.app.test_client()
        tokens = {
            "forged link": self.forged,
            "link of another project": self.other_project,
            "expired link": lambda: seeded.token("lead", until=1.0),
        }
        if role in ("lead", "reviewer", "annotator"):
            return seeded.as_person(role), {}
        if role == "lead on a page of another site":
            return seeded.as_person("lead"), {"headers": ELSEWHERE}
        if role in tokens:
            client.set_cookie(f"softirr-person-{NUMBER}", tokens[role]())
            return client, {"query_string": {"t": tokens[role]()}}
        carried: dict[str, Callable[[], dict[str, Any]]] = {
            "anonymous": dict,
            "operator": lambda: {"auth": OPERATOR},
            "personal link in the address": lambda: {"query_string": {"t": seeded.token("reviewer")}},
            "panel key": lambda: {"query_string": {"k": seeded.key("panel")}},
            "report key": lambda: {"query_string": {"k": seeded.key("report")}},
            "key of another project": lambda: {"query_string": {"k": seeded.key("report", NUMBER + 1)}},
            "connection": lambda: {"auth": (CONNECTION_USER, self.password())},
            "webhook": lambda: {"headers": {SECRET_HEADER: WEBHOOK_SECRET}},
            "report key on a page of another site": lambda: {
                "query_string": {"k": seeded.key("report")},
                "headers": ELSEWHERE,
            },
        }
        return client, carried[role]()

    def status(self, role: str, method: str, rule: Rule) -> int:
        """Status of the reply to a request in a role."""
        client, carried = self.sender(role)
        values = {"number": NUMBER, "which": 1, "task": 101, "version": "x", "name": "report.json"}
        address = rule.build({name: values[name] for name in rule.arguments}, append_unknown=False)
        assert address is not None
        options = dict(carried)
        if method in ("POST", "PUT", "PATCH"):
            options["json"] = {"project": NUMBER, "action": "TASKS_CREATED", "tasks": []}
        options["query_string"] = {"project": NUMBER, **options.get("query_string", {})}
        return client.open(address[1], method=method, **options).status_code


def routes_of(app: Flask) -> Iterator[tuple[str, Rule]]:
    """Every method of every route; HEAD is checked like GET."""
    for rule in app.url_map.iter_rules():
        for method in sorted(rule.methods or ()):
            yield method, rule


def row_of(method: str, rule: Rule) -> Route | None:
    return TABLE.get(("GET" if method == "HEAD" else method, rule.rule))


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_limits, "WRONG_KEYS", 10_000)
        yield Walk(tmp_path_factory.mktemp("routes"))


def test_the_table_has_each_route_of_the_app_and_no_other(walk: Walk) -> None:
    app = {("GET" if method == "HEAD" else method, rule.rule) for method, rule in routes_of(walk.seeded.app)}
    assert app == set(TABLE)
    assert len(ROUTES) == len(TABLE), "a route has two rows"


@pytest.mark.parametrize("role", GRANTS)
def test_roles_have_the_access_in_the_table(walk: Walk, role: str) -> None:
    wrong = []
    for method, rule in routes_of(walk.seeded.app):
        row = row_of(method, rule)
        assert row is not None, f"{method} {rule.rule} is not in the table"
        status = walk.status(role, method, rule)
        assert status < 500 and status not in (421, 429), f"{method} {rule.rule}: {status}"
        allowed = row.access in GRANTS[role]
        if allowed == (status in (401, 403)):
            wrong.append(f"{method} {rule.rule} as {role}: {status}")
    assert wrong == []


def test_a_route_without_a_row_is_refused_to_everybody(tmp_path: Path) -> None:
    walk = Walk(tmp_path)
    walk.seeded.app.add_url_rule("/api/texts", "texts", lambda: "all texts")
    added = next(rule for rule in walk.seeded.app.url_map.iter_rules() if rule.rule == "/api/texts")
    assert row_of("GET", added) is None
    for role in GRANTS:
        assert walk.status(role, "GET", added) == 403, role


def test_the_documentation_names_who_may_use_each_address(root: Path) -> None:
    page = (root / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    table = page.partition("## Who may use them")[2].partition("\n## ")[0]
    documented = {
        address: cells[0].strip()
        for line in table.splitlines()
        if line.startswith("| ") and (cells := line.strip("| ").split(" | "))
        for address in re.findall(r"`((?:GET|POST|DELETE) /[^`]*)`", cells[-1])
    }
    expected = {
        f"{route.method} {_placeholders(route.rule)}": route.access for route in ROUTES if route.method != "OPTIONS"
    }
    assert documented == expected
    assert set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`]*)`", page)) == set(expected)


def _placeholders(rule: str) -> str:
    """The address as the page writes it: files below an address are described with it."""
    files = re.sub(r"<version>/<path:name>$", "...", rule)
    return re.sub(r"<[^>]+>", "ID", re.sub(r"/<name>$", "", files))
