"""The panel in a real Chromium under its strict policy: room, contrast, direction, and the footer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.browsers import serious_faults
from tests.plugin.panel_payloads import ready

pytestmark = pytest.mark.browser

DRAW = """async (payload) => {
  const { render } = await import('./render.js');
  const { makeChoice } = await import('./choice.js');
  const names = ['accept', 'decide', 'sendBack', 'next', 'reopen', 'undoLast'];
  const actions = Object.fromEntries(names.map((name) => [name, () => {}]));
  const node = document.getElementById('panel');
  const draw = () => render(node, payload, { actions, choice });
  const choice = makeChoice(draw);
  choice.follow(payload);
  draw();
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_panel_fits_and_is_accessible(page: Any, pictures: Path, width: int, scheme: Any) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.evaluate(DRAW, ready())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious_faults(page) == []
    page.screenshot(path=pictures / f"panel-{width}-{scheme}.png", full_page=True)


def test_texts_keep_their_direction_and_are_never_markup(page: Any) -> None:
    page.evaluate(DRAW, ready(6))
    assert page.locator("img").count() == 0
    directions = "all => all.map((one) => getComputedStyle(one).direction)"
    assert page.locator(".sirr-card .sirr-pick .sirr-text").evaluate_all(directions)[:2] == ["ltr", "rtl"]


def test_footer_moves_up_by_the_hidden_height(page: Any) -> None:
    page.evaluate(DRAW, ready(6))
    foot = page.locator(".sirr-foot")
    initial = foot.bounding_box()["y"]
    page.evaluate("document.getElementById('panel').style.setProperty('--sirr-hidden-below', '150px')")
    assert foot.bounding_box()["y"] == pytest.approx(initial - 150, abs=1)


def test_choosing_a_text_keeps_the_focus_on_it(page: Any) -> None:
    page.evaluate(DRAW, ready())
    page.locator(".sirr-pick").nth(1).press("Enter")
    assert page.locator(".sirr-chip").count() == 2
    assert page.evaluate("document.activeElement.dataset.id") == "pick-findings-1-0"
