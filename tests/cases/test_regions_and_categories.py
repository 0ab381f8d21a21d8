"""Regions, categories and texts in other forms, as people have them: each case has the right value, or is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import softirr
from tests import Cli
from tests.answers.plain_rows import answers, json_file, refusal
from tests.cases.builders import (
    EXACT,
    USERS,
    observed,
    result,
    task,
    textarea,
)


class TestRegions:
    """Label Studio 6835, 5511, 7787, 8947, 9744: texts on regions of audio, video and pages."""

    def tasks(self) -> list[dict[str, Any]]:
        def segments(shift: float, words: list[str]) -> list[dict[str, Any]]:
            return [
                textarea("words", text, id=f"s{k}", where={"start": 4 * k + shift, "end": 4 * k + 4 + shift})
                for k, text in enumerate(words)
            ]

        return [task(1, {"kim": segments(0, ["one", "two", "three"]), "lou": segments(0.2, ["one", "two", "tree"])})]

    def test_segments_are_compared_one_by_one(self, tmp_path: Path, cli: Cli) -> None:
        path = json_file(tmp_path / "audio.json", self.tasks())
        report = cli("score", path, "--regions", "matched", *EXACT)
        assert [item["id"] for item in report["items"]] == ["1#0", "1#1", "1#2"]
        assert observed(report) == pytest.approx(2 / 3)
        pooled = cli("score", path, *EXACT)
        assert observed(pooled) == pytest.approx(2 / 3) and pooled["n_items"] == 1
        assert any("--regions matched compares region by region" in warning for warning in pooled["warnings"])

    def test_region_of_one_rater_only_is_a_disagreement(self, tmp_path: Path) -> None:
        tasks = self.tasks()
        tasks[0]["annotations"][1]["result"].pop()
        table = softirr.read(json_file(tmp_path / "audio.json", tasks), regions="matched")
        assert answers(table)["1#2", "lou@lab.test"] == () and answers(table)["1#2", "kim@lab.test"] == ("three",)


class TestCategories:
    def test_labels_of_spans_are_the_set_of_a_document(self, tmp_path: Path, cli: Cli) -> None:
        """chart-review: which labels occur in a note, wherever they are."""
        answers_by_task = {
            1: (["Fever", "Rash"], ["Rash", "Fever"]),
            2: (["Cough"], ["Cough", "Fever"]),
            3: ([], ["Rash"]),
        }
        tasks = [
            task(
                number,
                {
                    rater: [
                        result(
                            "sign", "labels", {"start": 5 * k + n, "end": 5 * k + 4, "labels": [label]}, id=f"{n}{k}"
                        )
                        for n, label in enumerate(labels)
                    ]
                    for k, (rater, labels) in enumerate(zip(USERS, pair, strict=True))
                },
            )
            for number, pair in answers_by_task.items()
        ]
        report = cli("score", json_file(tmp_path / "notes.json", tasks), "--json")
        assert observed(report) == pytest.approx((1 + 1 / 2 + 0) / 3)
        assert report["provenance"]["kind"] == "set:jaccard"

    def test_labels_next_to_a_text_are_counted_in_a_warning(self, tmp_path: Path) -> None:
        label = result("sign", "rectanglelabels", {"x": 1, "y": 1, "width": 2, "height": 2, "rectanglelabels": ["A"]})
        arrow = {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"}
        tasks = [task(1, {rater: [textarea("finding", "fever"), label, arrow] for rater in USERS})]
        (warning,) = softirr.read(json_file(tmp_path / "a.json", tasks)).warnings
        assert warning.on_command_line == (
            "Results that are not compared: 2 of type relation, 2 of type rectanglelabels. --control sign compares "
            "the results of this control."
        )

    def test_controls_that_are_not_read_are_named_and_counted(self, tmp_path: Path) -> None:
        results = [
            textarea("signs", "fever"),
            result("side", "choices", {"choices": ["left"]}),
            result("box", "rectangle", {"x": 1, "y": 1, "width": 2, "height": 2}),
        ]
        path = json_file(tmp_path / "export.json", [task(1, {"kim": results, "lou": results})])
        (note,) = softirr.read(path).warnings
        assert note.on_command_line == (
            "Results that are not compared: 2 of type rectangle, 2 of type choices. --field side compares the "
            "results of this control."
        )
        assert not any("type choices" in note for note in softirr.read_texts(path, kind="auto")["signs"].warnings)

    def test_text_under_an_unknown_type_is_refused(self, tmp_path: Path) -> None:
        unknown_type = result("signs", "textara", {"text": ["rash"]})
        path = json_file(
            tmp_path / "export.json", [task(1, {"kim": [textarea("signs", "fever")], "lou": [unknown_type]})]
        )
        assert "results of signs have the types textarea and textara" in refusal(path)

    def test_result_types_are_named_if_nothing_is_read(self, tmp_path: Path) -> None:
        box = result("box", "rectangle", {"x": 1, "y": 1, "width": 2, "height": 2})
        path = json_file(tmp_path / "a.json", [task(1, {rater: [box] for rater in USERS})])
        assert "its results are 2 of type rectangle, which softirr does not compare" in refusal(path)

    def test_cell_with_a_line_break_is_one_label(self, tmp_path: Path, cli: Cli) -> None:
        """20Y-CHEC: a label may contain a line break, and only semicolons separate labels."""
        path = tmp_path / "labels.csv"
        path.write_text(
            'paper,who,tongue\n1,kim,"French\nGerman"\n1,lou,"French\nGerman"\n2,kim,Thai;Lao\n2,lou,Thai\n'
        )
        report = cli("score", path, "--item", "paper", "--rater", "who", "--field", "tongue=set:jaccard", "--json")
        assert observed(report) == pytest.approx((1 + 1 / 2) / 2)

    def test_project_of_categories_is_inspected(self, tmp_path: Path, cli: Cli) -> None:
        nested = [result("part", "choices", {"choices": [["Heart", "Valve"]]})]
        path = json_file(tmp_path / "a.json", [task(1, dict.fromkeys(USERS, nested))])
        assert "text = part" in cli("inspect", path)
        assert observed(cli("score", path, "--field", "part=path", "--json")) == 1


def test_same_rows_on_every_item_are_named(tmp_path: Path) -> None:
    """A join gone wrong gives every item the same answers."""
    rows = [f"{item},{rater},{text}" for item in range(6) for rater, text in (("kim", "fever"), ("lou", "rash"))]
    path = tmp_path / "joined.csv"
    path.write_text("item,rater,text\n" + "\n".join(rows) + "\n")
    warnings = softirr.read(path).warnings
    assert any(warning.startswith("All 6 items have the same answers by the same raters") for warning in warnings)
    path.write_text(path.read_text() + "9,kim,cough\n")
    assert not any("the same answers by the same raters" in warning for warning in softirr.read(path).warnings)


def test_texts_in_other_forms_agree(tmp_path: Path, cli: Cli) -> None:
    """openmed 1468; Label Studio 9703, 7168: width forms, native digits, tatweel and ligatures."""
    pairs = {
        "width": ("３９℃", "39 °C"),
        "digits": ("٥ مرات", "5 مرات"),
        "tatweel": ("حــمى", "حمى"),
        "ligature": ("reﬂux", "reflux"),
    }
    vowels = {"harakat": ("حُمَّى", "حمى")}
    case = {"Turkish": ("İLTİHAP", "iltihap")}
    path = tmp_path / "scripts.csv"
    all_pairs = pairs | vowels | case
    lines = [
        f"{name},{rater},{text}" for name, texts in all_pairs.items() for rater, text in zip(USERS, texts, strict=True)
    ]
    path.write_text("item,rater,text\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def agreeing(*options: str) -> set[str]:
        return {item["id"] for item in cli("score", path, *options, *EXACT)["items"] if item["agreement"] == 1}

    assert agreeing() == set(pairs)
    assert agreeing("--ignore-harakat") == set(pairs | vowels)
    assert agreeing("--casefold") == set(pairs | case)
