"""The one estimator: right when everything is judged, one interval, and terminologies."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr import AnnotationTable, Answer
from softirr.answers.weights import weighted
from softirr.audit.workflow import ONLY, Judgments, apply, draw_sheet
from softirr.meaning.measures.pairs import PairScorer
from softirr.provenance import Provenance
from softirr.statistics.evidence.estimator import COVERED
from softirr.statistics.evidence.posterior import Scores, logit, posterior_curve
from softirr.statistics.evidence.record import ANY, record_of, records
from softirr.statistics.evidence.sampling_frames import Frames, is_of_item, stem, unit_id
from tests.meaning.measures.function_measures import FunctionMeasure
from tests.statistics.evidence.concepts import answers, concept, judged


def rows(n, *, concepts=12, **options):
    return answers(n, concepts=concepts, **options)


def direct(answers, weights=None):
    """Observed agreement and Krippendorff's alpha of single concepts in plain Python."""
    by_item: dict[str, list[str]] = {}
    for answer in answers:
        by_item.setdefault(answer.item, []).append(concept(answer.texts[0]))
    texts_of_item = {item: texts for item, texts in by_item.items() if len(texts) > 1}
    weight = {item: (weights or {}).get(item, 1.0) for item in texts_of_item}
    observed = disagreement = mass = 0.0
    totals: dict[str, float] = {}
    for item, texts in texts_of_item.items():
        pairs = [(a, b) for i, a in enumerate(texts) for b in texts[i + 1 :]]
        share = sum(a == b for a, b in pairs) / len(pairs)
        observed += weight[item] * share
        disagreement += weight[item] * len(texts) * (1 - share)
        mass += weight[item] * len(texts)
        for text in texts:
            totals[text] = totals.get(text, 0.0) + weight[item]
    by_chance = 1 - sum(value**2 for value in totals.values()) / mass**2
    alpha = 1 - disagreement / mass / (by_chance * mass / (mass - 1))
    return observed / sum(weight.values()), alpha


class TestEverythingJudged:
    @pytest.mark.parametrize("measure", ["indel", "exact"])
    @pytest.mark.parametrize("options", [{}, {"raters": ("a", "b", "c"), "missing": 0.2}])
    def test_it_is_the_truth(self, measure, options):
        answers = rows(40, concepts=6, **options)
        table = AnnotationTable.from_answers(answers)
        report = apply(table, measure, [judged(draw_sheet(table, measure, judgments=10_000))])
        observed, alpha = direct(answers)
        assert report.coefficients["observed_agreement"].value == pytest.approx(observed, abs=1e-6)
        # pairs of different items are a large sample
        assert report.coefficients["krippendorff_alpha"].value == pytest.approx(alpha, abs=0.02)

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

    def test_a_few_items_that_all_agree_are_not_certain(self):
        table = AnnotationTable.from_answers(Answer(str(i), r, (f"finding {i}",)) for i in range(5) for r in "ab")
        low, high = softirr.agreement(table, "indel").coefficients["observed_agreement"].ci95
        assert high == 1 and low < 0.7


def table_of_pairs(pairs):
    return AnnotationTable.from_answers(
        Answer(f"{row:02d}", rater, (text,))
        for row, pair in enumerate(pairs)
        for rater, text in zip("ab", pair, strict=True)
    )


class TestTerminology:
    def measure(self, tmp_path, concepts):
        lines = ["format-version: 1.2", ""]
        for number, names in enumerate(concepts):
            lines += ["[Term]", f"id: T:{number}", f"name: {names[0]}"]
            lines += [f'synonym: "{name}" EXACT []' for name in names[1:]] + [""]
        path = tmp_path / "terms.obo"
        path.write_text("\n".join(lines))
        from softirr.meaning.measures.terminology import with_terminology
        from softirr.meaning.terminology.load import load

        return with_terminology(softirr.measure("indel"), [load(str(path))])

    def test_known_pairs_of_one_verdict_say_nothing_of_unknown_ones(self, tmp_path):
        """15 abbreviations with their expansions, all expansions, and 25 unrelated findings."""
        expansions = [(f"A{c}", f"alpha {c} disease of the {c} organ") for c in "bcdefghijklmnop"]
        findings = "fever|cough|rash|hair loss|diarrhea|tremor|vertigo|jaundice|edema|insomnia|nausea|itching|chills"
        words = findings.split("|")
        unknown = [(words[i % 13], words[(i * 5 + 3) % 13] + " today") for i in range(25)]
        unknown = [(a, b) for a, b in unknown if a not in b]
        table = table_of_pairs(expansions + unknown)
        truth = len(expansions) / len(expansions + unknown)
        by_measure = softirr.agreement(table, "indel").coefficients["krippendorff_alpha"]
        helped = softirr.agreement(table, self.measure(tmp_path, expansions)).coefficients["krippendorff_alpha"]
        assert abs(helped.value - truth) < 0.15 < abs(by_measure.value - truth)
        assert helped.ci95[0] <= truth <= helped.ci95[1]

    @pytest.mark.slow
    @pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 1.0])
    @pytest.mark.parametrize("verdicts", ["both", "same", "different"])
    def test_known_pairs_are_right_and_say_nothing_of_others(self, tmp_path, share, verdicts):
        """Tables of known truth: the interval holds it and does not become wider.

        The error of the coefficient may grow: it has only the errors of unknown pairs, which need not cancel.
        """
        covering, widening = [], []
        options = softirr.AgreementOptions(reasons=False)
        for seed in range(4):
            answers = rows(60, seed=seed, concepts=20, keep=0.6)
            pairs = [(a.texts[0], b.texts[0]) for a, b in zip(*[iter(answers)] * 2, strict=True)]
            rng = random.Random(seed)
            names: dict[str, set[str]] = {}
            for a, b in pairs:
                same = concept(a) == concept(b)
                if verdicts != "both" and same != (verdicts == "same"):
                    continue
                if rng.random() < share:
                    names.setdefault(concept(a), set()).add(a)
                    names.setdefault(concept(b), set()).add(b)
            table = AnnotationTable.from_answers(answers)
            concepts = [sorted(synonyms) for synonyms in names.values()] or [["nothing of this"]]
            by_measure = softirr.agreement(table, "indel", options=options)
            helped = softirr.agreement(table, self.measure(tmp_path, concepts), options=options)
            known_names = set().union(*names.values())
            for (a, b), old_item, new_item in zip(pairs, by_measure.items, helped.items, strict=True):
                if a in known_names and b in known_names:
                    assert new_item.agreement == float(concept(a) == concept(b))
                elif a in known_names or b in known_names:
                    assert new_item.agreement >= old_item.agreement, "the best of the names of the concept counts"
                else:
                    assert new_item.agreement == old_item.agreement
            truth = direct(answers)[1]
            first, second = (report.coefficients["krippendorff_alpha"].ci95 for report in (by_measure, helped))
            covering.append(second[0] <= truth <= second[1])
            widening.append((second[1] - second[0]) - (first[1] - first[0]))
        assert sum(covering) >= 3
        assert np.mean(widening) <= 0.05


class TestIds:
    @given(of_item=st.booleans(), a=st.text(max_size=8), b=st.text(max_size=8))
    @settings(max_examples=60, deadline=None)
    def test_kind_of_the_pair_comes_back(self, of_item, a, b):
        id = unit_id("7-abcdef01", a, b, of_item=of_item)
        assert is_of_item(id) is of_item
        assert id == unit_id("7-abcdef01", b, a, of_item=of_item)
        assert stem(id) == stem(unit_id("7-abcdef01", a, b, of_item=not of_item))

    def test_sheets_of_earlier_releases_belong_to_the_same_pairs(self):
        assert stem(unit_id("0-abcdef01", "fever", "rash", of_item=True)) == stem("0-abcdef01-e4f6deb8923a")
        assert is_of_item("0-abcdef01-e4f6deb8923a") is True
        assert is_of_item("0-abcdef01-0123456789") is None


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
        assert curve.weight.sum() == pytest.approx(1) == curve.prior.sum()


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


class TestPairsOfDifferentItems:
    """A measure with a model scores few of them besides those of the expected agreement, and all if few exist."""

    class Costly(FunctionMeasure):
        def __init__(self):
            super().__init__(lambda a, b: 0.0, "costly")

        @property
        def scored(self):
            return {tuple(sorted(pair)) for pair in self.asked}

    @pytest.mark.parametrize(("n", "complete"), [(20, True), (100, False)])
    def test_a_model_scores_few(self, n, complete):
        texts = [Answer(f"{i:03d}", rater, (f"{rater} {i}",)) for i in range(n) for rater in ("ann", "bob")]
        measure = self.Costly()
        table = AnnotationTable.from_answers(texts)
        frames = Frames(table, PairScorer(measure, table.texts), 0, "optimal")
        assert frames.design.complete == complete
        assert len(measure.scored) <= n + (2 * n * (n - 1) if complete else 400)
        repeated = Frames(table, PairScorer(self.Costly(), table.texts), 0, "optimal")
        assert [unit.id for unit in repeated.units()] == [unit.id for unit in frames.units()]
