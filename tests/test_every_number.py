"""Every number of the JSON of one project is the number on every other surface, or is listed as shown nowhere else.

Text, page, tables, data frames and the view that the backend serves are read back and compared with the JSON at the
precision that they show.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import softirr
from softirr.report.output import FrameKind
from softirr.report.view import view
from tests.programs import printed
from tests.report_numbers import agrees, numbers
from tests.surfaces import of_page, of_tables, of_text, of_view

PAIRS = (
    ("fever", "high fever"),
    ("high fever", "mild fever"),
    ("pyrexia", "fever"),
    ("cough", "dry cough"),
    ("dry cough; fever", "cough; fever"),
    ("rash", "no rash"),
    ("left rash", "right rash"),
    ("itch; rash", "itching"),
    ("N/A", "rash"),
    ("fever; cough; rash", "fever; cough"),
)
OPTIONS = ["--measure", "indel", "--split", "semicolons"]
TERMS = "id\tname\tsynonym\nC1\tfever\tpyrexia\nC2\tcough\ttussis\nC3\trash\texanthema\n"

NOWHERE_ELSE = {
    "schema_version": "version of the format",
    "*.details.*": "single routes to a coefficient",
    "coefficients.judgments": "the same for all coefficients; the headline shows it",
    "raters.*.judgments": "the same",
    "rater_pairs.*.judgments": "the same",
    "headline.without.value": "the view compares a rater with the others instead",
    "raters.cohen_kappa.standard_error": "the tables show the value",
    "raters.cohen_kappa.ci95": "the tables show the value",
    "raters.sigma.standard_error": "the tables show the value",
    "raters.sigma.ci95": "the tables show the value",
    "raters.others.*": "shown in a sentence if a rater stands out",
    "raters.difference.*": "shown in a sentence if a rater stands out",
    "rater_pairs.cohen_kappa.standard_error": "the tables show the value",
    "rater_pairs.cohen_kappa.ci95": "the tables show the value",
    "rater_pairs.sigma.standard_error": "the tables show the value",
    "rater_pairs.sigma.ci95": "the tables show the value",
    "items.pairs.equivalence": "of two answers: the item's agreement is their mean",
    "items.matches.pairs.equivalence": "the equivalence of the match is shown",
    "reasons.pairs": "the sum of the kinds",
    "reasons.items": "items with any reason",
    "reasons.kinds.pairs": "the items are shown",
    "reasons.kinds.examples.pairs": "examples are shown with a rule",
    "reasons.what_if.items": "items that it was computed from",
    "reasons.rater_pairs.n_items": "the same as of the pair of raters",
    "reasons.rater_pairs.kinds": "counted in the reasons",
    "share of kind": "the items are shown",
    "share of pair": "the items are shown",
    "audit.judges": "for programs",
    "audit.off": "by the measure alone minus the value",
    "audit.needed_for_width": "for programs; the next step is a sentence",
    "audit.unused": "the warning has it",
    "provenance.terminologies.*": "of the file of terms",
    "provenance.truncated_texts": "0 here",
    "provenance.pairs_by_use.*": "the cost, for programs",
    "provenance.options.*": "what was asked for",
}
"""Numbers of the JSON that no other surface shows, and why; a * stands for any part."""


SHOWN = {
    "n_items": "text page view",
    "n_raters": "text page view",
    "n_compared": "text page view",
    "headline.value": "text page view",
    "judgments": "text page view",
    "coefficients.value": "text page tables frames view",
    "coefficients.standard_error": "tables frames view",
    "coefficients.ci95": "text page tables frames view",
    "expected_agreement.cohen": "text page",
    "expected_agreement.fleiss": "text page",
    "expected_agreement.krippendorff": "text page",
    "expected_agreement.standard_error": "text page",
    "expected_agreement.pairs_scored": "text page",
    "raters.n_items": "text page tables frames view",
    "raters.agreement": "text page tables frames view",
    "raters.agreement_ci95": "text page tables frames view",
    "raters.cohen_kappa.value": "tables frames view",
    "raters.sigma.value": "tables frames view",
    "rater_pairs.n_items": "page tables frames view",
    "rater_pairs.observed_agreement": "page tables frames view",
    "rater_pairs.observed_agreement_ci95": "tables frames view",
    "rater_pairs.expected_agreement": "tables frames view",
    "rater_pairs.cohen_kappa.value": "tables frames view",
    "rater_pairs.sigma.value": "tables frames view",
    "items.agreement": "text page tables frames view",
    "items.kappa": "tables frames view",
    "items.sigma": "tables frames view",
    "items.n_raters": "tables frames view",
    "items.matches.equivalence": "tables frames",
    "items.matches.support": "tables frames",
    "items.reasons.equivalence": "tables frames",
    "order": "text page view",
    "priority": "tables frames view",
    "reasons.kinds.items": "text page",
    "reasons.what_if.value": "text page",
    "reasons.what_if.instead_of": "text page",
    "terminology.texts": "text page",
    "terminology.known_texts": "text page",
    "excluded": "text page",
    "excluded.reason": "text page",
    "excluded.rater": "page view",
    "audit.judgments": "text page",
    "audit.asked": "text page",
    "audit.plain": "text page view",
    "provenance.seed": "page",
}
"""Surfaces that show each number of the JSON, or each count of its entries."""


def listed_nowhere_else(path: str) -> bool:
    return any(re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), path) for pattern in NOWHERE_ELSE)


def judged_sheet(path: Path, command: list[str], n_judgments: int) -> str:
    """Draw a sheet and judge every third pair the same; its path."""
    lines = printed("audit", "sample", *command, "--judgments", str(n_judgments)).splitlines()
    verdicts = ("same", "different", "different")
    rows = [lines[0], *(line + verdicts[n % 3] for n, line in enumerate(lines[1:]))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module", params=[0, 25], ids=["no judgments", "25 judgments"])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One project: its JSON, and every surface as it was read back."""
    folder = tmp_path_factory.mktemp("project")
    path, terms = folder / "answers.csv", folder / "terms.tsv"
    terms.write_text(TERMS, encoding="utf-8")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("item", "rater", "text"), *answers()])
    command = [str(path), *OPTIONS, "--terminology", str(terms)]
    sheets = [judged_sheet(folder / "sheet.csv", command, request.param)] if request.param else []
    scored = ["audit", "apply", command[0], *sheets, *command[1:]] if sheets else ["score", *command]
    report = json.loads(printed(*scored, "--json"))
    second_report = softirr.agreement(
        softirr.read(path),
        softirr.measure("indel", terminology=[terms]),
        policy=softirr.Policy(split="semicolons"),
        judgments=sheets,
        options=softirr.AgreementOptions(what_if=not sheets),
    )
    second_report.to_folder(folder / "report")
    tables = {}
    for kind in get_args(FrameKind):
        with (folder / "report" / f"{kind}.csv").open(encoding="utf-8", newline="") as file:
            tables[kind] = list(csv.DictReader(file))
    frames = {kind: second_report.to_frame(kind).reset_index().to_dict("records") for kind in get_args(FrameKind)}
    return {
        "json": report,
        "again": second_report.to_dict(),
        "tables": tables,
        "surfaces": {
            "text": of_text(str(second_report) if sheets else printed("score", *command)),
            "page": of_page((folder / "report" / "report.html").read_text(encoding="utf-8")),
            "tables": of_tables(tables),
            "frames": of_tables(frames),
            "view": of_view(json.loads(json.dumps(view(second_report.to_dict()).to_dict()))),
        },
    }


def answers() -> Iterator[tuple[str, str, str]]:
    for i in range(30):
        first, second = PAIRS[i % 10]
        yield f"case {i}", "ann", first
        yield f"case {i}", "ben", second if i % 3 else first
        if i % 4:
            yield f"case {i}", "cho", PAIRS[(i * 7 + 3) % 10][i % 2]
    yield from (("case 90", "ann", "fever"), ("case 91", "ben", ""), ("case 91", "ann", "cough"))


def test_python_has_the_numbers_of_the_json(project: dict[str, Any]) -> None:
    assert numbers(project["again"]) == numbers(project["json"])


@pytest.mark.parametrize("surface", ["text", "page", "tables", "frames", "view"])
def test_every_number_shown_is_that_of_the_json(project: dict[str, Any], surface: str) -> None:
    known_numbers = numbers(project["json"])
    surface_numbers = project["surfaces"][surface]
    wrong = {
        address: (digits, known_numbers.get(address.removeprefix("again:"), (None, "not in the JSON"))[1])
        for address, digits in surface_numbers.items()
        if address.removeprefix("again:") not in known_numbers
        or not agrees(known_numbers[address.removeprefix("again:")][1], digits)
    }
    assert not wrong


def test_every_number_of_the_json_is_compared(project: dict[str, Any]) -> None:
    """With each surface in SHOWN that has it, or listed as shown nowhere else."""
    known_numbers = numbers(project["json"])
    surfaces_of_path: dict[str, set[str]] = {path: set() for path, _ in known_numbers.values()}
    for surface, addresses in project["surfaces"].items():
        for address in addresses:
            surfaces_of_path[known_numbers[address.removeprefix("again:")][0]].add(surface)
    if not known_numbers["expected_agreement.standard_error"][1]:
        del surfaces_of_path["expected_agreement.standard_error"]  # exact: no sentence
    covered = {path: surfaces for path, surfaces in surfaces_of_path.items() if not listed_nowhere_else(path)}
    assert covered == {path: set(SHOWN[path].split()) if path in SHOWN else "is shown nowhere" for path in covered}
    assert not [path for path, surfaces in surfaces_of_path.items() if surfaces and path not in covered]
