"""Clicks, keys and seconds that a lead and a reviewer need: ``python -m tests.browser.measure_review``.

The demo is started with a real Label Studio and used in Chromium. A lead opens the report and then the worst tasks
of the person whom the report names. A reviewer works through ten tasks with a right suggestion, and through tasks
that Label Studio's list has not loaded. A wait is the time from a click or key to the next page or panel on the
screen, by the browser's clock; reading and the login are not counted. Label Studio alone does the same work:
without the panel's frame, it saves the same annotation and opens the next task of its list.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from ml_backend.demo import Demo
from tests.browser.browsers import drawn_panel, launched, open_listed_task, panel, wait_for
from tests.browser.conftest import People

TASKS = 10
PAUSE = 2500
"""Milliseconds of reading before each key, in which the backend updates the project."""
LISTED = "dataManager.store.taskStore.list.map(({ id }) => String(id))"
NOTE_FOCUS = """if (location.pathname === "/panel") addEventListener("focusin", () => {
  window.focusedAt ??= performance.timeOrigin + performance.now();
});"""
"""The panel takes the focus when it is on the screen."""
ROWS = ".lsf-table__row-wrapper"
SAVE_AND_OPEN_NEXT = """async (pause) => {
  const { taskStore } = dataManager.store;
  const task = Number(new URL(location.href).searchParams.get("task"));
  const next = taskStore.list[taskStore.list.findIndex(({ id }) => id === task) + 1];
  const headers = {
    "Content-Type": "application/json",
    "X-CSRFToken": document.cookie.match(/csrftoken=([^;]+)/)[1],
  };
  const send = async (path, method, body) => {
    const reply = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    return method === "DELETE" ? null : reply.json();
  };
  const forms = () => [...document.querySelectorAll(".softirr-agreement")];
  const seen = new WeakSet(forms());
  const start = performance.now();
  let saved = 0, drawn = 0;
  const watch = new MutationObserver(() => {
    for (const form of forms().filter((candidate) => !seen.has(candidate))) {
      seen.add(form);
      drawn = performance.now();
    }
  });
  watch.observe(document.body, { childList: true, subtree: true });
  const [{ result }] = await send(`/api/tasks/${task}/annotations/`, "GET");
  const { id } = await send(`/api/tasks/${task}/annotations/`, "POST", { result, ground_truth: true, lead_time: 0 });
  saved = performance.now();
  dataManager.store.startLabeling(next);
  await new Promise((resolve) => setTimeout(resolve, pause));
  watch.disconnect();
  await send(`/api/annotations/${id}/`, "DELETE");
  return { saved: (saved - start) / 1000, drawn: (drawn - start) / 1000 };
}"""
"""Label Studio draws the form of a task twice; the last time counts."""


def lead(page: Any, report: str) -> dict[str, Any]:
    """Read the verdict and open the first of the worst tasks; returns clicks and seconds."""
    start = time.monotonic()
    page.goto(report)
    page.locator("#verdict").wait_for()
    waits = [time.monotonic() - start]
    start = time.monotonic()
    with page.context.expect_page() as opened:
        page.locator("a", has_text="worst tasks").click()
    tasks = opened.value
    tasks.locator(ROWS).first.wait_for()
    waits.append(time.monotonic() - start)
    start = time.monotonic()
    tasks.locator(ROWS).first.click(position={"x": 60, "y": 10})
    drawn_panel(tasks)
    waits.append(time.monotonic() - start)
    return {"clicks": 2, "seconds": [round(seconds, 1) for seconds in waits]}


def review(page: Any, triage: str) -> dict[str, Any]:
    """Accept the suggestions of ten tasks from the first row on, and of ten from the end of the loaded list on."""
    page.context.add_init_script(NOTE_FOCUS)
    open_listed_task(page, triage, row=0)
    listed = accepted_tasks(page, TASKS)
    page.goto(triage)
    page.locator(ROWS).first.wait_for()
    page.goto(f"{triage}&task={page.evaluate(LISTED)[-1]}")
    beyond = [task for task in accepted_tasks(page, TASKS) if not task["is_listed"]]
    return {
        "tasks": sum(task["is_accepted"] for task in listed),
        "keys": sum(task["is_accepted"] for task in listed),
        "skipped_tasks": sum(not task["is_accepted"] for task in listed),
        "page_loads": sum(task["is_loaded"] for task in listed),
        "in_loaded_list": _seconds([task for task in listed if task["is_listed"]]),
        "beyond_loaded_list": _seconds([task for task in beyond if not task["is_loaded"]]),
        "with_page_load": _seconds([task for task in (*listed, *beyond) if task["is_loaded"]]),
    }


def accepted_tasks(page: Any, n: int) -> list[dict[str, Any]]:
    """Work on from the open task until `n` answers are accepted; tasks without a suggestion are skipped."""
    drawn_panel(page).locator(".sirr-sentence").click()
    worked: list[dict[str, Any]] = []
    while sum(task["is_accepted"] for task in worked) < n:
        number = page.url.rpartition("task=")[2]
        listed = page.evaluate(LISTED)
        page.evaluate("window.isSamePage = true")
        is_accepted = panel(page).locator('[data-id="accept"]').is_enabled()
        page.wait_for_timeout(PAUSE)
        start = time.time()
        page.keyboard.press("Enter" if is_accepted else "s")
        page.wait_for_url(lambda url, number=number: "task=" in url and not url.endswith(f"task={number}"))
        drawn_panel(page)
        focused = wait_for(lambda: panel(page).locator("body").evaluate("window.focusedAt"), "the panel has no focus")
        worked.append(
            {
                "is_accepted": is_accepted,
                "is_listed": page.url.rpartition("task=")[2] in listed,
                "is_loaded": not page.evaluate("window.isSamePage"),
                "seconds": focused / 1000 - start,
            }
        )
    return worked


def label_studio_alone(page: Any, triage: str) -> dict[str, Any]:
    """Save an annotation and open the next task ten times by Label Studio's own means, with no request to softirr."""
    page.goto(triage)
    rows = page.locator(ROWS)
    rows.first.wait_for()
    page.context.route("**/panel?*", lambda route: route.abort())
    rows.first.click(position={"x": 60, "y": 10})
    page.wait_for_timeout(PAUSE)
    waits = [page.evaluate(SAVE_AND_OPEN_NEXT, PAUSE) for _ in range(TASKS)]
    return {name: round(statistics.median(wait[name] for wait in waits), 2) for name in ("saved", "drawn")}


def _seconds(worked: list[dict[str, Any]]) -> dict[str, Any]:
    times = [task["seconds"] for task in worked if task["is_accepted"]]
    rounded = {"median": round(statistics.median(times), 2), "longest": round(max(times), 2)} if times else {}
    return {"tasks": len(times), **rounded}


def main() -> None:
    """Print the measurement as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="folder of a demo to use again")
    parser.add_argument("--measure")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = arguments.folder or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "demo"
        demo = Demo(folder, measure=arguments.measure, stack=stack)
        demo.open(fresh=arguments.folder is None)
        demo.start()
        people = People(stack.enter_context(launched()), demo)
        context = people.context(viewport={"width": 1280, "height": 900})
        measured = {
            "lead": lead(context.new_page(), demo.links["report"]),
            "reviewer": review(context.new_page(), demo.links["triage"]),
            "label_studio_alone": label_studio_alone(context.new_page(), demo.links["triage"]),
        }
        print(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
