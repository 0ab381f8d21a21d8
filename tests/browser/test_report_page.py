"""The report of the demo in a real browser: numbers, Done, paper and the phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ml_backend.demo import Demo
from softirr.numbers import number
from tests.browser.browsers import panel, serious_faults, wait_for


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_report_fits_and_is_accessible(demo: Demo, clean: Any, pictures: Path, width: int, scheme: str) -> None:
    clean.set_viewport_size({"width": width, "height": 900})
    clean.emulate_media(color_scheme=scheme)
    clean.goto(demo.links["report"])
    clean.locator("#verdict").wait_for()
    assert "k=" not in clean.url, "the key stays in the address"
    assert clean.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious_faults(clean) == []
    clean.screenshot(path=pictures / f"report-{width}-{scheme}.png", full_page=True)


def test_numbers_are_those_of_the_command_line(demo: Demo, clean: Any, score: Callable[[], Any]) -> None:
    clean.goto(demo.links["report"])
    clean.locator("#verdict").wait_for()
    cells = {cell.get_attribute("data-coefficient"): cell for cell in clean.locator("[data-coefficient]").all()}
    for name, value in score()["coefficients"].items():
        if value["value"] is not None and name in cells:
            assert cells[name].text_content().strip() == number(value["value"]), name


def test_worst_task_is_two_clicks_away_and_has_the_same_sentence(demo: Demo, clean: Any) -> None:
    clean.goto(demo.links["report"])
    row = clean.locator("tr[data-item]").first
    sentence = row.locator(".reason").inner_text()
    with clean.context.expect_page() as opened:
        row.locator("a").click()
    page = opened.value
    panel(page).locator(".sirr-sentence").wait_for()
    assert panel(page).locator(".sirr-sentence").inner_text() == sentence
    page.close()


def test_done_marks_stay(demo: Demo, clean: Any) -> None:
    clean.goto(demo.links["report"])
    box = clean.locator("tr[data-item] input.done").first
    box.check()
    wait_for(lambda: clean.locator("tr[data-item].is-done").count() == 1, "the mark is not saved")
    clean.reload()
    wait_for(lambda: clean.locator("tr[data-item] input.done:checked").count() == 1, "the mark is lost")
    clean.locator("table.queue + button.more").click()  # done tasks are at the end of the list
    clean.locator("tr[data-item] input.done:checked").uncheck()
    wait_for(lambda: clean.locator("tr[data-item].is-done").count() == 0, "the mark stays")


def test_stranger_without_key_sees_nothing(demo: Demo, chromium: Any) -> None:
    context = chromium.new_context()
    assert context.new_page().goto(f"{demo.url}/report/{demo.project}").status == 403
    context.close()
