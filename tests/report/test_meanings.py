"""Each item's distribution over meanings: label entropy, sets of texts, empty answers, and the files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy as label_entropy

import softirr
from softirr.report.meanings import entropy, meanings

RATERS = ("ann", "ben", "cem", "dev", "eli")


def items_of(rows: list[tuple[str, str, object]], measure: str = "exact") -> dict[str, dict]:
    table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    return {item["id"]: item for item in softirr.agreement(table, measure).to_dict()["items"]}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=5, max_size=5), min_size=2, max_size=6))
def test_labels_have_the_entropy_of_labels(given_labels: list[list[str | None]]) -> None:
    rows = [
        (str(item), rater, label)
        for item, labels in enumerate(given_labels)
        for rater, label in zip(RATERS, labels, strict=True)
        if label is not None
    ]
    if len({rater for _, rater, _ in rows}) < 2:
        return
    for id, item in items_of(rows).items():
        counts = Counter(label for label in given_labels[int(id)] if label is not None)
        item_meanings = meanings(item)
        assert {meaning.wording: meaning.raters for meaning in item_meanings} == counts
        assert entropy(item_meanings) == pytest.approx(label_entropy(list(counts.values()), base=2), abs=1e-12)


def test_equivalent_texts_are_one_meaning_and_the_texts_of_a_set_share_the_weight() -> None:
    rows = [
        *(("1", who, text) for who, text in zip(RATERS, ("fever", "fevers", "fever", "dry cough", ()), strict=True)),
        ("2", "ann", ("fever", "rash")),
        ("2", "ben", "fever"),
    ]
    items = items_of(rows, "indel")
    assert [(meaning.wording, meaning.texts, meaning.raters, meaning.share) for meaning in meanings(items["1"])] == [
        ("fever", ("fever", "fevers"), 3, pytest.approx(0.6)),
        ("", (), 1, pytest.approx(0.2)),
        ("dry cough", ("dry cough",), 1, pytest.approx(0.2)),
    ]
    assert {meaning.wording: meaning.share for meaning in meanings(items["2"])} == {"fever": 0.75, "rash": 0.25}


def test_the_folder_has_soft_labels(tmp_path: Path) -> None:
    rows = [("1", "ann", "fever"), ("1", "ben", "fever"), ("2", "ann", "fever"), ("2", "ben", "rash")]
    table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    report = softirr.agreement(table, "exact")
    report.to_folder(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "soft_labels.jsonl").read_text().splitlines()]
    assert lines == [
        {"item": "1", "entropy": 0.0, "labels": [{"text": "fever", "share": 1.0}]},
        {"item": "2", "entropy": 1.0, "labels": [{"text": "fever", "share": 0.5}, {"text": "rash", "share": 0.5}]},
    ]
    frame = report.to_frame("meanings")
    assert frame.loc[("2", 1), "share"] == 0.5 and frame.loc[("1", 1), "entropy"] == 0.0
    assert (tmp_path / "meanings.csv").read_text().splitlines()[1] == "1,1,fever,1.0,2,0.0,fever"
    assert entropy(()) is None
