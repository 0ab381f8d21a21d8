"""The one estimator: right when everything is judged, one interval, and terminologies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr import AnnotationTable, Answer
from softirr.answers.weights import weighted
from softirr.audit import ONLY, Judgments, apply, draw_sheet
from softirr.provenance import Provenance
from softirr.statistics.coefficients.definition import Undefined
from softirr.statistics.evidence.estimator import COVERED
from softirr.statistics.evidence.posterior import Scores, logit, posterior_curve
from softirr.statistics.evidence.record import ANY, record_of, records
from tests.statistics.evidence.concepts import judged
from tests.statistics.evidence.judged_rows import direct, rows


class TestEverythingJudged:
    def test_two_raters_who_never_use_the_same_words(self):
        """The measure finds no equivalent answers, not by chance either."""
        concepts = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0), (2, 0), (0, 0)]
        pairs = [
            (str(i), rater, concept)
            for i, pair in enumerate(concepts)
            for rater, concept in zip("ab", pair, strict=True)
        ]
        table, truth = (
            AnnotationTable.from_answers(
                (item, rater, f"c{concept}{ending}") for item, rater, concept, ending in rows_with
            )
            for rows_with in (
                [(item, rater, concept, f" {rater} {item}") for item, rater, concept in pairs],
                [(item, rater, concept, "") for item, rater, concept in pairs],
            )
        )
        report = apply(table, "exact", [judged(draw_sheet(table, "exact", judgments=1000))])
        expected = softirr.agreement(truth, "exact").coefficients
        for name in ("observed_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha"):
            assert report.coefficients[name].value == pytest.approx(expected[name].value, abs=1e-6)

    def test_with_item_weights(self):
        answers = rows(40, concepts=6)
        weights = {f"item {i:03d}": 1.0 + i % 4 for i in range(40)}
        table = weighted(AnnotationTable.from_answers(answers), weights)
        report = apply(table, "indel", [judged(draw_sheet(table, "indel", judgments=10_000))])
        observed, alpha = direct(answers, weights)
        assert report.coefficients["observed_agreement"].value == pytest.approx(observed, abs=1e-6)
        assert report.coefficients["krippendorff_alpha"].value == pytest.approx(alpha, abs=0.02)
        assert observed != pytest.approx(direct(answers)[0], abs=0.01)

    @pytest.mark.parametrize(("verdict", "agreement"), [("same", 1.0), ("different", 0.0)])
    def test_of_one_item(self, verdict, agreement):
        """Also of the pairs of raters, and where only a pair of raters has one item in common."""
        texts = {"ann": "fever", "bob": "pyrexia", "cy": "hot", "dee": "fevers"}
        answers_of_others = [Answer(item, rater, ("cough",)) for item in "23" for rater in ("ann", "bob", "cy")]
        for other_answers in ([], answers_of_others):
            table = AnnotationTable.from_answers(
                [Answer("1", *rater_and_text) for rater_and_text in texts.items()] + other_answers
            )
            sheet = draw_sheet(table, "indel", judgments=100)
            report = apply(table, "indel", [Judgments("me", {(unit.id, ONLY): verdict for unit in sheet.units})])
            agreements = [pair.observed_agreement for pair in report.rater_pairs if pair.n_items == 1]
            if not other_answers:
                agreements.append(report.coefficients["observed_agreement"])
            assert [coefficient.value for coefficient in agreements] == pytest.approx(
                [agreement] * len(agreements), abs=1e-9
            )
            assert len(agreements) >= 3 and all(
                coefficient.judgments and coefficient.ci95 is None for coefficient in agreements
            )

    @pytest.mark.parametrize("measure", ["exact", "indel"])
    @pytest.mark.parametrize("with_terms", [False, True])
    def test_of_answers_with_two_texts_of_one_meaning(self, measure, with_terms, tmp_path):
        """Each text matches one text of the other answer, as when the measure matches them."""
        (tmp_path / "terms.tsv").write_text("id\tname\tsynonym\n1\tc0 a\tc0 b\n1\tc0 a\tc0 c\n1\tc0 a\tc0 d\n")
        terms = [tmp_path / "terms.tsv"] if with_terms else ()
        sets = [("c0 a", "c0 b"), ("c0 c", "c1 a")], [("c0 a", "c0 b", "c1 a"), ("c0 c", "c0 d", "c1 b")]
        for (texts_of_ann, texts_of_bob), agreement in zip(sets, (0.5, 1.0), strict=True):
            answers = [
                Answer("1", "ann", texts_of_ann),
                Answer("1", "bob", texts_of_bob),
                Answer("2", "ann", ("c3 a",)),
            ]
            table = AnnotationTable.from_answers([*answers, Answer("2", "bob", ("c3 b",))])
            scorer = softirr.measure(measure, terminology=terms)
            report = apply(table, scorer, [judged(draw_sheet(table, scorer, judgments=10_000))])
            value = report.coefficients["observed_agreement"].value
            assert value == pytest.approx((agreement + 1) / 2, abs=1e-6)


class TestInterval:
    def test_intervals_cover_the_true_value(self):
        """40 projects of a measure of letters that knows nothing of the concepts but the first letters.

        30 judgments each.
        """
        n_covering = widths = 0.0
        for seed in range(40):
            answers = rows(80, seed=seed, keep=(0.35 + 0.6 * (seed % 10) / 10))
            table = AnnotationTable.from_answers(answers)
            report = apply(
                table,
                "indel",
                [judged(draw_sheet(table, "indel", judgments=30, seed=seed))],
                options=softirr.AgreementOptions(reasons=False),
            )
            low, high = report.coefficients["krippendorff_alpha"].ci95
            n_covering += low <= direct(answers)[1] <= high
            widths += high - low
        assert n_covering >= 35  # a 95% interval misses more than 5 of 40 in 1.4% of runs
        assert widths / 40 < 0.36

    @pytest.mark.slow
    def test_stopping_by_looking_keeps_it(self):
        """Whoever stops as soon as the interval leaves 0.5 out is right about the side in nearly all projects."""
        wrong = stopped = 0
        for seed in range(25):
            answers = rows(60, seed=100 + seed, keep=0.55 + 0.4 * (seed % 5) / 5)
            table = AnnotationTable.from_answers(answers)
            values = list(judged(draw_sheet(table, "indel", judgments=60, seed=seed)).values.items())
            truth = direct(answers)[1]
            for n in (10, 20, 40, 60):
                report = apply(
                    table, "indel", [Judgments("me", dict(values[:n]))], options=softirr.AgreementOptions(reasons=False)
                )
                low, high = report.coefficients["krippendorff_alpha"].ci95
                if not low <= 0.5 <= high:
                    stopped += 1
                    wrong += (truth > 0.5) != (low > 0.5)
                    break
        assert stopped > 8 and wrong <= 2

    @pytest.mark.slow
    @given(seed=st.integers(0, 10_000), n=st.sampled_from([1, 3, 15]), keep=st.floats(0, 1), sets=st.booleans())
    @settings(max_examples=25, deadline=None)
    def test_interval_is_in_range_and_includes_the_value(self, seed, n, keep, sets):
        table = AnnotationTable.from_answers(rows(12, seed=seed, keep=keep, sets=sets))
        sheet = draw_sheet(table, "indel", judgments=n)
        report = apply(table, "indel", [judged(sheet)], options=softirr.AgreementOptions(reasons=False))
        for name in COVERED:
            coefficient = report.coefficients[name]
            if coefficient.value is None:
                assert coefficient.undefined
                continue
            floor = 0 if name == "observed_agreement" else -1
            assert floor <= coefficient.ci95[0] <= coefficient.value <= coefficient.ci95[1] <= 1


class TestCurve:
    def scores(self, p):
        p = np.asarray(p, dtype=np.float64)
        chance = np.linspace(0.01, 0.3, 200)
        return Scores(p, np.full(len(p), 1 / len(p)), chance, np.full(200, 1 / 200))

    def test_judgments_of_one_verdict_do_not_make_it_flat(self):
        """All judged pairs are the same: P of the lowest ones stays below that of the highest."""
        p = np.linspace(0.05, 0.95, 100)
        record = record_of(Provenance("indel"))
        n = 15
        curve = posterior_curve(self.scores(p), record, logit(p[-n:]), np.ones(n), np.ones(n))
        low, high = curve.mean(logit(np.array([0.05, 0.95])))
        assert low < high - 0.2

    @given(n=st.integers(0, 30), share=st.floats(0, 1), seed=st.integers(0, 99))
    @settings(max_examples=20, deadline=None)
    def test_it_rises_with_p(self, n, share, seed):
        rng = np.random.default_rng(seed)
        p = rng.random(50)
        same = (rng.random(n) < share).astype(float)
        curve = posterior_curve(self.scores(p), record_of(Provenance("indel")), logit(p[:n]), same, np.ones(n))
        means = curve.mean(logit(np.linspace(0.01, 0.99, 30)))
        assert np.all(np.diff(means) >= -1e-12) and means.min() >= 0 and means.max() <= 1
        assert curve.weight.sum() == pytest.approx(1)


class TestRecords:
    def test_each_measure_has_one(self):
        assert {"nli", "indel", ANY} <= set(records()["measures"])

    def test_another_model_or_another_use_of_its_directions_has_none(self):
        assert record_of(Provenance("indel")).measure == "indel"
        assert record_of(Provenance("indel"), fits=False).measure == ANY
        assert record_of(Provenance("indel", policy={"ignore": ["side"], "more_general": "lenient"})).measure == "indel"
        nli = Provenance("nli", model_sha256=records()["measures"]["nli"]["model_sha256"])
        assert record_of(nli).measure == "nli"
        assert record_of(replace(nli, policy={"more_general": "lenient"})).measure == ANY
        assert record_of(Provenance("nli", model_sha256="another")).measure == ANY


def test_rater_pair_without_variation_after_all_judgments_is_not_in_the_mean_of_kappas():
    texts = [(f"c0 {'ab'[i % 2]}", f"c0 {'bc'[i % 2]}", f"c{i % 3} d") for i in range(8)]
    rows = [
        (str(i), rater, text) for i, of_item in enumerate(texts) for rater, text in zip("abc", of_item, strict=True)
    ]
    table = softirr.AnnotationTable.from_answers(rows)
    sheet = judged(draw_sheet(table, "exact", judgments=1000))
    report = softirr.agreement(table, "exact", judgments=[sheet])
    kappas = {pair.raters: pair.cohen_kappa for pair in report.rater_pairs}
    assert kappas["a", "b"].value is None and kappas["a", "b"].undefined == Undefined.NO_VARIATION
    expected = (kappas["a", "c"].value + kappas["b", "c"].value) / 2
    assert report.coefficients["cohen_kappa"].value == pytest.approx(expected) == pytest.approx(0.344, abs=1e-3)
    assert any("1 of 3 rater pairs has no kappa" in warning for warning in report.warnings)
    by_judgments_alone = report.coefficients["cohen_kappa"].details.judgments_only
    assert by_judgments_alone is not None and -1 <= by_judgments_alone.value <= 1


def test_agreement_by_judgments_alone_is_at_most_1():
    """Every pair of texts of two sets is judged the same, but each text counts in one pair."""
    rows = [(str(i), rater, (f"{rater} {i}", f"{rater} x {i}")) for i in range(8) for rater in ("ann", "bob")]
    table = softirr.AnnotationTable.from_answers(rows)
    sheet = judged(draw_sheet(table, "exact", judgments=1000), say=lambda a, b: "same")
    details = softirr.agreement(table, "exact", judgments=[sheet]).coefficients["observed_agreement"].details
    assert details.judgments_only is not None and details.judgments_only.value == 1.0
