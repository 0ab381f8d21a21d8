"""The comparison page over a real Label Studio.

Two rounds of the same narratives, groups by a field, a model and people.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from ml_backend.demo import LABEL_CONFIG, Demo, example
from ml_backend.demo.server import ADMIN_EMAIL
from tests.browser.browsers import serious_faults
from tests.browser.projects import MEASURE, annotation, connected_project, text_result

TITLE = "Second round <img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def second(demo: Demo) -> Iterator[tuple[int, str]]:
    """The demo's narratives again, in which people use the words of the key, at two sites.

    A model says what the first annotator says.

    Its number, and the key of its report.
    """
    meaning = example.key()
    users = demo._state["users"]
    tasks = []
    for place, narrative in enumerate(example.narratives()):
        given = {name: texts for name, texts in narrative.answers.items() if texts is not None}
        annotations = [
            annotation(users[name], text_result(meaning[text] for text in texts)) for name, texts in given.items()
        ]
        first = [meaning[text] for text in next(iter(given.values()), ())]
        tasks.append(
            {
                "data": {"id": narrative.id, "narrative": narrative.text, "site": ("Basel", "Bern")[place % 2]},
                "annotations": annotations,
                "predictions": [{"model_version": "v1", "result": text_result(first)}],
            }
        )
    options = ["--measure", MEASURE, "--reviewer", ADMIN_EMAIL]
    with connected_project(demo, TITLE, LABEL_CONFIG, tasks, *options) as (number, _, links):
        yield number, links["report"].partition("k=")[2]


@pytest.fixture
def second_round(second: tuple[int, str]) -> int:
    return second[0]


@pytest.fixture
def page(clean: Any) -> Any:
    """A tab of the lead that must not complain."""
    clean.set_viewport_size({"width": 1280, "height": 900})
    return clean


def shown(page: Any) -> str:
    """The verdict, once it is computed."""
    verdict = page.locator("[data-part=sentences] li").first
    verdict.wait_for()
    return str(verdict.inner_text())


def test_from_the_report_to_the_verdicts(demo: Demo, page: Any, second_round: int, pictures: Path) -> None:
    page.goto(demo.links["report"])
    page.get_by_role("link", name="Compare", exact=True).click()
    table = page.locator("[data-part=projects]")
    # the login of Label Studio opens the other project too
    expect(table.locator("tbody tr").nth(1)).to_be_attached()
    line = table.locator(f"tr[data-number='{second_round}']")
    expect(line).to_contain_text(TITLE)
    line.get_by_role("checkbox").check()
    page.get_by_label("Field of the data that names the same task").fill("id")
    page.get_by_role("button", name="Compare the chosen projects").click()
    assert "shared tasks" in shown(page) and "The difference is larger" in shown(page)
    cells = page.locator("[data-part=groups] tbody tr").first.locator("td").all_inner_texts()
    assert cells[0].startswith("0.") and " to " in cells[1]
    page.locator(".forest svg >> visible=true").wait_for()
    page.screenshot(path=pictures / "compare-rounds-1280.png", full_page=True)
    assert serious_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 390, "height": 844})
    page.screenshot(path=pictures / "compare-rounds-390.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # no table scrolls sideways
    for part in ("groups", "differences", "projects"):
        assert page.locator(f"[data-part={part}]").evaluate(
            "one => one.parentElement.scrollWidth <= one.parentElement.clientWidth"
        ), part
    page.set_viewport_size({"width": 1280, "height": 900})

    page.goto(f"{demo.url}/compare/{second_round}")
    form = page.locator("form[data-kind=groups]")
    form.get_by_label("Field", exact=True).fill("ward")
    form.get_by_role("button").click()
    problem = page.locator(".warning")
    problem.wait_for()
    assert "has the field ward; there are annotated_at, id, narrative, site." in problem.inner_text()
    form.get_by_label("Field", exact=True).fill("site")
    form.get_by_role("button").click()
    assert "Bern minus Basel" in shown(page)

    form = page.locator("form[data-kind=rounds]")
    form.get_by_label("The second round began on").fill("2020-01-01")
    form.get_by_role("button").click()
    problem.wait_for()
    assert "No answer was last changed before 2020-01-01." in problem.inner_text()

    page.locator("form[data-kind=models]").get_by_role("button").click()
    page.locator("[data-part=groups] th", has_text="model v1").wait_for()
    assert "within the range of the others" in page.locator("[data-part=sentences]").inner_text()
    page.emulate_media(color_scheme="dark")
    page.screenshot(path=pictures / "compare-models-dark.png", full_page=True)
    assert serious_faults(page) == []
    expect(page.locator("[data-part=asked] li")).to_have_count(4)


def test_without_a_login_each_project_needs_its_key(demo: Demo, chromium: Any, second: tuple[int, str]) -> None:
    second_round, key = second
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{demo.url}/compare/{demo.project}?k={demo.links['report'].partition('k=')[2]}")
    page.locator("[data-part=projects]").wait_for()
    expect(page.locator("[data-part=projects] tbody tr")).to_have_count(1)
    assert "k=" not in page.url
    page.get_by_label("Project", exact=True).fill(str(second_round))
    page.get_by_label("Access key").fill("x" * 32)
    page.get_by_role("button", name="Add").click()
    page.get_by_text(f"This is not the access key of project {second_round}.").wait_for()
    page.go_back()
    page.get_by_label("Project", exact=True).fill(str(second_round))
    page.get_by_label("Access key").fill(key)
    page.get_by_role("button", name="Add").click()
    page.locator(f"tr[data-number='{second_round}']").wait_for()
    assert "key" not in page.url
    context.close()
