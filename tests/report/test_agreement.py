"""From a table to the report: the report's contract, the chosen chance, and items of any size."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import softirr
from softirr.defaults import CHEAP_TARGET_SE, FEW_ITEMS, TARGET_SE
from softirr.errors import InputError
from tests.report.slow_measures import WORDS, Slow

COEFFICIENTS = {
    *("observed_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha"),
    *("brennan_prediger", "gwet_ac2", "sigma", "ks"),
}


def table(n_items=20, raters="abc", seed=0, sets=False):
    rng = np.random.default_rng(seed)
    answers = []
    for i in range(n_items):
        for r in raters:
            if rng.random() < 0.85:
                size = int(rng.integers(0, 4)) if sets else 1
                answers.append(softirr.Answer(str(i), r, tuple(rng.choice(WORDS, size, replace=False).tolist())))
    return softirr.AnnotationTable.from_answers(answers, items=[str(i) for i in range(n_items)])


def distinct(n_items):
    rng = np.random.default_rng(1)
    return softirr.AnnotationTable.from_answers(
        softirr.Answer(str(i), r, (f"{WORDS[rng.integers(8)]} {WORDS[rng.integers(8)]} {r}{i}",))
        for i in range(n_items)
        for r in "ab"
    )


class TestContract:
    """The object of docs/reference/json.md."""

    def test_items_average_to_the_project(self):
        report = softirr.agreement(table(), "indel")
        compared = [item for item in report.items if item.agreement is not None]
        assert np.mean([item.agreement for item in compared]) == pytest.approx(
            report.coefficients["observed_agreement"].value, abs=1e-12
        )
        assert np.mean([item.kappa for item in compared]) == pytest.approx(
            report.coefficients["fleiss_kappa"].value, abs=1e-12
        )
        for item in compared:
            assert np.mean([value for *_, value in item.pairs]) == pytest.approx(item.agreement, abs=1e-12)

    def test_rater_pairs_average_to_the_project(self):
        report = softirr.agreement(table(), "indel")
        kappas = [pair.cohen_kappa.value for pair in report.rater_pairs]
        assert np.mean(kappas) == pytest.approx(report.coefficients["cohen_kappa"].value, abs=1e-12)
        for rater in report.raters:
            kappas_of_rater = [pair.cohen_kappa.value for pair in report.rater_pairs if rater.id in pair.raters]
            assert rater.cohen_kappa.value == pytest.approx(np.mean(kappas_of_rater), abs=1e-12)

    def test_sigmas_average_to_the_project(self):
        """Means over the items of a rater pair and the pairs of an item; with two raters both equal the project's."""
        report = softirr.agreement(table(raters="ab"), "indel")
        sigma = report.coefficients["sigma"].value
        (pair,) = report.rater_pairs
        assert pair.sigma.value == pytest.approx(sigma, abs=1e-12)
        assert [rater.sigma.value for rater in report.raters] == pytest.approx([sigma] * 2, abs=1e-12)
        items = [item.sigma for item in report.items if item.agreement is not None]
        assert np.mean(items) == pytest.approx(sigma, abs=1e-12)
        assert all(item.sigma is None for item in report.items if item.agreement is None)

    def test_items_alone_are_those_of_the_report(self):
        answers = table(sets=True)
        report_items, items_alone = softirr.agreement(answers, "indel").items, softirr.item_agreement(answers, "indel")
        assert [(i.id, i.agreement, i.matches, i.unmatched, i.suggestion) for i in report_items] == [
            (i.id, i.agreement, i.matches, i.unmatched, i.suggestion) for i in items_alone
        ]
        assert all(item.kappa is None for item in items_alone)

    @pytest.mark.parametrize(
        ("kind", "values", "suggestion"),
        [
            ("ordinal:low,high", ["low", "low", "high"], ("low",)),
            ("ordinal:low,high", ["low", "high"], ()),
            ("interval", ["1", "4", "5"], ("4",)),
            ("nominal", ["b", "b", "a"], ("b",)),
            ("set", [["b"], ["a", "b"]], ("b",)),
            ("path", ["x > y", "x > z"], ()),
            ("ranking", ["a > b", "a > b", "b > a"], ("a > b",)),
            ("interval", ["4"], ("4",)),
        ],
    )
    def test_suggestion_of_a_field_is_a_majority_or_the_median(self, kind, values, suggestion):
        rows = [("1", "abc"[n], value) for n, value in enumerate(values)]
        (item,) = softirr.agreement(rows, reading=softirr.ReadOptions(kind=kind)).items
        assert item.suggestion == suggestion

    def test_few_items_are_warned_of(self):
        small_report, enough = (softirr.agreement(table(n), "indel") for n in (FEW_ITEMS - 5, 2 * FEW_ITEMS))
        assert any("rough" in warning for warning in small_report.warnings)
        assert not any("rough" in warning for warning in enough.warnings)


class TestChoiceOfChance:
    def test_cheap_measures_are_exact(self):
        assert softirr.agreement(distinct(100), "indel").expected_agreement.method == "exact"

    def test_costly_ones_as_far_as_the_budget_goes(self):
        of_few = softirr.agreement(distinct(25), Slow()).expected_agreement
        of_many = softirr.agreement(distinct(200), Slow()).expected_agreement
        assert (of_few.method, of_many.method) == ("exact", "sample")
        assert of_many.standard_error <= TARGET_SE
        assert of_many.pairs_scored < 10_000

    def test_costly_measure_scores_no_more_pairs_than_reported(self):
        slow = Slow()
        softirr.agreement(distinct(200), slow)
        assert len(slow.asked) == len({tuple(sorted(pair)) for pair in slow.asked}), "reasons ask for no pair again"
        slow = Slow()
        report = softirr.agreement(distinct(200), slow, options=softirr.AgreementOptions(reasons=False))
        # same-item pairs, and the sample of pairs of different items of the estimator, are scored besides
        assert len(slow.asked) <= report.expected_agreement.pairs_scored + 200 + 1_000

    @pytest.mark.slow
    def test_the_target_by_default(self):
        """0.005, and 0.001 where the measure is cheap."""
        answers = distinct(300)
        cheap = softirr.agreement(answers, "indel", chance="sample").expected_agreement
        costly = softirr.agreement(answers, Slow(), chance="sample").expected_agreement
        with_target = softirr.agreement(
            answers, Slow(), chance="sample", options=softirr.AgreementOptions(target_se=0.0015)
        ).expected_agreement
        assert cheap.standard_error <= CHEAP_TARGET_SE == 0.001
        assert 0.001 < costly.standard_error <= TARGET_SE == 0.005
        assert 0.001 < with_target.standard_error <= 0.0015
        assert cheap.pairs_scored > with_target.pairs_scored > costly.pairs_scored

    @pytest.mark.slow
    def test_the_three_agree(self):
        answers = distinct(300)
        exact, sampled, permuted = (
            softirr.agreement(answers, "indel", chance=chance, options=softirr.AgreementOptions(permutations=20))
            for chance in ("exact", "sample", "permutation")
        )
        for method_report in (sampled, permuted):
            expected = method_report.expected_agreement
            for name in ("cohen", "fleiss", "krippendorff"):
                assert getattr(expected, name) == pytest.approx(
                    getattr(exact.expected_agreement, name), abs=4 * expected.standard_error
                )
            for name in ("cohen_kappa", "krippendorff_alpha"):
                assert method_report.coefficients[name].value == pytest.approx(exact.coefficients[name].value, abs=0.01)
                assert method_report.coefficients[name].standard_error == pytest.approx(
                    exact.coefficients[name].standard_error, rel=0.2
                )

    def test_large_sets_cost_more(self, monkeypatch):
        """The budget counts the work: an assignment of 20 texts with 20 is dearer than one of 2 with 2."""
        monkeypatch.setattr(sys.modules["softirr.report.scoring"], "SET_PAIRS", 1_000)
        methods = []
        for size in (2, 12):
            texts = [f"{word} {n}" for n in range(12) for word in WORDS]
            rng = np.random.default_rng(0)
            answers = [
                softirr.Answer(str(i), r, tuple(rng.choice(texts, size, replace=False).tolist()))
                for i in range(21)
                for r in "ab"
            ]
            report = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "indel")
            methods.append(report.expected_agreement.method)
        assert methods == ["exact", "sample"]

    @pytest.mark.parametrize("chance", ["exact", "sample", "permutation"])
    def test_sets(self, chance):
        report = softirr.agreement(table(30, sets=True), "indel", chance=chance)
        assert report.expected_agreement.method == chance
        assert report.coefficients["cohen_kappa"].ci95 is not None


class TestOptions:
    def test_an_option_by_name_is_the_option_in_the_object(self):
        options = softirr.AgreementOptions(chance="permutation", permutations=5, seed=3)
        by_object = softirr.agreement(table(), "indel", options=options)
        by_name = softirr.agreement(
            table(), "indel", chance="permutation", options=softirr.AgreementOptions(permutations=5, seed=3)
        )
        assert by_object.to_dict() == by_name.to_dict()
        assert by_object.seed == 3

    @pytest.mark.parametrize(
        "options",
        [
            {"marginals": "mine"},
            {"target_se": float("nan")},
            {"assignment": "random"},
        ],
    )
    def test_unknown_options_are_refused(self, options):
        with pytest.raises(InputError):
            softirr.agreement(table(), "indel", options=softirr.AgreementOptions(**options))

    def test_gwets_marginals_are_for_fleiss_and_gwet(self):
        answers = table(40)
        by_answers, gwet = (
            softirr.agreement(answers, "indel", options=softirr.AgreementOptions(marginals=marginals))
            for marginals in ("answers", "gwet2014")
        )
        assert by_answers.coefficients["krippendorff_alpha"] == gwet.coefficients["krippendorff_alpha"]
        assert by_answers.coefficients["fleiss_kappa"] != gwet.coefficients["fleiss_kappa"]
