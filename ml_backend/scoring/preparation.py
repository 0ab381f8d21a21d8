"""From the raw answers in the store to tables: the same preparation as for files, with what is known of the project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from sys import intern
from typing import Any, Self

from ml_backend.labelstudio.answers import rater_order
from ml_backend.project_settings import ProjectSettings
from softirr.answers.answer import REGION, RawAnswer, RawField, part_of, whole_of
from softirr.answers.missing import MissingMarks
from softirr.answers.preparation import Work
from softirr.answers.prepare import prepare_answers, table_of
from softirr.answers.read_options import ReadOptions
from softirr.answers.table import AnnotationTable
from softirr.text import normalize

SharedTexts = dict[tuple[str, ...], tuple[str, ...]]
"""Answers met so far: equal ones are one object, because most occur often."""
RawAnswers = Iterable[tuple[int, Mapping[str, Any]]]
"""Numbers of tasks and their raw answers by control (`Store.answers`)."""


def task_of(item: str) -> int:
    """Return the number of the task that an item is, or is a part of."""
    return int(whole_of(item))


def raw_field(answers: RawAnswers, control: str) -> RawField:
    """Return the raw answers to one control; an item is a task, or a turn or a group of matched regions in it."""
    raw, shared_texts = RawField(control, is_separate=True, is_merged=True), SharedTexts()
    for number, entries in answers:
        if control in entries:
            add_entry(raw, str(number), entries[control], shared_texts)
        else:
            raw.items[str(number)] = None
    return raw


def add_entry(raw: RawField, task: str, entry: Mapping[str, Any], shared_texts: SharedTexts) -> None:
    """Add the answers of a task to one control."""
    groups, turns = entry.get("groups") or (), entry.get("turns")
    items_of_task = (
        [(task, turn, group) for turn, group in zip(turns, groups, strict=True)]
        if turns
        else [(part_of(task, REGION, number), None, group) for number, group in enumerate(groups)]
    )
    for item, turn, by_rater in items_of_task or [(task, None, entry["answers"])]:
        raw.items[item] = None
        for rater in sorted(by_rater, key=rater_order):
            texts = tuple(map(intern, by_rater[rater]))
            raw.answers.append(RawAnswer(item, intern(rater), shared_texts.setdefault(texts, texts), turn=turn))
    raw.answers += (RawAnswer(task, rater, None, reason) for rater, reason in entry["excluded"])


@dataclass(frozen=True)
class AnswerPreparation:
    """How the raw answers of one project are prepared.

    Attributes
    ----------
    unanswered : frozenset of str
        Controls that nobody in the project answers: their empty answers are missing.
    opposites : mapping of str to frozenset of str
        Texts of each control with opposites that are answers, rather than marks for a missing answer: "-" is an answer
        if another answer in the project is "+".
    """

    settings: ProjectSettings
    unanswered: frozenset[str] = frozenset()
    opposites: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Mapping[str, Any], settings: ProjectSettings) -> Self:
        """Return the preparation that the project's row has."""
        controls = project["controls"]
        unanswered = frozenset(control["name"] for control in controls if control.get("unanswered"))
        opposites = {control["name"]: frozenset(texts) for control in controls if (texts := control.get("opposites"))}
        return cls(settings, unanswered, opposites)

    def noted(self, controls: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the controls of the project's row, with what `of` reads from them."""
        return [
            {
                **control,
                "unanswered": control["name"] in self.unanswered,
                "opposites": sorted(self.opposites.get(control["name"], ())),
            }
            for control in controls
        ]

    @cached_property
    def chosen_marks(self) -> MissingMarks:
        """The marks for a missing answer that the project chose."""
        return MissingMarks.of(self.settings.missing)

    @cached_property
    def _options(self) -> ReadOptions:
        return ReadOptions(casefold=self.settings.casefold, split=self.settings.policy.split)

    def marks(self, control: str) -> MissingMarks:
        """Return the marks for a missing answer to a control."""
        return self.chosen_marks.beside(self.opposites.get(control, ()))

    def work(self, raw: RawField) -> Work:
        """Return the prepared answers to a control, and those that do not count with the reason."""
        if raw.name in self.unanswered:
            raw.answers = [answer for answer in raw.answers if answer.reason]
        return prepare_answers(raw, self._options, self.marks(raw.name))

    def table(self, answers: RawAnswers, control: str) -> AnnotationTable:
        """Return the answers to one control as a table; raters have a fixed order, whatever the tasks are."""
        work = self.work(raw_field(answers, control))
        return table_of(work, sorted({rater for _, rater in work.answers}, key=rater_order))

    def entry(self, number: int, entries: Mapping[str, Any], control: str) -> dict[str, Any]:
        """Return the answers of a task to one control as pages show them: ``answers``, ``written`` and ``excluded``.

        ``answers`` has the texts that are compared, and ``written`` those that were split.
        """
        work = self.work(raw_field([(number, entries)], control))
        answers: dict[str, list[str]] = {}
        original: dict[str, list[str]] = {}
        for (item, rater), texts in work.answers.items():
            answers.setdefault(rater, []).extend(text for text in map(normalize, texts) if text)
            if (item, rater) in work.texts_before_split:
                original.setdefault(rater, []).extend(work.texts_before_split[item, rater])
        excluded = [[entry.rater, entry.reason] for entry in work.excluded]
        return {"answers": answers, "excluded": excluded} | ({"written": original} if original else {})

    def task(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a task's row with prepared answers; ``raw_answers`` has the raw ones."""
        raw = row["answers"]
        answers = {name: raw[name] if "kind" in raw[name] else self.entry(row["number"], raw, name) for name in raw}
        return {**row, "answers": answers, "raw_answers": raw}
