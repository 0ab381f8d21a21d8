"""Files of generated answers through the whole command line, compared with a direct computation from their meanings."""

from __future__ import annotations

import csv
import io
import json
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ml_backend.labelstudio.answers import Reading, read_task
from ml_backend.labelstudio.config import Control
from ml_backend.project_settings import ProjectSettings
from ml_backend.scoring.preparation import AnswerPreparation
from ml_backend.scoring.scorer import Scorer
from softirr.cli.main import main
from softirr.text import normalize
from tests.programs import printed, run_here
from tests.properties.direct import COEFFICIENTS, Truth, direct
from tests.properties.formats import FIELDS, FORMATS, NUMBERS
from tests.properties.worlds import RATERS, World, worlds

AUDITED = ("observed_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha")

OVERLAP = ProjectSettings(measure="exact", regions="matched")

pytestmark = pytest.mark.slow


def some(examples):
    return settings(
        max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
    )


def close(value):
    return None if value is None else pytest.approx(value, abs=1e-9)


def compare(report, truth, weights=None, *, item=str, rater=str):
    """Compare a report with the truth: coefficients, rater pairs, raters and items."""
    expected = direct(truth, weights)
    values = {name: report["coefficients"][name]["value"] for name in COEFFICIENTS}
    assert values == {name: close(value) for name, value in expected["coefficients"].items()}
    pairs = {
        tuple(sorted(rater_pair["raters"])): (rater_pair["observed_agreement"], rater_pair["cohen_kappa"]["value"])
        for rater_pair in report["rater_pairs"]
    }
    assert pairs == {
        tuple(sorted((rater(r), rater(s)))): (close(agreement), close(kappa))
        for (r, s), (agreement, kappa) in expected["pairs"].items()
    }
    raters = {entry["id"]: entry["agreement"] for entry in report["raters"] if entry["agreement"] is not None}
    assert raters == {rater(r): close(value) for r, value in expected["raters"].items()}
    items = {entry["id"]: entry["agreement"] for entry in report["items"] if entry["agreement"] is not None}
    assert items == {item(i): close(value) for i, value in expected["items"].items()}


@pytest.mark.parametrize("name", FORMATS)
def test_score_of_a_file(name):
    kind = FORMATS[name]

    @some(40)
    @given(worlds(empties=kind.empties, sets=kind.sets, fields=kind.fields, weights=kind.weights), st.booleans())
    def check(world, reasons):
        with tempfile.TemporaryDirectory() as folder:
            path, options = kind.write(world, Path(folder))
            extra = [] if reasons else ["--no-reasons"]
            exported = json.loads(printed("score", str(path), "--json", *options, *world.command(Path(folder)), *extra))
        reports = [exported] if kind.fields == 1 else [exported["texts"][field] for field in FIELDS]
        for report, truth in zip(reports, world.truth, strict=True):
            compare(report, truth, world.weights, item=kind.item, rater=kind.rater)

    check()


def task_with_places(number: str, regions_by_rater: list[dict[str, tuple[str, ...]]], order: int) -> dict:
    """A Label Studio task with annotators who mark several places of a text and write something about each.

    A place is ten characters wide, places are apart, and every annotator's region of it is another one that overlaps
    all others.
    """
    results: dict[str, list[dict]] = {}
    for index, by_rater in enumerate(regions_by_rater):
        for rater, texts in by_rater.items():
            region = {"id": f"{rater}{index}", "from_name": "finding", "to_name": "text", "type": "textarea"}
            extent = {"start": 100 * index, "end": 100 * index + 10 - int(NUMBERS[rater])}
            of_place = [{**region, "value": {**extent, "text": [text]}} for text in texts]
            results.setdefault(rater, []).extend(of_place)
    annotations = [
        {"id": n, "completed_by": int(NUMBERS[rater]), "updated_at": "2026-01-05", "result": result}
        for n, (rater, result) in enumerate(results.items())
    ]
    random.Random(order).shuffle(annotations)
    return {"id": int(number), "annotations": annotations}


@some(40)
@given(worlds(sets=False, weights=False, kinds=("exact",)), st.integers(1, 4))
def test_regions_that_overlap(world, places_of_task):
    """Label Studio's side: each place at which regions overlap is an item.

    Annotators without a region there found nothing.
    """
    truth: dict[tuple[str, str], Truth] = {}
    answers = {}
    small_items = [item for item in world.items if int(item) < 1000]
    for task, start in enumerate(range(0, len(small_items), places_of_task), start=1):
        given_there = [
            {rater: world.tables[0][item, rater] for rater in RATERS if world.tables[0].get((item, rater))}
            for item in small_items[start : start + places_of_task]
        ]
        given_there = [by_rater for by_rater in given_there if by_rater]
        people = {rater for by_rater in given_there for rater in by_rater}
        for index, by_rater in enumerate(given_there):
            for rater in people:
                concepts = frozenset(normalize(text) for text in by_rater.get(rater, ()))
                truth[f"{task} {index}", rater] = Truth(concepts, concepts)
        entry = task_with_places(str(task), given_there, world.order)
        answers[task], _ = read_task(entry, Reading([Control("finding", "text", per_region=True)], OVERLAP))
    scorer = Scorer()
    report = scorer.summary(answers.items(), "finding", AnswerPreparation(OVERLAP))
    expected = direct(truth)
    assert {name: report["coefficients"][name]["value"] for name in COEFFICIENTS} == {
        name: close(value) for name, value in expected["coefficients"].items()
    }
    details = scorer.task_details(answers, AnswerPreparation(OVERLAP))
    agreements = [details[task]["controls"]["finding"]["agreement"] for task in answers]
    of_task = [[v for item, v in expected["items"].items() if item.split()[0] == str(task)] for task in answers]
    assert agreements == [
        close(sum(agreements_of_item) / len(agreements_of_item) if agreements_of_item else None)
        for agreements_of_item in of_task
    ]


def judged(sheet: str, meaning: dict[str, frozenset[str]]) -> str:
    """A sheet with the verdicts of somebody who knows what every text means."""
    rows = list(csv.DictReader(io.StringIO(sheet)))
    for row in rows:
        row["judgment"] = "same" if meaning[row["text_a"]] == meaning[row["text_b"]] else "different"
    out = io.StringIO()
    writer = csv.DictWriter(out, ["unit", "pair", "text_a", "text_b", "judgment"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def audited(world, measure, *, two_sheets=False):
    """Coefficients of an audit with true judgments of every pair, and their true values.

    None without a pair to judge.
    """
    meaning = {text: cell.concepts for cell in world.truth[0].values() for text in cell.texts}
    with tempfile.TemporaryDirectory() as folder:
        path, options = FORMATS["long CSV"].write(world, Path(folder))
        command = [str(path), "--measure", measure, *options]
        sheets: list[str] = []
        for number in ("2", "100000") if two_sheets else ("100000",):
            without = ["--without", *sheets] if sheets else []
            status, sheet, message = run_here(main, "audit", "sample", *command, "--judgements", number, *without)
            if "Nothing is left" in message or "nothing to judge" in message:
                return None
            assert status == 0, message
            sheets.append(str(Path(folder) / f"sheet-{number}.csv"))
            Path(sheets[-1]).write_text(judged(sheet, meaning), encoding="utf-8")
        values = json.loads(printed("audit", "apply", str(path), *sheets, *command[1:], "--json"))["coefficients"]
    expected_coefficients = direct(world.truth[0])["coefficients"]
    return {name: values[name]["value"] for name in AUDITED}, {
        name: close(expected_coefficients[name]) for name in AUDITED
    }


JUDGED_WORLDS = worlds(sets=False, weights=False, kinds=("terminology",))


@some(40)
@given(JUDGED_WORLDS, st.sampled_from(("exact", "indel", "jaccard")), st.booleans())
def test_an_audit_of_every_pair_gives_the_true_observed_agreement(world, measure, two_sheets):
    """The measure does not matter."""
    outcome = audited(world, measure, two_sheets=two_sheets)
    assume(outcome is not None)
    values, true_values = outcome
    assert values["observed_agreement"] == true_values["observed_agreement"]


FIVE_ITEMS = [("flu", "influenza"), ("cough", "tussis"), ("flu", "rash"), ("cough", "cough"), ("rash", "flu")]
CONCEPT_OF = {"flu": "J11", "influenza": "J11", "cough": "R05", "tussis": "R05", "rash": "R21"}


@pytest.mark.parametrize("measure", ["exact", "indel"])
def test_an_audit_of_every_pair_gives_the_true_coefficients(measure):
    """Of pairs of different items, too: where there are few, all of them are in the frame."""
    texts = {
        (str(n), rater): (text,) for n, row in enumerate(FIVE_ITEMS) for rater, text in zip("ab", row, strict=True)
    }
    truth = {
        cell: Truth(frozenset(cell_texts), frozenset(CONCEPT_OF[text] for text in cell_texts))
        for cell, cell_texts in texts.items()
    }
    values, true_values = audited(World([texts], [truth], []), measure)
    assert values == true_values
