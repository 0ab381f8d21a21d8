"""Report, page, panel, terminal and audit page of a project show one value and one interval, before and after judgments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html

import softirr
from ml_backend.report.tables import TABLES
from ml_backend.review.audits import judged_sheets
from ml_backend.review.headline import headline_lines
from ml_backend.settings import ProjectSettings
from softirr.answers.table import Excluded
from softirr.meaning.policy.rules import AS_WRITTEN, Policy
from softirr.numbers import interval, number
from tests.ml_backend.seeded_store import NUMBER, RATERS, Seeded, ask
from tests.report_numbers import agrees, numbers
from tests.surfaces import Shown, of_figures

WORDS = ("fever", "high fever", "pyrexia", "cough", "dry cough", "rash", "itch", "itching")


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    steps = {"2": 1, "3": 3, "4": 5}
    return seed(
        {task: {who: [WORDS[(task * k + task // 8) % 8]] for who, k in steps.items()} for task in range(101, 141)}
    )


def work(seeded: Seeded, policy: Policy = AS_WRITTEN) -> None:
    seeded.work(ProjectSettings(measure=seeded.row["summary"]["controls"]["findings"]["measure"], policy=policy))


def drawn(seeded: Seeded) -> int:
    """The number of an audit whose pairs are there."""
    audit: int = seeded.send("/api/audit", judgements=20, who="Rae").json["audit"]
    work(seeded)
    return audit


def judge(seeded: Seeded, audit: int, n: int, verdict: str) -> None:
    """The first pairs of an audit, and what the scorer process does about it."""
    body = {"judge": "Rae", "places": list(range(n)), "verdict": verdict}
    assert seeded.send(f"/api/audit/{audit}/judgements", **body).status_code == 201
    work(seeded)


def check(seeded: Seeded, judgments: int) -> dict[str, Any]:
    summary = seeded.row["summary"]["controls"]["findings"]
    coefficient = dict(summary["coefficients"]["krippendorff_alpha"])
    value, ci95 = coefficient["value"], coefficient["ci95"]
    assert coefficient["judgments"] == judgments

    headline = seeded.get("/api/report").json["headline"]
    assert (headline["value"], headline["ci95"], headline["judgments"]) == (value, ci95, judgments)

    page = seeded.get(f"/report/{NUMBER}").text
    figure = page.partition('class="headline"')[2].partition("</section>")[0]
    assert number(value) in figure and interval(ci95) in figure
    assert "Next: " in figure

    panel = ask(seeded, 101).json["project"]["coefficient"]
    assert (panel["value"], panel["ci95"], panel["judgments"]) == (value, ci95, judgments)

    assert (
        f"Krippendorff's alpha {value:z.2f}, 95% interval {ci95[0]:z.2f} to {ci95[1]:z.2f}"
        in headline_lines(seeded.row)[0]
    )
    return coefficient


def same_number(row: dict[str, Any], coefficient: dict[str, Any]) -> bool:
    return (row["value"], row["ci95"]) == (coefficient["value"], coefficient["ci95"])


def test_one_number(seeded: Seeded) -> None:
    before = check(seeded, 0)
    audit = drawn(seeded)
    for n in (1, 7):
        judge(seeded, audit, n, "different")
        now = check(seeded, n)
        look = seeded.get(f"/api/audit/{audit}", judge="Rae").json["looks"][-1]
        assert (look["value"], look["ci95"]) == (now["value"], now["ci95"])
    assert now["value"] != before["value"]
    # the next summary of the whole project has the same numbers, of raters and pairs of raters, too
    published = seeded.row["summary"]["controls"]["findings"]
    assert (published["audit"]["judgments"], published["audit"]["asked"]) == (7, 20), "as of the sheet's file"
    assert {one["cohen_kappa"]["judgments"] for one in (*published["raters"], *published["rater_pairs"])} == {7}
    seeded.score()
    assert seeded.row["summary"]["controls"]["findings"] == published


@pytest.fixture
def severities(seed: Callable[..., Seeded]) -> Seeded:
    """Answers that differ in severity, in tasks of two sites."""
    texts = [(word, other) for word in WORDS for other in ("mild", "severe", "severe")]
    tasks = {n: {"2": [f"severe {word}"], "3": [f"{other} {word}"]} for n, (word, other) in enumerate(texts)}
    tasks |= {n: {"2": ["fever"], "3": ["no rash"]} for n in range(len(texts), len(texts) + 4)}
    facts = {n: {"data": {"site": "Bern" if n % 2 else "Basel"}} for n in tasks}
    seeded = seed(tasks, "exact", facts=facts)
    seeded.update(required=2)
    return seeded


def test_what_if_starts_from_the_headline_with_judgments(severities: Seeded) -> None:
    def what_if() -> dict[str, Any]:
        (one,) = severities.report()["reasons"]["what_if"]
        return dict(one)

    before = what_if()
    judge(severities, drawn(severities), 2, "same")
    now, headline = what_if(), severities.report()["headline"]["value"]
    assert now["instead_of"] == headline != before["instead_of"]
    severities.score(measure="exact")
    assert what_if()["value"] == pytest.approx(now["value"], abs=1e-12)


PAIRS = (
    ("fever", "high fever"),
    ("high fever", "mild fever"),
    ("dry cough; fever", "cough; fever"),
    ("left rash", "right rash"),
    ("itch; rash", "itching"),
    ("rash", ""),
    ("fever; cough; rash", "fever; cough"),
)
EXCLUDED = {101: [("3", "older answer of the same rater")], 107: [("4", "skipped"), ("2", "skipped")]}


def answers() -> dict[int, dict[str, list[str]]]:
    given: dict[int, dict[str, list[str]]] = {190: {"2": ["fever"]}}
    for n in range(30):
        first, second = PAIRS[n % 7]
        texts = {"2": first, "3": second if n % 3 else first} | ({"4": PAIRS[(3 * n + 2) % 7][n % 2]} if n % 4 else {})
        given[101 + n] = {rater: [one for one in text.split("; ") if one] for rater, text in texts.items()}
    return given


def by_library(sheets: list[Any]) -> dict[str, Any]:
    """The report of the library on the same answers, with the names of the annotators."""
    table = softirr.AnnotationTable.from_answers(
        [
            softirr.Answer(str(task), rater, tuple(texts))
            for task, given in sorted(answers().items())
            for rater, texts in given.items()
        ],
        excluded=[Excluded(str(task), who, why) for task, own in EXCLUDED.items() for who, why in own],
    )
    report = named(
        softirr.agreement(table, "indel", judgments=sheets, options=softirr.AgreementOptions(what_if=True)).to_dict()
    )
    assert isinstance(report, dict)
    return report


def named(value: Any) -> Any:
    """The same with the names of the annotators for their numbers."""
    if isinstance(value, dict):
        return {RATERS.get(key, key): named(one) for key, one in value.items()}
    if isinstance(value, list):
        return [named(one) for one in value]
    return RATERS.get(value, value) if isinstance(value, str) else value


def of_api(report: dict[str, Any]) -> Shown:
    """The report as the backend's JSON."""
    shown: Shown = {"n_items": report["n_tasks"], "n_compared": report["n_compared"], "n_raters": report["n_raters"]}
    shown |= {"headline.value": report["headline"]["value"], "headline.judgments": report["headline"]["judgments"]}
    names = report["names"]
    if without := report["headline"]["without"]:
        shown[f"headline.without[{without['name']}].value"] = without["value"]
    for row in report["coefficients"]:
        shown |= both_ends(f"coefficients.{row['key']}", row, "value", "standard_error", "ci95")
    for chance, value in report["expected_agreement"].items():
        shown[f"expected_agreement.{chance}"] = value
    for row in report["raters"]:
        name = f"raters[{names[row['id']]}]"
        shown |= both_ends(name, row, "n_items", "agreement") | both_ends(f"{name}.agreement_", row, "ci95")
        shown |= {f"{name}.cohen_kappa.value": row["cohen_kappa"], f"excluded of {row['name']}": row["left_out"]}
    for row in report["rater_pairs"]:
        name = f"rater_pairs[{' & '.join(row['names'])}]"
        shown |= both_ends(name, row, "n_items", "observed_agreement", "expected_agreement")
        shown |= {f"{name}.cohen_kappa.value": row["cohen_kappa"]}
        shown |= both_ends(f"{name}.observed_agreement_", row, "ci95")
    for place, row in enumerate(report["queue"]):
        shown |= {f"order[{place}]": str(row["task"]), f"priority[{row['task']}]": row["priority"]}
        shown |= both_ends(f"items[{row['task']}]", row, "agreement", "n_raters")
    for row in report["reasons"]["kinds"]:
        name = f"reasons.kinds[{row['kind']}]"
        shown |= {f"{name}.pairs": row["pairs"], f"{name}.items": row["tasks"], f"share of {row['kind']}": row["share"]}
        for place, one in enumerate(row["examples"]):
            shown[f"{name}.examples[{place}].pairs"] = one["pairs"]
    for row in report["reasons"]["rater_pairs"]:
        for kind, tasks in row["kinds"].items():
            shown[f"reasons.rater_pairs[{' & '.join(row['names'])}].kinds.{kind}"] = tasks
    for row in report["reasons"]["what_if"]:
        shown |= both_ends(f"reasons.what_if[{row['attribute']}]", row, "value", "instead_of")
    for name, shares in report["distributions"].items():
        shown |= {f"distributions.{name}[{place}]": share for place, share in enumerate(shares)}
    shown["excluded"] = report["excluded"]["n"]
    shown |= {f"excluded.{row['reason']}": row["n"] for row in report["excluded"]["reasons"]}
    for name, value in (report["audit"] or {}).get("plain", {}).items():
        shown[f"audit.plain.{name}"] = value
    return {address: value for address, value in shown.items() if value is not None and not isinstance(value, str)} | {
        address: value for address, value in shown.items() if address.startswith("order")
    }


def both_ends(name: str, row: dict[str, Any], *columns: str) -> Shown:
    """Columns of a row; an interval has two ends."""
    shown = {f"{name}.{column}": row[column] for column in columns if column != "ci95"}
    if "ci95" in columns and row["ci95"] is not None:
        at = f"{name}ci95" if name.endswith("_") else f"{name}.ci95"
        shown |= {f"{at}[low]": row["ci95"][0], f"{at}[high]": row["ci95"][1]}
    return shown


def of_csv(tables: dict[str, list[dict[str, str]]]) -> Shown:
    """The backend's CSV tables."""
    shown: Shown = {}
    interval_of = {"ci95_low": "ci95[low]", "ci95_high": "ci95[high]"}
    for row in tables["coefficients"]:
        columns = {"value": "value", "standard_error": "standard_error", **interval_of}
        shown |= {f"coefficients.{row['coefficient']}.{key}": row[column] for column, key in columns.items()}
    for row in tables["annotators"]:
        name = f"raters[{row['name']}]"
        shown |= {f"{name}.n_items": row["tasks"], f"{name}.agreement": row["agreement"]}
        shown |= {f"{name}.agreement_{key}": row[column] for column, key in interval_of.items()}
        shown |= {f"{name}.cohen_kappa.value": row["cohen_kappa"], f"excluded of {row['name']}": row["left_out"]}
    for row in tables["annotator_pairs"]:
        name = f"rater_pairs[{row['first']} & {row['second']}]"
        shown |= {f"{name}.n_items": row["tasks"], f"{name}.observed_agreement": row["observed_agreement"]}
        shown |= {f"{name}.observed_agreement_{key}": row[column] for column, key in interval_of.items()}
        shown |= {f"{name}.expected_agreement": row["expected_agreement"]}
        shown |= {f"{name}.cohen_kappa.value": row["cohen_kappa"]}
    for place, row in enumerate(tables["tasks"]):
        shown |= {f"order[{place}]": row["task"], f"items[{row['task']}].agreement": row["agreement"]}
        shown |= {f"priority[{row['task']}]": row["priority"], f"items[{row['task']}].n_raters": row["annotators"]}
    for row in tables["reasons"]:
        shown[f"reasons.rater_pairs[{row['first']} & {row['second']}].kinds.{row['reason']}"] = row["tasks"]
    shown["excluded"] = str(len(tables["left_out"]))
    return {address: value for address, value in shown.items() if value != ""}


def of_panel(task: int, panel: dict[str, Any]) -> Shown:
    """The panel of a task."""
    shown: Shown = {f"items[{task}].agreement": panel["task"]["agreement"]}
    shown[f"items[{task}].n_raters"] = panel["task"]["n_raters"]
    names = [one["name"] for one in panel["raters"]]
    for a, first in enumerate(names):
        for b, second in enumerate(names[:a]):
            shown[f"items[{task}].pairs[{second} & {first}].equivalence"] = panel["matrix"][a][b]
    for place, match in enumerate(panel["matches"]):
        shown[f"items[{task}].matches[{place}].equivalence"] = match["equivalence"]
    shown["n_compared"] = panel["project"]["n_items"]
    return shown | {"headline.value": panel["project"]["coefficient"]["value"]}


@pytest.mark.parametrize("judged", [0, 12])
def test_every_number(tmp_path: Path, judged: int) -> None:
    """The report's JSON, page and tables and the panel show what the library computes of the same answers."""
    project = Seeded(tmp_path)
    project.update(required=1)
    project.put(answers(), excluded=EXCLUDED)
    project.score()
    if judged:
        judge(project, drawn(project), judged, "different")
    sheets = judged_sheets(project.reviews, project.project, "findings")
    report = by_library(list(sheets))
    known = numbers(report)
    page = project.get(f"/report/{NUMBER}").text
    on_page = of_figures(html.fromstring(page.encode()), "task", "annotator")
    tables = {name: project.csv(f"/report/{NUMBER}/{name}.csv") for name in TABLES}
    surfaces = {
        "api": of_api(project.get("/api/report").json),
        "page": {address: one for address, one in on_page.items() if not address.startswith("excluded.")},
        "csv": of_csv(tables),
    }
    person = project.as_person()
    for item in report["items"]:
        if item["agreement"] is not None:
            query = {"project": NUMBER, "task": int(item["id"]), "k": project.key()}
            surfaces[f"panel {item['id']}"] = of_panel(
                int(item["id"]), person.get("/api/panel", query_string=query).json
            )
    for surface, shown in surfaces.items():
        wrong = {
            address: (written, known.get(address, (None, "not in the JSON"))[1])
            for address, written in shown.items()
            if address not in known or not agrees(known[address][1], written)
        }
        assert not wrong, surface
    assert [len(surfaces[name]) > 100 for name in ("api", "page", "csv")] == [True] * 3
