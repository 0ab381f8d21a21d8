"""A reviewer sends a task back in a real Label Studio, and the annotator answers it again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from ml_backend.demo import Demo
from ml_backend.store.reviews import ReviewStore
from softirr.answers.labelstudio import AGREEMENT_VERSION
from tests.browser.browsers import drawn_panel, panel, task_address, wait_for

NARRATIVE = "The patient scratches. The skin is hot."
ANSWERS = {"Anna Brandt": ["itching"], "Ben Okafor": ["pyrexia"], "Chiara Rossi": ["pyrexia"]}
NOTE = "Read the second sentence again."
AGAIN = "Answered again after a reviewer sent the task back:"


def suggestions(demo: Demo, task: int) -> list[Any]:
    """Our predictions of a task, which contain the suggested answer."""
    predictions = demo.api.get(f"/api/predictions?task={task}")
    return [row for row in predictions if row["model_version"].startswith(AGREEMENT_VERSION)]


def test_annotator_sees_the_note_and_nothing_of_colleagues(
    demo: Demo, page: Any, annotator: Any, new_task: Callable[..., int], pictures: Path
) -> None:
    task = new_task(NARRATIVE, ANSWERS)
    demo._json("sync", "--project", str(demo.project))
    wait_for(lambda: suggestions(demo, task), "there is no suggestion")
    send_back(page, demo, task)

    # the act is recorded
    with demo._store() as store:
        reviews, project = ReviewStore(store), demo.row()["id"]
        (act,) = reviews.returns(project, tasks=[task])[task]
        assert (act["reviewer"], act["content"]["note"]) == ("Lena Vogel", NOTE)
    demo._json("sync", "--project", str(demo.project))
    wait_for(lambda: not suggestions(demo, task), "the suggestion stays in Label Studio")

    # panel and report show it to the reviewer
    page.goto(task_address(demo, task))
    frame = drawn_panel(page)
    expect(frame.locator(".sirr-live")).to_have_text(f"sent back by Lena Vogel: {NOTE}")
    expect(frame.locator('[data-id="send-back"]')).to_have_count(0)
    assert task not in ready_tasks(page, demo)

    # the annotator sees the note and their own text
    annotator.goto(task_address(demo, task))
    note = panel(annotator).locator(".sirr-notice")
    expect(note).to_contain_text(NOTE)
    expect(note.locator("li")).to_have_text(["itching"])
    annotator.screenshot(path=pictures / "sent-back-to-annotator.png")
    assert "pyrexia" not in panel(annotator).locator("body").inner_text()


def test_answer_after_a_return_is_marked_and_counts_once(
    demo: Demo, page: Any, annotator: Any, new_task: Callable[..., int], score: Callable[[], Any], pictures: Path
) -> None:
    task = new_task(NARRATIVE, ANSWERS)
    demo._json("sync", "--project", str(demo.project))
    send_back(page, demo, task)
    annotator.goto(task_address(demo, task))
    panel(annotator).locator(".sirr-notice").wait_for()
    annotator.get_by_text("Anna Brandt", exact=True).first.click()  # Label Studio opens the newest annotation
    annotator.get_by_text("itching", exact=True).first.wait_for()
    annotator.get_by_placeholder("Type one finding and press Enter").first.fill("pyrexia")
    annotator.keyboard.press("Enter")
    annotator.locator(".lsf-bottombar button", has_text="Update").click()
    wait_for(lambda: "pyrexia" in str(own_results(demo, task, "Anna Brandt")), "the new answer is not saved")
    demo._json("sync", "--project", str(demo.project))
    annotator.reload()
    panel(annotator).locator("#panel[data-ready=hidden]").wait_for(state="attached")

    # the answer is marked, and each annotator counts once
    page.goto(task_address(demo, task))
    frame = drawn_panel(page)
    expect(frame.locator(".sirr-warning")).to_contain_text(AGAIN)
    expect(frame.locator(".sirr-warning")).to_contain_text("Anna Brandt")
    page.screenshot(path=pictures / "answered-again.png")
    scored = score()["items"][task]
    agreement = float(frame.locator("[data-agreement]").get_attribute("data-agreement"))
    assert scored["n_raters"] == 3 and abs(scored["agreement"] - agreement) < 1e-12
    assert task in ready_tasks(page, demo)
    page.goto(demo.links["report"])
    expect(
        page.locator(".warning", has_text="1 answer was changed after a reviewer sent the task back")
    ).to_be_visible()


def send_back(page: Any, demo: Demo, task: int) -> None:
    """Send a task back with the panel's keys; the panel opens the next task."""
    page.goto(task_address(demo, task))
    frame = drawn_panel(page)
    frame.locator(".sirr-sentence").click()
    page.keyboard.press("b")
    expect(frame.locator('[data-id="note"]')).to_be_focused()
    page.keyboard.type(NOTE)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "task=" in url and f"task={task}" not in url)


def ready_tasks(page: Any, demo: Demo) -> set[int]:
    """The tasks that wait for a reviewer."""
    queue = page.request.get(f"{demo.url}/api/queue?project={demo.project}&limit=1000").json()
    return {entry["task"] for entry in queue["tasks"] if entry["state"] == "ready"}


def own_results(demo: Demo, task: int, name: str) -> list[Any]:
    """The results of a person's annotation of a task."""
    user = demo.files.state["users"][name]
    annotations = demo.api.get(f"/api/tasks/{task}/annotations/")
    return [row["result"] for row in annotations if row["completed_by"] == user]
