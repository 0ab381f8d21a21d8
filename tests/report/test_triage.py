"""One order of triage: the command line, the page, the files and Label Studio's queue rank the same items first."""

import itertools
import random
import re
import statistics
from collections.abc import Iterator
from typing import Any

import softirr
from ml_backend.web.task_queue import Entry
from softirr.report.page.render import report_page
from softirr.report.view import view
from softirr.report.view.rows import dissenter, in_triage_order, priority

THREE = [("fever", "fever", "rash"), ("cough", "rash", None), ("cough", "cough", "cough"), ("fever", "rash", "nausea")]


def report() -> dict[str, Any]:
    rows = [
        softirr.Answer(str(task), rater, text)
        for task, texts in enumerate(THREE, start=1)
        for rater, text in zip(("ann", "ben", "cleo"), texts, strict=True)
        if text is not None
    ]
    result = softirr.agreement(softirr.AnnotationTable.from_answers(rows), "exact")
    order = result.to_frame("items")["priority"].sort_values(ascending=False, kind="stable").index.tolist()
    return {"order": order, "text": str(result), **result.to_dict()}


def test_every_surface_has_the_same_order() -> None:
    result = report()
    tasks = [Entry({"number": int(item["id"]), "priority": priority(item)}, "ready", None) for item in result["items"]]
    queue = sorted(tasks, key=lambda task: task.order)
    expected_order = [str(entry.task) for entry in queue]
    assert expected_order == ["4", "1", "2", "3"], "agreement alone puts two who differ before a dissenter among three"
    assert [item["id"] for item in in_triage_order(result["items"])] == expected_order
    assert result["order"] == expected_order
    listed = result["text"].split("look at first")[1].split("\n\n")[0]
    assert re.findall(r"^(\d)\s", listed, re.M) == expected_order[:3], "items in full agreement need no look"
    page = report_page(view(result))
    assert re.findall(r'class="item">(\d)', page) == expected_order


def test_the_dissenter_is_who_leaves_the_most_agreement() -> None:
    draw = random.Random(1)
    for n in range(3, 9):
        pairs = [(a, b, draw.random()) for a, b in itertools.combinations("abcdefghi"[:n], 2)]
        without = {rater: statistics.fmean(p for a, b, p in pairs if rater not in (a, b)) for rater in "abcdefghi"[:n]}
        best = max(without, key=without.__getitem__)
        differs = dissenter(without[best] - 0.2, pairs)
        assert differs is not None and differs[0] == best and abs(differs[1] - without[best]) < 1e-9
        assert dissenter(without[best] - 0.1, pairs) is None
    assert dissenter(0.0, [(a, b, 0.7) for a, b in itertools.combinations("abcd", 2)]) == ("a", 0.7), (
        "the first of a tie"
    )


def test_the_dissenter_among_hundreds_is_found_without_a_pass_for_each_rater() -> None:
    class CountedPairs(list[tuple[str, str, float]]):
        passes = 0

        def __iter__(self) -> Iterator[tuple[str, str, float]]:
            self.passes += 1
            return super().__iter__()

    pairs = CountedPairs((str(a), str(b), 0.5) for a, b in itertools.combinations(range(300), 2))
    dissenter(0.5, pairs)
    assert 0 < pairs.passes <= 5
