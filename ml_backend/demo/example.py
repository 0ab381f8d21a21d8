"""The demo's example: short adverse-event narratives, answered by three of four annotators each, with a key.

Everything in it was invented for this demo; it does not describe a real patient, report or product. The key maps each
text to its concept, so that the true agreement is known.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from softirr.answers.table import AnnotationTable, Answer, Excluded

SKIPPED = "(skipped)"
EMPTY = "(nothing)"


@dataclass(frozen=True)
class Narrative:
    """A task: its text, and the findings by annotator's name, or None if the annotator skipped the task."""

    id: str
    text: str
    answers: Mapping[str, tuple[str, ...] | None]


def _rows(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _split(cell: str) -> tuple[str, ...]:
    return tuple(cell.split(" | ")) if cell else ()


ENGLISH, GERMAN = "narratives.tsv", "narratives_de.tsv"


def narratives(name: str = ENGLISH) -> tuple[Narrative, ...]:
    """Return the tasks of a file in order; an annotator who was not asked is not in `answers`."""
    tasks = []
    for row in _rows(name):
        number, text = row.pop("id"), row.pop("narrative")
        answers = {
            rater: None if cell == SKIPPED else () if cell == EMPTY else _split(cell)
            for rater, cell in row.items()
            if cell
        }
        tasks.append(Narrative(number, text, answers))
    return tuple(tasks)


def models() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Findings of two invented models for each task.

    The model "good" names what most annotators mean, in the words of one of them. The model "bad" names what they mean
    in the next task.
    """
    meaning, consensus = key(), []
    for task in narratives():
        words: dict[str, list[str]] = {}
        for texts in task.answers.values():
            for text in texts or ():
                words.setdefault(meaning[text], []).append(text)
        consensus.append(tuple(texts[-1] for texts in words.values() if len(texts) > 1))
    return {"good": tuple(consensus), "bad": (*consensus[1:], consensus[0])}


def annotators() -> tuple[str, ...]:
    """Names, in the order of the file."""
    return tuple(list(_rows(ENGLISH)[0])[2:])


def key() -> dict[str, str]:
    """The concept of each text."""
    return {text: row["concept"] for row in _rows("key.tsv") for text in _split(row["texts"])}


def broader() -> dict[str, str]:
    """The next more general concept of each concept that has one in the key."""
    return {row["concept"]: row["broader"] for row in _rows("key.tsv") if row["broader"]}


def table(*, concepts: bool = False) -> AnnotationTable:
    """The answers as a table; with `concepts` each text is replaced by its concept, so that agreement is exact."""
    meaning = key()
    answers: list[Answer] = []
    excluded: list[Excluded] = []
    for task in narratives():
        for rater, texts in task.answers.items():
            if texts is None:
                excluded.append(Excluded(task.id, rater, "skipped"))
            else:
                answers.append(Answer(task.id, rater, tuple(meaning[text] for text in texts) if concepts else texts))
    return AnnotationTable.from_answers(answers, items=[task.id for task in narratives()], excluded=excluded)
