"""A project's numbers are those of the commands on its export and on the sheets of its audits."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from ml_backend.project_settings import effective
from ml_backend.review import audits
from ml_backend.review.computations import answer_requests
from ml_backend.review.requests import LOOK, ProjectWork, RequestStore
from ml_backend.store.reviews import ReviewStore
from softirr.cli.main import main
from softirr.meaning.policy.rules import Policy
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import region

FIELDS = ("findings", "diagnosis")
CONFIG = """<View><Text name="text" value="$text"/><TextArea name="findings" toName="text"/>
<TextArea name="diagnosis" toName="text"/>
<Choices name="side" toName="text"><Choice value="left"/><Choice value="right"/></Choices></View>"""
TEXTS = (
    *("Fever", "fever", "severe fever", "mild fever", "cough; rash", "dry cough"),
    *("left knee pain", "right knee pain", "chills", "n/a", "-"),
)
REVIEWER = 4
NO_SEVERITY = Policy("ours", ignore=frozenset({"severity"}), split="semicolons")
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "as it is": ({}, ""),
    "all": (
        {"casefold": True, "predictions_as_raters": True, "missing": "auto,chills", "policy": NO_SEVERITY.to_dict()},
        "--casefold --model-raters --missing auto,chills --ignore severity --split semicolons",
    ),
}


def filled() -> FakeLabelStudio:
    """Tasks with all that makes answers differ: nothing written, skipped, given twice, by a reviewer, by a model."""
    rng, fake = random.Random(7), FakeLabelStudio(CONFIG)
    for _ in range(20):
        task, usual = fake.add_task(), rng.sample(TEXTS, 2)
        for user in rng.sample((1, 2, 3, REVIEWER), 3):
            texts_of_fields = [[] if rng.random() < 0.1 else [rng.choice((*usual, *TEXTS[:3]))] for _ in FIELDS]
            result = [
                {**region(texts), "from_name": name}
                for name, texts in zip(FIELDS, texts_of_fields, strict=True)
                if texts
            ]
            fake.annotate(task, user, [], result=result, was_cancelled=rng.random() < 0.05)
            if rng.random() < 0.1:
                fake.annotate(task, user, rng.sample(TEXTS, 2))
        fake.add_prediction(task, [rng.choice(usual)], "gpt")
    return fake


def work(bench: Bench) -> None:
    settings = effective(
        bench.settings, connection=bench.row["extra_params"], command_options=bench.row["chosen"]
    ).values
    answer_requests(ProjectWork(bench.store, bench.scorer, bench.row, settings))


def judge(bench: Bench, field: str, folder: Path) -> Path:
    """Judge some pairs of a field; returns the sheet as the page offers it."""
    reviews = ReviewStore(bench.store)
    which = audits.ask(bench.store, bench.row["id"], control=field, measure="indel", n_judgments=20, who="Eve")
    work(bench)
    for position in range(8):
        reviews.judge(which, [position], "Eve", ("same", "different", "first")[position % 3])
    RequestStore(bench.store).ask(bench.row["id"], LOOK, {"audit": which})
    work(bench)
    audit = reviews.audit(which)
    assert audit is not None
    with (folder / f"{field}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(audits.sheet_rows(audit, reviews.judgments(which, "Eve")))
    return folder / f"{field}.csv"


def export(bench: Bench, path: Path, *, reviewers: bool) -> Path:
    """The project's export, without reviewers' answers unless these count."""
    tasks: list[dict[str, Any]] = json.loads(json.dumps(list(bench.fake.tasks.values())))
    for task in tasks:
        task["annotations"] = [entry for entry in task["annotations"] if reviewers or entry["completed_by"] != REVIEWER]
        task["predictions"] = [entry for entry in task["predictions"] if entry["model_version"] != "agreement"]
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def command(*arguments: str) -> dict[str, Any]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        assert not main([*arguments, "--measure", "indel", "--cache", "none", "--json"])
    report: dict[str, Any] = json.loads(printed.getvalue())
    return report


def numbers(report: dict[str, Any]) -> dict[str, Any]:
    """A report's numbers, with sorted annotators, rounded to digits that do not depend on the order of sums."""
    compared = {
        name: report.get(name) for name in ("coefficients", "expected_agreement", "headline", "audit", "n_raters")
    }
    compared |= {entry["id"]: entry for entry in report["raters"]}
    compared |= {" and ".join(sorted(entry["raters"])): {**entry, "raters": None} for entry in report["rater_pairs"]}
    return {name: rounded(value) for name, value in compared.items()}


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return round(value, 9) + 0.0 if isinstance(value, float) else value


@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_same_numbers(tmp_path: Path, case: str, judged: bool) -> None:
    project_options, options = CASES[case]
    bench = Bench(tmp_path / "bench", filled())
    bench.choose(**project_options, reviewers=[] if judged else [str(REVIEWER)])
    bench.sync()
    sheets = {field: judge(bench, field, tmp_path) for field in FIELDS} if judged else {}
    if judged:  # a project that counts fewer fields than it had
        bench.choose(controls=["diagnosis"])
        bench.sync()
    file = export(bench, tmp_path / "export.json", reviewers=judged)
    of_project = bench.row["summary"]["controls"]
    assert list(of_project) == (["diagnosis"] if judged else list(FIELDS))
    for field, report in of_project.items():
        arguments = ("audit", "apply", str(file), str(sheets[field])) if judged else ("score", str(file))
        of_export = command(*arguments, "--control", field, *options.split())
        assert numbers(report) == numbers(of_export), field
    verdict, first = bench.report()["verdict"], next(iter(of_project.values()))["coefficients"]["krippendorff_alpha"]
    assert (verdict["value"], verdict["ci95"], verdict["judgments"]) == (
        first["value"],
        first["ci95"],
        first["judgments"],
    )
    assert first["judgments"] == (8 if judged else 0)
