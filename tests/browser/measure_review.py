"""Clicks, keys and seconds that a lead and a reviewer need: ``python -m tests.browser.measure_review``.

The demo is started with a real Label Studio and used in Chromium. A lead opens the report and then the worst tasks
of the person whom the report names. A reviewer works through ten tasks with a right suggestion. A wait is the time
from a click or key to the next page or panel on the screen; reading and the login are not counted.
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
ROWS = ".lsf-table__row-wrapper"


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
    """Accept the suggestions of ten tasks, and skip tasks without one; returns keys and seconds."""
    open_listed_task(page, triage, row=0)
    drawn_panel(page).locator(".sirr-sentence").click()
    accepted, skipped, in_page, loaded = 0, 0, [], []
    while accepted < TASKS:
        task, start = page.url.rpartition("task=")[2], time.monotonic()
        page.evaluate("window.isSamePage = true")
        is_right = panel(page).locator('[data-id="accept"]').is_enabled()
        page.keyboard.press("Enter" if is_right else "s")
        page.wait_for_url(lambda url, task=task: "task=" in url and not url.endswith(f"task={task}"))
        drawn_panel(page)
        wait_for(lambda: page.evaluate("document.activeElement.tagName") == "IFRAME", "the panel has no focus")
        seconds = time.monotonic() - start
        (in_page if page.evaluate("window.isSamePage") else loaded).append(seconds)
        accepted, skipped = accepted + is_right, skipped + (not is_right)
    return {
        "tasks": accepted,
        "keys": accepted,
        "skipped_tasks": skipped,
        "median_seconds_in_page": round(statistics.median(in_page), 2) if in_page else None,
        "median_seconds_with_page_load": round(statistics.median(loaded), 2) if loaded else None,
        "page_loads": len(loaded),
    }


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
        }
        print(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
