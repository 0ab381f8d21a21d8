"""What reviewers do in the panel, in a real Chromium: decisions, moving, regions, many annotators, keys."""

from typing import Any

import pytest

from tests.plugin.panel_page import LISTEN, MARKING, REVIEWING, calls, show
from tests.plugin.panel_payloads import HOSTILE, decided, many, quotes, ready, regions, sent_back, unrelated

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class TestDecisions:
    def test_a_row_shows_the_value_of_each_pair(self, page: Any) -> None:
        """A mean of 0.72 hides that one of the three differs from both others."""
        show(page, ready(3))
        pairs = page.locator('tr[data-match="0"] [data-pair]')
        assert [float(one.get_attribute("data-pair")) for one in pairs.all()] == [0.57, 0.61, 0.97]
        first = " ".join(pairs.first.text_content().split())
        assert "Ben Sample and Chloé Martin" in first and "0.57" in first
        show(page, ready(5))
        assert page.locator('tr[data-match="0"] .sirr-equivalence li:visible').count() == 3
        page.locator('tr[data-match="0"] .sirr-equivalence summary').click()
        assert page.locator('tr[data-match="0"] .sirr-equivalence li:visible').count() == 10

    def test_one_same_is_about_two_texts(self, page: Any) -> None:
        show(page, ready(3))
        buttons = page.locator('tr[data-match="0"] .sirr-deciding button[data-keep*="same"]')
        for index in range(buttons.count()):
            buttons.nth(index).click()
        decisions = [one for _, one in calls(page)]
        assert len(decisions) == 3 and all(len(one["pairs"]) == 1 and one["verdict"] == "same" for one in decisions)
        page.locator('tr[data-match="0"] .sirr-deciding button[data-keep*="different"]').first.click()
        assert len(calls(page)[-1][1]["pairs"]) == 1 and calls(page)[-1][1]["verdict"] == "different"

    def test_a_decided_pair_of_a_row_says_so(self, page: Any) -> None:
        payload = ready(3)
        payload["matches"][0]["pairs"][0]["decision"] = {"id": 9, "verdict": "different", "who": "Rae"}
        show(page, payload)
        row = page.locator('tr[data-match="0"]')
        assert "decided: not the same" in row.inner_text()
        row.get_by_role("button", name="Undo").click()
        assert calls(page) == [["undo", 9]]

    def test_any_text_moves_to_any_row_by_keyboard(self, page: Any) -> None:
        """From a row to another, from nothing to a row, and out of a row."""
        show(page, ready(3))
        assert page.locator(".sirr-move:visible").count() == 0
        chest, lobe, allergy = "chest infection", "pneumonia of the left lower lobe", "penicillin allergy"
        from_its_row = ("different", [["fever", "pyrexia"], ["fever", "high temperature"]])
        for key, to, wanted in [
            ("pick-4-0", "move-1", [("same", [[allergy, chest], [allergy, lobe]])]),
            ("pick-2-match-0", "move-1", [("same", [["fever", lobe]]), from_its_row]),
            ("pick-3-match-1", "move-alone", [("different", [[lobe, chest]])]),
        ]:
            show(page, ready(3))
            page.focus(f'[data-keep="{key}"]')
            page.keyboard.press("Space")
            page.focus(f'[data-keep="{to}"]')
            page.keyboard.press("Enter")
            decided = [(one["verdict"], one["pairs"]) for call in calls(page) for one in call[1:]]
            assert decided == wanted, key
        show(page, ready(3))
        page.click('[data-keep="pick-2-match-2"]')
        assert page.locator('[data-keep="move-alone"]').is_disabled(), "identical words can't be told apart"

    def test_any_text_moves_to_any_row_by_mouse(self, page: Any) -> None:
        show(page, ready(3))
        page.drag_and_drop('[data-keep="pick-2-0"]', 'tr[data-match="1"] td:last-child')
        ((_, *decisions),) = calls(page)
        assert decisions == [{"verdict": "same", "pairs": [["no known allergies", "pneumonia of the left lower lobe"]]}]
        page.drag_and_drop('[data-keep="pick-2-0"]', '[data-keep="pick-4-1"]')
        assert calls(page)[-1][1:] == [{"verdict": "same", "pairs": [["no known allergies", "allergic to nothing"]]}]
        page.drag_and_drop('[data-keep="pick-3-match-1"]', ".sirr-unmatched th")
        assert calls(page)[-1][1]["verdict"] == "different"

    def test_a_lone_text_that_was_decided_says_so_before_it_is_scored(self, page: Any) -> None:
        decision = {"id": 3, "texts": ["no known allergies", "allergic to nothing"], "verdict": "same", "who": "Rae"}
        show(page, ready(3, decisions=[decision]))
        assert "decided: same as allergic to nothing" in " ".join(page.inner_text(".sirr-unmatched").split())

    def test_two_texts_without_a_match_can_be_joined_by_keyboard(self, page: Any) -> None:
        show(page, ready(3))
        assert page.locator(".sirr-together").first.is_disabled()
        for key in ("pick-2-0", "pick-4-1"):
            page.focus(f'[data-keep="{key}"]')
            page.keyboard.press("Space")
        page.focus('[data-keep="together-same"]')
        page.keyboard.press("Enter")
        ((_, sent),) = calls(page)
        assert sent == {"verdict": "same", "pairs": [["no known allergies", "allergic to nothing"]]}

    def test_texts_that_are_only_side_by_side_can_be_joined_too(self, page: Any) -> None:
        show(page, unrelated())
        page.click('.sirr-pick:has-text("contusion")')
        page.click('.sirr-pick:has-text("blue marks")')
        page.click('[data-keep="together-same"]')
        ((_, sent),) = calls(page)
        assert sent == {"verdict": "same", "pairs": [["contusion", "blue marks on both forearms"]]}

    def test_two_texts_of_one_annotator_can_not(self, page: Any) -> None:
        show(page, ready(3))
        page.click('[data-keep="pick-4-0"]')
        page.click('[data-keep="pick-4-1"]')
        assert page.locator(".sirr-together").first.is_disabled()

    def test_undo(self, page: Any) -> None:
        show(page, decided())
        assert "decided: same" in page.inner_text('tr[data-match="1"]')
        page.click('tr[data-match="1"] .sirr-deciding button')
        page.click('[data-keep="undo-list-5"]')
        assert calls(page) == [["undo", 4], ["undo", 5]]

    def test_who_can_not_decide_sees_no_buttons(self, page: Any) -> None:
        show(page, ready(3), [])
        assert page.locator("#panel button").count() == 0


class TestManyAnnotators:
    """From six annotators on: a line for each meaning, people as chips, differences first."""

    def test_eight_with_eight_texts_fit_a_frame(self, page: Any) -> None:
        """5,722 px of columns of 70 px, scrolling both ways, before."""
        show(page, many(), REVIEWING)
        assert page.evaluate("document.getElementById('panel').getBoundingClientRect().height") < 900
        assert page.locator(".sirr-texts").count() == 0
        first = page.locator(".sirr-meaning").first
        assert "0.72 nausea" in " ".join(first.inner_text().split()), "where a pair differs comes first"
        assert page.locator("summary", has_text="4 meanings that all 8 share").is_visible()
        assert not page.get_by_text("dry cough").first.is_visible()
        lacking = page.locator(".sirr-meaning").nth(1).locator(".sirr-lacks")
        assert [" ".join(one.split()) for one in lacking.all_text_contents()] == [
            "G\u2068Gus\u2069 lacks it",
            "HS\u2068Hana Sato\u2069 lacks it",
        ]

    def test_a_line_opens_to_its_wordings_and_decisions(self, page: Any) -> None:
        show(page, many(), REVIEWING)
        page.evaluate(LISTEN)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.locator('[data-match="4"] .sirr-wordings > li').count() == 2
        page.keyboard.press("ArrowDown")
        page.keyboard.press("x")
        assert calls(page) == [
            ["decide", {"pairs": [["nausea, reported by the patient", "nausea"]], "verdict": "different"}]
        ]

    def test_a_text_moves_to_another_line(self, page: Any) -> None:
        show(page, many(), REVIEWING)
        page.click('.sirr-pick:has-text("finding of 2 only, 0")')
        page.click('[data-keep="move-5"]')
        ((_, sent),) = calls(page)
        assert sent["verdict"] == "same" and ["finding of 2 only, 0", "vomiting"] in sent["pairs"]

    def test_five_annotators_have_columns(self, page: Any) -> None:
        show(page, ready(5))
        assert page.locator(".sirr-texts thead th").count() == 6


class TestRegions:
    def test_each_row_shows_label_position_and_box(self, page: Any) -> None:
        show(page, regions(), REVIEWING)
        row = page.locator('tr[data-match="1"] .sirr-region')
        assert "Defekt / Kratzer" in row.inner_text() and "60–80% × 10–30%" in row.inner_text()
        assert row.locator("rect").count() == 2
        page.get_by_role("button", name="Show the region of \u2068Ben Sample\u2069").last.click()
        assert calls(page) == [["region", 33, "r362"]]
        alone = page.locator(".sirr-unmatched .sirr-region")
        assert alone.count() == 2 and "5–25%" in alone.last.inner_text()

    def test_spans_show_their_quote(self, page: Any) -> None:
        show(page, quotes(), REVIEWING)
        region = page.locator('tr[data-match="0"] .sirr-region')
        assert region.locator("q").inner_text() == "une toux sèche depuis lundi" and region.locator("svg").count() == 0

    def test_a_piece_of_the_image_is_shown_where_label_studio_serves_it(self, page: Any, panel_url: str) -> None:
        picture = {"kind": "image", "address": f"{panel_url}missing.svg"}
        page.route(
            "**/missing.svg",
            lambda route: route.fulfill(body="<svg xmlns='http://www.w3.org/2000/svg'/>", content_type="image/svg+xml"),
        )
        show(page, regions() | {"shows": picture}, REVIEWING)
        part = page.locator('tr[data-match="1"] .sirr-picture').get_attribute("viewBox")
        left, top, width, height = map(float, part.split())
        assert 45 < left < 60 and top == 0 and left + width > 82 and height < 60
        assert page.locator(".sirr-picture image").first.get_attribute("href") == picture["address"]

    def test_what_can_not_be_taken_is_not_offered(self, page: Any) -> None:
        show(page, regions() | {"can_take": False}, REVIEWING)
        assert page.get_by_role("button", name="Take into my annotation").count() == 0
        assert page.get_by_role("button", name="Accept as agreed answer").count() == 1


class TestReview:
    """Done, the next task, what does not count: by buttons and by keys."""

    def test_a_reason_can_be_said_not_to_count(self, page: Any) -> None:
        show(page, ready(3), REVIEWING)
        page.get_by_role("button", name="Does not count in our project: severity").first.click()
        assert calls(page) == [["uncount", "severity"]]
        proposal = {"id": 6, "attribute": "severity", "task": 5271, "who": HOSTILE[0], "when": None}
        show(page, ready(3, uncounted=[proposal]), REVIEWING)
        assert f"proposed not to count by {HOSTILE[0]}" in page.locator(".sirr-reason").first.inner_text()
        page.get_by_role("button", name="Undo: severity does not count").first.click()
        assert calls(page) == [["count", 6]]
        show(page, ready(3, uncounted=[{**proposal, "task": 9}]), REVIEWING)
        assert page.get_by_role("button", name="Undo: severity does not count").count() == 0
        show(page, ready(3), [])
        assert page.locator("#panel button").count() == 0

    def test_other_reasons_are_no_attributes(self, page: Any) -> None:
        payload = ready(3)
        payload["reasons"][0] |= {"kind": "spelling", "name": "spelling", "can_be_ignored": False}
        show(page, payload, REVIEWING)
        assert page.locator("[data-uncount]").count() == 0 and "spelling" in page.inner_text("#panel")

    def test_a_reason_is_given_once_whoever_comes_first(self, page: Any) -> None:
        payload = ready(3)
        reason = payload["reasons"][0]
        a, b, c = (str(one["id"]) for one in payload["raters"])
        row = payload["matches"][0]
        row["texts"] = {a: reason["texts"][0], b: reason["texts"][1], c: reason["texts"][0]}
        turned = {"raters": [b, c], "texts": reason["texts"][::-1], "words": "no severity against severe"}
        payload["reasons"] = [{**reason, "raters": [a, b]}, {**reason, **turned}]
        show(page, payload, REVIEWING)
        assert page.locator("tr[data-match]").first.locator(".sirr-reason").count() == 1

    def test_a_marked_task_says_so(self, page: Any) -> None:
        show(page, ready(3, review={"state": "done", "who": "Rae Viewer", "when": None}), REVIEWING)
        assert "done, Rae Viewer" in page.inner_text(".sirr-review")
        page.get_by_role("button", name="Not done").click()
        assert calls(page) == [["unmark"]]

    def test_a_long_note_leaves_the_headline_its_width(self, page: Any) -> None:
        """A note of 48 letters squeezed it into 85 px."""
        show(page, sent_back(), REVIEWING)
        assert "sent back by Rae Viewer: Bitte" in page.inner_text(".sirr-review")
        assert page.locator(".sirr-verdict").evaluate("e => e.getBoundingClientRect().width") > 450
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def test_sending_back_by_keys(self, page: Any) -> None:
        show(page, ready(3), REVIEWING)
        page.evaluate(LISTEN)
        page.keyboard.press("b")
        page.keyboard.type("Name the side, u know.")
        show(page, ready(3, message="An update"), REVIEWING)
        assert page.input_value(".sirr-note") == "Name the side, u know.", "an update takes nothing away"
        page.keyboard.press("Enter")
        assert calls(page) == [["sendBack", "Name the side, u know."]]
        button = page.locator('[data-keep="send-back"]')
        assert button.get_attribute("aria-expanded") == "false", "the form that was sent is closed"
        assert button.evaluate("e => e === document.activeElement"), "the keyboard is not left in a hidden field"
        page.keyboard.press("b")
        page.keyboard.press("Escape")
        assert not page.locator(".sirr-note-form").is_visible()
        assert button.evaluate("e => e === document.activeElement")

    def test_texts_of_the_suggestion_are_dropped_one_by_one(self, page: Any) -> None:
        show(page, ready(3), REVIEWING)
        page.evaluate(LISTEN)
        page.keyboard.press("2")
        show(page, ready(3, message="An update"), REVIEWING)
        assert page.locator('.sirr-keep[aria-pressed="false"]').all_inner_texts() == [
            "pneumonia of the left lower lobe"
        ]
        page.keyboard.press("a")
        assert calls(page) == [["agree", [{"control": "findings", "texts": ["fever", "cough"]}]]]
        for key in "123":
            page.keyboard.press(key)
        page.keyboard.press("t")
        assert calls(page)[-1] == ["accept", [{"control": "findings", "texts": ["pneumonia of the left lower lobe"]}]]

    def test_every_key_answers(self, page: Any) -> None:
        """Each one does something or says why not."""
        empty = ready(3, suggestion=[], reasons=[], matches=[], unmatched={"2": []})
        show(page, empty, ["decide", "mark"])
        page.evaluate(LISTEN)
        live = page.locator(".sirr-live")
        answers = set()
        for key in ("ArrowDown", "s", "u", "i", "t", "a", "b", "n", "5"):
            live.evaluate("e => { e.textContent = ''; }")
            page.keyboard.press(key)
            assert live.inner_text().endswith("."), key
            answers.add(live.inner_text())
        assert len(answers) == 9 and calls(page) == []

    def test_the_agreed_answer_is_shown_and_can_be_withdrawn(self, page: Any) -> None:
        show(page, ready(3), REVIEWING)
        page.get_by_role("button", name="Accept as agreed answer").click()
        assert calls(page) == [["agree", [{"control": "findings", "texts": ready(3)["suggestion"]}]]]
        one = {"id": 8, "texts": [HOSTILE[0]], "who": HOSTILE[1], "when": None, "edited": True, "answers_changed": True}
        show(page, ready(3, agreed=one), REVIEWING)
        answer = page.get_by_role("region", name="Agreed answer")
        assert (
            HOSTILE[0] in answer.inner_text()
            and f"{HOSTILE[1]}, edited; answers have changed since" in answer.inner_text()
        )
        assert page.get_by_role("button", name="Accept as agreed answer").count() == 0
        page.get_by_role("button", name="Undo: the agreed answer").click()
        assert calls(page) == [["disagree", 8]]

    def test_a_link_to_follow_leaves_the_frame(self, page: Any) -> None:
        show(
            page,
            ready(3, message="The end.", follow={"href": "http://ls/projects/1/data?task=4", "text": "open task 4"}),
        )
        link = page.get_by_role("link", name="open task 4")
        assert link.get_attribute("target") == "_top"
        show(page, ready(3, follow={"href": "javascript:window.__pwned=1", "text": "x"}))
        assert page.get_by_role("link", name="x", exact=True).get_attribute("href") == "about:blank"

    def test_the_whole_task_by_keys(self, page: Any) -> None:
        show(page, ready(3), REVIEWING)
        page.evaluate(LISTEN)
        for key in ("ArrowDown", "s", "ArrowDown", "x", "j", "j", "s", "i"):
            page.keyboard.press(key)
        acts = [
            (name, *[(one["verdict"], one["pairs"]) for one in given if isinstance(one, dict)])
            for name, *given in calls(page)
        ]
        # the lowest pair of the first row comes first, then the rows below
        assert acts == [
            ("decide", ("same", [["pyrexia", "high temperature"]])),
            ("decide", ("different", [["fever", "high temperature"]])),
            ("decide", ("same", [["chest infection", "pneumonia of the left lower lobe"]])),
            ("uncount",),
        ]
        show(page, ready(3), REVIEWING)
        for key in ("t", "a", "d", "n"):
            page.keyboard.press(key)
        assert [name for name, *_ in calls(page)] == ["accept", "agree", "mark", "next"]
        page.keyboard.press("?")
        assert page.locator(".sirr-help").get_attribute("open") is not None
        show(page, decided(), REVIEWING)
        page.focus('[data-keep="undo-4"]')
        page.keyboard.press("u")
        assert calls(page) == [["undo", 4]]

    def test_two_texts_are_compared_by_keys(self, page: Any) -> None:
        show(page, ready(3), REVIEWING)
        page.evaluate(LISTEN)
        for key in ("pick-2-0", "pick-4-1"):
            page.focus(f'[data-keep="{key}"]')
            page.keyboard.press("Space")
        page.keyboard.press("s")
        ((_, sent),) = calls(page)
        assert sent == {"verdict": "same", "pairs": [["no known allergies", "allergic to nothing"]]}

    def test_keys_with_ctrl_and_those_of_fields_are_left_alone(self, page: Any) -> None:
        show(page, ready(3), REVIEWING)
        page.evaluate(LISTEN)
        page.keyboard.press("Control+d")
        page.keyboard.press("Alt+n")
        page.evaluate("document.body.append(document.createElement('textarea'))")
        page.focus("textarea")
        page.keyboard.type("tdns")
        assert calls(page) == [] and page.input_value("textarea") == "tdns"

    def test_the_help_line_names_only_keys_that_work(self, page: Any) -> None:
        show(page, ready(3), REVIEWING)
        assert page.locator(".sirr-keys kbd").all_inner_texts() == [*"↑↓SXUI", "1–9", *"TABDN?"]
        show(page, ready(3), MARKING)
        assert page.locator(".sirr-keys kbd").all_inner_texts() == [*"UBDN?"]
        show(page, ready(3), [])
        assert page.locator(".sirr-keys").count() == 0
