"""How many clicks and keys, and how much waiting, a reviewer's ten tasks and a lead's look at a project take.

``python -m tests.browser.measure_review [--folder FOLDER]``.

The demo is started in the folder (a temporary one by default), with a real Label Studio and the default measure, and
worked in Chromium. Waiting is the time from a click or key to what it asks for on the screen; reading and thinking are
not counted, nor is the login.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ml_backend.demo import Demo
from tests.browser.browsers import launched, panel
from tests.browser.conftest import People

TASKS = 10
ROWS = ".lsf-table__row-wrapper"
WAIT = 180_000


class Count:
    """Clicks and keys, and seconds of waiting after each."""

    def __init__(self) -> None:
        self.acts = 0
        self.waits: list[float] = []

    def act(self, does: Callable[[], Any], shows: Callable[[], Any]) -> None:
        """One click or key, and the wait until it shows what it is for."""
        start = time.monotonic()
        does()
        shows()
        self.acts += 1
        self.waits.append(time.monotonic() - start)

    def row(self, what: str) -> str:
        """A row of the table."""
        return f"| {what} | {self.acts} | {sum(self.waits):.1f} s | {max(self.waits):.1f} s |"


def review(page: Any, triage: str) -> Count:
    """Ten tasks from the triage tab by keys: done and next, nine times, and done."""
    count = Count()
    page.goto(triage)
    page.locator(ROWS).first.wait_for()

    def ready() -> None:
        panel(page).locator("[data-agreement]").wait_for()
        panel(page).locator(".sirr:focus").wait_for()

    def opened() -> None:
        page.wait_for_url(re.compile(r"[?&]task=\d+"))
        panel(page).locator("[data-agreement]").wait_for()

    count.act(lambda: page.locator(ROWS).first.click(position={"x": 60, "y": 10}), opened)
    count.act(lambda: panel(page).locator(".sirr-verdict").click(), lambda: None)
    for place in range(TASKS):
        count.act(lambda: page.keyboard.press("d"), panel(page).get_by_role("button", name="Not done").wait_for)
        if place < TASKS - 1:
            before = page.url

            def moved(before: str = before) -> None:
                page.wait_for_url(lambda url: "task=" in url and url != before)
                ready()

            count.act(lambda: page.keyboard.press("n"), moved)
    return count


def lead(page: Any, report: str) -> dict[str, Count]:
    """The report."""
    counts = {name: Count() for name in ("the report",)}
    counts["the report"].act(lambda: page.goto(report), page.locator("#headline-value").wait_for)
    return counts


def main(folder: Path | None = None) -> None:
    """Print the table."""
    with contextlib.ExitStack() as stack:
        folder = folder or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "demo"
        demo = Demo(folder, measure=None, stack=stack)
        demo.open(fresh=False)
        demo.start()
        browser = stack.enter_context(launched())
        context = People(browser, demo).context()
        counts = {f"a reviewer’s {TASKS} tasks, by keys": review(context.new_page(), demo.links["triage"])}
        for name, count in lead(context.new_page(), demo.links["report"]).items():
            counts[f"a lead: {name}"] = count
    print("| what | clicks and keys | waiting | longest wait |\n|---|---|---|---|")
    for what, count in counts.items():
        print(count.row(what))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.browser.measure_review", description=__doc__)
    parser.add_argument("--folder", type=Path)
    main(parser.parse_args().folder)
