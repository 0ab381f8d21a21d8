"""Requests of the audit page, and the answers that they are about."""

from collections.abc import Callable
from typing import Any

from ml_backend.demo import example
from ml_backend.project_settings import ProjectSettings
from tests.ml_backend.seeded_store import NUMBER, Seeded

KEY = example.key()


def demo_answers(seed: Callable[..., Seeded]) -> Seeded:
    """The demo's answers with known meanings, one text each."""
    raters = {name: str(number) for number, name in enumerate(example.annotators(), start=2)}
    tasks = {}
    for number, narrative in enumerate(example.narratives(), start=5200):
        tasks[number] = {raters[name]: list(texts[:1]) for name, texts in narrative.answers.items() if texts}
    return seed(tasks)


class Browser:
    """Requests of the page."""

    def __init__(self, seeded: Seeded, judge: str = "Rae Viewer"):
        self.seeded, self.judge = seeded, judge

    def send(self, method: str, path: str, **body: Any) -> Any:
        headers = {"X-Softirr-Key": self.seeded.key("report")}
        options = (
            {"query_string": {"project": NUMBER, **body}}
            if method in ("GET", "DELETE")
            else {"json": {"project": NUMBER, **body}}
        )
        return self.seeded.client.open(path, method=method, headers=headers, **options)

    def work(self) -> None:
        """Answer the waiting requests, as the scorer process does."""
        self.seeded.work(ProjectSettings(measure="indel"))

    def draw(self, n: int = 30) -> int:
        reply = self.send("POST", "/api/audit", judgments=n, who=self.judge)
        assert reply.status_code == 202
        self.work()
        return int(reply.json["audit"])

    def pairs(self, audit: int) -> Any:
        return self.send("GET", f"/api/audit/{audit}", judge=self.judge).json

    def say(self, audit: int, rows: list[int], verdict: str) -> Any:
        return self.send("POST", f"/api/audit/{audit}/judgments", judge=self.judge, rows=rows, verdict=verdict)

    def judge_all(self, audit: int) -> None:
        for pair in self.pairs(audit)["pairs"]:
            a, b = (KEY.get(text, text) for text in pair["texts"])
            assert self.say(audit, [pair["row"]], "same" if a == b else "different").status_code == 201
        self.work()
