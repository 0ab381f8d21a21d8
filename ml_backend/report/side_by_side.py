"""Comparisons asked for on the comparison page, computed by the scorer process.

Only the result of a comparison is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from ml_backend.labelstudio.errors import LabelStudioError
from ml_backend.report.compared_tables import ComparedTables, rater_names
from ml_backend.report.questions import KINDS, MEASURES, basis, names_in
from ml_backend.report.units import words_for
from ml_backend.review import audits
from ml_backend.review.project_work import ProjectWork
from ml_backend.scoring.stored_answers import table_of
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.side_by_side import SideBySideStore
from ml_backend.store.store import Row
from softirr.answers.table import MODEL, AnnotationTable
from softirr.errors import InputError
from softirr.planning.alternative_annotator import EPSILON
from softirr.planning.compare import compare, compare_groups
from softirr.planning.compare_raters import compare_raters
from softirr.planning.compare_time import compare_time
from softirr.planning.comparison import Comparison
from softirr.report.forest import Row as Line
from softirr.report.options import AgreementOptions
from softirr.report.page.sentences import Words
from softirr.statistics.coefficients.registry import coefficient_keys, coefficient_name

__all__ = ["run_wanted"]

MOST_DIFFERENCES = 10
"""Differences that the figure shows; the table has all."""


def _in_words(row: Line, names: Sequence[str], words: Words) -> Line:
    """A line of the figure in the words of the screens."""
    return replace(row, label=words.adapt(row.label, names), note=words.adapt(row.note, names))


def run_wanted(work: ProjectWork, kinds: Collection[str] = KINDS) -> int:
    """Compute the requested comparisons; returns their number. What can't be computed gets a sentence that says why.

    Comparisons of other `kinds` wait. All but comparisons of measures read Label Studio.
    """
    kept = SideBySideStore(work.store)
    wishes = [one for one in kept.wanted(work.project["id"]) if one["question"]["kind"] in kinds]
    for wish in wishes:
        work.check()
        work.report("comparing", 0, None, 0)
        based_on = basis(work.store, work.project, wish["question"])
        try:
            result, problem = _Comparing(work).result(wish["question"]), None
        except (InputError, LabelStudioError) as error:
            result, problem = None, str(error)
        kept.put(wish, result=result, problem=problem, based_on=based_on)
    return len(wishes)


class _Comparing:
    """One run: the project with its measure, which all parts of a comparison are scored with."""

    def __init__(self, work: ProjectWork):
        self.store, self.scorer, self.project, self.settings = work.store, work.scorer, work.project, work.settings
        self.work, self.tables = work, ComparedTables(work)

    def result(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The comparison as the page shows it."""
        if question["kind"] == MEASURES:
            return {MEASURES: list(self._measures(question))}
        settings = self.settings
        compared = self._compared(question)
        with self.scorer.alone_with(settings.measure, self.work.progress("comparing")) as counted:
            decisions = self.store.decisions(self.project["id"])
            comparison = compared(
                self.scorer.judged_measure(settings, decisions),
                AgreementOptions(chance=settings.chance, permutations=settings.permutations),
                {"cache": self.scorer.cache(settings.measure), "progress": counted},
            )
        rows = comparison.rows()
        if len(comparison.differences) > MOST_DIFFERENCES:
            rows = [row for row in rows if not row.is_difference]
        name, content = coefficient_name(comparison.coefficient), comparison.to_dict()
        names, words = names_in(content, question), words_for(self.project, question["control"])
        return {
            "comparison": content,
            "coefficient_name": name,
            "sentences": comparison.sentences(),
            "adjustment": comparison.adjustment,
            "figure": [asdict(_in_words(row, names, words)) for row in rows],
            "policy": settings.policy.describe() if settings.policy.changes_scores else None,
        }

    def _measures(self, question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The coefficients under each measure, with the project's settings; a sentence where a model is missing."""
        names, sheets = question[MEASURES], self._sheets(self.project, question["control"])
        for done, name in enumerate(names):
            self.work.check()
            self.work.report("comparing", done, len(names), 0)
            try:
                summary = self.scorer.summary(
                    self.work.answers(),
                    question["control"],
                    replace(self.settings, measure=name),
                    decisions=self.store.decisions(self.project["id"]),
                    judgments=sheets,
                    progress=lambda *_: self.work.check(),
                )
            except InputError as error:
                yield {"measure": name, "error": str(error)}
                continue
            every = summary["coefficients"]
            coefficients = {key: every[key] for key in coefficient_keys(shown=True) if key in every}
            yield {"measure": name, "coefficients": coefficients, "expected_agreement": summary["expected_agreement"]}

    def _compared(self, question: Mapping[str, Any]) -> Callable[[Any, AgreementOptions, dict[str, Any]], Comparison]:
        """What to do once the measure is there; Label Studio is read before."""
        kind, control = question["kind"], question["control"]
        if kind == "projects":
            return self._projects(question)
        if kind == "fields":
            parts = {name: self.tables.of_field(self.project, name) for name in self.project["summary"]["controls"]}
            sheets = {name: self._sheets(self.project, name) for name in parts}
            return lambda measure, options, kept: compare(parts, measure, options, sheets=sheets, **kept)
        names = rater_names(self.project)
        if kind in ("annotator", "models") and (judged := self._judged_raters(question, names)) is not None:
            return judged
        if kind == "models":
            read = self.tables.read(self.project, control=control)
            table = self.tables.of_field(self.project, control, read, models=True)
            chosen = sorted({names(rater) for given in read.models.values() for rater in given})
            if not chosen:
                raise InputError("No task of this project has a prediction of another model.")
            wanted = {"margin": question["margin"], "epsilon": EPSILON}
            return lambda measure, options, kept: compare_raters(table, chosen, measure, options, **wanted, **kept)
        if kind == "rounds":
            rounds = self.tables.rounds(question["date"], control)
            return lambda measure, options, kept: compare(rounds, measure, options, items="same", **kept)
        if kind in ("groups", "time"):
            wanted, same = question["field"], question.get("same") or None
            fields = [wanted] if same is None else [wanted, same]
            table = self.tables.of_field(self.project, control, self.tables.read(self.project, fields=fields))
            if kind == "groups":
                return lambda measure, options, kept: compare_groups(table, wanted, measure, options, same=same, **kept)
            rater = names(question["annotator"]) if "annotator" in question else None
            return lambda measure, options, kept: compare_time(table, wanted, measure, options, rater=rater, **kept)
        table = self.tables.of_field(self.project, control)
        if kind == "annotator":
            only = [names(question["annotator"])]
            return lambda measure, options, kept: compare_raters(
                table, only, measure, options, margin=question["margin"], **kept
            )
        teams = {
            ", ".join(names(one) for one in team): table.part(raters=[names(one) for one in team])
            for team in question["teams"]
        }
        return lambda measure, options, kept: compare(teams, measure, options, **kept)

    def _projects(self, question: Mapping[str, Any]) -> Callable[[Any, AgreementOptions, dict[str, Any]], Comparison]:
        parts: dict[str, AnnotationTable] = {}
        sheets: dict[str, list[Any]] = {}
        for number in (self.project["number"], *question["projects"]):
            row = self.store.project(self.project["server"], number)
            if row is None:
                raise InputError(f"Project {number} is not connected any more.")
            title = " ".join((row["title"] or "").split())[:60] or f"Project {number}"
            label = title if title not in parts else f"{title} ({number})"
            control = _same_control(row, question["control"])
            read = self.tables.read(row, fields=[question["field"]]) if question["field"] else None
            parts[label] = self.tables.of_field(row, control, read, item=question["field"])
            sheets[label] = [] if question["field"] else self._sheets(row, control)
        items = "same" if question["field"] else "other"
        return lambda measure, options, kept: compare(parts, measure, options, items=items, sheets=sheets, **kept)

    def _judged_raters(
        self, question: Mapping[str, Any], names: Callable[[str], str]
    ) -> Callable[[Any, AgreementOptions, dict[str, Any]], Comparison] | None:
        """An annotator or models with the others by judgments of pairs of texts, where there are some."""
        sheets = self._sheets(self.project, question["control"])
        if not sheets:
            return None
        table = table_of(self.work.answers(), question["control"], self.settings)
        models = [rater for rater in table.raters if rater.startswith(MODEL)]
        chosen = models if question["kind"] == "models" else [question["annotator"]]
        if not chosen:
            return None
        settings = self.settings

        def compared(_: Any, options: AgreementOptions, kept: dict[str, Any]) -> Comparison:
            # the measure that the sheet was drawn with: judgments of the audit correct it, not decisions
            measure = self.scorer.measure_under(settings.measure, settings.policy, settings.terminologies)
            labels = {rater: names(rater) for rater in table.raters}
            wanted = {"margin": question["margin"], "epsilon": EPSILON if question["kind"] == "models" else None}
            return compare_raters(table, chosen, measure, options, sheets=sheets, labels=labels, **wanted, **kept)

        return compared

    def _sheets(self, row: Row, control: str) -> list[Any]:
        """What people judged of pairs of a field."""
        return audits.judged_sheets(ReviewStore(self.store), row["id"], control)


def _same_control(row: Row, control: str) -> str:
    """The field of another project: the one of this name, else its only one."""
    names = list((row["summary"] or {}).get("controls") or ())
    if control in names:
        return control
    if len(names) == 1:
        return str(names[0])
    title = row["title"] or f"Project {row['number']}"
    raise InputError(
        f"{title} has no field {control}; it has {', '.join(names)}." if names else f"{title} has not been scored yet."
    )
