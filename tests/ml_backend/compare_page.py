"""Two scored projects and the comparison page over them, for tests of the page."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import softirr
from ml_backend.auth.keys import Keys
from ml_backend.labelstudio import tasks as reading
from ml_backend.report.side_by_side import run_wanted
from ml_backend.review import audits
from ml_backend.settings import ProjectSettings
from tests.ml_backend.seeded_store import LABEL_STUDIO, NUMBER, RATERS, Seeded

OTHER = 13


INDEL = ProjectSettings(measure="indel")


WORDS = ("fever", "cough", "rash", "headache", "nausea", "asthma", "migraine", "broken arm")


HOSTILE = "<img src=x onerror=alert(1)>"


FOUR = {**RATERS, "5": "Dora Field"}


def answers(n: int = 40, first: int = 1, wrong: int = 4) -> dict[int, dict[str, list[str]]]:
    """Tasks that four annotators answer; each takes another word in every `wrong`-th task of theirs."""
    answers_of: dict[int, dict[str, list[str]]] = {}
    for k in range(n):
        word = WORDS[k % len(WORDS)]
        answers_of[first + k] = {
            rater: [WORDS[(k * 3 + int(rater)) % len(WORDS)] if (k * 7 + int(rater) * 3) % wrong == 0 else word]
            for rater in FOUR
        }
    return answers_of


class ComparePage(Seeded):
    """A store with two scored projects; predictions and fields of tasks stand in `data` and `predicted`."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any):
        super().__init__(folder, **settings)
        self.data: dict[int, dict[str, Any]] = {}
        self.predicted: dict[int, dict[str, list[str]]] = {}
        self.annotations: dict[int, list[dict[str, Any]]] = {}
        self.stored: dict[int, Mapping[int, Mapping[str, Sequence[str]]]] = {}
        monkeypatch.setattr(reading, "pages", self._pages)
        self.own = self.project
        self.other = self.services.store.ensure_project(LABEL_STUDIO, OTHER)["id"]
        self.fill(self.own, NUMBER, "Findings", answers())
        self.fill(self.other, OTHER, "Second round", answers(30, 501, 3))
        self.project = self.own

    def fill(self, project: int, number: int, title: str, given: Mapping[int, Mapping[str, Sequence[str]]]) -> None:
        self.project = project
        self.services.store.update_project(
            project,
            title=title,
            raters=FOUR,
            pulled_at=1.0,
            controls=[{"name": "findings", "to_name": "text", "per_region": False}],
            label_config='<View><Text name="text" value="$story"/><TextArea name="findings" toName="text"/></View>',
            connection={"mode": "connected"},
        )
        self.stored[number] = given
        if self.row["summary"] is None:
            self.put(given)
            self.score()

    def _pages(self, client: Any, number: int, *, page_size: int, data: bool = False) -> Iterator[list[dict[str, Any]]]:
        yield [
            {
                "id": task,
                "annotations": self.annotations.get(task, [{"created_at": f"2026-03-{1 + task % 28:02d}T10:00:00Z"}]),
                "predictions": [
                    {
                        "id": k,
                        "model_version": version,
                        "created_at": "2026-01-01T00:00:00Z",
                        "result": [
                            {"from_name": "findings", "to_name": "text", "type": "textarea", "value": {"text": texts}}
                        ],
                    }
                    for k, (version, texts) in enumerate(self.predicted.get(task, {}).items())
                ],
                **({"data": self.data.get(task, {})} if data else {}),
            }
            for task in self.stored[number]
        ]

    def cookies(self, *numbers: int) -> None:
        for number in numbers:
            self.client.set_cookie(f"softirr-access-{number}", self.report_key(number))

    def report_key(self, number: int) -> str:
        return Keys(self.services.store.secret()).key(number, "report")

    def ask(self, **question: Any) -> Any:
        return self.client.post("/api/side-by-side", json={"project": NUMBER, "control": "findings", **question})

    def compute(self) -> None:
        run_wanted(self.project_work(INDEL))

    def result(self, **question: Any) -> dict[str, Any]:
        reply = self.ask(**question)
        assert reply.status_code == 202, reply.json
        self.newest = reply.json["id"]
        self.compute()
        body = self.client.get(f"/api/side-by-side/{reply.json['id']}", query_string={"project": NUMBER}).json
        assert body["state"] == "done", body["problem"]
        assert isinstance(body, dict)
        return body

    def problem(self, **question: Any) -> str:
        which = self.ask(**question).json["id"]
        self.compute()
        body = self.client.get(f"/api/side-by-side/{which}", query_string={"project": NUMBER}).json
        assert body["state"] == "failed"
        return str(body["problem"])

    def audited(self) -> Any:
        """An audit of the first project in which identical texts are the same, evaluated."""
        reviews = self.reviews
        which = audits.ask(reviews, self.own, control="findings", measure="indel", wanted=40, who="Eve")
        self.work(INDEL)
        for place, (_, _, a, b) in enumerate(reviews.audit(which)["sheet"]):  # type: ignore[index]
            reviews.judge(which, [place], "Eve", "same" if a == b else "different")
        reviews.update_audit(which, asked_at=1.0)
        self.work(INDEL)
        return reviews.audit(which)

    def table(self, number: int = NUMBER, **fields: Any) -> softirr.AnnotationTable:
        rows = [
            softirr.Answer(f"{number}-{task}" if not fields else str(task), FOUR[rater], tuple(texts))
            for task, given in self.stored[number].items()
            for rater, texts in given.items()
        ]
        return softirr.AnnotationTable.from_answers(rows, **fields)


def text_of(page: ComparePage, **query: Any) -> str:
    reply = page.client.get(f"/compare/{NUMBER}", query_string=query)
    assert reply.status_code == 200
    return str(reply.text)
