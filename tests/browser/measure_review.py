"""How many keys and how much waiting a reviewer's ten tasks take: ``python -m tests.browser.measure_review``.

The demo is started with a real Label Studio and the default measure, and worked in Chromium. Waiting is the time from a
key to the next panel on the screen; reading and the login are not counted.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from ml_backend.demo import Demo
from tests.browser.browsers import launched, panel, wait_for
from tests.browser.conftest import People

TASKS = 10
ROWS = ".lsf-table__row-wrapper"


def review(page: Any, triage: str) -> tuple[int, list[float]]:
    """Work through ten tasks; returns the number of keys and the seconds of waiting after each."""
    page.goto(triage)
    page.locator(ROWS).first.click(position={"x": 60, "y": 10})
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    frame.locator(".sirr-sentence").click()
    keys, waits = 0, []
    for _ in range(TASKS):
        url_before, start = page.url, time.monotonic()
        if not frame.locator('[data-id="accept"]').is_enabled():
            page.keyboard.press("0")
            keys += 1
        page.keyboard.press("Enter")
        keys += 1
        wait_for(lambda url=url_before: page.url != url, "the next task does not open")
        frame.locator("[data-agreement]").wait_for()
        waits.append(time.monotonic() - start)
        wait_for(lambda: page.evaluate("document.activeElement.tagName") == "IFRAME", "the panel has no focus")
    return keys, waits


def main() -> None:
    """Print keys and seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = arguments.folder or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "demo"
        demo = Demo(folder, measure=arguments.measure, stack=stack)
        demo.open(fresh=True)
        demo.start()
        context = People(stack.enter_context(launched()), demo).context(viewport={"width": 1280, "height": 900})
        keys, waits = review(context.new_page(), demo.links["triage"])
        print(f"{TASKS} tasks: {keys} keys, {sum(waits):.1f} s of waiting, median {statistics.median(waits):.2f} s")


if __name__ == "__main__":
    main()
