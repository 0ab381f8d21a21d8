"""The pages in a real Chromium, over a seeded store: no Label Studio is needed for what they show."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from werkzeug.serving import make_server

from tests.browser.browsers import open_tab, serious_faults
from tests.ml_backend.seeded_store import NUMBER, TASKS, Seeded

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


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    seeded = Seeded(tmp_path_factory.mktemp("screens"))
    seeded.put()
    seeded.score()
    with serving(seeded) as pages:
        yield pages


def charts_of(page: Any) -> dict[str, tuple[int, float]]:
    """Of each chart that is shown: how far it is wider than its column, and the size of its letters on the screen."""
    page.locator(".tabs [aria-current]").wait_for()
    charts = page.evaluate(
        "[...document.querySelectorAll('.chart')].map((one) => {"
        "  const svg = [...one.querySelectorAll('svg')].find((each) => each.getClientRects().length);"
        "  if (!svg) return null;"
        "  const box = svg.getBoundingClientRect();"
        "  const size = 12.5 * box.width / svg.viewBox.baseVal.width;"
        "  return [one.dataset.chart, box.width - one.clientWidth, size]; }).filter(Boolean)"
    )
    return {name: (wider, size) for name, wider, size in charts}


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_charts_fit_their_column_and_are_readable(
    served: Served, chromium: Any, tmp_path: Path, pictures: Path, width: int
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(served.report)
    file = tmp_path / "report.html"
    file.write_bytes(page.request.get(served.report.replace("?", "/report.html?")).body())
    for address in (served.report, file.as_uri()):
        page.goto(address)
        shown = charts_of(page)
        open_tab(page, "coefficients")
        page.screenshot(path=pictures / f"charts-{width}.png")
        shown |= charts_of(page)
        assert {"coefficients", "histogram", "distributions"} <= shown.keys()
        assert all(wider <= 0 and size >= 11 for wider, size in shown.values()), shown
    context.close()


@pytest.mark.slow
def test_pages_are_accessible(served: Served, chromium: Any) -> None:
    for scheme in ("light", "dark"):
        context = chromium.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(served.report)
        page.locator(".tabs [aria-current]").wait_for()
        for tab in ("tasks", "reasons", "annotators", "coefficients", "method"):
            open_tab(page, tab)
            assert serious_faults(page) == [], tab
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_the_number_comes_first(served: Served, chromium: Any, pictures: Path, width: int) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(served.report)
    box = page.locator("#headline-value").bounding_box()
    assert box["y"] < (300 if width < 640 else 220)
    before = page.evaluate(
        "[...document.querySelectorAll('a, button, summary')].filter((one) => one.checkVisibility("
        "{contentVisibilityAuto: true}) && one.compareDocumentPosition(document.getElementById('headline-value')) & 4)"
        ".length"
    )
    assert before <= 7
    assert page.locator(".headline .interval svg").is_visible() and page.locator(".figures .card").count() == 3
    assert page.locator(".headline .next").inner_text().startswith("Next: ")
    assert page.locator("code").count() == 0, "no shell commands"
    open_tab(page, "annotators")
    assert page.locator(".pair-list").is_visible() is (width < 640) is not page.locator(".heat").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(media="print")
    shown = page.evaluate("[...document.querySelectorAll('button:not(thead button), input, select, summary, .tabs a')]"
                          ".filter((one) => one.getClientRects().length).map((one) => one.outerHTML.slice(0, 80))")  # fmt: skip
    assert shown == []
    assert page.locator("#h-how").is_visible(), "paper has every tab"
    page.screenshot(path=pictures / f"print-{width}.png", full_page=True)
    context.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Served]:
    """A store of the test's own."""
    seeded = Seeded(tmp_path)
    seeded.put()
    seeded.score()
    with serving(seeded) as served:
        yield served


APART = {
    200 + i: {"2": [text], "3": [text], "4": ["something else entirely"]}
    for i, text in enumerate(["fever", "rash", "cough", "broken arm"])
}


def test_one_headline_in_the_terminal_the_panel_and_the_report(own_server: Served, chromium: Any) -> None:
    from ml_backend.review.headline import headline_lines

    seeded = own_server.seeded
    seeded.put(APART)
    seeded.score()
    seeded.update(chosen={"target": 0.9})
    terminal = " ".join(headline_lines(seeded.row))
    context = chromium.new_context()
    page = context.new_page()
    page.goto(own_server.report)
    value = page.inner_text("#headline-value")
    figure = page.inner_text(".headline")
    assert "Krippendorff’s alpha" in figure and "no judgments" in figure
    assert f"Krippendorff's alpha {value}," in terminal and "no judgments" in terminal
    pulls = page.inner_text("#pulls-down")
    assert pulls.startswith("Without Chloé Martin it would be ") and pulls in terminal
    target = page.inner_text("#target")
    assert target.startswith("The target of 0.90 is not met") and target in terminal
    page.goto(f"{own_server.url}/panel?project={NUMBER}&task=101&k={seeded.key('report')}")
    facts = page.locator(".sirr-facts")
    facts.wait_for()
    text = facts.inner_text()
    assert f"Krippendorff's alpha {value}" in text and pulls in text and target in text and "no judgments" in text
    context.close()


@pytest.mark.slow
def test_a_lead_sets_the_target_on_the_page(own_server: Served, chromium: Any) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(own_server.report)
    page.get_by_text("Set a target").click()
    page.get_by_label("Target").fill("0.9")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#target")).to_contain_text("The target of 0.90 is")
    assert own_server.seeded.row["chosen"]["target"] == 0.9
    page.get_by_text("Change the target").click()
    page.get_by_label("Target").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#target")).to_have_text("No target is set.")
    assert "target" not in own_server.seeded.row["chosen"]
    context.close()


@pytest.mark.slow
def test_two_fields_have_their_names_and_their_headlines(own_server: Served, chromium: Any) -> None:
    seeded = own_server.seeded
    first = {task: TASKS[task] for task in (101, 102, 103)}
    other = {
        task: {rater: [f"cold {task}" if rater == "2" else "flu"] for rater in given} for task, given in first.items()
    }
    seeded.put(first, beside={"diagnosis": other})
    seeded.score()
    context = chromium.new_context()
    page = context.new_page()
    page.goto(own_server.report)
    fields = {one.get_attribute("data-field"): one.inner_text() for one in page.locator("[data-field]").all()}
    assert set(fields) == {"findings", "diagnosis"}
    shown = page.inner_text("#headline-value")
    assert shown in fields["findings"] and "findings" in page.inner_text("h1")
    page.click("[data-field=diagnosis]")
    page.wait_for_url(lambda url: "diagnosis" in url)
    other = page.inner_text("#headline-value")
    assert other != shown and other in fields["diagnosis"] and "diagnosis" in page.inner_text("h1")
    page.goto(f"{own_server.url}/panel?project={NUMBER}&task=101&k={seeded.key('report')}")
    page.locator(".sirr-facts").wait_for()
    text = page.inner_text(".sirr-facts")
    assert "Whole project, findings" in text and f"alpha {shown}" in text
    assert "Whole project, diagnosis" in text and f"alpha {other}" in text
    assert serious_faults(page) == []
    context.close()


@pytest.mark.slow
class TestLive:
    """What changes shows without a reload, and nobody loses their place."""

    @pytest.fixture
    def page(self, own_server: Served, chromium: Any) -> Iterator[Any]:
        context = chromium.new_context()
        page = context.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(own_server.report)
        page.locator(".tabs [aria-current]").wait_for()
        page.evaluate("window.here = 'the same page'")
        yield page
        assert page.evaluate("window.here") == "the same page", "the page was loaded again"
        assert problems == []
        context.close()

    def test_done_counts_follow_at_once(self, own_server: Served, page: Any) -> None:
        counts = page.locator("#queue-counts")
        assert "0 are done" in counts.inner_text()
        box = page.locator(".queue input.done").first
        box.focus()
        page.keyboard.press("Space")
        counts.get_by_text("1 is done.").or_(counts.filter(has_text="1 is done.")).first.wait_for()
        assert page.evaluate("document.activeElement.matches('input.done')")

    def test_the_marks_of_others_arrive(self, own_server: Served, page: Any) -> None:
        row = page.locator(".queue tbody tr").first
        task = row.get_attribute("data-task")
        page.fill("#viewer-name", "Half a na")
        body = {"project": NUMBER, "task": int(task or 0), "who": "Bea"}
        key = {"X-Softirr-Key": own_server.seeded.key("report")}
        assert own_server.seeded.client.post("/api/queue", json=body, headers=key).status_code == 201
        shown = page.locator(f'.queue tr[data-task="{task}"]')
        shown.get_by_text("Bea").wait_for()
        assert "1 is done" in page.inner_text("#queue-counts") and shown.locator("input.done").is_checked()
        assert page.input_value("#viewer-name") == "Half a na"
        assert page.evaluate("document.activeElement.id") == "viewer-name"

    def test_sending_back_all_low_tasks_stays_in_sight_and_is_taken_back(self, own_server: Served, page: Any) -> None:
        """The update that it causes replaced the form by one without its message, its Undo and its script."""
        page.locator("#low summary").click()
        page.locator("#low-count").filter(has_text="task").wait_for()
        page.fill("#low-below", "1")
        page.fill("#low-note", "Name the side.")
        page.locator("#low-form").get_by_role("button", name="Send back").click()
        page.locator("#low-count").filter(has_text="sent back").wait_for()
        seeded = own_server.seeded
        counted = page.locator("#queue-counts").filter(has_text=re.compile(r"[1-9]\d* (is|are) sent back"))
        for _ in range(60):
            seeded.update(due_at=None)  # the update is done
            if counted.count():
                break
            page.wait_for_timeout(500)
        assert page.inner_text("#low-count").endswith("sent back.")
        assert page.input_value("#low-note") == "Name the side."
        page.locator("#low-undo").click()
        page.locator("#low-count").filter(has_text="back in the queue").wait_for()
        assert not page.locator("#low-undo").is_visible()
