"""Distances of fields other than text: published values first, then the libraries that compute them, equal to 1e-12."""

from __future__ import annotations

import warnings
from fractions import Fraction

import krippendorff
import numpy as np
import pandas as pd
import pytest
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import jaccard_distance, masi_distance
from sklearn.metrics import cohen_kappa_score

import softirr
from softirr.answers.prepare import prepare_table
from softirr.answers.read_options import ReadOptions
from softirr.meaning.measures.kinds import KindMeasure

EXACT = {"abs": 1e-12, "rel": 0}
KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def frame(columns):
    return pd.DataFrame({f"rater {n}": column for n, column in enumerate(columns)})


def report_of(columns, kind, **options):
    answers = frame(columns)
    return softirr.agreement(answers, raters=list(answers.columns), reading=softirr.ReadOptions(kind=kind, **options))


def alpha(columns, kind):
    return report_of(columns, kind).coefficients["krippendorff_alpha"].value


def table_of(kind, *answers):
    table = softirr.AnnotationTable.from_answers(
        softirr.Answer("1", str(n), answer) for n, answer in enumerate(answers)
    )
    return prepare_table(table, ReadOptions(kind=kind))


def equivalence(kind, a, b):
    return softirr.agreement(table_of(kind, a, b)).items[0].agreement


@pytest.mark.parametrize(
    ("kind", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorff_2011(kind, published):
    assert alpha(KRIPPENDORFF_2011, kind) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_the_krippendorff_package(kind, seed):
    rng = np.random.default_rng(seed)
    answers = rng.choice([0, 1, 2, 3.5, 7, 11], size=(4, 25))
    answers[rng.random(answers.shape) < 0.25] = np.nan
    assert alpha(list(answers), kind) == pytest.approx(krippendorff.alpha(answers, level_of_measurement=kind), **EXACT)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_of_numbers_is_quadratic_weighted_kappa(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(1, 6, 40)
    second = np.clip(first + rng.integers(-2, 3, 40), 1, 5)
    kappa = report_of([first, second], "interval").coefficients["cohen_kappa"].value
    assert kappa == pytest.approx(cohen_kappa_score(first, second, weights="quadratic"), **EXACT)
    kappa = report_of([first, second], "nominal").coefficients["cohen_kappa"].value
    assert kappa == pytest.approx(cohen_kappa_score(first, second), **EXACT)


@pytest.mark.parametrize("seed", range(3))
def test_coefficients_of_numbers_are_those_of_irrcac(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw = pytest.importorskip("irrCAC.raw")
        rng = np.random.default_rng(seed)
        answers = rng.integers(1, 6, size=(3, 30))
        peer = raw.CAC(frame(answers), weights="quadratic", digits=15)
        expected = {
            "gwet_ac2": peer.gwet()["est"]["coefficient_value"],
            "fleiss_kappa": peer.fleiss()["est"]["coefficient_value"],
            "brennan_prediger": peer.bp()["est"]["coefficient_value"],
        }
    coefficients = report_of(answers, "interval").coefficients
    for name, value in expected.items():
        assert coefficients[name].value == pytest.approx(value, **EXACT), name


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("kind", "weights"), [("interval", "quadratic"), ("linear", "linear")])
def test_weighted_kappa_of_named_categories_is_that_of_scikit_learn(kind, weights, seed):
    rng = np.random.default_rng(seed)
    categories = rng.integers(0, 4, size=(2, 30))
    names = np.array(["none", "mild", "moderate", "severe"])
    report = report_of(names[categories].tolist(), f"{kind}:none,mild,moderate,severe")
    expected = cohen_kappa_score(*categories, weights=weights)
    assert report.coefficients["cohen_kappa"].value == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize(("kind", "distance"), [("set", masi_distance), ("set:jaccard", jaccard_distance)])
@pytest.mark.parametrize("seed", range(3))
def test_sets_are_compared_as_in_nltk(kind, distance, seed):
    rng = np.random.default_rng(seed)
    answers = [
        [frozenset(rng.choice(list("abcd"), rng.integers(1, 4), replace=False)) for _ in range(20)] for _ in range(3)
    ]
    data = [
        (str(r), str(i), chosen_set)
        for r, sets_of_rater in enumerate(answers)
        for i, chosen_set in enumerate(sets_of_rater)
    ]
    peer = AnnotationTask(data=data, distance=distance)
    cells = [["; ".join(sorted(chosen_set)) for chosen_set in answer] for answer in answers]
    report = report_of(cells, kind)
    assert report.coefficients["krippendorff_alpha"].value == pytest.approx(peer.alpha(), **EXACT)
    assert report.coefficients["observed_agreement"].value == pytest.approx(peer.avg_Ao(), **EXACT)


def test_masi_of_passonneau():
    assert equivalence("set", ("a", "b"), ("a", "b")) == 1
    assert equivalence("set", ("a", "b"), ("a",)) == pytest.approx(1 / 2 * 2 / 3, **EXACT)
    assert equivalence("set", ("a", "b"), ("b", "c")) == pytest.approx(1 / 3 * 1 / 3, **EXACT)
    assert equivalence("set", ("a",), ("b",)) == 0
    assert equivalence("set", (), ("b",)) == 0
    assert equivalence("set:jaccard", ("a", "b"), ("b", "c")) == pytest.approx(1 / 3, **EXACT)


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ("Heart > Valve > Mitral", "Heart > Valve > Aortic", Fraction(2, 3)),
        ("Heart > Valve", "Heart > Valve > Aortic", Fraction(2, 3)),
        ("Heart > Valve", "Lung > Valve", Fraction(0)),
        ("Heart>Valve", "Heart > Valve", Fraction(1)),
        (("Heart", "Lung"), ("Lung", "Liver"), Fraction(1, 2)),
    ],
)
def test_paths_share_their_first_levels(a, b, share):
    assert equivalence("path", a, b) == pytest.approx(float(share), **EXACT)


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ("a > b > c", "a > b > c", 1),
        ("a > b > c", "c > b > a", 0),
        ("a > b > c", "a > c > b", 2 / 3),
        ("a > b", "c > d", 1 / 2),
        ("a > b > c", "a > b", (1 + 1 / 3) / 2),
    ],
)
def test_rankings_are_compared_pair_by_pair(a, b, share):
    assert equivalence("ranking", a, b) == pytest.approx(share, **EXACT)


def test_kendall_of_scipy():
    from scipy.stats import kendalltau

    rng = np.random.default_rng(0)
    orders = [rng.permutation(list("abcdef")) for _ in range(8)]
    texts = [" > ".join(order) for order in orders]
    measure = KindMeasure(table_of("ranking", *texts))
    for text, first in zip(texts, orders, strict=True):
        for other_text, second in zip(texts, orders, strict=True):
            tau = kendalltau(np.argsort(first), np.argsort(second)).statistic
            assert measure.score([(text, other_text)])[0] == pytest.approx((1 + tau) / 2, **EXACT)
    blocks = measure.block(texts, np.arange(len(texts)), np.arange(len(texts)))
    assert blocks == pytest.approx(np.array([[measure.score([(a, b)])[0] for b in texts] for a in texts]), abs=1e-6)


def test_dates_are_compared_in_days():
    days = [[1, 5, 9, 9], [2, 5, 8, 1]]
    dates = [[f"2026-03-{day:02d}" for day in days_of_rater] for days_of_rater in days]
    assert alpha(dates, "date") == pytest.approx(alpha(days, "interval"), **EXACT)
    assert equivalence("date", "2026-03-01T12:00", "2026-03-01 12:00:00") == 1
    assert equivalence("date", "2026-03-01T12:00+02:00", "2026-03-01T10:00Z") == 1


def test_an_order_of_categories_is_that_of_the_numbers():
    words = {1: "mild", 2: "moderate", 3: "severe"}
    numbers = [[1, 2, 3, 3, 1, 2], [1, 3, 3, 2, 1, 1]]
    named_words = [[words[number] for number in numbers_of_rater] for numbers_of_rater in numbers]
    assert alpha(named_words, "ordinal:mild,moderate,severe") == pytest.approx(alpha(numbers, "ordinal"), **EXACT)


def test_weights_are_counts_of_items():
    first, second, times = [1, 2, 3, 5], [1, 3, 3, 4], [1, 3, 2, 2]
    answers = frame([first, second]).assign(times=times)
    report = softirr.agreement(
        answers, raters=["rater 0", "rater 1"], reading=softirr.ReadOptions(kind="ordinal", weight="times")
    )
    repeated = alpha([np.repeat(first, times), np.repeat(second, times)], "ordinal")
    assert report.coefficients["krippendorff_alpha"].value == pytest.approx(repeated, **EXACT)


def test_largest_float_numbers_are_compared():
    large = [[1e308, -1e308, 0], [1e308, 1e308, 0]]
    assert alpha(large, "interval") == pytest.approx(alpha([[1, -1, 0], [1, 1, 0]], "interval"), **EXACT)


@pytest.mark.parametrize("kind", ["ordinal", "interval", "linear", "ratio"])
def test_value_that_no_one_else_answered_changes_nothing(kind):
    ratings = np.random.default_rng(4).integers(1, 6, (2, 12)).astype(float)
    with_typo = np.hstack([ratings, [[1e9, 0.5], [np.nan, np.nan]]])
    report, report_with_typo = report_of(ratings, kind), report_of(with_typo, kind)
    for name, coefficient in report.coefficients.items():
        assert report_with_typo.coefficients[name].value == pytest.approx(coefficient.value, **EXACT), name


def test_scale_ignores_values_that_no_one_else_answered():
    rows = [("1", "ann", "1"), ("1", "bob", "5"), ("2", "ann", "-7"), ("3", "ann", "1e9")]
    rated = softirr.AnnotationTable.from_answers(rows)
    table = prepare_table(rated, ReadOptions(kind="interval"))
    numbers, positions = KindMeasure(table).scale
    assert set(zip(numbers, positions, strict=True)) == {(1, 0), (5, 1)}


def test_the_interval_is_that_of_the_items():
    answers = np.random.default_rng(3).integers(0, 2, (3, 40))
    report = report_of(answers, "nominal")
    matrix = softirr.matrix_agreement(answers.T).coefficients
    for name in ("krippendorff_alpha", "cohen_kappa", "gwet_ac2"):
        assert report.coefficients[name].ci95 == pytest.approx(matrix[name].ci95, **EXACT)
    assert report.record is None and report.misfits == () and report.reasons is None


def test_measure_and_policy_leave_other_kinds_unchanged():
    table = table_of("ordinal", "1", "2")
    assert softirr.agreement(table, "indel", policy="as-written").to_dict() == softirr.agreement(table).to_dict()
    assert softirr.agreement(table).provenance.kind == "ordinal"
    assert softirr.agreement(table).to_dict()["provenance"]["policy"] is None


def test_judgments_of_exact_values_are_refused():
    from softirr.answers.sheets import Judgments

    with pytest.raises(softirr.InputError, match="compared exactly"):
        softirr.agreement(table_of("nominal", "a", "b"), judgments=[Judgments.__new__(Judgments)])


def test_confused_values_are_counted_with_their_items():
    report = report_of([["a", "a", "b", "c"], ["b", "a", "a", "b"]], "nominal")
    assert [confusion.to_dict() for confusion in report.confusions] == [
        {"values": ["a", "b"], "pairs": 2, "items": 2, "examples": ["0", "2"]},
        {"values": ["b", "c"], "pairs": 1, "items": 1, "examples": ["3"]},
    ]


def test_values_that_are_confused_as_often_are_in_alphabetical_order():
    rows = [["c", "b", "a"], ["b", "a", "c"]]
    listed = [report_of(raters, "nominal").confusions for raters in (rows, rows[::-1])]
    assert listed[0] == listed[1]
    assert [confusion.values for confusion in listed[0]] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_the_same_value_everywhere_is_agreement():
    report = report_of([[3, 3], [3, 3]], "interval")
    assert report.coefficients["observed_agreement"].value == 1
    assert report.coefficients["krippendorff_alpha"].undefined


def test_a_report_without_matches_has_the_same_numbers() -> None:
    rows = [
        softirr.Answer(str(n), rater, "ab"[n % n_categories])
        for n in range(9)
        for rater, n_categories in (("x", 1), ("y", 2))
    ]
    table = prepare_table(softirr.AnnotationTable.from_answers(rows), ReadOptions(kind="nominal"))
    with_matches, without_matches = (
        softirr.agreement(table, options=softirr.AgreementOptions(matches=matches)) for matches in (True, False)
    )
    for name, coefficient in without_matches.coefficients.items():
        assert coefficient.value == with_matches.coefficients[name].value
    assert without_matches.confusions == with_matches.confusions
    assert [entry.pairs for entry in without_matches.items] == [item.pairs for item in with_matches.items]
    assert any(entry.matches for entry in with_matches.items)
    assert not any(entry.matches or entry.unmatched or entry.suggestion for entry in without_matches.items)
