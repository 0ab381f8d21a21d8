"""The panel inside a real Label Studio: one key per task, the star, blindness, phone and dark mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ml_backend.demo import CONTROL, Demo
from softirr.answers.labelstudio import AGREED_ID
from tests.browser.browsers import panel, serious_faults, task_address, wait_for

ROWS = ".lsf-table__row-wrapper"
ON_THE_ID = {"x": 60, "y": 10}
THREE = {"Anna Brandt": ["fever"], "Ben Okafor": ["fever"], "Chiara Rossi": ["fever", "rash"]}


def agreed_annotations(demo: Demo, task: int) -> list[dict[str, Any]]:
    annotations: list[dict[str, Any]] = demo.api.get(f"/api/tasks/{task}/annotations/")
    return [
        annotation
        for annotation in annotations
        if str((annotation["result"] or [{}])[0].get("id", "")).startswith(AGREED_ID)
    ]


def test_enter_accepts_and_opens_the_next_task_without_a_page_load(demo: Demo, people: Any, pictures: Path) -> None:
    context = people.context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.goto(demo.links["triage"])
    page.locator(ROWS).nth(2).click(position=ON_THE_ID)
    page.wait_for_url(lambda url: "task=" in url)
    page.reload()
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    page.wait_for_timeout(1000)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "softirr-skip", "one Tab from the start of the page"
    page.keyboard.press("Enter")
    wait_for(lambda: page.evaluate("document.activeElement.tagName") == "IFRAME", "the panel has not the focus")
    foot, bar = frame.locator(".sirr-foot").bounding_box(), page.locator(".lsf-bottombar").bounding_box()
    assert foot["y"] + foot["height"] <= bar["y"] + 1, "the footer is in sight"
    page.screenshot(path=pictures / "panel-in-label-studio.png")
    page.evaluate("window.here = 'the same page'")
    accepted = []
    for _ in range(3):
        url_before = page.url
        if frame.locator('[data-id="accept"]').is_enabled():
            accepted.append(int(url_before.rpartition("task=")[2]))
            page.keyboard.press("Enter")
        else:
            page.keyboard.press("s")
        wait_for(lambda url=url_before: page.url != url, "the next task does not open")
        frame.locator("[data-agreement]").wait_for()
        wait_for(lambda: page.evaluate("document.activeElement.tagName") == "IFRAME", "the next panel has no focus")
    assert page.evaluate("window.here") == "the same page"
    for task in accepted:
        (saved,) = agreed_annotations(demo, task)
        assert saved["ground_truth"] is True
        demo.api.delete(f"/api/annotations/{saved['id']}/")
    context.close()


def test_agreed_answer_is_withdrawn_and_changes_no_answer(demo: Demo, page: Any, new_task: Callable[..., int]) -> None:
    task = new_task("A note.", THREE)
    demo._json("sync", "--project", str(demo.project))
    page.goto(task_address(demo, task))
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    text_before = frame.locator("[data-agreement]").inner_text()
    frame.get_by_role("button", name="rash").first.click()
    frame.get_by_role("button", name="Accept and next").click()
    wait_for(lambda: agreed_annotations(demo, task), "no annotation is saved")
    (saved,) = agreed_annotations(demo, task)
    assert saved["result"][0]["value"]["text"] == ["fever", "rash"] and saved["result"][0]["from_name"] == CONTROL
    demo._json("sync", "--project", str(demo.project))
    page.goto(task_address(demo, task))
    frame.get_by_role("button", name="Withdraw").wait_for()
    assert frame.locator("[data-agreement]").inner_text() == text_before, "it is no answer"
    frame.get_by_role("button", name="Withdraw").click()
    wait_for(lambda: not agreed_annotations(demo, task), "the annotation stays")


def test_annotators_see_nothing(demo: Demo, annotator: Any, new_task: Callable[..., int]) -> None:
    new_task("A note that nobody has answered.", {})
    for address in (f"{demo.server.url}/projects/{demo.project}/data?labeling=1", task_address(demo, 1)):
        annotator.goto(address)
        annotator.locator("iframe[title=Agreement]").first.wait_for(state="attached")
        annotator.wait_for_timeout(3000)
        assert not annotator.locator(".softirr-agreement").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_panel_is_accessible_on_a_phone(demo: Demo, people: Any, pictures: Path, scheme: str) -> None:
    context = people.context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(task_address(demo, 1))
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    page.evaluate(f"document.documentElement.dataset.colorScheme = '{scheme}'")
    wait_for(
        lambda: frame.locator("body").evaluate("() => document.documentElement.dataset.theme") == scheme,
        "the panel does not follow Label Studio's switch",
    )
    page.screenshot(path=pictures / f"panel-phone-{scheme}.png")
    assert frame.locator("body").evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert [fault for fault in serious_faults(page) if "sirr" in str(fault)] == []
    context.close()
