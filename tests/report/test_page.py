"""The page of a report in a real Chromium, from a file and without a network.

Its figures are drawn, and texts stay texts.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.report.page.render import report_page
from softirr.report.view import view
from tests.browser.browsers import serious_faults

HOSTILE = "</script><script>window.__pwned=1</script><img src=x onerror=window.__pwned=2>"


def report_of(texts: list[tuple[str, str, str]], **options: Any) -> softirr.AgreementReport:
    return softirr.agreement(
        softirr.AnnotationTable.from_answers(texts),
        "indel",
        options=softirr.AgreementOptions(**options),
    )


def rows(n: int, hostile: str = "") -> list[tuple[str, str, str]]:
    texts = ("fever", "high fever", "cough", "rash of the left arm", "rash of the right arm")
    return [
        (f"{item}{hostile}", f"{rater}{hostile}", f"{texts[(item * step) % 5]}{hostile}")
        for item in range(n)
        for step, rater in enumerate(("ann", "bob", "cy"), start=1)
    ]


def test_equal_shown_numbers_have_one_shade() -> None:
    """Cells with 0.349 and 0.351 both show 0.35."""
    report_view = view(report_of(rows(5)).to_dict())
    pairs = tuple(
        replace(pair, agreement=value) for pair, value in zip(report_view.pairs, (0.349, 0.351, 0.9), strict=True)
    )
    text = report_page(replace(report_view, pairs=pairs))
    assert len(re.findall(r'<td class="shade-4">0\.35 ', text)) == 4


def test_a_report_without_an_agreement_has_a_page() -> None:
    text = report_page(view(report_of([("1", "ann", "fever")]).to_dict()))
    assert "There is no agreement to report yet" in text and not re.search(
        r"\bnan\b", text.partition("<main")[2].partition("<script")[0]
    )


def test_texts_keep_their_direction() -> None:
    texts = [("1", "ann", "حمى"), ("1", "bob", "צהבת"), ("2", "ann", "a"), ("2", "bob", "b")]
    text = report_page(view(report_of(texts).to_dict()))
    assert "“\u2068حمى\u2069”" in text and '<bdi dir="auto">' in text
    sentence = "\u2068דנה\u2069 has “\u2068צהבת\u2069” instead of “\u2068حمى\u2069”."
    rows = [(str(i), who, "حمى" if who != "דנה" or i else "צהבת") for i in range(4) for who in ("דנה", "ann", "bob")]
    assert f'<bdi dir="ltr">{sentence}</bdi>' in report_page(view(report_of(rows).to_dict())), "English from the left"


def test_the_order_is_verdict_people_items_method() -> None:
    text = report_page(view(report_of(rows(12)).to_dict()))
    headings = ["h-verdict", "h-people", "h-items", "h-method"]
    positions = [text.index(f'id="{heading}"') for heading in headings]
    assert positions == sorted(positions) and "h-fields" not in text and "h-meanings" not in text
    with_meanings = report_page(view(report_of(rows(12), meanings=True).to_dict()))
    assert 'id="h-meanings"' in with_meanings


def test_page_shows_every_sentence_of_the_view() -> None:
    report = report_of(rows(12)).to_dict() | {"target": {"value": 0.8, "source": "set by Ann"}}
    text, shown_view = html.unescape(report_page(view(report))), view(report)
    assert shown_view.verdict.sentence in text and "The target is set by Ann." in text
    assert shown_view.cause is not None and shown_view.cause.sentence in text
    assert shown_view.next_step is not None and shown_view.next_step.sentence in text
    for row in shown_view.items:
        assert row.sentence in text
    for gone in ("Landis", "moderate", "substantial", "chance alone"):
        assert gone not in text


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_texts_stay_texts_in_a_file(chromium: Any, tmp_path: Path, pictures: Path, width: int) -> None:
    report = report_of(rows(20, HOSTILE)).to_dict()
    (tmp_path / "report.html").write_text(report_page(view(report), source=f"ward {HOSTILE}.csv"))
    context = chromium.new_context(viewport={"width": width, "height": 900}, offline=True)
    page = context.new_page()
    problems: list[str] = []
    requested_urls: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requested_urls.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    page.locator(".queue tbody tr").first.wait_for()
    layout = page.evaluate(
        "({pwned: window.__pwned ?? null, images: document.images.length, wide: document.documentElement.scrollWidth,"
        " charts: [...document.querySelectorAll('.chart')].length, title: document.querySelector('h1').textContent,"
        " matrix: document.querySelectorAll('.heat tbody tr').length,"
        " rows: document.querySelectorAll('.queue tbody tr').length,"
        " readable: document.querySelector('.queue .reason').offsetWidth > 200"
        " && document.querySelector('.queue').offsetWidth"
        " <= document.querySelector('.queue').parentElement.clientWidth})"
    )
    page.screenshot(path=pictures / f"report-file-{width}.png")
    assert layout == {
        "pwned": None,
        "images": 0,
        "wide": width,
        "charts": layout["charts"],
        "title": f"ward {HOSTILE}.csv",
        "matrix": 3,
        "rows": 20,
        "readable": True,
    }
    assert problems == [] and [url for url in requested_urls if not url.startswith(("file:", "data:"))] == []
    assert serious_faults(page) == []
    context.close()
