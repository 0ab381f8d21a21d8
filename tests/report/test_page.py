"""The page of a report in a real Chromium, from a file and without a network.

Its figures are drawn, and texts stay texts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.meaning.measures.terminology import with_terminology
from softirr.report.page.render import report_page
from tests.browser.browsers import serious_faults

HOSTILE = "</script><script>window.__pwned=1</script><img src=x onerror=window.__pwned=2>"


def report_of(texts: list[tuple[str, str, str]], **options: Any) -> softirr.AgreementReport:
    return softirr.agreement(
        softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in texts), "indel", **options
    )


def rows(n: int, hostile: str = "") -> list[tuple[str, str, str]]:
    texts = ("fever", "high fever", "cough", "rash of the left arm", "rash of the right arm")
    return [
        (f"{item}{hostile}", f"{rater}{hostile}", f"{texts[(item * step) % 5]}{hostile}")
        for item in range(n)
        for step, rater in enumerate(("ann", "bob", "cy"), start=1)
    ]


def test_a_report_without_an_agreement_has_a_page() -> None:
    text = report_page(report_of([("1", "ann", "fever")]).to_dict())
    assert (
        "There is no agreement to report yet" in text
        and "nan" not in text.partition("<main")[2].partition("<script")[0]
    )


def test_reasons_are_english_sentences_around_right_to_left_texts() -> None:
    text = report_page(
        report_of([("1", "ann", "حمى"), ("1", "bob", "צהבת"), ("2", "ann", "a"), ("2", "bob", "b")]).to_dict()
    )
    assert 'dir="ltr">حمى against צהבת</bdi>' in text and 'dir="auto">حمى</bdi>' in text


def test_page_counts_the_texts_that_a_terminology_knows(tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("id\tname\tsynonym\nT1\tfever\tpyrexia\n")
    answers = [(str(n), rater, text) for n in range(4) for rater, text in (("ann", "cough"), ("bob", "fever"))]
    combined = with_terminology(softirr.measure("indel"), [tmp_path / "terms.tsv"])
    table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in answers)
    text = report_page(softirr.agreement(table, combined).to_dict())
    assert re.search(r"Texts that the terminologies know</dt><dd><bdi>1 of 2</bdi>", text)
    assert "Texts that the terminologies know" not in report_page(report_of(rows(5)).to_dict())


def test_the_number_of_judgments_is_beside_the_value() -> None:
    report = report_of(rows(12)).to_dict()
    assert '<span class="badge">no judgments</span>' in report_page(report)
    report["coefficients"]["krippendorff_alpha"]["judgments"] = 60
    assert '<span class="badge">60 judgments</span>' in report_page(report)


def test_many_items_say_where_the_rest_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from softirr.report.page import view

    monkeypatch.setattr(view, "MOST_ITEMS", 5)
    text = report_page(report_of(rows(9)).to_dict())
    assert "5 items to look at first of 9" in text and text.count('<th scope="row" class="item">') == 5


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_texts_stay_texts_in_a_file(chromium: Any, tmp_path: Path, pictures: Path, width: int) -> None:
    report = report_of(rows(20, HOSTILE)).to_dict()
    for item in report["items"]:
        item["reasons"] = [{"kind": "unrelated", "words": "a long reason " * 20 + HOSTILE}]
    (tmp_path / "report.html").write_text(report_page(report, source=f"ward {HOSTILE}.csv"))
    context = chromium.new_context(viewport={"width": width, "height": 900}, offline=True)
    page = context.new_page()
    problems: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    page.locator(".tabs [aria-current]").wait_for()
    layout = page.evaluate(
        "({pwned: window.__pwned ?? null, images: document.images.length, wide: document.documentElement.scrollWidth,"
        " charts: [...document.querySelectorAll('.chart')].length, title: document.querySelector('h1').textContent,"
        " matrix: document.querySelectorAll('.heat tbody tr').length, rows: document.querySelectorAll('.queue tbody tr').length,"
        " readable: document.querySelector('.queue .texts').offsetWidth > 200"
        " && document.querySelector('.queue').offsetWidth <= document.querySelector('.queue').parentElement.clientWidth})"
    )
    page.screenshot(path=pictures / f"report-file-{width}.png")
    assert layout == {
        "pwned": None,
        "images": 0,
        "wide": width,
        "charts": 3,
        "title": f"ward {HOSTILE}.csv",
        "matrix": 3,
        "rows": 20,
        "readable": True,
    }
    assert problems == [] and [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert serious_faults(page) == []
    context.close()
