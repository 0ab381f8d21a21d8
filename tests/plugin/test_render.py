"""The panel in a real Chromium, in each of its states: its words, that texts stay texts, that it is accessible."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.browsers import serious_faults
from tests.plugin.panel_page import REVIEWING, calls, show
from tests.plugin.panel_payloads import HOSTILE, STATES, decided, long, ready, right_to_left, several, single

pytestmark = pytest.mark.browser


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, scheme, width",
    [
        *((name, "light", 760) for name in STATES),
        *((name, "dark", 760) for name in ("ready-10", "decided", "pending")),
        *((name, "light", 360) for name in ("ready-10", "decided", "long", "blind")),
    ],
)
def test_every_state_is_accessible_and_fits(page: Any, pictures: Path, name: str, scheme: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 600})
    page.emulate_media(color_scheme=scheme)
    show(page, STATES[name], REVIEWING)
    kind = scheme if width == 760 else "narrow"
    page.screenshot(path=pictures / f"panel-{name}-{kind}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    assert serious_faults(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ready-3", "regions", "decided", "long", "hostile", "other-fields"])
def test_a_narrow_panel_hides_nothing_beside_its_edge(page: Any, pictures: Path, name: str) -> None:
    """At 390 px the annotators' texts and the decisions stand below each other, each text under a name."""
    page.set_viewport_size({"width": 390, "height": 800})
    show(page, STATES[name], REVIEWING)
    page.screenshot(path=pictures / f"panel-stacked-{name}.png")
    inside = page.locator(".sirr-texts").evaluate(
        "(one) => [...one.querySelectorAll('td, tbody th, button')].filter((e) => e.checkVisibility())"
        ".map((e) => e.getBoundingClientRect()).every((box) => box.left >= 0 && box.right <= innerWidth)"
    )
    assert inside, "something stands outside of the window"
    region = page.locator(".sirr-scroll").first
    assert region.evaluate("(one) => one.scrollWidth <= one.clientWidth"), "the texts scroll sideways"
    names = page.locator(".sirr-texts td[data-label]").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one, '::before').content)"
    )
    assert names and all(len(one) > 2 for one in names)
    roles = page.get_by_role("table", name="Texts that belong together")
    assert roles.get_by_role("columnheader").count() >= 3 and roles.get_by_role("rowheader").count() >= 1
    assert serious_faults(page) == []


def test_ready_says_what_the_payload_says(page: Any) -> None:
    show(page, ready(3))
    text = page.inner_text("#panel")
    for wanted in (
        "0.42",
        "moderate agreement",
        "12th lowest of 60 tasks",
        "Krippendorff's alpha 0.61, 95% interval 0.55 to 0.67",
    ):
        assert wanted in text
    assert "Ann Example’s is broader" in text and "older answer of the same rater" in text and "Measure nli" in text
    headers = page.locator(".sirr-texts thead th").all_inner_texts()
    assert headers == ["Equivalence", "Ann Example", "Ben Sample", "Chloé Martin"]
    row = page.locator('tr[data-match="1"] td').all_inner_texts()
    assert row[:2] == ["chest infection", "pneumonia of the left lower lobe"]


def test_each_other_field_is_one_line_with_its_agreement_and_what_most_say(page: Any) -> None:
    show(page, STATES["other-fields"])
    box = page.get_by_role("region", name="Other fields")
    lines = [" ".join(text.split()) for text in box.locator(".sirr-other").all_inner_texts()]
    assert lines == [
        "side 0.33 majority left left (Ben Sample; Chloé Martin) right (Ann Example)",
        "signs 0.50 majority nothing chosen nothing chosen (Ben Sample; Chloé Martin) red; wet (Ann Example)",
        "stars 0.82 median 4 4 (Ann Example) 3 (Ben Sample) 5 (Chloé Martin)",
        "ranking of the causes – viral > bacterial > other (Ann Example)",
    ]
    show(page, STATES["other-fields-of-10"])
    assert "left (9 annotators)" in page.inner_text(".sirr-others")
    show(page, STATES["ready-3"])
    assert not page.locator(".sirr-others").count()


def test_the_foot_says_what_counts_as_the_same(page: Any) -> None:
    show(page, decided())
    foot = page.inner_text(".sirr-foot")
    assert "what counts as the same: clinical finding, any severity: severity does not count" in foot
    show(page, ready(3))
    assert "what counts" not in page.inner_text(".sirr-foot")


def test_a_measure_that_does_not_fit_is_said_first(page: Any) -> None:
    show(page, ready(3) | {"misfits": ["The texts look like French: use another measure. <b>Now</b>"]})
    first = page.locator("#panel .sirr-misfit")
    assert first.inner_text() == "The texts look like French: use another measure. <b>Now</b>"
    assert first.evaluate("e => e === e.parentElement.firstElementChild || e.nextElementSibling.matches('.sirr-head')")


def test_who_is_left_out_altogether_has_a_name(page: Any) -> None:
    show(page, ready(3, excluded=[{"rater": "99", "name": "Dora Left", "reason": "skipped"}]))
    assert "Dora Left: skipped" in page.inner_text("#panel")


def test_relation_unrelated_is_said(page: Any) -> None:
    payload = single()
    payload["matches"][0] |= {"equivalence": 0.03, "relation": "unrelated"}
    show(page, payload)
    assert "unrelated" in page.inner_text('tr[data-match="0"] th')


@pytest.mark.slow
def test_broader_is_said_of_whom_the_service_names(page: Any) -> None:
    payload = ready(3)
    payload["matches"][1] |= {"broader": "3", "relation": "second is more general"}
    show(page, payload)
    assert "Ben Sample’s is broader" in page.inner_text('tr[data-match="1"] th')


@pytest.mark.slow
def test_the_score_says_which_field_it_is_of(page: Any) -> None:
    payload = ready(3)
    show(page, payload)
    assert "lowest field" not in page.inner_text(".sirr-score")
    payload["task"]["of"] = "lowest field: <b>side</b>"
    show(page, payload)
    assert "lowest field: <b>side</b>" in page.inner_text(".sirr-score")


@pytest.mark.slow
def test_several_fields_stand_under_their_names(page: Any) -> None:
    show(page, several(), REVIEWING)
    assert page.locator(".sirr-field").all_inner_texts() == ["findings 0.42", "diagnosis 0.94"]
    assert "heart attack" in page.inner_text(".sirr-body >> nth=1")
    page.click('[data-keep="1-same-0"]')
    page.get_by_role("button", name="Take into my annotation").click()
    (_, sent), (name, taken) = calls(page)
    assert sent["pairs"] == [["myocardial infarction", "heart attack"]]
    assert name == "accept" and [one["control"] for one in taken] == ["findings", "diagnosis"]
    assert taken[1]["texts"] == ["myocardial infarction"]


@pytest.mark.slow
def test_numbers_are_explained_and_stay_so(page: Any) -> None:
    show(page, ready(3, threshold=0.6))
    page.click(".sirr-help summary")
    show(page, ready(3, threshold=0.6, message="again"))
    assert "an equivalence of 0.60 or more" in page.inner_text(".sirr-help")


@pytest.mark.slow
def test_a_notice_leaves_the_frame_transparent(page: Any) -> None:
    """The label stream shows no more than a line, so the rest of the frame should not be a block of another color."""
    background = "getComputedStyle(document.body).backgroundColor"
    show(page, STATES["blind"])
    assert page.evaluate(background) == "rgba(0, 0, 0, 0)"
    show(page, ready(3))
    assert page.evaluate(background) == "rgb(255, 255, 255)"


def test_two_annotators_need_no_matrix(page: Any) -> None:
    show(page, single())
    assert page.locator(".sirr-matrix").count() == 0
    show(page, ready(10))
    assert page.locator(".sirr-matrix tbody tr").count() == 10


def test_who_was_compared_with_nobody_has_no_row(page: Any) -> None:
    payload = ready(4)
    payload["matrix"] = [[None if 1 in (i, j) and i != j else 1.0 for j in range(4)] for i in range(4)]
    show(page, payload)
    names = page.locator(".sirr-matrix tbody th").all_text_contents()
    assert names == [rater["name"] for rater in payload["raters"] if rater != payload["raters"][1]]
    assert "not compared" not in page.locator(".sirr-matrix").text_content()


def test_hostile_texts_stay_texts(page: Any) -> None:
    show(page, STATES["hostile"])
    page.wait_for_timeout(50)
    assert page.evaluate("window.__pwned") is None
    assert page.locator("#panel img, #panel script, #panel iframe, #panel image, #panel style").count() == 0
    assert HOSTILE[0] in page.inner_text("#panel")
    assert not page.locator('a[href^="javascript"]').count()


@pytest.mark.slow
def test_right_to_left_texts_keep_their_direction(page: Any) -> None:
    payload = right_to_left()
    payload["verdict"] = "ليلى حداد differs: חום instead of حمى."
    payload["headline"]["sentences"] = ["Krippendorff's alpha −0.12, 95% interval −0.58 to 1.00 over 2026-11 tasks."]
    show(page, payload)
    texts = page.locator(".sirr-texts .sirr-text")
    directions = {
        texts.nth(i).inner_text(): texts.nth(i).evaluate("e => getComputedStyle(e).direction")
        for i in range(texts.count())
    }
    assert directions["حمى"] == "rtl" and directions["chest infection"] == "ltr"
    sentence = page.locator(".sirr-verdict bdi")
    assert sentence.evaluate("e => getComputedStyle(e).direction") == "ltr", "an English sentence"
    assert "alpha −0.12, 95% interval −0.58 to 1.00 over 2026-11 tasks" in page.inner_text(".sirr-facts")


@pytest.mark.slow
def test_long_texts_open_on_demand_and_stay_open(page: Any) -> None:
    show(page, long())
    pick = page.locator('tr[data-match="0"] .sirr-pick').first
    height = "e => e.getBoundingClientRect().height"
    before = pick.evaluate(height)
    assert before < 100
    page.get_by_role("button", name="Show all 786 characters").first.click()
    assert pick.evaluate(height) > 2 * before
    show(page, long() | {"message": "again"})
    assert pick.evaluate(height) > 2 * before
    page.get_by_role("button", name="Show less").first.click()
    assert pick.evaluate(height) == before


def test_shades_differ_in_lightness_alone(page: Any) -> None:
    """What survives grayscale survives color blindness: each step of the matrix is darker than the one before."""
    show(page, ready(3))
    light = page.evaluate(
        """() => Array.from({length: 11}, (_, i) => {
          const cell = document.createElement('span');
          cell.className = `sirr-shade-${i}`;
          document.querySelector('.sirr').append(cell);
          const [r, g, b] = getComputedStyle(cell).backgroundColor.match(/[\\d.]+/g).map(Number);
          cell.remove();
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        })"""
    )
    assert light == sorted(light, reverse=True) and len(set(light)) == 11


def test_payloads_are_json() -> None:
    assert json.loads(json.dumps(STATES)) == STATES


@pytest.mark.slow
def test_a_decision_on_a_pair_is_said_once_beside_its_value(page: Any) -> None:
    payload = ready(3)
    decision = {"id": 7, "verdict": "same", "who": "Rae"}
    payload["matches"][0]["decision"] = decision
    payload["matches"][0]["pairs"][0]["decision"] = decision
    show(page, payload)
    row = page.locator('tr[data-match="0"] th')
    assert row.locator(".sirr-decided").all_inner_texts() == ["decided: same"]
    assert re.search(r"0\.97\s+decided: same", row.inner_text())


def test_foot_names_the_terminologies(page: Any) -> None:
    payload = ready()
    payload["provenance"]["terminologies"] = ["hp"]
    show(page, payload)
    assert "terminology hp" in page.locator(".sirr-foot").inner_text()


def test_a_split_answer_is_shown_as_it_was_written(page: Any) -> None:
    payload = ready()
    first = payload["raters"][0]
    payload["written"] = {first["id"]: [f"fever, cough; {HOSTILE[0]}"]}
    payload["suggestion"] = ["fever, cough"]
    show(page, payload)
    before = page.locator("details", has_text="Answers before splitting")
    before.locator("summary").press("Enter")
    assert before.locator("li").all_inner_texts() == [f"{first['name']}: fever, cough; {HOSTILE[0]}"]
    show(page, ready())
    assert page.locator("details", has_text="Answers before splitting").count() == 0


@pytest.mark.slow
def test_the_verdict_is_the_first_line(page: Any) -> None:
    show(page, ready(3), REVIEWING)
    first = page.locator("#panel .sirr-head > :first-child")
    assert first.inner_text() == "Chloé Martin differs: right instead of left; alone has “penicillin allergy”."
    fields = several()
    for field, words in zip(fields["controls"], ("All 3 annotators say the same.", HOSTILE[0]), strict=True):
        field["verdict"] = words
    show(page, fields, REVIEWING)
    lines = page.locator(".sirr-verdict").all_inner_texts()
    assert lines == ["findings: All 3 annotators say the same.", f"diagnosis: {HOSTILE[0]}"]


def test_a_long_verdict_shows_its_first_differences_and_the_others_on_demand(page: Any) -> None:
    payload = ready(3)
    clauses = [f"Annotator number {k} alone has “a finding of some length, {k}”" for k in range(8)]
    payload["verdict"] = "; ".join(clauses) + "."
    show(page, payload, REVIEWING)
    line = page.locator(".sirr-verdict")
    assert line.evaluate("e => e.querySelector('summary').textContent") == "; ".join(clauses[:3]) + ";"
    assert not line.get_by_text("number 7").is_visible()
    line.locator("summary").click()
    show(page, payload | {"message": "An update"}, REVIEWING)
    assert line.get_by_text("number 7").is_visible()
    assert line.evaluate("e => e.textContent").replace(";Annotator", "; Annotator") == payload["verdict"]


def test_a_long_reason_takes_no_room_from_the_texts_of_others(page: Any) -> None:
    payload = ready(3)
    payload["matches"] = [
        {"texts": {"2": text, "4": text}, "equivalence": 1.0, "relation": "equivalent", "support": 2}
        for text in ("fatigue", "hypothyroidism")
    ]
    payload["unmatched"] = {"3": ["tired all the time"]}
    words = {"words": "no time against “all the time” in the whole report", "texts": ["tired all the time", "fatigue"]}
    payload["reasons"] = [payload["reasons"][0] | words | {"raters": ["3", "4"]}]
    page.set_viewport_size({"width": 745, "height": 700})
    show(page, payload, REVIEWING)
    height = "e => e.getBoundingClientRect().height"
    short, long_word = (page.locator(f'tr[data-match="{row}"] .sirr-pick').last.evaluate(height) for row in (0, 1))
    assert long_word == short, "a word is broken"


def test_a_task_of_three_annotators_fits_beside_label_studios_form(page: Any) -> None:
    """At 1280 x 900 Label Studio leaves the panel 635 px, and about 720 px of height at most."""
    page.set_viewport_size({"width": 635, "height": 720})
    show(page, ready(3), REVIEWING)
    assert page.locator(".sirr-stacked").count() == 0, "the annotators do not stand side by side"
    bottom = page.get_by_role("button", name="Take into my annotation").evaluate(
        "e => e.getBoundingClientRect().bottom"
    )
    assert bottom < 720
    assert page.locator("#panel").evaluate(
        "(panel) => [...panel.querySelectorAll('*')].every((e) => e.scrollHeight <= e.clientHeight"
        " || !['auto', 'scroll'].includes(getComputedStyle(e).overflowY))"
    ), "something scrolls inside the panel"
