"""The tutorial's path through the demo, walked as it is written, and Label Studio's own dark mode on the way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ml_backend.demo import Demo, email_of
from ml_backend.demo.server import ADMIN_EMAIL, ADMIN_PASSWORD
from tests.browser.browsers import panel, serious_faults, task_address, wait_for
from tests.browser.projects import panel_key

ROWS = ".lsf-table__row-wrapper"
ON_THE_ID = {"x": 60, "y": 10}  # elsewhere in a row there may be a button


@pytest.fixture
def stranger(people: Any) -> Any:
    """Somebody who has only the addresses that the demo printed.

    No login yet, and a browser that says nothing of light and dark.
    """
    context = people.stranger(viewport={"width": 1280, "height": 900}, color_scheme="null")
    yield context.new_page()
    context.close()


def test_from_the_printed_addresses_to_the_audit(
    demo: Demo, stranger: Any, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo.print_addresses()
    printed = capsys.readouterr().out
    triage = re.search(r"Triage, lowest agreement first +(\S+)", printed)
    report = re.search(r"Report +(\S+)", printed)
    assert triage and report and ADMIN_EMAIL in printed and ADMIN_PASSWORD in printed
    value = re.search(r"Krippendorff's alpha (-?\d\.\d\d)", printed)
    assert value

    # the triage address asks for the login and leads to the triage tab
    page = stranger
    page.goto(triage[1])
    page.fill("input[name=email]", ADMIN_EMAIL)
    page.fill("input[name=password]", ADMIN_PASSWORD)
    page.click("button[type=submit]")
    page.locator(ROWS).first.wait_for()
    assert re.sub(r"/\?", "?", page.url) == triage[1]

    # the first task shows its panel, although an annotator skipped it
    page.locator(ROWS).first.click(position=ON_THE_ID)
    page.wait_for_url(re.compile(r"[?&]task=\d+"))
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    expect(frame.locator(".sirr-facts")).to_contain_text(re.compile(f"Krippendorff.s alpha {re.escape(value[1])}"))
    expect(frame.locator(".sirr-pick").first).to_be_attached()
    expect(frame.locator(".sirr")).to_contain_text("Anna Brandt: skipped")

    # Label Studio's own switch: the panel follows, in light and dark, and both are readable
    def scheme() -> tuple[str, bool]:
        inner = frame.locator("body").evaluate(
            "(one) => [getComputedStyle(one).backgroundColor, matchMedia('(prefers-color-scheme: dark)').matches]"
        )
        return tuple(inner)

    inside = next(one for one in page.frames if "/panel" in one.url)
    wait_for(lambda: scheme() == ("rgb(255, 255, 255)", False), "the panel is not light")
    assert serious_faults(inside) == []
    page.locator("button", has_text=re.compile(r"^(Auto|Light|Dark)$")).first.click()
    wait_for(lambda: page.locator("html[data-color-scheme=dark]").count(), "Label Studio stays light")
    wait_for(lambda: scheme() == ("rgb(27, 28, 32)", True), "the panel stays light in Label Studio's dark")
    page.locator("iframe[title=Agreement]").first.scroll_into_view_if_needed()
    page.screenshot(path=pictures / "walk-dark.png")
    white = page.locator(".softirr-agreement").first.evaluate(
        "(one) => [...one.querySelectorAll('*')].filter((e) => getComputedStyle(e).backgroundColor === 'rgb(255, 255, 255)').length"
    )
    assert white == 0, "Label Studio's box around the panel stays white"
    inside = next(one for one in page.frames if "/panel" in one.url)
    assert serious_faults(inside) == []

    # the panel's link opens the report with the same headline, that one's link the audit
    with page.context.expect_page() as opened:
        frame.get_by_role("link", name="Project report").click()
    shown = opened.value
    shown.locator("#headline-value").wait_for()
    assert shown.inner_text("#headline-value").replace("−", "-") == value[1]
    assert "no judgments" in shown.inner_text(".headline") and "no judgments" in printed
    shown.screenshot(path=pictures / "walk-report.png")
    shown.get_by_role("link", name="Audit", exact=True).first.click()
    shown.locator("#begin").wait_for()
    assert serious_faults(shown) == []

    # the printed address of the report opens it too, for who is not logged in
    context = page.context.browser.new_context()
    other = context.new_page()
    other.goto(report[1])
    other.locator("#headline-value").wait_for()
    context.close()


@pytest.mark.slow
def test_an_annotator_and_who_has_the_panels_key_alone(demo: Demo, people: Any, chromium: Any) -> None:
    """Anna skipped task 62 and was not asked about task 20."""
    context = people.context(email_of("Anna Brandt"))
    page = context.new_page()
    page.goto(task_address(demo, 62))
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    expect(frame.locator(".sirr")).to_contain_text("Anna Brandt: skipped")
    assert frame.get_by_role("button").count() == 0 and frame.get_by_role("link").count() == 0
    page.goto(task_address(demo, 20))
    panel(page).get_by_text("once your own answer to this task is in").wait_for()
    page.goto(f"{demo.url}/report/{demo.project}")
    page.get_by_text("Only the project’s lead and reviewers").wait_for()
    context.close()

    key = panel_key(demo.api.get(f"/api/projects/{demo.project}/")["label_config"])
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{demo.url}/panel?k={key}&project={demo.project}&task=62")
    page.get_by_text("Agreement is shown to people of this project").wait_for()
    assert "malaise" not in page.content()
    for place in ("report", "audit"):
        page.goto(f"{demo.url}/{place}/{demo.project}?k={key}")
        assert "Not shown" in page.inner_text("h1")
    page.goto(f"{demo.url}/panel?k=wrong")
    assert "connect again" in page.inner_text("main") and "{" not in page.inner_text("body")
    context.close()


@pytest.mark.slow
def test_every_task_with_a_text_that_nothing_matches_offers_a_repair(demo: Demo, people: Any) -> None:
    context = people.context()
    page = context.new_page()
    page.goto(demo.links["report"])
    page.locator("#headline-value").wait_for()
    key = demo.links["report"].partition("k=")[2]
    lonely = with_way = 0
    for task in demo.api.tasks(demo.project):
        body = page.evaluate(
            "async ([project, task, key]) => (await fetch(`../api/panel?project=${project}&task=${task}&k=${key}`)).json()",
            [demo.project, task["id"], key],
        )
        if body["status"] == "ready" and body["unmatched"]:
            lonely += 1
            others = {rater for match in body["matches"] for rater in match["texts"]} | set(body["unmatched"])
            with_way += all(others - {rater} for rater in body["unmatched"])
    context.close()
    assert lonely > 20
    # a text can't be the same as one that nobody wrote: where all others are empty there is nothing to repair
    assert with_way >= lonely - 3, (with_way, lonely)
