"""The view of a report: verdict against the target, one cause if the interval supports it, and one next step."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import softirr
from softirr.meaning.policy.attributes import KINDS
from softirr.meaning.policy.reasons import REASONS
from softirr.report.view import Links, Names, view
from softirr.report.view.advice import CLAUSES
from tests.report.rater_tables import rows_of, table_of


def report_of(
    n: int, accuracy: dict[str, float], measure: str = "exact", seed: int = 0, **options: Any
) -> dict[str, Any]:
    """The report of raters with these accuracies."""
    table = table_of(rows_of(n, accuracy, seed))
    return softirr.agreement(table, measure, options=softirr.AgreementOptions(**options)).to_dict()


GOOD = {"ann": 0.97, "bob": 0.97, "cid": 0.97}
ONE_BAD = {**GOOD, "dee": 0.3}


class TestVerdict:
    @pytest.mark.parametrize(
        ("value", "ci95", "target", "state", "start"),
        [
            (0.46, [0.34, 0.63], 0.8, "missed", "Not good enough yet: agreement 0.46 (0.34 to 0.63), target 0.80."),
            (0.85, [0.81, 0.9], 0.8, "met", "Good enough: agreement 0.85 (0.81 to 0.90), target 0.80."),
            (0.72, [0.61, 0.83], 0.7, "undecided", "Not certain yet: agreement 0.72"),
            (0.72, None, 0.7, "undecided", "Not certain yet: agreement 0.72, target 0.70."),
        ],
    )
    def test_the_interval_decides(
        self, value: float, ci95: list[float] | None, target: float, state: str, start: str
    ) -> None:
        report = report_of(20, GOOD) | {"target": {"value": target, "source": "set by Ann"}}
        report["coefficients"]["krippendorff_alpha"] |= {"value": value, "ci95": ci95}
        verdict = view(report).verdict
        assert (verdict.state, verdict.target_source) == (state, "set by Ann")
        assert verdict.sentence.startswith(start)

    def test_without_a_target_it_is_krippendorffs(self) -> None:
        verdict = view(report_of(20, GOOD)).verdict
        assert verdict.target == 0.667 and "Krippendorff (2004)" in verdict.target_source
        assert verdict.basis == "Krippendorff’s alpha · no judgments · texts as written · 20 items, 3 raters"

    def test_nothing_to_compare_is_a_reason(self) -> None:
        table = softirr.AnnotationTable.from_answers([softirr.Answer("1", "ann", "x"), softirr.Answer("2", "bob", "y")])
        shown_view = view(softirr.agreement(table, "exact").to_dict())
        assert shown_view.verdict.state == "undefined" and shown_view.cause is None and shown_view.next_step is None
        assert shown_view.verdict.sentence.startswith("There is no agreement to report yet: ")

    def test_nobody_who_answered_is_not_one_rater(self) -> None:
        shown_view = view(softirr.agreement(softirr.AnnotationTable.from_answers([]), "exact").to_dict())
        assert shown_view.verdict.sentence == "There is no agreement to report yet: there are no answers to compare."


class TestCause:
    def test_a_person_far_below_the_others_is_named_with_both_values(self) -> None:
        report = report_of(80, ONE_BAD)
        names = Names({"dee": "Dee D."}, item="task", rater="annotator")
        cause = view(report, names, Links(rater=lambda rater: f"/raters/{rater}")).cause
        assert cause is not None and (cause.kind, cause.rater) == ("person", "dee")
        (dee,) = (rater for rater in report["raters"] if rater["id"] == "dee")
        assert [scale.value for scale in cause.scale] == [dee["agreement"], dee["others"]["value"]]
        assert dee["difference"]["value"] == pytest.approx(dee["agreement"] - dee["others"]["value"])
        assert cause.sentence.startswith("Mostly Dee D.: 0.") and cause.sentence.endswith(" with each other.")
        assert (cause.link, cause.link_text) == ("/raters/dee", "See the 10 worst tasks")

    def test_no_more_items_are_announced_than_there_are(self) -> None:
        report = report_of(80, ONE_BAD)
        report["items"] = report["items"][:8]
        cause = view(report, links=Links(rater=lambda rater: f"/raters/{rater}")).cause
        assert cause is not None and cause.link_text == "See the 8 worst items"

    def test_nobody_is_named_among_equals(self) -> None:
        """In at most 5% of projects of equal raters, with a margin for the simulation."""
        equal = dict.fromkeys("abcd", 0.7)
        views = [view(report_of(40, equal, seed=seed)) for seed in range(20)]
        n_named = sum(shown_view.cause.kind == "person" for shown_view in views)  # type: ignore[union-attr]
        assert n_named <= 3

    def test_two_raters_are_never_ranked(self) -> None:
        report = report_of(40, {"ann": 0.9, "bob": 0.3})
        assert all(rater["difference"] is None for rater in report["raters"])
        assert view(report).cause.kind != "person"  # type: ignore[union-attr]

    def test_reason_is_the_cause_if_no_rater_is_an_outlier(self) -> None:
        rows = []
        for item in range(30):
            for n, rater in enumerate(("ann", "bob", "cid")):
                side = "left" if (item + n) % 3 else "right"
                rows.append(softirr.Answer(str(item), rater, f"rash on the {side} arm"))
        table = softirr.AnnotationTable.from_answers(rows)
        report = softirr.agreement(table, "indel", policy=softirr.Policy(count=frozenset({"side"}))).to_dict()
        report["coefficients"]["krippendorff_alpha"]["ci95"] = [-0.2, 0.2]
        shown_view = view(report)
        assert shown_view.cause is not None and shown_view.cause.reason == "side"
        assert (
            shown_view.cause.sentence
            == "No rater is clearly below the others. In all items with differences, the texts name different sides."
        )
        assert shown_view.next_step is not None and shown_view.next_step.sentence == "Settle whether side counts."
        assert shown_view.next_step.examples == ("“rash on the right arm” / “rash on the left arm”",)

    @pytest.mark.parametrize("kind", REASONS)
    def test_every_reason_is_a_sentence_and_a_question(self, kind: str) -> None:
        clause, question = (text.format(rater="annotator") for text in CLAUSES[kind])
        assert re.match(r"(the texts|one text|only one (text|annotator)) \w+", clause)
        assert re.match(r"(whether|which|what) \w+", question)
        assert not re.search(r"\b(\w+) \1\b|[{}.]", f"{clause} {question}")

    @pytest.mark.parametrize(("n", "start"), [(10, "In a third of the tasks"), (30, "In all tasks")])
    @pytest.mark.parametrize("kind", sorted({*KINDS, "more general", "list", "spelling"}))
    def test_a_reason_that_a_rule_settles_is_the_cause(self, kind: str, n: int, start: str) -> None:
        report = report_of(30, {"ann": 0.6, "bob": 0.6})
        examples = [{"items": ["1"], "texts": ["a", "b"]}]
        report["reasons"] = {"items": 30, "kinds": [{"kind": kind, "items": n, "examples": examples}]}
        report["coefficients"]["krippendorff_alpha"]["ci95"] = [-0.2, 0.2]
        shown_view = view(report, Names(item="task", rater="annotator"))
        clause, question = CLAUSES[kind]
        assert shown_view.cause is not None and shown_view.next_step is not None
        assert shown_view.cause.sentence == f"{start} with differences, {clause}."
        assert (shown_view.next_step.kind, shown_view.next_step.sentence) == ("rule", f"Settle {question}.")


class TestNextStep:
    def test_a_met_target_needs_nothing(self) -> None:
        step = view(report_of(60, GOOD) | {"target": {"value": 0.3}}).next_step
        assert step is not None and step.kind == "done"

    def test_a_missed_target_with_a_person_is_a_talk(self) -> None:
        report = report_of(80, ONE_BAD)
        report["coefficients"]["krippendorff_alpha"]["ci95"] = [0.3, 0.6]
        shown_view = view(report)
        assert shown_view.verdict.state == "missed" and shown_view.next_step is not None
        assert (shown_view.next_step.kind, shown_view.next_step.sentence) == ("talk", "Talk to dee about these items.")

    def test_a_single_item_decides_nothing(self) -> None:
        table = softirr.AnnotationTable.from_answers([("1", "ann", "fever"), ("1", "bob", "fever")])
        shown_view = view(softirr.agreement(table, "exact").to_dict())
        assert shown_view.verdict.sentence == "Not certain yet: agreement 1.00, target 0.667."
        assert shown_view.next_step is not None
        assert shown_view.next_step.sentence == "Annotate more items. With 1 item there is no interval."

    def test_more_work_is_advised_only_if_it_could_change_the_verdict(self) -> None:
        report = report_of(80, ONE_BAD)
        coefficient = report["coefficients"]["krippendorff_alpha"]
        for ci95, advised in (([0.2, 0.5], False), ([0.2, 0.9], True)):
            coefficient |= {"value": 0.45, "ci95": ci95}
            coefficient["details"]["items_only"]["standard_error"] = 0.03
            step = view(report | {"target": {"value": 0.6}}).next_step
            assert step is not None and (step.kind in ("judge", "annotate")) == advised


class TestRows:
    def test_items_come_in_the_order_of_review_with_one_sentence(self) -> None:
        shown_view = view(report_of(30, ONE_BAD))
        assert len(shown_view.items) == shown_view.n_compared == 30
        assert shown_view.items[0].agreement <= shown_view.items[-1].agreement
        assert all(row.sentence.endswith(".") and len(row.sentence) <= 100 for row in shown_view.items)

    def test_people_come_lowest_first_and_models_last(self) -> None:
        report = report_of(60, {**ONE_BAD, "model:x": 0.1}) | {
            "median_seconds": {"ann": 12.5},
            "models": {"differences": [{"b": "model:x", "verdict": "below the others"}]},
        }
        people = view(report).people
        assert people[0].name == "dee" and people[-1].is_model
        assert people[-1].model_verdict == "below the others"
        assert {row.name: row.seconds for row in people}["ann"] == 12.5

    def test_meanings_are_named_by_a_clear_text(self) -> None:
        texts = {"ann": ["digoxin toxicity"] * 3, "bob": ["dig toxicity"] * 3}
        rows = [
            softirr.Answer(str(i), who, text)
            for who, rater_texts in texts.items()
            for i, text in enumerate(rater_texts)
        ]
        report = softirr.agreement(
            softirr.AnnotationTable.from_answers(rows), "indel", options=softirr.AgreementOptions(meanings=True)
        ).to_dict()
        (meaning,) = view(report, Names({"ann": "Ann A."})).meanings
        assert meaning.name == "digoxin toxicity" and meaning.raters == (("Ann A.", 3), ("bob", 3))

    @pytest.mark.parametrize(
        ("kind", "near", "far"),
        [
            ("ordinal", ("3", "4"), "9"),
            ("path", ("Heart > Valve", "Heart > Vessel"), "Lung"),
            ("ranking", ("a > b > c", "b > a > c"), "c > b > a"),
        ],
    )
    def test_near_values_of_a_field_are_not_the_same(self, kind: str, near: tuple[str, str], far: str) -> None:
        rows = [("1", "ann", near[0]), ("1", "bob", near[1]), ("2", "ann", near[0]), ("2", "bob", far)]
        rows += [("3", "ann", far), ("3", "bob", far)]
        table = replace(softirr.AnnotationTable.from_answers(rows), kind=kind)
        sentences = {row.id: row.sentence for row in view(softirr.agreement(table).to_dict()).items}
        assert sentences["1"] == f"Only ann has “{near[0]}”; only bob has “{near[1]}”."
        assert sentences["3"] == "ann and bob say the same."

    def test_a_field_has_its_whole_confusion_matrix(self) -> None:
        from softirr.report.fields import field_row

        rows = [("1", "ann", "left"), ("1", "bob", "right"), ("2", "ann", "left"), ("2", "bob", "left")]
        frame = {"item": [], "rater": [], "text": []}  # type: ignore[var-annotated]
        for item, rater, text in rows:
            for column, value in zip(frame, (item, rater, text), strict=True):
                frame[column].append(value)
        import pandas

        table = softirr.read(pandas.DataFrame(frame), kind="nominal")
        report = softirr.agreement(table).to_dict()
        (row,) = view(report | {"fields": [field_row("place", report)]}).fields
        assert row.categories == ["left", "right"] and row.confusion == [[1, 1], [1, 0]]
        assert row.labels == {"ann": [2, 0], "bob": [1, 1]}

    def test_ratings_are_in_the_order_of_their_numbers(self) -> None:
        rows = [("1", "ann", "10"), ("1", "bob", "9"), ("2", "ann", "9"), ("2", "bob", "9")]
        report = softirr.agreement(replace(softirr.AnnotationTable.from_answers(rows), kind="ordinal"))
        assert report.confusion_matrix is not None and report.confusion_matrix.categories == ("9", "10")
        assert [confusion.values for confusion in report.confusions] == [("9", "10")]
