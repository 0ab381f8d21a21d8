"""The pages in a real Chromium, over a seeded store: no Label Studio is needed for what they show."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.serving import make_server

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))
from browsers import serious_faults
from seeded_store import NUMBER, Seeded

pytestmark = pytest.mark.browser
WIDTHS = (390, 1280, 1920)


class Served:
    """A seeded store behind a real address."""

    def __init__(self, seeded: Seeded, port: int):
        self.seeded, self.url = seeded, f"http://127.0.0.1:{port}"

    @property
    def report(self) -> str:
        return f"{self.url}/report/{NUMBER}?k={self.seeded.key('report')}"


@contextlib.contextmanager
def serving(seeded: Seeded) -> Iterator[Served]:
    server = make_server("127.0.0.1", 0, seeded.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Served(seeded, server.server_port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        seeded.services.store.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    seeded = Seeded(tmp_path_factory.mktemp("screens"))
    seeded.put()
    seeded.score()
    with serving(seeded) as found:
        yield found


def charts_of(page: Any) -> dict[str, tuple[int, int]]:
    """Width of each drawn chart, and of the column that it stands in; the window is left as it is."""
    page.locator("[data-chart=histogram] canvas").wait_for()
    found = page.evaluate(
        "[...document.querySelectorAll('.chart')].filter((one) => one.querySelector('canvas'))"
        ".map((one) => [one.dataset.chart, one.querySelector('canvas').clientWidth, one.parentElement.clientWidth])"
    )
    return {name: (width, column) for name, width, column in found}


@pytest.mark.parametrize("width", WIDTHS)
def test_charts_are_as_wide_as_their_column(
    served: Served, chromium: Any, tmp_path: Path, pictures: Path, width: int
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(served.report)
    shown = charts_of(page)
    page.locator("[data-chart=histogram]").scroll_into_view_if_needed()
    page.screenshot(path=pictures / f"charts-{width}.png")
    file = tmp_path / "report.html"
    file.write_bytes(page.request.get(served.report.replace("?", "/report.html?")).body())
    page.goto(file.as_uri())
    downloaded = charts_of(page)
    context.close()
    assert {"coefficients", "histogram", "distributions"} <= shown.keys() and shown.keys() == downloaded.keys()
    for found in (shown, downloaded):
        assert all(drawn == column > 300 for drawn, column in found.values()), found


def test_pages_are_accessible(served: Served, chromium: Any) -> None:
    for scheme in ("light", "dark"):
        context = chromium.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(served.report)
        page.locator("[data-chart=histogram] canvas").wait_for()
        assert serious_faults(page) == []
        context.close()
