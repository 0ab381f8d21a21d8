"""The panel inside a real Label Studio: one key per task, the star, blindness, phone and dark mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ml_backend.demo import Demo
from ml_backend.demo.project import CONTROL
from softirr.answers.labelstudio import AGREED_ID
from tests.browser.browsers import drawn_panel, open_listed_task, panel, serious_faults, task_address, wait_for

THREE = {"Anna Brandt": ["fever"], "Ben Okafor": ["fever"], "Chiara Rossi": ["fever", "rash"]}


def agreed_annotations(demo: Demo, task: int) -> list[dict[str, Any]]:
    annotations: list[dict[str, Any]] = demo.api.get(f"/api/tasks/{task}/annotations/")
    return [row for row in annotations if str((row["result"] or [{}])[0].get("id", "")).startswith(AGREED_ID)]


def wait_for_focus_in_panel(page: Any) -> None:
    wait_for(lambda: page.evaluate("document.activeElement.tagName") == "IFRAME", "the panel does not have the focus")


def test_enter_accepts_and_opens_the_next_task_without_a_page_load(demo: Demo, people: Any, pictures: Path) -> None:
    context = people.context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    open_listed_task(page, demo.links["triage"], row=2)
    page.reload()
    drawn_panel(page)
    page.locator("#softirr-skip").wait_for(state="attached")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "softirr-skip", "one Tab from the start of the page"
    page.keyboard.press("Enter")
    wait_for_focus_in_panel(page)
    footer, bar = panel(page).locator(".sirr-foot"), page.locator(".lsf-bottombar")

    def is_in_sight() -> bool:
        box = footer.bounding_box()
        return box["y"] + box["height"] <= bar.bounding_box()["y"] + 1

    wait_for(is_in_sight, "the footer is out of sight")
    page.screenshot(path=pictures / "panel-in-label-studio.png")
    accepted: list[int] = []
    while len(accepted) < 2:
        task = int(page.url.rpartition("task=")[2])
        page.evaluate("window.isLoadedBefore = true")
        listed = page.evaluate("dataManager.store.taskStore.list.map(({ id }) => id)")
        if panel(page).locator('[data-id="accept"]').is_enabled():
            accepted.append(task)
            page.keyboard.press("Enter")
        else:
            page.keyboard.press("s")
        page.wait_for_url(lambda url, task=task: "task=" in url and not url.endswith(f"task={task}"))
        drawn_panel(page)
        wait_for_focus_in_panel(page)
        if int(page.url.rpartition("task=")[2]) in listed:
            assert page.evaluate("window.isLoadedBefore"), "Label Studio's page is loaded again"
    for task in accepted:
        (saved,) = agreed_annotations(demo, task)
        assert saved["ground_truth"] is True
        demo.api.delete(f"/api/annotations/{saved['id']}/")
    context.close()


def test_agreed_answer_is_withdrawn_and_changes_no_answer(demo: Demo, page: Any, new_task: Callable[..., int]) -> None:
    task = new_task("A note.", THREE)
    demo._json("sync", "--project", str(demo.project))
    page.goto(task_address(demo, task))
    frame = drawn_panel(page)
    agreement = frame.locator("[data-agreement]").inner_text()
    frame.get_by_role("button", name="rash").first.click()
    frame.get_by_role("button", name="Accept and next").click()
    wait_for(lambda: agreed_annotations(demo, task), "no annotation is saved")
    (saved,) = agreed_annotations(demo, task)
    assert saved["result"][0]["value"]["text"] == ["fever", "rash"] and saved["result"][0]["from_name"] == CONTROL
    demo._json("sync", "--project", str(demo.project))
    page.goto(task_address(demo, task))
    drawn_panel(page).get_by_role("button", name="Withdraw").wait_for()
    assert frame.locator("[data-agreement]").inner_text() == agreement, "the agreed answer counts as an answer"
    frame.get_by_role("button", name="Withdraw").click()
    wait_for(lambda: not agreed_annotations(demo, task), "the annotation stays")


def test_annotators_see_nothing(demo: Demo, annotator: Any, new_task: Callable[..., int]) -> None:
    new_task("A note that nobody has answered.", {})
    for address in (f"{demo.server.url}/projects/{demo.project}/data?labeling=1", task_address(demo, 1)):
        annotator.goto(address)
        panel(annotator).locator("#panel[data-ready=hidden]").wait_for(state="attached")
        expect(annotator.locator(".softirr-agreement").first).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_panel_is_accessible_on_a_phone(demo: Demo, people: Any, pictures: Path, scheme: str) -> None:
    context = people.context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(task_address(demo, 1))
    frame = drawn_panel(page)
    page.evaluate(f"document.documentElement.dataset.colorScheme = '{scheme}'")
    wait_for(
        lambda: frame.locator("body").evaluate("() => document.documentElement.dataset.theme") == scheme,
        "the panel does not follow Label Studio's switch",
    )
    page.screenshot(path=pictures / f"panel-phone-{scheme}.png")
    assert frame.locator("body").evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert [fault for fault in serious_faults(page) if "sirr" in str(fault)] == []
    context.close()
