"""A real Chromium, quiet and without the network; used by the tests here and in tests/plugin."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 90_000
"""Milliseconds that tests wait for Label Studio's pages."""
ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("SOFTIRR_CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextlib.contextmanager
def launched() -> Iterator[Any]:
    """Start the browser, or skip the test with the reason if it is not installed."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM} (SOFTIRR_CHROMIUM names another place)")
    sync_api.expect.set_options(timeout=PATIENCE)  # its own five seconds are short on a full machine
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def picture_folder() -> Path:
    """Where screenshots of the run are kept (ignored by git)."""
    folder = ROOT / "test-results" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def serious_faults(page: Any) -> list[Any]:
    """What axe-core finds serious or critical on a page, with the elements."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    violations = axe.Axe().run(page).response["violations"]
    return [
        (violation["id"], [node["html"][:200] for node in violation["nodes"]])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]


def task_address(demo: Any, task: int, base: str | None = None, project: int | None = None) -> str:
    """A task opened from the Data Manager."""
    return f"{base or demo.server.url}/projects/{project or demo.project}/data?task={task}"


def open_listed_task(page: Any, tab: str, *, row: int) -> None:
    """Open a task by a click on its row in a tab of the Data Manager."""
    page.goto(tab)
    page.locator(".lsf-table__row-wrapper").nth(row).click(position={"x": 60, "y": 10})
    page.wait_for_url(lambda url: "task=" in url)


def panel(page: Any) -> Any:
    """The panel of the open task."""
    return page.frame_locator("iframe[title=Agreement]").first


def drawn_panel(page: Any) -> Any:
    """The panel once it shows an agreement; opening a task in Label Studio takes long on a busy machine."""
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for(timeout=PATIENCE)
    return frame


def wait_for(condition: Callable[[], Any], what: str, seconds: float = PATIENCE / 1000) -> Any:
    """Poll until `condition` is true; the page may reload or redraw in between."""
    from playwright.sync_api import Error

    end = time.monotonic() + seconds
    last = ""
    while True:
        try:
            value = condition()
        except Error as error:
            value, last = None, f" ({error})"
        if value:
            return value
        if time.monotonic() > end:
            pytest.fail(f"After {seconds:.0f} s: {what}{last}")
        time.sleep(0.2)
