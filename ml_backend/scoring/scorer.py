"""Scoring of stored answers: details of tasks, and the report of a project.

Tasks with texts that cannot be scored are set aside, so that one text never stops a project.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from ml_backend.scoring.details import by_task, control_details, mean, with_languages, without_items
from ml_backend.scoring.measures import Decisions, LoadedMeasures, Stopped
from ml_backend.scoring.preparation import AnswerPreparation, RawAnswers
from softirr.answers.missing import MarkCounts
from softirr.provenance import Progress
from softirr.report.inputs import AgreementOptions

if TYPE_CHECKING:
    from softirr.report.reason_counts import ReasonSummary

MOST_TEXTS = 20_000
"""Maximum number of distinct texts of a field that are clustered by meaning."""
NOT_SCORED = "set aside: softirr could not score the texts of this task ({}); report this as an error of softirr"
_SOUND = {"answers": {"1": ["fever"], "2": ["cough"]}, "excluded": []}
"""Answers that every measure can score: if these fail, the measure is at fault and no text is."""
_NOT_OF_A_TEXT = (Stopped, OSError, sa.exc.SQLAlchemyError)
Answers = Mapping[int, Mapping[str, Any]]
"""Task -> raw answers (`ml_backend.labelstudio.answers.read_task`)."""
TaskDetails = dict[int, dict[str, Any]]
"""Task -> details of its scoring (`Scorer.task_details`)."""


@dataclass(frozen=True)
class ReportContent:
    """People's evidence about pairs of texts, and optional parts of a report on one control.

    Attributes
    ----------
    decisions : sequence
        Reviewers' decisions (`Store.decisions`).
    judgments : sequence of softirr.audit.Judgments
        People's judgments of random pairs of texts of this control.
    reasons : ReasonSummary, optional
        Why texts do not match, counted from the details of the tasks (`counted_reasons`); by default the report has no
        reasons.
    what_if : bool
        Also compute the meanings, and the headline without each attribute.
    """

    decisions: Decisions = ()
    judgments: Sequence[Any] = ()
    reasons: ReasonSummary | None = None
    what_if: bool = True


class Scorer(LoadedMeasures):
    """Scores tasks and projects with the measures of this process."""

    def task_details(
        self,
        answers: Answers,
        preparation: AnswerPreparation,
        decisions: Decisions = (),
        progress: Progress | None = None,
    ) -> TaskDetails:
        """Return agreement, matches and suggestion of tasks, per control.

        Returns
        -------
        dict
            Task number -> ``{"agreement", "controls": {name: {"agreement", "n_raters", "pairs", "matches", "unmatched",
            "suggestion", "reasons"}}}``; the task's agreement is the mean over its controls that have one.
        """
        details: TaskDetails = {number: {"agreement": None, "controls": {}} for number in answers}
        from softirr.report.items import item_agreement

        settings = preparation.settings
        for name in dict.fromkeys(name for entries in answers.values() for name in entries):
            present = [(number, entries) for number, entries in answers.items() if name in entries]
            with self.alone_with(settings.measure, progress) as yielding:
                table, measure = preparation.table(present, name), self.judged_measure(settings, decisions)
                items = item_agreement(table, measure, cache=self.cache(settings.measure), progress=yielding)
            for number, scored in by_task(items).items():
                details[number]["controls"][name] = with_languages(control_details(scored), settings.measure)
        for entry in details.values():
            entry["agreement"] = mean(scored["agreement"] for scored in entry["controls"].values())
        return details

    def score_or_set_aside(
        self,
        answers: Answers,
        preparation: AnswerPreparation,
        decisions: Decisions = (),
        progress: Progress | None = None,
    ) -> tuple[TaskDetails, dict[int, dict[str, Any]]]:
        """Score tasks together; if that fails, score them one by one, and without texts those that cannot be scored.

        Returns
        -------
        dict of int to dict, dict of int to dict
            Details of the tasks, and the answers of each that could not be scored: none, and each rater with the
            reason.

        Raises
        ------
        Exception
            Errors that no text causes: the work was ended, the store is unavailable, or the measure fails with any
            text.
        """
        score = partial(self.task_details, preparation=preparation, decisions=decisions, progress=progress)
        try:
            return score(answers), {}
        except _NOT_OF_A_TEXT:
            raise
        except Exception:  # noqa: BLE001 - whatever a text makes a measure do
            score({0: {name: _SOUND for entries in answers.values() for name in entries}})
        details: TaskDetails = {}
        set_aside: dict[int, dict[str, Any]] = {}
        for number, entries in answers.items():
            try:
                details |= score({number: entries})
            except _NOT_OF_A_TEXT:
                raise
            except Exception as error:  # noqa: BLE001 - as above
                reason = NOT_SCORED.format(type(error).__name__)
                set_aside[number] = {name: _without_texts(entry, reason) for name, entry in entries.items()}
        return details | score(set_aside), set_aside

    def summary(
        self,
        answers: RawAnswers,
        control: str,
        preparation: AnswerPreparation,
        content: ReportContent = ReportContent(),
        *,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Return the report on one control over the whole project, without its items.

        Parameters
        ----------
        answers : iterable of (int, mapping)
            Raw answers of all tasks (`Store.answers`).
        """
        import softirr
        from softirr.report.scoring import open_scoring
        from softirr.report.what_if import with_what_if

        settings, table = preparation.settings, preparation.table(answers, control)
        options = AgreementOptions(
            chance=settings.chance,
            permutations=settings.permutations,
            reasons=False,
            matches=False,
            meanings=content.what_if and len(table.texts) <= MOST_TEXTS,
            what_if=content.what_if,
        )
        cache = self.cache(settings.measure)
        with self.alone_with(settings.measure, progress) as yielding:
            measure = self.judged_measure(settings, content.decisions)
            agree = partial(softirr.agreement, table, measure, cache=cache, progress=yielding, options=options)
            try:
                report = agree(judgments=content.judgments)
            except softirr.InputError as error:
                if not content.judgments:
                    raise
                report = agree()
                report = replace(report, warnings=(*report.warnings, f"The judgments are not used: {error}"))
            n_compared = sum(item.agreement is not None for item in report.items)
            report = replace(report, items=(), reasons=content.reasons)  # the details of the tasks have the items
            if content.what_if:
                with open_scoring(measure, options, cache, yielding) as scoring:
                    report = with_what_if(report, table, scoring)
        marks = preparation.marks(control).beside(table.texts)
        return without_items(report.to_dict(), n_compared) | {"missing_marks": MarkCounts.of(table, marks).to_dict()}


def _without_texts(entry: Mapping[str, Any], reason: str) -> dict[str, Any]:
    return {"answers": {}, "excluded": entry["excluded"] + [[rater, reason] for rater in entry["answers"]]}
