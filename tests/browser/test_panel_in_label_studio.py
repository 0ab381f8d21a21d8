"""The agreement panel inside Label Studio itself, as reviewers and annotators meet it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ml_backend.demo import Demo, example
from tests.browser.browsers import panel, serious_faults, task_address, wait_for
from tests.browser.projects import panel_key
from tests.browser.task_panel import ON_THE_ID, ROWS, SAVE, SECRETS, THREE, assert_same, shown


def test_from_the_triage_tab_to_the_numbers_of_the_command_line(
    demo: Demo, page: Any, score: Callable[[], Any], pictures: Path
) -> None:
    items = score()["items"]
    page.goto(demo.links["triage"])
    page.locator(ROWS).nth(8).wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=pictures / "triage.png")
    lowest = sorted((item["agreement"], task) for task, item in items.items() if item["agreement"] is not None)
    first = int(re.search(r"\d+", page.locator(ROWS).first.inner_text())[0])  # type: ignore[index]
    assert first == lowest[0][1]

    page.locator(ROWS).nth(5).click(position=ON_THE_ID)
    page.wait_for_url(re.compile(r"[?&]task=\d+"))
    task = int(re.search(r"[?&]task=(\d+)", page.url)[1])  # type: ignore[index]
    assert_same(shown(page), items[task])
    page.wait_for_timeout(300)
    page.screenshot(path=pictures / "panel-in-label-studio.png")

    # switching tasks in the list on the left
    page.locator(ROWS).nth(2).click()
    page.wait_for_url(lambda url: "task=" in url and f"task={task}" not in url)
    other = int(re.search(r"[?&]task=(\d+)", page.url)[1])  # type: ignore[index]
    wait_for(
        lambda: shown(page)["agreement"] == pytest.approx(items[other]["agreement"], abs=1e-9),
        "the panel still shows the other task",
    )
    assert_same(shown(page), items[other])


def test_an_edited_answer_changes_the_panel(
    demo: Demo, page: Any, annotator: Any, new_task: Callable[..., int], score: Callable[[], Any]
) -> None:
    task = new_task("A fever and a dry cough since Monday.", THREE)
    page.goto(task_address(demo, task))
    before = shown(page)
    assert before["agreement"] < 1
    # Ben would be the one to edit; here Anna adds a text to her own answer, in Label Studio's own form
    annotator.goto(task_address(demo, task))
    field = annotator.get_by_placeholder("Type one finding and press Enter")
    field.fill("shivering")
    field.press("Enter")
    annotator.locator(SAVE).first.click()
    after = wait_for(
        lambda: (now := shown(page))["agreement"] != before["agreement"] and now, "the panel does not follow the edit"
    )
    assert "shivering" in after["text"]
    assert_same(after, score()["items"][task])


def test_annotators_see_nothing_before_they_have_answered(
    demo: Demo, annotator: Any, new_task: Callable[..., int], pictures: Path
) -> None:
    """Neither in the form, nor in the panel, nor in anything that the backend answers."""
    task = new_task("Odd nails and a striped tongue.", {"Ben Okafor": [SECRETS[0]], "Chiara Rossi": list(SECRETS)})
    annotator.wait_for_timeout(6000)  # long enough for the backend to score it
    written = [p for p in demo.api.get("/api/predictions/", task=task) if p["model_version"] == "agreement"]
    assert written == [], "a prediction is withheld until the task has its three answers"
    replies: list[str] = []

    def note(response: Any) -> None:
        if response.url.startswith((demo.url, demo.url.replace("localhost", "127.0.0.1"))):
            asked = response.request.resource_type in ("fetch", "xhr") and response.status == 200
            replies.append(response.text() if asked else "")

    annotator.on("response", note)
    annotator.goto(f"{demo.server.url}/projects/{demo.project}/data?labeling=1")
    frame = panel(annotator)
    frame.locator(".sirr-notice").wait_for()
    annotator.get_by_text("Odd nails").wait_for()
    annotator.wait_for_timeout(2500)  # long enough for the panel to ask again
    annotator.screenshot(path=pictures / "label-stream.png")
    assert "Agreement is not shown while you answer" in frame.locator(".sirr").inner_text()
    seen = annotator.content() + frame.locator("body").inner_text() + "".join(replies)
    values = annotator.locator("textarea, input[type=text]").evaluate_all("all => all.map((one) => one.value)")
    for secret in SECRETS:
        assert secret not in seen and secret not in values
    assert any(replies), "the panel asked nothing, so this test shows nothing"

    # answered: the three required annotations are there, and the panel opens for who opens the task in review
    field = annotator.get_by_placeholder("Type one finding and press Enter")
    field.fill("toenails discoloured")
    field.press("Enter")
    annotator.locator(SAVE).first.click()
    annotator.wait_for_timeout(500)
    annotator.goto(task_address(demo, task))
    assert SECRETS[0] in wait_for(
        lambda: "toenails discoloured" in (t := shown(annotator)["text"]) and t, "the panel lacks the answer"
    )


def test_incomplete_tasks_stay_neutral_in_review_too(demo: Demo, page: Any, new_task: Callable[..., int]) -> None:
    task = new_task("Half done.", {"Ben Okafor": ["rash"], "Chiara Rossi": ["exanthema"]})
    page.goto(task_address(demo, task))
    notice = panel(page).locator(".sirr-notice")
    notice.get_by_text("2 annotators have so far").wait_for()
    assert "exanthema" not in panel(page).locator("body").inner_text()


def mine_of(demo: Demo, task: int) -> list[Any]:
    """The lead's annotations of a task."""
    me = demo.api.get("/api/current-user/whoami")["id"]
    return [one for one in demo.api.get(f"/api/tasks/{task}/annotations/") if one["completed_by"] == me]


def test_the_suggestion_is_taken_by_one_key_edited_and_submitted(
    demo: Demo, people: Any, new_task: Callable[..., int], pictures: Path
) -> None:
    """At 1280 x 900, from the frame of another origin; what is taken does not count as an annotator's answer."""
    task = new_task("A dry cough.", THREE)
    context = people.context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(task_address(demo, task))
    before = shown(page)
    assert "Duplicate Annotation" not in before["text"], "the button is there, so nobody needs to be told another way"
    frame = panel(page)
    frame.locator(".sirr-verdict").click()
    page.keyboard.press("a")
    frame.get_by_role("region", name="Agreed answer").get_by_text("Lena Vogel").wait_for()
    frame.get_by_role("button", name="Undo: the agreed answer").click()
    frame.get_by_role("region", name="Agreed answer").wait_for(state="detached")
    # the frame has the height of the panel, so that nothing scrolls in something that scrolls
    fits = "e => e.scrollHeight <= innerHeight && innerHeight < 900"
    wait_for(lambda: frame.locator("html").evaluate(fits), "the frame has not the panel's height")
    page.screenshot(path=pictures / "panel-1280.png")
    frame.locator(".sirr-verdict").click()
    page.keyboard.press("t")
    # Label Studio opens the draft, which nobody but its author has yet
    page.locator(".lsf-annotation-button_selected.lsf-annotation-button_draftSaved").wait_for()
    page.locator(".lsf-main-content").get_by_text("dry cough", exact=True).first.wait_for()
    assert mine_of(demo, task) == []
    page.screenshot(path=pictures / "panel-draft.png")
    field = page.get_by_placeholder("Type one finding and press Enter")
    field.fill("added by hand")
    field.press("Enter")

    def submitted() -> list[Any]:
        page.locator(SAVE).first.click()
        page.wait_for_timeout(500)
        return mine_of(demo, task)

    (mine,) = wait_for(submitted, "there is no annotation of mine")
    assert [text for one in mine["result"] for text in one["value"]["text"]] == ["dry cough", "added by hand"]
    panel(page).get_by_text(re.compile("Lena Vogel: .*prediction")).wait_for()
    assert shown(page)["agreement"] == before["agreement"]
    context.close()


def test_compare_all_shows_the_panel_once(demo: Demo, page: Any, new_task: Callable[..., int], pictures: Path) -> None:
    task = new_task("A dry cough.", THREE)
    page.goto(task_address(demo, task))
    shown(page)
    page.get_by_text("Compare All").click()
    frames = page.locator("iframe[title=Agreement]")
    wait_for(lambda: frames.count() > 2, "Compare All does not show the columns")
    visible = "all => all.filter((one) => one.checkVisibility() && one.getBoundingClientRect().height > 0).length"
    wait_for(lambda: frames.evaluate_all(visible) == 1, "the panel is not there once")
    page.screenshot(path=pictures / "compare-all.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_is_accessible_on_a_phone(
    demo: Demo, people: Any, new_task: Callable[..., int], pictures: Path, scheme: str
) -> None:
    task = new_task("A fever and a dry cough.", THREE)
    context = people.context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    key = panel_key(demo.api.get(f"/api/projects/{demo.project}/")["label_config"])
    page.goto(f"{demo.url}/panel?k={key}&project={demo.project}&task={task}")
    page.locator("[data-agreement]").wait_for()
    page.get_by_role("button", name="Take into my annotation").wait_for()
    page.screenshot(path=pictures / f"panel-390-{scheme}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious_faults(page) == []
    context.close()


def test_the_panel_follows_label_studios_dark_switch(demo: Demo, people: Any, pictures: Path) -> None:
    """Across origins, while the page is open, whatever the system prefers."""
    task = next(iter(demo.api.tasks(demo.project)))["id"]
    context = people.context(color_scheme="light")
    page = context.new_page()
    page.goto(task_address(demo, task))
    shown(page)
    paper = "getComputedStyle(document.querySelector('.sirr')).backgroundColor"
    frame = panel(page).locator("body")
    assert frame.evaluate(f"() => {paper}") == "rgb(255, 255, 255)"
    for scheme, color in (("dark", "rgb(27, 28, 32)"), ("light", "rgb(255, 255, 255)")):
        page.evaluate("(scheme) => { document.documentElement.dataset.colorScheme = scheme; }", scheme)
        wait_for(lambda color=color: frame.evaluate(f"() => {paper}") == color, f"the panel is not {scheme}")
        page.screenshot(path=pictures / f"panel-switched-{scheme}.png")
    context.close()


def test_backend_away_says_so_and_the_form_stays_usable(demo: Demo, page: Any, pictures: Path) -> None:
    page.goto(task_address(demo, next(iter(demo.api.tasks(demo.project)))["id"]))
    shown(page)
    page.context.route(f"{demo.url}/api/**", lambda route: route.abort())
    panel(page).get_by_text("can’t be reached").wait_for()
    page.screenshot(path=pictures / "backend-away.png")
    field = page.get_by_placeholder("Type one finding and press Enter")
    field.fill("still works")
    field.press("Enter")
    assert page.locator(SAVE).first.is_enabled()
    page.context.unroute(f"{demo.url}/api/**")
    panel(page).locator("[data-agreement]").wait_for()


def test_texts_of_the_demo_are_what_these_tests_count_on() -> None:
    assert not any(secret in json.dumps([n.answers for n in example.narratives()], default=list) for secret in SECRETS)


def test_an_annotator_with_the_key_of_the_label_config_decides_nothing(
    demo: Demo, annotator: Any, new_task: Callable[..., int]
) -> None:
    """Everybody in the project can read that key in Label Studio."""
    task = new_task("A fever and a dry cough.", THREE)
    annotator.goto(task_address(demo, task))
    panel_data = shown(annotator)
    frame = panel(annotator)
    assert "pyrexia" in panel_data["text"], "Anna has answered, so she may see"
    assert frame.get_by_role("button", name="Same", exact=True).count() == 0
    assert frame.get_by_role("link", name="Project report").count() == 0
    http = annotator.context.request
    key = panel_key(http.get(f"{demo.server.url}/api/projects/{demo.project}/").json()["label_config"])
    body = {
        "project": demo.project,
        "task": task,
        "pairs": [["fever", "pyrexia"]],
        "verdict": "same",
        "who": "Lena Vogel",
    }
    headers = {"X-Softirr-Key": key, "Content-Type": "application/json"}
    for base in (demo.url, demo.url.replace("localhost", "127.0.0.1")):  # with her login, and with the key alone
        assert http.post(f"{base}/api/decisions", data=json.dumps(body), headers=headers).status == 403
        assert http.get(f"{base}/report/{demo.project}?k={key}").status == 403
    alone = http.get(
        f"{demo.url.replace('localhost', '127.0.0.1')}/api/panel?project={demo.project}&task={task}&k={key}"
    )
    assert alone.json()["status"] == "blind" and "pyrexia" not in alone.text()
    link = demo._json("link", "--project", str(demo.project), "--user", "ben.okafor@example.org")
    assert (link["name"], link["role"]) == ("Ben Okafor", "reviewer")
    page = annotator.context.browser.new_context().new_page()
    assert page.goto(link["link"]).status == 200
    assert f"/report/{demo.project}" in page.url
    page.context.close()
