"""A text that cannot be read or scored is set aside and listed; the rest of the project goes on."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

import softirr
from ml_backend.app import create_app
from ml_backend.labelstudio import answers as reading
from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.measures import Stopped
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.scoring.scorer import Scorer
from softirr.answers.preparation import LONGEST_TEXT
from softirr.errors import InputError
from softirr.meaning.policy.rules import Policy
from softirr.report import items
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_project import LABEL_CONFIG, NUMBER


def excluded(bench: Bench) -> list[tuple[str, str]]:
    report = bench.row["summary"]["controls"]["findings"]
    return [(entry["item"], entry["reason"]) for entry in report["excluded"]]


def scored(bench: Bench) -> set[int]:
    return {number for number, predictions in bench.fake.predictions().items() if predictions}


def three_tasks(bench: Bench, text: str) -> list[int]:
    return [bench.fake.add_task({1: [first_text], 2: ["fever"]}) for first_text in ("fever", text, "cough")]


def break_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    original = items.item_agreement

    def item_agreement(table: Any, *arguments: Any, **options: Any) -> Any:
        if any("hostile" in text for text in table.texts):
            raise RecursionError
        return original(table, *arguments, **options)

    monkeypatch.setattr(items, "item_agreement", item_agreement)


def test_a_text_that_fails_in_the_scorer_is_set_aside(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    break_scorer(monkeypatch)
    first, second, third = three_tasks(bench, "hostile")
    bench.sync()
    assert scored(bench) == {first, third}
    reasons = dict(excluded(bench))
    assert "could not score the texts of this task (RecursionError)" in reasons[str(second)]
    bench.sync(full=True)
    assert scored(bench) == {first, third}, "also when everything is read again"


@pytest.mark.parametrize("change", ["complete run", "new release", "other settings"])
def test_a_task_that_was_set_aside_counts_again(bench: Bench, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    break_scorer(monkeypatch)
    tasks = three_tasks(bench, "hostile")
    bench.sync()
    monkeypatch.undo()
    bench.sync()
    assert scored(bench) == {tasks[0], tasks[2]}, "nothing changed, so nothing is read"
    if change == "new release":
        monkeypatch.setattr(softirr, "__version__", "99.0")
    elif change == "other settings":
        bench.choose(casefold=True)
    bench.store.update_project(bench.row["id"], summary_due=0.0)
    bench.sync(full=change == "complete run")
    assert bench.fake.wrong() == []
    assert excluded(bench) == []


def test_predict_answers_for_the_other_tasks_if_one_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    break_scorer(monkeypatch)
    bench.choose(predictions="always")
    tasks = three_tasks(bench, "hostile")
    client = create_app(services=bench.services).test_client()
    sent = {"tasks": list(bench.fake.tasks.values()), "project": f"{NUMBER}.1", "label_config": LABEL_CONFIG}
    reply = client.post("/predict", json=sent, headers=bench.connect())
    scores = dict(zip(tasks, (entry["score"] for entry in reply.json["results"]), strict=True))
    assert scores[tasks[1]] is None
    assert {number: scores[number] for number in scores if number != tasks[1]} == {
        number: score for number, score in bench.fake.expected().items() if number != tasks[1]
    }


def test_a_text_that_fails_while_it_is_read_is_set_aside(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    original = reading.read_annotations

    def answers(task: Any, **options: Any) -> Any:
        if "hostile" in str(task):
            raise RecursionError
        return original(task, **options)

    monkeypatch.setattr(reading, "read_annotations", answers)
    first, second, third = three_tasks(bench, "hostile")
    bench.sync()
    assert scored(bench) == {first, third}
    assert "could not read the texts of this task (RecursionError)" in dict(excluded(bench))[str(second)]


def test_a_text_beyond_the_limit_is_listed_and_the_others_of_the_task_count(bench: Bench) -> None:
    task = bench.fake.add_task({1: ["fever"], 2: ["a" * (LONGEST_TEXT + 1)], 3: ["fever"]})
    bench.sync()
    assert scored(bench) == {task}
    assert excluded(bench) == [(str(task), "a text too long to compare (more than 100,000 characters)")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["a, " * 3_000, "fever and " * 900, "(" * 50_000, "A. " * 30_000, "a\u0315\u0300" * 20_000, "\u202e\0a" * 500,
     "- " * 4_000],
)  # fmt: skip
def test_hostile_texts_are_scored_with_their_project(bench: Bench, text: str) -> None:
    bench.choose(policy=Policy(split="commas", ignore=frozenset({"severity"})).to_dict())
    tasks = three_tasks(bench, text)
    bench.sync()
    assert scored(bench) == set(tasks)
    assert excluded(bench) == []


class _Failing(Scorer):
    """Fails with a bad text, with every text if the failure is no ValueError, or as the store does."""

    failure: type[Exception] = ValueError
    is_locked = False

    def task_details(self, answers: Any, *_: Any, **__: Any) -> dict[int, dict[str, Any]]:
        if self.is_locked and 0 not in answers and len(answers) < 9:
            raise sa.exc.OperationalError("", {}, Exception())
        for number, entry in answers.items():
            if "bad" in str(entry) or self.failure is not ValueError:
                raise self.failure(number)
        return {number: {} for number in answers}


def test_only_the_fault_of_a_text_sets_a_task_aside() -> None:
    texts = ["bad" if number in (3, 8) else "fever" for number in range(9)]
    tasks = {number: {"findings": {"answers": {"1": [text]}, "excluded": []}} for number, text in enumerate(texts)}
    scorer, preparation = _Failing(), AnswerPreparation(ProjectSettings())
    details, set_aside = scorer.score_or_set_aside(tasks, preparation)
    assert set(set_aside) == {3, 8} and set(details) == set(tasks)
    scorer.is_locked = True
    with pytest.raises(sa.exc.OperationalError):  # the store fails while the task at fault is looked for
        scorer.score_or_set_aside(tasks, preparation)
    scorer.is_locked = False
    for failure in (Stopped, OSError, InputError):  # ended, no disk, a measure that fails with every text
        scorer.failure = failure
        with pytest.raises(failure):
            scorer.score_or_set_aside(tasks, preparation)
