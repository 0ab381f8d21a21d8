"""What an annotator sees: how the answers agree, nothing about a colleague, and nothing before answering."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ml_backend.auth.routes import ROUTES
from ml_backend.review.annotator_view import for_annotator
from tests.ml_backend.seeded_store import NUMBER, RATERS, TASKS, Seeded

ME, SKIPPER = "2", "3"
COLLEAGUES = [name for user, name in RATERS.items() if user != ME]
VALUES: dict[str, list[Any]] = {
    "number": [NUMBER, 1],
    "which": [1],
    "task": sorted(TASKS),
    "version": ["x"],
    "path": ["panel.js"],
    "name": ["report.json", "report.html", "annotators.csv", "annotator_pairs.csv", "tasks.csv", "codebook.csv"],
}


@pytest.fixture(params=["one field", "two fields"])
def seeded(tmp_path: Path, request: pytest.FixtureRequest) -> Seeded:
    """A project in which somebody pulls the headline down, with a decision, a mark, and answers left out."""
    project = Seeded(tmp_path)
    tasks = TASKS | {
        n: {"2": ["sore throat"], "3": ["sore throat"], "4": [f"something else {n}"]} for n in range(200, 240)
    }
    excluded = {101: [("3", "older answer of the same rater")], 106: [("3", "skipped"), ("4", "skipped")]}
    diagnoses = {n: {rater: [f"cold {rater}"] for rater in given} for n, given in tasks.items()}
    project.put(tasks, excluded=excluded, beside={"diagnosis": diagnoses} if request.param == "two fields" else None)
    project.score()
    project.store.decide(project.project, "heart attack", "myocardial infarction", same=True, reviewer="Rae", task=102)
    return project


def panel(client: Any, task: int | None, **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = client.get("/api/panel", query_string={"project": NUMBER, "task": task, **more}).json
    return body


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield str(key)
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif isinstance(value, str):
        yield value


def test_the_reviewer_sees_who_pulls_the_headline_down(seeded: Seeded) -> None:
    """What the annotator must not see is there."""
    body = panel(seeded.as_person(), 201)
    assert any("Without Chloé Martin" in one for one in strings(body))


def replies(seeded: Seeded, client: Any) -> Iterator[tuple[Any, str, Any]]:
    """(route, address, reply) of every route, with and without project, task, and the key in the label config."""
    queries = ({}, {"project": NUMBER}, *({"project": NUMBER, "task": task} for task in sorted(TASKS)))
    for route in ROUTES:
        names = re.findall(r"<(?:\w+:)?(\w+)>", route.rule)
        for values in product(*(VALUES[name] for name in names)):
            rest = iter(values)
            address = re.sub(r"<[^>]+>", lambda _, rest=rest: str(next(rest)), route.rule)
            for query, key in product(queries, (None, seeded.key("panel"))):
                sent = {"query_string": query | ({"k": key} if key else {})}
                if route.method == "POST":
                    sent["json"] = query
                yield route, address, client.open(address, method=route.method, **sent)


def words_of(reply: Any) -> str:
    """Everything in a reply, also texts that JSON escapes."""
    return reply.text + "\n".join(strings(reply.get_json(silent=True) or {}))


@pytest.mark.slow
def test_no_page_and_no_payload_names_a_colleague(seeded: Seeded) -> None:
    reached = 0
    for route, address, reply in replies(seeded, seeded.as_person("annotator", ME, RATERS[ME])):
        assert not any(name in words_of(reply) for name in COLLEAGUES), (route, address)
        reached += reply.status_code == 200
    assert reached > len(TASKS), "the walk did not get past authorization"


@pytest.mark.slow
def test_nothing_is_shown_before_answering(seeded: Seeded) -> None:
    """No text, no value and no suggestion, on any page and in any payload."""
    answers = {text for given in TASKS.values() for texts in given.values() for text in texts}
    reached = 0
    for route, address, reply in replies(seeded, seeded.as_person("annotator", "5", "Nora New")):
        assert not any(re.search(rf"\b{re.escape(text)}\b", words_of(reply)) for text in answers), (route, address)
        body = reply.get_json(silent=True)
        assert not {"agreement", "matches", "suggestion"} & set(body if isinstance(body, dict) else ()), (
            route,
            address,
        )
        reached += reply.status_code == 200
    assert reached > len(TASKS), "the walk did not get past authorization"


def test_nothing_tells_colleagues_apart(seeded: Seeded) -> None:
    """No ids, no two by two, no sentence about one of them; the own answer is one's own."""
    client = seeded.as_person("annotator", ME, RATERS[ME])
    ready = [body for task in (*TASKS, *range(200, 212)) if (body := panel(client, task))["status"] == "ready"]
    assert len(ready) > 10
    for body in ready:
        assert body["project"]["coefficient"]["without"] is None
        assert not any("Without" in one for one in strings(body))
        for field in body.get("controls") or [body]:
            ids = [one["id"] for one in field["raters"]]
            assert ids[0] == ME and field["raters"][0]["name"] == RATERS[ME]
            assert all(one["name"] == f"Annotator {one['id']}" for one in field["raters"][1:])
            assert set(ids[1:]) <= {"A", "B"} and field["matrix"] == []
            keys = {key for match in field["matches"] for key in match["texts"]} | set(field["unmatched"])
            assert keys <= set(ids)
            assert " differs" not in field["verdict"]
            assert all(one["rater"] == ME for one in field["excluded"])


def test_letters_change_from_task_to_task(seeded: Seeded) -> None:
    """So that no letter stands for a colleague through the project."""
    client = seeded.as_person("annotator", ME, RATERS[ME])
    odd = set()
    for task in range(200, 240):  # twelve had one letter in one of 2,000 runs
        body = panel(client, task)
        field = (body.get("controls") or [body])[0]
        odd |= {rater for rater, texts in field["unmatched"].items() if any("something else" in one for one in texts)}
    assert odd == {"A", "B"}


def test_the_texts_are_those_that_reviewers_see(seeded: Seeded) -> None:
    mine, theirs = panel(seeded.as_person("annotator", ME, RATERS[ME]), 101), panel(seeded.as_person(), 101)

    def texts(body: dict[str, Any]) -> list[Any]:
        fields = body.get("controls") or [body]
        return [
            [
                sorted((sorted(match["texts"].values()), match["equivalence"]) for match in field["matches"]),
                sorted(map(sorted, field["unmatched"].values())),
                field["suggestion"],
            ]
            for field in fields
        ]

    assert texts(mine) == texts(theirs) and mine["task"] == theirs["task"]


def test_many_annotators_have_names_of_their_own() -> None:
    raters = [{"id": str(user), "name": f"Person {user}", "n_texts": 1} for user in range(1000)]
    body = {"status": "none", "task": {"id": 1}, "raters": raters, "excluded": [{"rater": "5", "reason": "skipped"}]}
    view = for_annotator(body, "0", secret=b"x" * 32, threshold=0.5)
    assert len({one["name"] for one in view["raters"]}) == 1000 and view["excluded"] == []
    assert not any(one["name"].startswith("Person") for one in view["raters"][1:])
