"""Scoring of stored answers: details of tasks, and the report of a project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ml_backend.labelstudio.answers import rater_order
from ml_backend.scoring.details import control_details
from ml_backend.scoring.measures import LoadedMeasures, Progress
from ml_backend.scoring.stored_answers import PLACE, capped, rows_of, table_of, with_split
from ml_backend.settings import ProjectSettings
from softirr.answers.missing import MarkCounts, MissingMarks
from softirr.answers.table import AnnotationTable, Answer

if TYPE_CHECKING:
    from softirr.report.options import AgreementOptions
    from softirr.report.reason_counts import ReasonSummary
    from softirr.report.results import AgreementReport

__all__ = ["Scorer"]


class Scorer(LoadedMeasures):
    """Scores tasks and projects with the measures of this process."""

    def task_details(
        self,
        answers: Mapping[int, Mapping[str, Any]],
        settings: ProjectSettings,
        *,
        decisions: Sequence[Mapping[str, Any]] = (),
        progress: Progress | None = None,
    ) -> dict[int, dict[str, Any]]:
        """Agreement, matches and suggestion of tasks, per control.

        Parameters
        ----------
        answers : mapping
            Task number -> the store's answers (`extraction.task_answers`).
        decisions : sequence
            Reviewers' decisions (`Store.decisions`).

        Returns
        -------
        dict
            Task number -> ``{"agreement", "controls": {name: {"agreement", "n_raters", "pairs", "matches", "unmatched",
            "suggestion", "reasons"}}}``; the task's agreement is the mean over its controls that have one.
        """
        details: dict[int, dict[str, Any]] = {number: {"agreement": None, "controls": {}} for number in answers}
        names = dict.fromkeys(name for entry in answers.values() for name in entry)
        for name in names:
            rows = dict(
                row for number, entry in answers.items() if name in entry for row in rows_of(number, entry[name])
            )
            items: dict[int, list[Any]] = {}
            with self.alone_with(settings.measure, progress) as yielding:
                measure = self.judged_measure(settings, decisions)
                for item in self._items(rows, settings, measure, yielding):
                    items.setdefault(int(item.id.partition(PLACE)[0]), []).append(item)
            for number, scored in items.items():
                details[number]["controls"][name] = control_details(scored)
        for entry in details.values():
            known = [scored["agreement"] for scored in entry["controls"].values() if scored["agreement"] is not None]
            entry["agreement"] = sum(known) / len(known) if known else None
        return details

    def _items(
        self,
        answers: Mapping[str, Sequence[Answer]],
        settings: ProjectSettings,
        measure: Any,
        progress: Any,
    ) -> Iterable[Any]:
        from softirr.report.agreement import item_agreement

        # Raters have a fixed order, so that the result for a task does not depend on the other tasks of the batch.
        rows = sorted((row for of_item in answers.values() for row in of_item), key=lambda row: rater_order(row.rater))
        table = AnnotationTable.from_answers(rows, items=answers, casefold=settings.casefold)
        table = with_split(table, settings.policy.split)
        return item_agreement(table, measure, cache=self.cache(settings.measure), progress=progress)

    def summary(
        self,
        answers: Iterable[tuple[int, Mapping[str, Any]]],
        control: str,
        settings: ProjectSettings,
        *,
        decisions: Sequence[Mapping[str, Any]] = (),
        reasons: ReasonSummary | None = None,
        judgments: Sequence[Any] = (),
        what_if: bool = True,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """The report on one control over the whole project, without its items.

        The one route to the numbers of a project.

        Parameters
        ----------
        judgments : sequence of softirr.audit.Judgments
            What people judged of random pairs of texts of this control.
        what_if : bool
            Compute the headline without each attribute, too.
        reasons : ReasonSummary, optional
            Why texts do not match, counted from the details of the tasks (`counted_reasons`); by default the report
            says nothing of it.
        """
        from softirr.report.agreement import with_reasons

        table = table_of(answers, control, settings)
        cache = self.cache(settings.measure)
        with self.alone_with(settings.measure, progress) as yielding:
            measure, options = self.judged_measure(settings, decisions), replace(_options(settings), what_if=what_if)
            report, lost = self._agreement(table, measure, options, judgments, cache, yielding)
            if reasons is not None:
                report = with_reasons(report, reasons, table, measure, options, cache=cache, progress=yielding)
            result = capped(report.to_dict(), sum(item.agreement is not None for item in report.items))
        result["missing_marks"] = MarkCounts.of(table, MissingMarks.of(settings.missing).beside(table.texts)).to_dict()
        result["warnings"] += lost
        return result

    @staticmethod
    def _agreement(
        table: AnnotationTable, measure: Any, options: Any, judgments: Sequence[Any], cache: Any, progress: Any
    ) -> tuple[AgreementReport, list[str]]:
        """The report with the judgments, or without them and why they are not used."""
        import softirr

        try:
            return softirr.agreement(
                table, measure, judgments=judgments, cache=cache, progress=progress, options=options
            ), []
        except softirr.InputError as error:
            if not judgments:
                raise
            report = softirr.agreement(table, measure, cache=cache, progress=progress, options=options)
            return report, [f"The judgments are not used: {error}"]


def _options(settings: ProjectSettings) -> AgreementOptions:
    """How the numbers of a project are computed."""
    from softirr.report.options import AgreementOptions

    return AgreementOptions(chance=settings.chance, permutations=settings.permutations, reasons=False, matches=False)
