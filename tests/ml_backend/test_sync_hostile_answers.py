"""Answers that are hostile, huge or malformed stop no run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from softirr.answers.preparation import LONGEST_TEXT, TOO_LONG
from tests.ml_backend.bench import Bench, answered
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import region

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "right to left": "‮حمى شديدة‬ כאב ראש",
    "emoji": "🤒👩‍⚕️🏽 fever",
    "control characters": "fe\x00ver\x07 \x1b[31mred\x7f",
    "lone surrogate": "fe\udbffver \udfff",
    "quotes": "'; DROP TABLE tasks; -- \" \\ %s {0}",
    "white space": "\u2003 \t\n fever \u00a0",
    "combining": "e\u0301" * 50,
    "zero width": "fe\u200bver\ufeff",
    "very long": "long " * (LONGEST_TEXT // 5),
}
ODD_RESULTS: list[Any] = [
    None,
    "text",
    [None, 3, "x"],
    [{}],
    [{"type": "textarea"}],
    [{"type": "textarea", "from_name": "findings", "value": None}],
    [{"type": "textarea", "from_name": "findings", "value": {"text": None}}],
    [{"type": "textarea", "from_name": "findings", "value": {"text": [1, None, {"a": 1}, "fever"]}}],
    [{"type": "textarea", "from_name": "findings", "value": {"text": "a plain string"}}],
    [{"type": "textarea", "from_name": "findings", "value": {"text": [""]}}],
    [{"type": "relation", "from_id": "a", "to_id": "b", "direction": "bi"}],
    [{"type": ["textarea"], "from_name": {"a": 1}, "value": []}],
]

WITH_REGIONS = """<View><Text name="text" value="$text"/><TextArea name="findings" toName="text" perRegion="true"/>
<Labels name="span" toName="text"><Label value="A"/></Labels><Ranker name="rank" toName="text"/></View>"""


class TestHostileAnswers:
    def test_texts(self, bench: Bench) -> None:
        tasks = [bench.fake.add_task({1: [text, "fever"], 2: [text], 3: ["fever"]}) for text in HOSTILE.values()]
        bench.sync()
        assert bench.fake.wrong() == []
        assert set(bench.fake.predictions()) == set(tasks)
        bench.fake.calls.clear()
        bench.sync(full=True)
        assert bench.fake.writes() == []

    @pytest.mark.parametrize("index", [0, 3, 9])
    def test_a_task_that_label_studio_itself_can_not_deliver(
        self, tmp_path: Path, index: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It answers 500 for every page with a lone surrogate in it: the other tasks are read all the same."""
        bench = Bench(tmp_path, page_size=5)
        tasks = answered(bench.fake, 10)
        bench.sync()
        annotation = bench.fake.tasks[tasks[index]]["annotations"][0]
        bench.fake.edit(annotation["id"], ["fe\ud800ver"])
        bench.fake.edit(bench.fake.tasks[tasks[5]]["annotations"][0]["id"], ["something else"])
        for full in (False, True):
            bench.sync(full=full)
            assert set(bench.fake.predictions()) == set(tasks) - {tasks[index]}
            expected = bench.fake.expected()
            assert all(p["score"] == expected[task] for task, (p,) in bench.fake.predictions().items())
        assert f"task {tasks[index]} can't be read" in caplog.text
        excluded = bench.row["summary"]["controls"]["findings"]["excluded"]
        assert [(entry["item"], "can't deliver" in entry["reason"]) for entry in excluded] == [
            (str(tasks[index]), True)
        ]
        bench.fake.calls.clear()
        bench.sync()
        assert len(bench.fake.calls) < 10, "an ordinary run does not look for it again"
        bench.fake.edit(annotation["id"], ["fever"])
        bench.sync()
        assert bench.fake.wrong() == []

    def test_a_crowd_that_label_studio_can_not_put_on_one_page(self, bench: Bench) -> None:
        """On SQLite it answers 500 for a page with answers of a thousand people.

        The client requests tasks and dates in smaller pages.
        """
        tasks = [bench.fake.add_task({3 * k + j: ["fever", "cough"][: j + 1] for j in range(3)}) for k in range(12)]
        bench.fake.most_people = 12
        assert bench.sync(full=True).created == 12
        bench.fake.edit(bench.fake.tasks[tasks[4]]["annotations"][0]["id"], ["something else"])
        bench.sync()
        assert bench.fake.wrong() == []
        bench.fake.later()
        for task in tasks[:2]:
            del bench.fake.tasks[task]
        bench.sync()
        assert bench.fake.wrong() == []
        assert set(bench.fake.predictions()) == set(tasks[2:])

    @pytest.mark.slow
    def test_ten_megabytes(self, bench: Bench) -> None:
        words = " ".join(f"w{k}" for k in range(1_500_000))
        assert len(words) > 10_000_000
        task = bench.fake.add_task({1: [words], 2: ["fever"], 3: ["fever"]})
        bench.sync()
        assert set(bench.fake.predictions()) == {task}, "the other two are scored"
        ((prediction,),) = bench.fake.predictions().values()
        assert prediction["score"] == 1.0
        summary = bench.row["summary"]
        assert [entry["reason"] for entry in summary["controls"]["findings"]["excluded"]] == [TOO_LONG]
        for stored in (prediction, summary):
            assert len(json.dumps(stored, default=str)) < 100_000, "ten megabytes are not repeated"

    @pytest.mark.slow
    def test_five_thousand_texts_in_an_answer(self, bench: Bench) -> None:
        long_answer = [f"finding {k}" for k in range(5000)]
        task = bench.fake.add_task({1: long_answer, 2: long_answer[:50], 3: ["finding 7"]})
        bench.sync()
        assert bench.fake.wrong() == []
        ((prediction,),) = bench.fake.predictions().values()
        assert prediction["task"] == task
        assert len(json.dumps(prediction)) < 1_000_000

    def test_five_thousand_answers_in_a_task(self, bench: Bench) -> None:
        """Of three users, who answered again and again: the newest of each count, the others are listed."""
        task = bench.fake.add_task()
        for k in range(5000):
            bench.fake.annotate(task, 1 + k % 3, [f"finding {k}"])
        bench.sync()
        assert bench.fake.wrong() == []
        summary = bench.row["summary"]["controls"]["findings"]
        assert (summary["n_raters"], summary["n_excluded"], len(summary["excluded"])) == (3, 4997, 1000)

    def test_huge_task_is_left_out_with_the_reason(self, bench: Bench) -> None:
        """Three times five thousand texts are 75 million comparisons."""
        fine = bench.fake.add_task({1: ["fever"], 2: ["fevers"]})
        huge = bench.fake.add_task({user: [f"{user} {k}" for k in range(5000)] for user in (1, 2, 3)})
        bench.sync()
        assert set(bench.fake.predictions()) == {fine}
        excluded = bench.row["summary"]["controls"]["findings"]["excluded"]
        assert {(entry["item"], entry["rater"]) for entry in excluded} == {(str(huge), str(user)) for user in (1, 2, 3)}
        assert "too many texts of one item" in excluded[0]["reason"]
        bench.fake.calls.clear()
        bench.sync(full=True)
        assert bench.fake.writes() == []

    def test_two_answers_of_ten_megabytes_are_left_out_with_the_reason(self, bench: Bench) -> None:
        """Their edit distance would take a quarter of an hour."""
        fine = bench.fake.add_task({1: ["fever"], 2: ["fevers"]})
        bench.fake.add_task({user: [f"{user} " * 5_000_000] for user in (1, 2)})
        bench.sync()
        assert set(bench.fake.predictions()) == {fine}
        excluded = bench.row["summary"]["controls"]["findings"]["excluded"]
        assert ["too long to compare" in entry["reason"] for entry in excluded] == [True, True]

    def test_odd_results(self, bench: Bench) -> None:
        for result in ODD_RESULTS:
            bench.fake.annotate(bench.fake.add_task({2: ["fever"]}), 1, [], result=result)
        bench.sync()
        assert bench.fake.wrong() == []

    @pytest.mark.parametrize("change", [{"id": ["a"]}, {"id": {}}, {"type": "ranker", "from_name": []}])
    def test_odd_ids_of_regions_and_names_of_controls(self, tmp_path: Path, change: dict[str, Any]) -> None:
        bench = Bench(tmp_path / "bench", FakeLabelStudio(WITH_REGIONS))
        task = bench.fake.add_task({2: ["fever"], 3: ["fever"]})
        span = {"from_name": "span", "to_name": "text", "type": "labels", "value": {"text": "hot", "labels": ["A"]}}
        bench.fake.annotate(task, 1, [], result=[region(["fever"]), {**span, **change}, {**region(["rash"]), **change}])
        bench.sync()
        assert bench.task(task)["agreement"] is not None
        assert bench.row["summary"]["controls"]["findings"]["excluded"] == []

    def test_odd_users(self, bench: Bench) -> None:
        users: tuple[Any, ...] = (None, {"id": 7, "email": "a@x"}, "a@x", True, {})
        for completed_by in users:
            task = bench.fake.add_task({1: ["fever"], 2: ["fevers"]})
            bench.fake.annotate(task, 3, ["rash"], completed_by=completed_by)
        bench.sync()
        assert bench.fake.wrong() == []
