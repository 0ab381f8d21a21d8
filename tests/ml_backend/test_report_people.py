"""People in the report: how they lean, who agrees least with whom, and by which names they are called."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from ml_backend.labelstudio.answers import REVIEWER
from softirr.report.page.rater_table import matrix
from softirr.report.page.sentences import tendency_words
from tests.ml_backend.seeded_store import RATERS, Seeded

TASKS = {
    1: {"2": ["cough"], "3": ["dry cough"], "4": ["cough"]},
    2: {"2": ["rash"], "3": ["itchy rash"], "4": ["red rash"]},
    3: {"2": ["left knee pain"], "3": ["right knee pain"], "4": ["left knee pain"]},
    4: {"2": ["fever"], "3": ["fever"], "4": ["fever"]},
}


@pytest.fixture
def seeded(seed: Callable[..., Seeded]) -> Seeded:
    return seed(TASKS, measure="exact")


@pytest.mark.parametrize(
    "general, specific, words",
    [
        (0, 0, "no differences"),
        (4, 0, "no tendency"),
        (5, 0, "more general"),
        (0, 9, "more specific"),
        (10, 8, "no tendency"),
        (1001, 1000, "no tendency"),
        (1100, 1000, "more general"),
    ],
)
def test_a_tendency_needs_a_clear_majority(general: int, specific: int, words: str) -> None:
    """Sign test, one-sided, at 5 %: 5 of 5 has a chance of 1/32."""
    assert tendency_words(general, specific) == words


def test_who_writes_the_more_general_texts(seeded: Seeded) -> None:
    people = {one["id"]: one for one in seeded.report()["raters"]}
    assert {rater: (one["general"], one["specific"]) for rater, one in people.items()} == {
        "2": (3, 0),
        "3": (0, 3),
        "4": (1, 1),
    }
    assert "(3 more general, 0 more specific)" in seeded.page()


def test_reviewers_are_called_by_their_names(seeded: Seeded) -> None:
    """The page printed their user ids."""
    store = seeded.store
    raters = {**seeded.row["raters"], "10": "Rae <b>Reviewer"}
    settings = {"reviewers": {"value": ["10", "11"], "source": "chosen"}, "count_reviewers": {"value": False}}
    store.update_project(
        seeded.project, raters=raters, summary={**seeded.row["summary"], "settings": settings}, summary_at=2.0
    )
    reviewers = re.search(r'<p id="reviewers">(.*?)</p>', seeded.page(), re.DOTALL)
    assert reviewers and "<bdi>Rae &lt;b&gt;Reviewer</bdi>, <bdi>Annotator 11</bdi>" in reviewers[1]
    setting = re.search(r"Setting reviewers</dt>\s*<dd>(.*?)</dd>", seeded.page(), re.DOTALL)
    assert setting and setting[1].startswith("<bdi>Rae &lt;b&gt;Reviewer, Annotator 11"), setting


def test_pairs_of_texts_of_a_reason_lead_to_their_tasks(seeded: Seeded) -> None:
    text = seeded.page()
    assert "Kinds of disagreement" not in text
    kinds = {one["kind"]: one for one in seeded.report()["reasons"]["kinds"]}
    (one,) = kinds["side"]["examples"]
    assert (one["texts"], one["pairs"], one["items"]) == (["left knee pain", "right knee pain"], 2, ["3"])
    rows = seeded.as_person().get("/report/12/disagreements.csv").text
    assert "side,left knee pain,right knee pain,2,3" in rows


def test_the_list_of_tasks_shows_the_first_text_and_the_reason(seeded: Seeded) -> None:
    row = re.search(r'<tr data-task="3".*?</tr>', seeded.page(), re.DOTALL)
    assert row and "left knee pain" in row[0] and "left against right" in row[0]


def pair(a: str, b: str, value: float | None, ci95: Any = None) -> dict[str, Any]:
    return {"raters": [a, b], "observed_agreement": value, "ci95": ci95, "n_items": 10}


def test_the_worst_pairs_stand_out_not_by_color_alone() -> None:
    raters = [{"id": name, "n_items": 1} for name in "abcd"]
    pairs = [
        pair("a", "b", 0.9, [0.8, 1.0]),
        pair("a", "c", 0.4, [0.3, 0.5]),
        pair("a", "d", 0.5, [0.4, 0.6]),
        pair("b", "c", 0.85, [0.2, 1.0]),
        pair("b", "d", None),
    ]
    cells = [row["cells"] for row in matrix({"raters": raters, "rater_pairs": pairs})]
    marks = {(i, j): cell["mark"] for i, row in enumerate(cells) for j, cell in enumerate(row) if cell}
    assert marks[0, 2] == marks[2, 0] == "lowest" and marks[0, 3] == "low" and marks[0, 1] is marks[1, 2] is None
    assert cells[0][2] and cells[0][2]["level"] == 0 and cells[0][1] and cells[0][1]["level"] == 10  # type: ignore[index]
    assert cells[1][3] is None


def test_equal_pairs_have_no_worst() -> None:
    raters = [{"id": name, "n_items": 1} for name in "abc"]
    rows = matrix({"raters": raters, "rater_pairs": [pair("a", "b", 0.5), pair("b", "c", 0.5)]})
    assert {cell["mark"] for row in rows for cell in row["cells"] if cell} == {None}


def test_who_was_compared_with_nobody_has_words_and_no_row_of_dashes(seed: Callable[..., Seeded]) -> None:
    seeded = seed({**TASKS, 5: {"8": ["alone"]}}, measure="exact", excluded={4: [("9", REVIEWER)]})
    text = seeded.page()
    heat, one_by_one = (re.search(rf'<table class="[^"]*{name}.*?</table>', text) for name in ("heat", "one-by-one"))
    assert heat and one_by_one
    assert heat[0].count('<tr><th scope="row">') == 3 and "Annotator 8" not in heat[0]
    for name, words in (("Annotator 8", "not compared"), ("Annotator 9", "no answer counts")):
        row = re.search(rf"<bdi>{name}</bdi>.*?</tr>", one_by_one[0])
        assert row and f">{words}</span>" in row[0] and "–" not in row[0]


def test_a_renamed_person_has_the_new_name_at_once_and_a_deleted_one_the_last(seeded: Seeded) -> None:
    assert "Ben Sample" in seeded.page()
    seeded.update(raters={**RATERS, "3": "Benjamin Renamed"})
    text = seeded.page()
    assert "Benjamin Renamed" in text and "Ben Sample" not in text


def test_the_target_is_a_line_in_the_charts(seeded: Seeded) -> None:
    assert seeded.report()["target"] is None
    seeded.update(chosen={"target": 0.7})
    report = seeded.report()
    expected = report["expected_agreement"]["krippendorff"]
    assert report["target"]["value"] == 0.7
    assert report["target"]["observed"] == pytest.approx(expected + 0.7 * (1 - expected))
    assert "target 0.70</text>" in seeded.page()
