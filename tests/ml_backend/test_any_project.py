"""The numbers of a project are those of its export, whatever its kind, settings, decisions and judgments are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from ml_backend.labelstudio.config import other_controls, text_controls
from ml_backend.project_settings import ProjectSettings, effective
from ml_backend.review import audits
from ml_backend.review.computations import answer_requests
from ml_backend.review.requests import LOOK, ProjectWork, RequestStore
from ml_backend.scoring.details import agreement_of, by_task
from ml_backend.store.reviews import ReviewStore
from softirr.answers.labelstudio_results import readable_name
from softirr.answers.table import AnnotationTable
from softirr.report.fields import field_row
from tests.ml_backend.any_project import KINDS, Kind, filled, options
from tests.ml_backend.bench import OPEN, Bench
from tests.ml_backend.fake_label_studio import URL
from tests.ml_backend.fake_project import NUMBER
from tests.ml_backend.test_same_as_of_export import numbers, rounded


@pytest.mark.parametrize("name", KINDS)
def test_a_project_is_scored_as_its_export(name: str) -> None:
    @settings(max_examples=3)
    @given(st.randoms(use_true_random=False))
    def check(rng: Random) -> None:
        with tempfile.TemporaryDirectory() as folder:
            compare(KINDS[name], scored(KINDS[name], Path(folder), rng))
            OPEN.pop().close()

    check()


def scored(kind: Kind, folder: Path, rng: Random) -> Bench:
    """A project as the worker leaves it, with reviewers' decisions and judgments in some."""
    bench = Bench(folder, filled(kind, rng), measure=rng.choice(("exact", "levenshtein")))
    bench.choose(**options(rng))
    if rng.random() < 0.3:
        project = bench.store.ensure_project(URL, NUMBER)["id"]
        bench.store.decide(project, "fever", "chills", same=True)
        bench.store.decide(project, "fever", "severe fever", same=False)
    bench.sync()
    if rng.random() < 0.3:
        for control in text_controls(kind.config):
            judge(bench, control.name)
    return bench


def judge(bench: Bench, control: str) -> None:
    """Judge some pairs of a field, if it has any, and look at the result."""
    project, reviews = bench.row["id"], ReviewStore(bench.store)
    audit = audits.ask(bench.store, project, control=control, measure="levenshtein", n_judgments=10, who="Eve")
    answer(bench)
    for position in range(min(5, len((reviews.audit(audit) or {})["sheet"] or ()))):
        reviews.judge(audit, [position], "Eve", ("same", "different", "first")[position % 3])
    RequestStore(bench.store).ask(project, LOOK, {"audit": audit})
    answer(bench)


def answer(bench: Bench) -> None:
    answer_requests(ProjectWork(bench.store, bench.scorer, bench.row, settings_of(bench)))


def settings_of(bench: Bench) -> ProjectSettings:
    row = bench.row
    return effective(bench.settings, connection=row["extra_params"], command_options=row["chosen"]).values


def tables(kind: Kind, bench: Bench) -> Iterator[tuple[str, AnnotationTable]]:
    """The fields of the export that somebody answered, read under the settings of the project."""
    in_effect, file = settings_of(bench), bench.export()
    names = [control.name for control in text_controls(kind.config)]
    for name in (*names, *(name for name, _ in other_controls(kind.config))):
        try:
            table = softirr.read(
                file,
                control=readable_name(name),
                kind="auto",
                casefold=in_effect.casefold,
                missing=in_effect.missing,
                predictions_as_raters=in_effect.predictions_as_raters,
                regions=in_effect.regions,
                split=in_effect.policy.split,
                ignore_raters=in_effect.reviewers,
            )
        except softirr.InputError:  # nobody answered it
            continue
        if table.texts:
            yield name, table


def compare(kind: Kind, bench: Bench) -> None:
    """Compare the reports on all fields, and the agreement of tasks."""
    row, details = bench.row, dict(bench.store.details(bench.row["id"]))
    fields = {field["name"]: field for field in row["summary"].get("fields", ())}
    measure = bench.scorer.judged_measure(settings_of(bench), bench.store.decisions(row["id"]))
    for name, table in tables(kind, bench):
        judgments = audits.judged_sheets(ReviewStore(bench.store), row["id"], name)
        without_reasons = softirr.AgreementOptions(reasons=False)
        agree = partial(softirr.agreement, table, measure, cache=None, options=without_reasons)
        try:
            report = agree(judgments=judgments)
        except softirr.InputError:  # a reviewer decided all judged pairs
            report = agree()
        values, of_project = report.to_dict(), row["summary"]["controls"].get(name)
        assert of_project is None or numbers(of_project) == numbers(values), name
        assert name not in fields or rounded(fields[name]) == rounded(field_row(name, values)), name
        assert name in fields or of_project is not None, name
        of_tasks = {task: agreement_of(items)["agreement"] for task, items in by_task(report.items).items()}
        assert agreements(details, name) == rounded({task: x for task, x in of_tasks.items() if x is not None}), name


def agreements(details: Mapping[int, Mapping[str, Any]], name: str) -> dict[int, float]:
    """The agreement of each task on a field."""
    of_tasks = {task: entry["controls"].get(name, {}).get("agreement") for task, entry in details.items()}
    defined: dict[int, float] = rounded({task: value for task, value in of_tasks.items() if value is not None})
    return defined
