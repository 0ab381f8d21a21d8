"""Reviewers at work in the panel inside Label Studio: by keys, on regions, taking back, proposing a rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ml_backend.demo import Demo
from ml_backend.demo.server import ADMIN_EMAIL
from tests.browser.browsers import panel, task_address, wait_for
from tests.browser.projects import annotation, connected_project
from tests.browser.task_panel import ON_THE_ID, ROWS, THREE, assert_same, shown

REGIONS = """<View><Image name="image" value="$image"/>
  <RectangleLabels name="kind" toName="image"><Label value="Eye"/><Label value="Ear"/></RectangleLabels>
  <TextArea name="note" toName="image" perRegion="true"/></View>"""


@pytest.fixture
def region_task(demo: Demo) -> Iterator[tuple[int, int]]:
    """A project whose annotators describe boxes in an image of Label Studio's own; its number, and its task."""

    def box(region: str, text: str, x: float, label: str = "Eye") -> list[dict[str, Any]]:
        where = {"x": x, "y": 20, "width": 15, "height": 20, "rotation": 0}
        both = {"id": region, "to_name": "image", "original_width": 400, "original_height": 300}
        return [
            {**both, "type": "rectanglelabels", "from_name": "kind", "value": {**where, "rectanglelabels": [label]}},
            {**both, "type": "textarea", "from_name": "note", "value": {**where, "text": [text]}},
        ]

    answers = [
        [*box("a1", "left eye", 30), *box("a2", "an ear", 70, "Ear")],
        [*box("b1", "left eye", 33), *box("b2", "shadow", 5, "Ear")],
        [*box("c1", "left eye", 31)],
    ]
    annotations = [annotation(*one) for one in zip(demo._state["users"].values(), answers, strict=False)]
    tasks = [{"data": {"image": "/static/images/opossum_looking.png"}, "annotations": annotations}]
    options = ["--measure", "exact", "--regions", "overlap", "--reviewer", ADMIN_EMAIL]
    with connected_project(demo, "Regions", REGIONS, tasks, *options) as (number, (task,), _):
        yield number, task


def test_a_reviewer_works_through_the_list_by_keys(demo: Demo, people: Any, pictures: Path) -> None:
    """Decide, done, next: without a mouse, and the list comes to its end."""
    context = people.context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(demo.links["triage"])
    page.locator(ROWS).first.click(position=ON_THE_ID)
    page.wait_for_url(re.compile(r"[?&]task=\d+"))
    first = page.url
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    frame.locator(".sirr-verdict").click()
    page.keyboard.press("d")
    frame.get_by_role("button", name="Not done").wait_for()
    try:
        listed = page.evaluate("window.stays = dataManager.store.taskStore.list.map((one) => String(one.id))")
        page.keyboard.press("n")
        page.wait_for_url(lambda url: "task=" in url and url != first)
        frame = panel(page)
        frame.locator("[data-agreement]").wait_for()
        # a task of the list is opened as a click on its row opens it, any other one by loading the page
        there = re.search(r"task=(\d+)", page.url)[1]  # type: ignore[index]
        assert page.evaluate("Boolean(window.stays)") is (there in listed)
        # the tab stays, and so do the hands: the next panel has the focus
        assert re.search(r"[?&]tab=(\d+)", page.url)[1] == re.search(r"[?&]tab=(\d+)", first)[1]  # type: ignore[index]
        wait_for(lambda: frame.locator(".sirr:focus").count(), "the next panel has not the focus")
        page.keyboard.press("?")
        frame.locator(".sirr-help[open]").wait_for()
        page.screenshot(path=pictures / "panel-next.png")
    finally:
        done = re.search(r"task=(\d+)", first)
        assert done
        body = context.request.delete(f"{demo.url}/api/queue/{done[1]}?project={demo.project}")
        assert body.status == 200
    context.close()


def test_what_does_not_count_is_proposed_to_the_lead(demo: Demo, page: Any, pictures: Path) -> None:
    queue = page.context.request.get(f"{demo.url}/api/queue?project={demo.project}&reason=severity&limit=20").json()
    for task in (one["task"] for one in queue["tasks"]):
        page.goto(task_address(demo, task))
        before = shown(page)
        frame = panel(page)
        button = frame.get_by_role("button", name="Does not count in our project: severity").first
        if button.count():
            break
    button.click()
    frame.get_by_text("proposed not to count by Lena Vogel").first.wait_for()
    try:
        page.screenshot(path=pictures / "panel-does-not-count.png")
        assert shown(page)["agreement"] == before["agreement"], "a proposal changes no score"
        report = page.context.new_page()
        report.goto(demo.links["report"])
        row = report.locator("[data-proposed=severity]")
        expect(row).to_contain_text("Severity does not count, says Lena Vogel (1 task)")
        report.close()
    finally:
        frame.get_by_role("button", name="Undo: severity does not count").first.click()
        button.wait_for()


def test_regions_are_shown_selected_and_taken(
    demo: Demo, page: Any, region_task: tuple[int, int], pictures: Path
) -> None:
    number, task = region_task
    address = task_address(demo, task, project=number)
    page.goto(address)
    frame = panel(page)
    row = frame.locator("tr[data-match]", has_text="left eye")
    expect(row.locator(".sirr-region")).to_contain_text("Eye")
    expect(row.locator(".sirr-region")).to_contain_text("30–45% × 20–40%")
    picture = row.locator(".sirr-picture image")
    assert picture.get_attribute("href").endswith("/static/images/opossum_looking.png")
    # the policy of the panel's page lets it show pictures of Label Studio
    assert page.request.get(picture.get_attribute("href")).status == 200
    page.locator("iframe[title=Agreement]").first.evaluate("frame => frame.scrollIntoView({block: 'end'})")
    page.wait_for_timeout(800)
    page.screenshot(path=pictures / "panel-regions.png")
    second = frame.locator(".sirr-unmatched .sirr-region", has_text="5–20%")
    second.get_by_role("button").click()
    selected = "Htx.annotationStore.selected.regionStore.selection.list.map((one) => one.cleanId)"
    wait_for(lambda: page.evaluate(selected) == ["b2"], "Label Studio has not selected the region")
    page.screenshot(path=pictures / "panel-region-selected.png")

    page.goto(address)
    frame.locator(".sirr-verdict").click()
    page.keyboard.press("t")
    page.locator(".lsf-annotation-button_selected.lsf-annotation-button_draftSaved").wait_for()
    drawn = (
        "Htx.annotationStore.selected.results.filter((one) => one.type === 'textarea').map((one) => [...one.mainValue])"
    )
    wait_for(lambda: page.evaluate(drawn) == [["left eye"]], "the draft has not the suggested region")
    # the page was loaded anew, and the panel has the focus as before
    wait_for(lambda: frame.locator(".sirr:focus").count(), "the panel of the draft has not the focus")
    page.screenshot(path=pictures / "panel-region-draft.png")
    # once more opens the same draft
    page.keyboard.press("t")
    wait_for(lambda: len(page.request.get(f"{demo.server.url}/api/tasks/{task}/drafts").json()) == 1, "two drafts")


def test_the_last_act_is_taken_back_whole(demo: Demo, page: Any, new_task: Callable[..., int]) -> None:
    """Moving a text is two decisions and one act; sending back is an act, too."""
    task = new_task("A fever and a dry cough.", THREE)
    page.goto(task_address(demo, task))
    shown(page)
    frame = panel(page)
    frame.locator("tr[data-match] .sirr-pick", has_text="dry cough").first.click()
    frame.locator(".sirr-unmatched .sirr-pick", has_text="pyrexia").click()
    frame.get_by_role("button", name="These are the same").click()
    frame.get_by_text("Decided by reviewers").wait_for()
    frame.locator(".sirr-verdict").click()
    page.keyboard.press("b")
    page.keyboard.type("One finding per line.")
    page.keyboard.press("Enter")
    frame.get_by_text("sent back by Lena Vogel: One finding per line.").wait_for()
    frame.locator(".sirr-verdict").click()
    page.keyboard.press("u")
    frame.get_by_text("sent back by").wait_for(state="detached")
    frame.locator(".sirr-verdict").click()
    page.keyboard.press("u")
    frame.get_by_text("Decided by reviewers").wait_for(state="detached")
    page.keyboard.press("u")
    frame.get_by_text("There is nothing of yours on this task to take back.").wait_for()


def test_a_decision_changes_the_score_and_undo_brings_it_back(
    demo: Demo, page: Any, new_task: Callable[..., int], score: Callable[[], Any], pictures: Path
) -> None:
    task = new_task("A fever and a dry cough.", THREE)
    page.goto(task_address(demo, task))
    before = shown(page)
    frame = panel(page)
    # by letters nothing matches these two, so each stands alone
    for text in ("fever", "pyrexia"):
        frame.locator(".sirr-unmatched .sirr-pick", has_text=text).click()
    frame.get_by_role("button", name="These are the same").click()
    frame.get_by_text("decided: same").first.wait_for()
    after = wait_for(
        lambda: (now := shown(page))["agreement"] > before["agreement"] and now,
        "the score does not follow the decision",
    )
    frame.get_by_text("Decided by reviewers").wait_for()
    # on one host the browser shows Label Studio's session to the backend too, which asks Label Studio who that is
    frame.locator(".sirr-decisions", has_text="Lena Vogel").wait_for()
    page.screenshot(path=pictures / "decided-in-label-studio.png")
    # Anna's and Ben's answers are the same now, so only Chiara's missing text is left of the disagreement
    assert after["agreement"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3, abs=1e-9)

    def predicted() -> float:
        scores = [p["score"] for p in demo.api.get("/api/predictions/", task=task) if p["model_version"] == "agreement"]
        return scores[0] if len(scores) == 1 else -1.0

    wait_for(lambda: predicted() == pytest.approx(after["agreement"], abs=1e-9), "Label Studio's score does not follow")
    frame.locator("tr[data-match]", has_text="pyrexia").get_by_role("button", name="Undo").first.click()
    back = wait_for(
        lambda: (now := shown(page))["agreement"] == before["agreement"] and now, "undo does not bring the score back"
    )
    assert_same(back, score()["items"][task])
