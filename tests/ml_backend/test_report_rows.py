"""What a report keeps of each task: the same as reading everything, with only what changed read again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ml_backend.report.task_cache import TaskRows
from tests.ml_backend.seeded_store import TASKS, Seeded


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return seed(excluded={101: [("3", "skipped")]})


@pytest.fixture
def rows(seeded: Seeded, monkeypatch: pytest.MonkeyPatch) -> TaskRows:
    """Notes which tasks are read."""
    rows = TaskRows(seeded.store)
    rows.asked = []  # type: ignore[attr-defined]
    read = rows._read
    monkeypatch.setattr(rows, "_read", lambda project, numbers: rows.asked.extend(numbers) or read(project, numbers))  # type: ignore[attr-defined]
    return rows


def numbers(rows: list[dict[str, Any]]) -> list[int]:
    return [row["number"] for row in rows]


def test_every_task_by_number(seeded: Seeded, rows: TaskRows) -> None:
    every = rows.get(seeded.project, "findings")
    assert numbers(every) == sorted(TASKS)
    by_number = {row["number"]: row for row in every}
    assert by_number[101]["excluded"] == [("3", "skipped")] and by_number[101]["raters"] == ["2", "3", "4"]
    assert by_number[106]["agreement"] is None and by_number[106]["candidate"] is None
    assert by_number[104]["candidate"].n_unmatched == sum(
        len(texts) for texts in seeded.task(104)["details"]["controls"]["findings"]["unmatched"].values()
    )


def test_only_what_changed_is_read_again(seeded: Seeded, rows: TaskRows) -> None:
    rows.get(seeded.project, "findings")
    rows.asked.clear()  # type: ignore[attr-defined]
    assert numbers(rows.get(seeded.project, "findings")) == sorted(TASKS)
    assert rows.asked == []  # type: ignore[attr-defined]
    seeded.put({102: {"2": ["a"], "3": ["a"], "4": ["a"]}, 108: {"2": ["b"], "3": ["c"]}})
    seeded.score()
    every = rows.get(seeded.project, "findings")
    assert sorted(rows.asked) == [102, 108]  # type: ignore[attr-defined]
    assert every == TaskRows(seeded.store).get(seeded.project, "findings")


def test_a_decision_that_changes_a_score_is_seen(seeded: Seeded, rows: TaskRows) -> None:
    """The answers stay; the score does not."""
    rows.get(seeded.project, None)
    seeded.store.decide(seeded.project, "asthma", "bronchial asthma", same=True, reviewer="Rae", task=105)
    seeded.store.forget_scores_of(seeded.project, [105])
    seeded.score()
    assert {row["number"]: row["agreement"] for row in rows.get(seeded.project, None)}[105] == 1.0


def test_tasks_that_are_gone_are_gone(seeded: Seeded, rows: TaskRows) -> None:
    rows.get(seeded.project, "findings")
    seeded.store.drop_tasks(seeded.project, [103])
    assert numbers(rows.get(seeded.project, "findings")) == [n for n in sorted(TASKS) if n != 103]


def test_fields_are_kept_apart_and_taken_together(seeded: Seeded, rows: TaskRows) -> None:
    seeded.put({101: {"2": ["a"], "3": ["b"]}}, control="notes")
    seeded.score()
    agreement = {name: rows.get(seeded.project, name)[0]["agreement"] for name in ("notes", "findings", None)}
    assert agreement["findings"] is None and agreement["notes"] == agreement[None]
