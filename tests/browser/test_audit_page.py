"""The audit page in a real browser, over a real Label Studio."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ml_backend.demo import Demo, example
from softirr.numbers import number
from tests.browser.browsers import serious_faults, wait_for
from tests.browser.projects import of_command_line

KEY = example.key()
SAVED = "async (p) => (await (await fetch(`../api/audit?project=${p}`)).json()).audit.judges[0].n"


def texts_of(page: Any) -> list[str]:
    return page.evaluate("['first', 'second'].map((id) => document.getElementById(id).textContent)")


def right_key(page: Any) -> str:
    """The key of the true verdict on the present pair."""
    first, second = texts_of(page)
    return "1" if KEY.get(first, first) == KEY.get(second, second) else "2"


def begin_audit(page: Any, demo: Demo, pictures: Path) -> None:
    page.goto(f"{demo.url}/audit/{demo.project}")
    page.locator("#begin").wait_for()
    page.screenshot(path=pictures / "audit-start.png")
    assert serious_faults(page) == []
    assert page.inner_text("#cost") == "60 judgments: about 5 to 12 minutes."
    page.fill("input[name=judgments]", "30")
    assert page.inner_text("#cost").startswith("30 judgments: about 3 to 6 minutes")
    page.keyboard.press("Enter")
    page.locator("#judging").wait_for()
    assert "kappa" not in page.inner_text("main")
    page.wait_for_timeout(200)
    page.screenshot(path=pictures / "audit.png")
    assert serious_faults(page) == []


def change_a_verdict(page: Any) -> None:
    """Take a wrong key back; then change a verdict without losing the current pair."""
    page.keyboard.press("5")
    page.keyboard.press("Backspace")
    assert page.locator("#previous").is_hidden()
    first = texts_of(page)
    page.keyboard.press("5")
    assert "can’t tell" in page.inner_text("#previous") and first[0] in page.inner_text("#previous")
    second = texts_of(page)
    page.click("#change")
    assert texts_of(page) == first
    assert page.locator("[data-verdict=unsure]").get_attribute("aria-pressed") == "true"
    page.keyboard.press(right_key(page))
    assert texts_of(page) == second and "can’t tell" not in page.inner_text("#previous")


def stop_and_go_on(page: Any) -> None:
    """A judge who stops reads what was done."""
    page.click("#stop")
    page.locator("#stopped").wait_for()
    assert "You judged 1 of 30 pairs" in page.inner_text("#stopped")
    assert "A result needs 10 judgments" in page.inner_text("#stopped") and page.locator("#work-out").is_hidden()
    assert serious_faults(page) == []
    page.click("#go-on")


def judge_all_pairs(page: Any, demo: Demo) -> None:
    """One key for each pair, with a reload in between, as on another day."""
    keys, reloaded = 0, False
    while page.locator("#judging").is_visible():
        count_before = page.inner_text("#count")
        page.keyboard.press(right_key(page))
        keys += 1
        assert keys < 30, "30 judgments are 30 keys"
        if keys == 12 and not reloaded:  # another day
            reloaded = True
            wait_for(lambda: page.evaluate(SAVED, demo.project) == 13, "the judgments are not saved")
            page.reload()
            page.locator("#begin").wait_for()
            assert page.inner_text("#begin-button") == "Go on"
            page.click("#begin-button")
            page.locator("#judging").wait_for()
            continue
        page.wait_for_function(
            "was => document.getElementById('judging').hidden || document.getElementById('count').textContent !== was",
            arg=count_before,
        )
    assert keys == 29


def judge_as_another(chromium: Any, demo: Demo, pictures: Path) -> None:
    """Judge the same pairs with the key alone: the page shows no earlier verdict."""
    context = chromium.new_context()
    second = context.new_page()
    second.goto(demo.links["report"].replace("/report/", "/audit/"))

    def narrow(route: Any) -> None:  # the page's message if the interval is narrow enough
        answer = route.fetch()
        needed = {"needed": {"0.2": 25}, "value": 0.99}
        looks = [{"judged": n, "ci95": ci95, **needed} for n, ci95 in ((10, [0.59, 0.99]), (25, [0.81, 1.0]))]
        route.fulfill(response=answer, json={**answer.json(), "looks": looks})

    second.route(re.compile(r"/api/audit/[^/?]+\?"), narrow)
    second.fill("input[name=who]", "Second Judge")
    second.keyboard.press("Enter")
    second.locator("#judging").wait_for()
    sentence = "After 25 judgments: 0.99, 95% interval 0.81 to 1.00. You can stop: it is as narrow as you want it."
    expect(second.locator("#narrowing")).to_contain_text(sentence)
    expect(second.locator("#narrowing svg")).to_be_visible()
    was = second.inner_text("#count")
    second.click(".help summary")  # the keys work with the help open too
    second.keyboard.press("2")
    second.wait_for_function("(was) => document.getElementById('count').textContent !== was", arg=was)
    second.screenshot(path=pictures / "audit-second-judge.png")
    second.click("#stop")
    second.locator("#stopped").wait_for()
    ending = second.inner_text("#stopped")
    assert "You judged 1 of 30 pairs" in ending and re.search(r"judges say the same about \d+% of the 1 pair ", ending)
    assert "Yours count as soon as you have judged every pair" in ending
    context.close()


def test_an_audit_by_keyboard_to_the_coefficient_of_the_command_line(
    demo: Demo, clean: Any, chromium: Any, tmp_path: Path, pictures: Path
) -> None:
    begin_audit(clean, demo, pictures)
    change_a_verdict(clean)
    stop_and_go_on(clean)
    judge_all_pairs(clean, demo)
    clean.locator("#stopped").wait_for()
    assert "You judged 30 of 30 pairs" in clean.inner_text("#stopped")
    clean.screenshot(path=pictures / "audit-last.png")
    clean.click("#work-out")
    value = clean.locator(".result-value")
    value.wait_for()
    clean.screenshot(path=pictures / "audit-done.png")

    sheet = tmp_path / "sheet.csv"
    with clean.expect_download() as download:
        clean.click("#sheet")
    download.value.save_as(sheet)
    direct = of_command_line(demo, tmp_path, "audit", "apply", more=[str(sheet)])
    name = value.get_attribute("data-coefficient")
    assert float(value.get_attribute("data-value")) == pytest.approx(direct["coefficients"][name]["value"], abs=1e-9)

    clean.click("#to-report")
    reported_value = clean.locator(f"[data-coefficient={name}]")
    assert reported_value.text_content().strip() == number(direct["coefficients"][name]["value"])
    assert "30 judgments" in clean.inner_text("#basis")
    clean.screenshot(path=pictures / "report-audited.png")

    # the earlier result stays until the last pair is judged
    judge_as_another(chromium, demo, pictures)
    clean.reload()
    assert reported_value.text_content().strip() == number(direct["coefficients"][name]["value"])
