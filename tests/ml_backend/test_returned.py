"""Answers that changed after a reviewer sent a task back: every surface names and counts them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ml_backend.app import create_app
from ml_backend.store.schema import SENT_BACK
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_project import NUMBER as BENCH_NUMBER
from tests.ml_backend.seeded_store import RATERS, Seeded, ask

SKIPPED = {104: [("3", "skipped")]}
BEN_ALONE = "Answered again after a reviewer sent the task back: Ben Sample."


def send_back(seeded: Seeded, task: int) -> None:
    reply = seeded.send("/api/queue", client=seeded.as_person(), task=task, state="sent back", note="Look again.")
    assert reply.status_code == 201


def answer(seeded: Seeded, task: int, **answers: list[str]) -> None:
    """Answers to a task by annotator, ``user_2=[...]``."""
    seeded.put({task: {user.removeprefix("user_"): texts for user, texts in answers.items()}})
    seeded.score()


def notes(seeded: Seeded) -> dict[str, str]:
    """The notes in the report by task."""
    return {item["id"]: item["note"] for item in seeded.report()["items"] if "again" in item["note"]}


def changed(seeded: Seeded, task: int) -> list[str]:
    raters: list[str] = ask(seeded, task).json["changed_after_return"]
    return raters


def test_panel_report_page_and_json_name_and_count_who_answered_again(seeded: Seeded) -> None:
    send_back(seeded, 102)
    assert (notes(seeded), changed(seeded, 102)) == ({}, []), "nobody has answered again yet"
    answer(seeded, 102, user_2=["heart attack"], user_3=["heart attack"], user_4=["heart attack"])
    send_back(seeded, 101)
    answer(seeded, 101, user_2=["fever"], user_3=["fever"], user_4=["fever"])
    report = seeded.report()
    assert notes(seeded) == {
        "102": BEN_ALONE,
        "101": "Answered again after a reviewer sent the task back: Ann Example, Ben Sample.",
    }
    sentence = "3 answers were changed after a reviewer sent the task back: they count, but they are not independent."
    assert sentence in report["warnings"] and sentence in seeded.page() and BEN_ALONE in seeded.page()
    panel = ask(seeded, 102).json
    assert (panel["changed_after_return"], panel["warnings"][-1]) == (["3"], BEN_ALONE)


def test_a_new_annotator_saw_nothing_and_is_independent(seeded: Seeded) -> None:
    send_back(seeded, 105)
    answer(seeded, 105, user_2=["asthma"], user_3=["bronchial asthma"], user_4=["asthma"])
    assert (notes(seeded), changed(seeded, 105)) == ({}, [])


def test_an_answer_after_a_skipped_task_is_named(seed: Callable[..., Seeded]) -> None:
    seeded = seed({104: {"2": ["migraine"], "4": ["headache"]}, 101: {"2": ["a"], "3": ["b"]}}, excluded=SKIPPED)
    send_back(seeded, 104)
    answer(seeded, 104, user_2=["migraine"], user_3=["migraine"], user_4=["headache"])
    assert changed(seeded, 104) == ["3"]


def test_it_stays_after_another_return_and_ends_when_the_first_answer_is_back(seeded: Seeded) -> None:
    first = {"user_2": ["asthma"], "user_3": ["bronchial asthma"]}
    send_back(seeded, 105)
    answer(seeded, 105, **{**first, "user_3": ["asthma"]})
    send_back(seeded, 105)
    seeded.delete("/api/queue/105")
    assert changed(seeded, 105) == ["3"], "the second return does not hide the first"
    answer(seeded, 105, **first)
    assert changed(seeded, 105) == ["3"], "changed after the second return"


def test_other_fields_count(seed: Callable[..., Seeded]) -> None:
    def facts(value: str) -> dict[int, Any]:
        answers = {"2": ["mild"], "3": [value]}
        return {101: {"fields": {"severity": {"answers": answers, "excluded": [], "kind": "nominal"}}}}

    texts = {101: {"2": ["fever"], "3": ["rash"]}}
    seeded = seed(texts, facts=facts("severe"))
    send_back(seeded, 101)
    seeded.put(texts, facts=facts("mild"))
    seeded.score()
    assert changed(seeded, 101) == ["3"]


def test_hidden_names_stay_hidden(seeded: Seeded) -> None:
    seeded.update(chosen={"hide_names": True})
    send_back(seeded, 102)
    answer(seeded, 102, user_2=["heart attack"], user_3=["heart attack"], user_4=["heart attack"])
    (note,) = notes(seeded).values()
    assert "Annotator " in note and not any(name in note for name in RATERS.values())


def test_acts_of_earlier_releases_do_not_tell(seeded: Seeded) -> None:
    content = {"answers_hash": seeded.task(102)["answers_hash"], "note": "Look again."}
    seeded.reviews.add_act(seeded.project, SENT_BACK, task=102, content=content)
    answer(seeded, 102, user_2=["heart attack"], user_3=["heart attack"], user_4=["heart attack"])
    assert (notes(seeded), changed(seeded, 102)) == ({}, [])


def test_label_studio_does_not_show_the_suggestion_of_a_returned_task(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.fake.project["maximum_annotations"] = 2
    task = bench.fake.add_task({1: ["fever"], 2: ["rash"]})
    bench.sync()
    assert set(bench.fake.predictions()) == {task}
    bench.connect()
    for body, expected in (
        ({"state": "sent back", "note": "Look again."}, set()),
        ({}, {task}),  # done
        ({"state": "sent back", "note": "Look again."}, set()),
    ):
        mark(bench, task, **body)
        bench.sync()
        assert set(bench.fake.predictions()) == expected
    bench.fake.annotate(task, 2, ["fever"])
    bench.sync()
    assert set(bench.fake.predictions()) == {task} and bench.fake.wrong() == []


def mark(bench: Bench, task: int, **body: Any) -> None:
    """A lead's request with the report's key."""
    from ml_backend.auth.keys import Keys

    key = Keys(bench.store.secret()).key(BENCH_NUMBER, "report", generation=bench.row["key_round"])
    with create_app(services=bench.services).test_client() as client:
        request = {"project": BENCH_NUMBER, "task": task, "who": "Rae", **body}
        reply = client.post("/api/queue", json=request, headers={"X-Softirr-Key": key})
    assert reply.status_code == 201, reply.text
