"""The screenshots of README and documentation.

``python -m tests.browser.take_screenshots [--measure NAME] [--folder FOLDER]``.

Starts the demo on a fresh Label Studio, does what a reviewer, a judge and a project lead do, and writes
docs/images/*.png. The browser uses Label Studio's typeface, so that the pages look as they do within it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

from ml_backend.demo import Demo, example
from ml_backend.demo.project import CONTROL
from ml_backend.demo.server import find_label_studio
from ml_backend.review.requests import SHEET, RequestStore
from ml_backend.store.reviews import ReviewStore
from tests.browser.browsers import ROOT, launched, panel, task_address
from tests.browser.conftest import People

FOLDER = ROOT / "docs" / "images"
MOST_BYTES = 200_000
KEY = example.key()
TASK = 20  # three annotators, sets, synonyms with other spellings, a text without a match
JUDGED = 60
SEED = 7  # of the audit's sample, so that each run takes the same pictures


def main() -> None:
    """Take all of them."""
    parser = argparse.ArgumentParser(description="The screenshots of README and documentation.")
    parser.add_argument("--measure", help="measure of the demo (default: the product's)")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        _lend_typeface(Path(scratch))
        demo = Demo(Path(scratch) / "demo", measure=arguments.measure, stack=stack)
        demo.open(fresh=True)
        demo.start()
        browser = stack.enter_context(launched())
        context = People(browser, demo).context(viewport={"width": 1280, "height": 860}, device_scale_factor=2)
        context.set_default_timeout(60_000)
        page = context.new_page()
        for take in (triage, reviewed_task, audit, report):
            take(demo, page, arguments.folder)
        for path in sorted(arguments.folder.glob("*.png")):
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def triage(demo: Demo, page: Any, folder: Path) -> None:
    """The Data Manager, lowest agreement first."""
    page.goto(demo.links["triage"])
    page.locator(".lsf-table__row-wrapper").nth(8).wait_for()
    page.wait_for_timeout(800)
    _keep(page, folder / "triage.png")


def reviewed_task(demo: Demo, page: Any, folder: Path) -> None:
    """A task with its panel."""
    page.set_viewport_size({"width": 1440, "height": 960})  # wide enough for the annotators side by side
    page.goto(task_address(demo, TASK))
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    page.locator("iframe[title=Agreement]").first.evaluate("frame => frame.scrollIntoView({block: 'end'})")
    page.wait_for_timeout(1000)
    _keep(page, folder / "panel.png")


def audit(demo: Demo, page: Any, folder: Path) -> None:
    """A pair in the middle of the audit; then the rest, as the demo's key has it."""
    page.set_viewport_size({"width": 1000, "height": 720})
    row = demo.row()
    with demo._store() as store:
        audit = ReviewStore(store).add_audit(
            row["id"],
            control=CONTROL,
            measure=row["summary"]["controls"][CONTROL]["measure"],
            seed=SEED,
            wanted=JUDGED,
            created_by="lead",
        )
        RequestStore(store).ask(row["id"], SHEET, {"audit": audit})
    demo._json("sync", "--project", str(demo.project))
    page.goto(f"{demo.url}/audit/{demo.project}")
    page.click("#begin-button")
    page.locator("#judging").wait_for()
    taken = False
    while page.locator("#judging").is_visible():
        text_before = page.inner_text("#count")
        a, b = (page.inner_text(f"#{side}") for side in ("first", "second"))
        same = KEY.get(a, a) == KEY.get(b, b)
        if not taken and same and int(text_before.split()[1]) > 15:
            page.wait_for_timeout(300)
            _keep(page, folder / "audit.png")
            taken = True
        page.keyboard.press("1" if same else "2")
        page.wait_for_function(
            "(before) => document.getElementById('judging').hidden"
            " || document.getElementById('count').textContent !== before",
            arg=text_before,
        )
    page.click("#work-out")
    page.locator(".result-value").wait_for()


def report(demo: Demo, page: Any, folder: Path) -> None:
    """The report's first page, audited."""
    page.set_viewport_size({"width": 1180, "height": 1000})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{demo.url}/report/{demo.project}")
    page.locator("#verdict").wait_for()
    page.wait_for_timeout(500)
    _keep(page, folder / "report.png")


def _lend_typeface(scratch: Path) -> None:
    executable = Path(find_label_studio()).resolve()
    folders = sorted(executable.parent.parent.glob("lib/python3*/site-packages/label_studio/core/static/fonts"))
    if folders:
        (scratch / "fonts").symlink_to(folders[0])
        os.environ["XDG_DATA_HOME"] = str(scratch)


def _keep(page: Any, path: Path) -> None:
    """As few colors as it takes to stay under the limit; interfaces have few."""
    from PIL import Image

    page.mouse.move(0, 0)
    page.screenshot(path=path)
    with Image.open(path) as image:
        picture = image.convert("RGB")
    for colors in (256, 128, 64):
        picture.quantize(colors, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size < MOST_BYTES:
            return


if __name__ == "__main__":
    main()
