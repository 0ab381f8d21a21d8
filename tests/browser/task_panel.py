"""The agreement panel of a task in Label Studio: where it is, and what it shows."""

from __future__ import annotations

from typing import Any

import pytest

from ml_backend.review.panel_rows import rows_of
from tests.browser.browsers import panel

ROWS = ".lsf-table__row-wrapper"


ON_THE_ID = {"x": 60, "y": 10}  # elsewhere in a row there may be a button


SAVE = 'button[aria-label^="submit" i]'  # "Submit" or "Update"


SECRETS = ("purple toenails", "zebra stripes on the tongue")


THREE = {"Anna Brandt": ["fever", "dry cough"], "Ben Okafor": ["pyrexia", "dry cough"], "Chiara Rossi": ["dry cough"]}


def shown(page: Any) -> dict[str, Any]:
    """What the panel says, read in one moment: it may be drawn anew between two questions."""
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    panel_data: dict[str, Any] = frame.locator("body").evaluate(
        """body => {
            const all = selector => [...body.querySelectorAll(selector)];
            return {
                agreement: Number(body.querySelector("[data-agreement]").dataset.agreement),
                equivalences: all("[data-equivalence]").map(one => Number(one.dataset.equivalence)),
                matrix: all(".sirr-matrix td[data-value]").map(one => Number(one.dataset.value)),
                relations: all(".sirr-relation").map(one => one.innerText),
                text: body.querySelector(".sirr").innerText,
            };
        }"""
    )
    return panel_data


def assert_same(panel_data: dict[str, Any], item: dict[str, Any]) -> None:
    """The panel's numbers are those of ``softirr score``."""
    assert panel_data["agreement"] == pytest.approx(item["agreement"], abs=1e-9)
    # texts that only the assignment puts side by side stand apart in the panel
    rows, _ = rows_of(item, (), 0.5)
    assert panel_data["equivalences"] == pytest.approx([row["equivalence"] for row in rows], abs=1e-9)
    if item["n_raters"] > 2:
        assert sorted(panel_data["matrix"]) == pytest.approx(
            sorted(2 * [pair["equivalence"] for pair in item["pairs"]]), abs=1e-9
        )
    for match in item["matches"]:
        for text in match["texts"].values():
            assert text in panel_data["text"]
    for texts in item["unmatched"].values():
        assert all(text in panel_data["text"] for text in texts)
