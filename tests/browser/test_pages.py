"""The report and the audit page in a real browser, over a real Label Studio."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ml_backend.demo import CONTROL, Demo
from tests.browser.browsers import open_tab, panel, serious_faults, wait_for

ROWS = ".lsf-table__row-wrapper"


class TestReport:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_shows_the_coefficients_and_charts_and_is_accessible(
        self, demo: Demo, clean: Any, score: Callable[[], Any], pictures: Path, scheme: str
    ) -> None:
        clean.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        clean.goto(demo.links["report"])
        clean.locator(".tabs [aria-current]").wait_for()
        assert "k=" not in clean.url, "the key stays in the address"
        shown = {
            e.get_attribute("data-coefficient"): e.text_content().strip()
            for e in clean.locator("[data-coefficient]").all()
        }
        coefficients = score()["coefficients"]
        for name, value in coefficients.items():
            if value["value"] is not None and name in shown:
                assert shown[name] == f"{value['value']:.2f}".replace("-", "−"), name
        assert clean.locator(".chart").count() >= 4
        clean.wait_for_timeout(300)
        clean.screenshot(path=pictures / f"report-{scheme}.png", full_page=True)
        assert serious_faults(clean) == []
        assert clean.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def test_fits_a_narrow_window_and_paper(self, demo: Demo, people: Any) -> None:
        context = people.context(viewport={"width": 390, "height": 800})
        page = context.new_page()
        page.goto(demo.links["report"])
        page.locator(".tabs [aria-current]").wait_for()
        # a row's name that is a sentence, as why an answer was left out, wraps
        page.locator("[aria-labelledby=h-excluded] tbody th").first.evaluate(
            "one => { one.textContent = 'a reviewer’s own answer, which does not count as an annotator’s, and more'; }"
        )
        for tab in page.locator(".tabs [data-tab]").all():
            tab.click()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab.get_attribute("data-tab")
        # nothing that is for pressing is printed
        page.emulate_media(media="print")
        for part in (".actions", ".tabs", ".send-back", ".done", ".days", ".more"):
            assert page.locator(part).count() and not page.locator(part).first.is_visible(), part
        context.close()

    def test_a_lead_copies_a_link_that_opens_the_days_shown(self, demo: Demo, clean: Any, chromium: Any) -> None:
        clean.goto(demo.links["report"])
        days = clean.evaluate(
            "async ([p]) => (await (await fetch(`../api/report?project=${p}`)).json()).days", [demo.project]
        )
        clean.get_by_text("Days", exact=True).click()
        clean.fill("input[name=from]", days["to"])
        clean.get_by_role("button", name="Show these days").click()
        clean.locator("#days").wait_for()
        assert days["to"] in clean.inner_text("#days")
        clean.get_by_text("Copy a link", exact=True).click()
        assert serious_faults(clean) == []
        clean.get_by_role("button", name="Copy the link with the key").click()
        expect(clean.locator("#link")).to_have_value(re.compile("k="))
        context = chromium.new_context()
        other = context.new_page()
        other.goto(clean.input_value("#link"))
        other.locator("#days").wait_for()
        assert days["to"] in other.inner_text("#days")
        context.close()

    def test_numbers_lead_to_their_tasks_in_label_studio(self, demo: Demo, clean: Any, people: Any) -> None:
        """Each kind of link opens a tab with exactly the tasks that the number counts."""
        clean.goto(demo.links["report"])
        report = clean.evaluate("async ([p]) => (await fetch(`../api/report?project=${p}`)).json()", [demo.project])
        pair = max(report["rater_pairs"], key=lambda one: one["n_items"])
        bin = max(report["histogram"], key=lambda one: one["n"])
        rater = report["raters"][0]
        reason = report["excluded"]["reasons"][0]
        wanted = [
            (pair["link"], pair["n_items"]),
            (bin["link"], bin["n"]),
            (rater["link"], None),
            (reason["link"], None),
        ]
        context = people.context()
        for link, n in wanted:
            page = context.new_page()
            page.goto(link)
            page.locator(ROWS).first.wait_for()
            count = page.locator("text=/Tasks: \\d+ \\/ \\d+/").first
            count.wait_for()
            rows = int(re.search(r"Tasks: (\d+) /", count.inner_text())[1])  # type: ignore[index]
            # someone who skipped a task annotated it in Label Studio's eyes
            assert rows > 0 and (n is None or n <= rows <= n + 3), link
            page.close()
        context.close()

    def test_from_a_reason_to_its_tasks_the_panel_and_back(self, demo: Demo, clean: Any, pictures: Path) -> None:
        """The bar of a reason filters the tasks; a task's panel says the reason in words; its link leads back."""
        clean.goto(demo.links["report"])
        open_tab(clean, "reasons")
        row = clean.locator("tr[data-reason=severity]")
        n = int(row.locator("> td.n").evaluate("(cell) => cell.firstChild.textContent"))
        row.locator("a.bar").click()
        clean.locator("#queue-filter").wait_for()
        assert f"severity ({n} task" in clean.locator("#queue-filter").inner_text()
        tasks = clean.locator(".queue tbody tr")
        expect(tasks).to_have_count(n)
        clean.screenshot(path=pictures / "report-reason.png", full_page=True)
        assert serious_faults(clean) == []
        with clean.context.expect_page() as opened:
            tasks.first.get_by_role("link").click()
        task = opened.value
        frame = panel(task)
        frame.locator("[data-agreement]").wait_for()
        assert any("severity" in one for one in frame.locator(".sirr-reason").all_inner_texts())
        task.screenshot(path=pictures / "panel-reason.png")
        with task.context.expect_page() as opened:
            frame.get_by_role("link", name="Project report").click()
        back = opened.value
        back.locator("tr[data-reason=severity] a.bar").wait_for(state="attached")
        task.close()
        back.close()
        clean.get_by_role("link", name="Show all tasks").click()
        expect(clean.locator("#queue-filter")).to_have_count(0)
        expect(clean.locator(".queue tbody tr").nth(n)).to_be_attached()

    def test_done_marks_stay(self, demo: Demo, clean: Any) -> None:
        clean.goto(demo.links["report"])
        row = clean.locator(".queue tbody tr").first
        task = row.get_attribute("data-task")
        row.locator("input.done").check()
        clean.get_by_text(f"Task {task} is done.").wait_for()
        clean.reload()
        again = clean.locator(f'.queue tr[data-task="{task}"]')
        expect(again.locator("input.done")).to_be_checked()
        expect(again.locator(".who")).to_contain_text("Lena Vogel")
        clean.locator(".queue + .more").click()
        again.locator("input.done").uncheck()
        clean.get_by_text("back in the queue").wait_for()

    def test_a_task_is_sent_back_with_a_note_and_taken_back(self, demo: Demo, clean: Any) -> None:
        note = "Name the side, please. <img src=x onerror=document.title='pwned'>"
        clean.goto(demo.links["report"])
        task = clean.locator(".queue tbody tr").first.get_attribute("data-task")
        clean.get_by_role("button", name=f"Send task {task} back").click()
        clean.get_by_label("What they are to do").fill(note)
        clean.get_by_role("button", name="Send back", exact=True).click()
        clean.get_by_text(f"Task {task} is sent back.").wait_for()
        clean.locator(".queue + .more").click()
        row = clean.locator(f'.queue tr[data-task="{task}"]')
        row.get_by_text(note).wait_for()
        expect(row).to_contain_text("sent back by Lena Vogel")
        assert clean.title() != "pwned"
        row.get_by_role("button", name=f"Take task {task} back").click()
        clean.get_by_text(f"Task {task} is back in the queue.").wait_for()

    def test_the_lead_sees_what_each_policy_changes(self, demo: Demo, clean: Any, pictures: Path) -> None:
        clean.goto(demo.links["report"])
        open_tab(clean, "reasons")
        ignored, deciding = (clean.get_by_role("group", name=name) for name in ("what does not count", "What decides"))
        ignored.get_by_role("checkbox", name="severity").check()
        deciding.get_by_role("checkbox", name="severity").check()
        expect(ignored.get_by_role("checkbox", name="severity")).not_to_be_checked()
        deciding.get_by_role("checkbox", name="side").check()
        ignored.get_by_role("checkbox", name="side").check()
        expect(deciding.get_by_role("checkbox", name="side")).not_to_be_checked()
        clean.get_by_role("button", name="Show what each policy changes").click()
        own = clean.locator(".policies tr", has_text="side does not count; severity decides").first
        own.wait_for()
        expect(deciding.get_by_role("checkbox", name="severity")).to_be_checked()
        expect(ignored.get_by_role("checkbox", name="severity")).not_to_be_checked()
        expect(ignored.get_by_role("checkbox", name="side")).to_be_checked()
        alone = clean.locator("[data-coefficient=krippendorff_alpha]").text_content()
        assert clean.locator(".policies tr.current td[data-value]").inner_text() == alone
        preset = clean.locator(".policies tr", has_text="any severity")
        assert re.fullmatch(r"−?[01]\.\d\d", preset.locator("td[data-value]").inner_text())
        assert preset.get_by_role("button", name="Use this policy: clinical finding, any severity").is_visible()
        clean.locator("section[aria-labelledby=h-policy]").screenshot(path=pictures / "report-policies.png")
        assert serious_faults(clean) == []

    def test_one_file_opens_without_a_server(self, demo: Demo, clean: Any, chromium: Any, tmp_path: Path) -> None:
        clean.goto(demo.links["report"])
        with clean.expect_download() as download:
            clean.get_by_text("Download", exact=True).click()
            clean.get_by_text("One HTML file").click()
        path = tmp_path / "report.html"
        download.value.save_as(path)
        context = chromium.new_context(offline=True)
        page = context.new_page()
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(path.as_uri())
        page.locator(".tabs [aria-current]").wait_for()
        assert page.locator(".chart").count() >= 4 and problems == []
        context.close()

    def test_measures_are_compared_on_demand(self, demo: Demo, clean: Any) -> None:
        clean.goto(demo.links["report"])
        open_tab(clean, "coefficients")
        clean.get_by_role("checkbox", name="jaccard").check()
        clean.get_by_role("button", name="Compare").click()
        row = clean.locator("#h-compare ~ .scroll tr", has_text="jaccard")
        row.wait_for()
        assert re.search(r"0\.\d\d", row.inner_text())

    def test_nothing_without_key_or_login(self, demo: Demo, chromium: Any, pictures: Path) -> None:
        context = chromium.new_context()
        page = context.new_page()
        reply = page.goto(f"{demo.url}/report/{demo.project}")
        assert reply.status == 403 and "key" in page.inner_text("main")
        page.screenshot(path=pictures / "report-refused.png")
        page.fill("input[name=k]", demo.links["report"].partition("k=")[2])
        page.get_by_role("button", name="Open").click()
        page.locator("#headline-value").wait_for()
        context.close()


def test_the_news_of_a_changed_answer_reach_an_open_report(demo: Demo, clean: Any) -> None:
    clean.goto(demo.links["report"])
    clean.locator("#headline-value").wait_for()
    task = next(t for t in demo.api.tasks(demo.project, fields="all") if t["annotations"])
    annotation = task["annotations"][0]
    result = [
        {
            "from_name": CONTROL,
            "to_name": "narrative",
            "type": "textarea",
            "origin": "manual",
            "value": {"text": ["something new"]},
        }
    ]
    try:
        demo.api.patch(f"/api/annotations/{annotation['id']}/", {"result": result})
        clean.get_by_text("brought up to date just now").wait_for()
    finally:
        demo.api.patch(f"/api/annotations/{annotation['id']}/", {"result": annotation["result"]})


def test_waiting_helper_reports_what_it_waited_for() -> None:
    with pytest.raises(pytest.fail.Exception, match="never"):
        wait_for(lambda: False, "never", seconds=0.1)
