"""Raters by themselves: repeats, drift and groups; and the sentence that says what would narrow the interval."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtrit

import softirr
from softirr.report.next_step import advice, judgments_for, next_step
from tests.planning.examples import WORDS, Cli, exported, table_of, written


def _schools(seed: int, schools: int, n: int = 60) -> softirr.AnnotationTable:
    """Six raters of one or two schools, who share the school's view of an item in 80% of the cases."""
    rng = np.random.default_rng(seed)
    answers = []
    for item in range(n):
        truth = rng.integers(len(WORDS))
        views = [truth, truth if rng.random() < 0.5 else rng.integers(len(WORDS))]
        for rater in range(6):
            own = views[rater % schools] if rng.random() < 0.8 else rng.integers(len(WORDS))
            answers.append((str(item), f"r{rater}", WORDS[own]))
    return table_of(answers)


class TestGroups:
    def test_two_schools_are_found(self) -> None:
        groups = softirr.raters(_schools(1, 2), "exact").groups
        assert groups is not None and groups.found
        assert {frozenset(group) for group in groups.groups} == {
            frozenset(("r0", "r2", "r4")),
            frozenset(("r1", "r3", "r5")),
        }
        assert groups.within > groups.between

    @pytest.mark.parametrize("seed", range(4))
    def test_alike_raters_have_none(self, seed: int) -> None:
        result = softirr.raters(_schools(seed, 1), "exact")
        assert result.groups is not None and not result.groups.found
        assert "No groups of raters" in str(result)

    def test_raters_who_always_agree(self) -> None:
        answers = [(str(i), f"r{k}", WORDS[i % 5]) for i in range(20) for k in range(5)]
        groups = softirr.raters(table_of(answers), "exact").groups
        assert groups is not None and not groups.found and groups.between == groups.within == 1

    def test_three_raters_are_too_few(self) -> None:
        result = softirr.raters(_schools(1, 1).part(raters=["r0", "r1", "r2"]), "exact")
        assert result.groups is None and any("four raters" in note for note in result.notes)


@pytest.fixture
def export(tmp_path: Path) -> str:
    """Ann answers every task twice, the second time otherwise in every fourth."""
    first = [(str(n), "ann", WORDS[n % 5]) for n in range(40)]
    second = [(str(n), r, WORDS[(n + (r == "ann" and n % 4 == 0)) % 5]) for n in range(40) for r in ("ann", "bob")]
    earlier = exported(tmp_path / "first.json", first)
    return exported(tmp_path / "export.json", second, "2026-03-01T00:00:00Z", earlier)


class TestRepeats:
    def test_older_annotations_of_an_export(self, export: str, cli: Cli) -> None:
        (repeats,) = cli("raters", export, "--again", "--measure", "exact", "--json")["repeats"]
        assert (repeats["rater"], repeats["n_items"], repeats["agreement"]["value"]) == ("ann", 40, pytest.approx(0.75))
        # its numbers are the newest answers', as before
        report = cli("score", export, "--measure", "exact", "--json")
        assert report["coefficients"]["observed_agreement"]["value"] == pytest.approx(0.75)

    def test_items_that_are_shown_again(self, export: str, cli: Cli) -> None:
        output = cli("raters", export, "--same", "case", "--measure", "exact")
        assert "all raters" in output and "ann" in output and "bob" in output
        assert "Fewer than 30" not in output.split("repeated items")[0]

    def test_rows_of_a_table(self, tmp_path: Path, cli: Cli) -> None:
        rows = [(str(i), rater, WORDS[i % 5]) for i in range(12) for rater in ("ann", "ann", "bob")]
        result = cli("raters", written(tmp_path / "a.csv", rows), "--again", "--measure", "exact", "--json")
        assert result["repeats"][0]["agreement"]["value"] == 1 and result["repeats"][0]["n_items"] == 12
        assert any("Fewer than 30 repeated items" in note for note in result["notes"])

    def test_none_are_said(self) -> None:
        rows = [("1", "a", "x"), ("1", "b", "x"), ("2", "a", "y"), ("2", "b", "z")]
        table = table_of(rows, {item: {"case": item} for item in "12"})
        assert "No rater answered the same item twice." in softirr.raters(table, "exact", same="case").notes


def test_drift_is_found_in_the_rater_who_drifts(tmp_path: Path, cli: Cli) -> None:
    rng = np.random.default_rng(3)
    rows = []
    for item in range(120):
        truth = rng.integers(5)
        for rater, share in (("ann", 0.95 - 0.8 * item / 120), ("bob", 0.9), ("cid", 0.9), ("dee", 0.9)):
            rows.append((str(item), rater, WORDS[truth if rng.random() < share else rng.integers(5)]))
    path = written(tmp_path / "a.csv", rows, order=lambda row: row[0])
    report = cli("raters", path, "--over", "order", "--measure", "exact", "--json")
    assert any("adjusted for 4 raters" in note for note in report["notes"])
    drift = {one["rater"]: one for one in report["drift"]}
    assert drift["ann"]["ci95"][1] < 0 and drift["ann"]["p_adjusted"] < 0.01
    assert min(drift, key=lambda name: drift[name]["p"]) == "ann" and len(drift) == 4
    for one in drift.values():
        assert (one["ci95"][0] <= 0 <= one["ci95"][1]) == (one["p_adjusted"] >= 0.05)
    ann = drift["ann"]
    low, high = ann["ci95"]
    alone = 2 * stdtrit(120 - 2, 0.975) * ann["standard_error"]
    assert high - low == pytest.approx(alone * stdtrit(118, 1 - 0.05 / 8) / stdtrit(118, 0.975))


def coefficient(low: float, high: float, judgments: int, items: float = 0.02) -> dict[str, object]:
    details = {"items_only": {"standard_error": items}}
    return {"value": 0.5, "ci95": [low, high], "judgments": judgments, "details": details}


class TestNextStep:
    def test_it_is_in_the_report(self) -> None:
        lines = str(softirr.agreement(_schools(1, 1), "indel")).splitlines()
        assert any(line == "Next: judge the 10 pairs of texts." for line in lines)

    def test_few_items(self) -> None:
        assert "annotate more tasks" in str(next_step(coefficient(0.1, 0.9, 60), 9, items="tasks"))

    def test_nothing_is_needed(self) -> None:
        assert next_step(coefficient(0.46, 0.54, 60), 300) == "Next: nothing. The interval is within ±0.05."

    def test_no_interval(self) -> None:
        assert next_step({"value": 0.5, "ci95": None}, 100) is None

    def test_judgments_alone_suffice(self) -> None:
        step = str(next_step(coefficient(0.42, 0.58, 60, items=0.01), 300))
        assert step.startswith("Next: to reach ±0.05, judge about") and "annotate" not in step

    def test_items_are_too_few(self) -> None:
        step = str(next_step(coefficient(0.4, 0.6, 100, items=0.045), 100, items="tasks"))
        assert "annotate about 264 more tasks" in step and step.endswith("More judgments alone are not enough.")

    def test_it_never_advises_nothing_or_more_pairs_than_the_items_have(self) -> None:
        items_or_pairs = re.compile(r"([\d,]+) (?:more |other )?(item|pair)s?")
        for n_items, pairs, judgments, half in itertools.product(
            (10, 40, 300), (0, 1, 3, 20, 40, 200, 2_000), (0, 5, 10, 40, 80), (0.06, 0.1, 0.2)
        ):
            one = coefficient(0.5 - half, 0.5 + half, judgments, items=0.0254)
            step = str(next_step(one, n_items, expected=0.3, pairs=pairs))
            if "out of reach" in step:
                continue
            numbers = {what: int(number.replace(",", "")) for number, what in items_or_pairs.findall(step)}
            assert numbers and min(numbers.values()) > 0, step
            more = numbers.get("pair", 0)
            assert not more or judgments + more <= pairs / n_items * (n_items + numbers.get("item", 0)), step

    def test_the_last_pairs_are_judged_before_more_items_are_annotated(self) -> None:
        one = coefficient(0.4, 0.6, 10, items=0.01)
        assert next_step(one, 40, expected=0.3, pairs=22) == "Next: judge the other 12 pairs of texts."
        assert "judge" not in str(next_step(one, 40, expected=0.3, pairs=10))

    def test_many_judgments_alone_suffice(self) -> None:
        one = coefficient(0.4, 0.6, 10, items=0.01)
        assert next_step(one, 40, expected=0.3) == "Next: to reach ±0.05, judge about 463 more pairs of texts."
        assert "annotate about" in str(next_step(one, 40, expected=0.3, pairs=41))

    def test_exact_answers_have_nothing_to_judge(self) -> None:
        step = str(next_step(coefficient(0.27, 0.73, 0, items=0.1), 12, exact=True))
        assert "annotate about" in step and "judg" not in step

    def test_few_wordings_have_few_pairs(self) -> None:
        rows = [
            (str(n), rater, ("pain", "ache")[(n + k) % 2 and n % 3 > 0])
            for n in range(40)
            for k, rater in enumerate("ab")
        ]
        table = table_of(rows)
        step = advice(softirr.agreement(table, "indel").to_dict())
        assert step is not None and step.startswith("Next: judge 1 pair of texts.")
        assert step == softirr.plan(table, "indel").step

    @pytest.mark.parametrize("width", [0.1, 0.2, 0.3])
    def test_the_number_of_judgments_falls_with_the_width(self, width: float) -> None:
        wide = coefficient(0.2, 0.8, 10)
        needed, fewer = judgments_for(width, wide), judgments_for(width + 0.1, wide)
        assert needed is not None and fewer is not None and needed > fewer >= 10
        assert judgments_for(0.05, wide) is None
