"""A coefficient is one definition.

Everything that shows coefficients derives from it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import softirr
from lab.experiments.influence import item_influence
from softirr.answers.category_matrix import matrix_ratings
from softirr.cli.main import main
from softirr.report.methods import methods_paragraph
from softirr.report.page.render import report_page
from softirr.report.view import view
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import GRID, ChanceDistribution, MatrixEquivalence
from softirr.statistics.coefficients import registry
from softirr.statistics.coefficients.braylan import upper_point
from softirr.statistics.coefficients.definition import Definition, Reference, Undefined
from softirr.statistics.coefficients.krippendorff import alpha_without_each_rater
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.coefficients.registry import ByMeasure
from softirr.statistics.evidence.estimator import COVERED
from tests.statistics.chance.direct import scored, similarity

ROOT = Path(__file__).parents[3]
ROWS = "item,rater,text\n1,ann,fever\n1,bob,fevers\n2,ann,cough\n2,bob,dry cough\n3,ann,rash\n3,bob,itch\n"
NEW = Definition(
    key="half_agreement",
    name="Half of the agreement",
    short="half of the agreement",
    meaning="Half of the mean equivalence of two answers to one {item}.",
    formula="half of the observed agreement",
    observed="half of the mean",
    expected="$0$",
    references=(Reference("Nobody, N.", 2026, "On halves"),),
    own_draws=lambda draws: draws.observed() / 2,
    audited=False,
    reason=lambda ratings, chance: None,
)


@pytest.fixture
def registered(monkeypatch):
    def add(definition):
        monkeypatch.setattr(registry, "DEFINITIONS", (*registry.DEFINITIONS, definition))

    return add


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def documentation_table() -> list[str]:
    """The table of coefficients in the documentation, in Markdown."""
    rows = [
        "| coefficient | key | observed agreement $P_o$ | expected agreement $P_e$ | literature |",
        "|---|---|---|---|---|",
    ]
    for entry in registry.DEFINITIONS:
        works = ", ".join(f"{work.short} {work.year}" for work in entry.references)
        title = entry.short[0].upper() + entry.short[1:]
        rows.append(f"| {title} | `{entry.key}` | {entry.observed} | {entry.expected} | {works} |")
    return rows


class TestOneDefinition:
    def test_a_new_coefficient_is_in_json_text_page_and_paper(self, registered, file):
        report_before = softirr.agreement(softirr.read(file), "indel")
        registered(NEW)
        report = softirr.agreement(softirr.read(file), "indel")
        exported = report.to_dict()
        assert (
            exported["coefficients"]["half_agreement"]["value"]
            == report_before.coefficients["observed_agreement"].value / 2
        )
        assert exported["coefficients"]["half_agreement"]["details"]["items_only"]["ci95"] is not None
        assert {k: v for k, v in exported["coefficients"].items() if k != NEW.key} == report_before.to_dict()[
            "coefficients"
        ]
        assert "Half of the agreement" in str(report) and "half_agreement" in report.to_frame().index
        page = report_page(view(exported))
        assert "Half of the agreement" in page and "Half of the mean equivalence of two answers to one item." in page
        assert "Agreement was " in methods_paragraph(exported)

    def test_a_new_coefficient_is_a_choice_of_the_command_line(self, registered, file, capsys):
        registered(NEW)
        half = ["--measure", "indel", "--coefficient", "half_agreement", "--json"]
        assert main(["compare", str(file), str(file), *half]) == 0
        assert json.loads(capsys.readouterr().out)["coefficient"] == "half_agreement"

    def test_the_documentation_has_this_table(self):
        page = (ROOT / "docs/explanation/definitions.md").read_text(encoding="utf-8")
        assert "\n".join(documentation_table()) in page

    def test_those_that_judgments_correct_are_those_that_the_estimator_covers(self, file, tmp_path):
        table = softirr.read(file)
        sheet = softirr.audit.draw_sheet(table, "indel")
        (tmp_path / "sheet.csv").write_text(
            sheet.to_csv().replace(",\r\n", ",different\r\n").replace(",\n", ",different\n")
        )
        report = softirr.agreement(table, "indel", judgments=[tmp_path / "sheet.csv"])
        assert {key for key, estimate in report.coefficients.items() if estimate.value is not None} == set(COVERED)


class TestDerivatives:
    """A coefficient of draws changes with the item weights as the coefficient of a table with these weights does."""

    STEP = 1e-4
    CORRECTED = tuple(key for key in registry.coefficient_keys() if key not in ("sigma", "ks"))

    def estimates(self, matrix, similarity, weights=None):
        ratings = replace(matrix_ratings(matrix), weights=weights)
        equivalence = MatrixEquivalence(similarity)
        scores = scored(ratings, equivalence)
        return ByMeasure(ratings, scores, exact(ratings, equivalence, scores))

    def derivatives(self, key, matrix, similarity, weights):
        """Derivatives by the share of each comparable item, from tables with changed weights."""
        definition, items = registry.definition(key), self.estimates(matrix, similarity).ratings.comparable_items
        result = []
        for item in items:
            ends = []
            for step in (self.STEP, -self.STEP):
                changed = weights.copy()
                changed[item] *= 1 + step
                changed *= weights[items].sum() / changed[items].sum()
                ends.append(self.estimates(matrix, similarity, changed).estimate(definition).value)
            result.append(len(items) * (ends[0] - ends[1]) / (2 * self.STEP))
        return np.array(result)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("missing", [0.0, 0.2])
    @pytest.mark.parametrize("key", CORRECTED)
    def test_draws_have_the_derivatives_of_weighted_tables(self, key, missing, weighted):
        rng = np.random.default_rng(2)
        matrix = rng.integers(0, 4, (8, 2 if key == "scott_pi" else 3))
        matrix = np.where(rng.random(matrix.shape) < missing, -1, matrix)
        weights = np.linspace(1, 3, len(matrix)) if weighted else np.ones(len(matrix))
        influence = item_influence(self.estimates(matrix, similarity(4, 2), weights), registry.definition(key))
        derivative = self.derivatives(key, matrix, similarity(4, 2), weights)
        # alpha's chance is without replacement: draws leave out how many answers there are, a term of 1 / n
        tolerance = 0.05 if key == "krippendorff_alpha" else 2e-4
        assert influence == pytest.approx(derivative - derivative.mean(), abs=tolerance)

    @pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 8)])
    @pytest.mark.parametrize("items", [slice(8), slice(2)])
    @pytest.mark.parametrize("pair", [0, 1, 2])
    def test_kappa_of_two_raters_of_three_is_that_of_a_table_of_the_two(self, weights, items, pair):
        rng = np.random.default_rng(3)
        matrix = rng.integers(0, 4, (8, 3))[items]
        item_weights = None if weights is None else weights[items]
        of_three = self.estimates(matrix, similarity(4, 3), item_weights).kappa(np.array([pair]))
        of_two = self.estimates(matrix[:, [[0, 1], [0, 2], [1, 2]][pair]], similarity(4, 3), item_weights).kappa(
            np.array([0])
        )
        assert of_three.value == pytest.approx(of_two.value, abs=1e-12)
        assert of_three.draws == pytest.approx(of_two.draws, abs=1e-9)
        assert np.array_equal(of_three.items, of_two.items)

    def test_listed_rater_pairs_are_those_computed_one_by_one(self):
        rng = np.random.default_rng(3)
        matrix = np.where(rng.random((20, 4)) < 0.2, -1, rng.integers(0, 4, (20, 4)))
        agreement = matrix_agreement(matrix, similarity(4, 3))
        for number, trio in enumerate(agreement.rater_pairs):
            pairs = np.array([number])
            rows = agreement.ratings.comparisons.of_pairs(pairs)
            singly = (
                agreement.agreement(rows),
                agreement.kappa(pairs),
                agreement.agreement(rows, agreement.beyond_chance),
            )
            for listed, single in zip(trio, singly, strict=True):
                assert listed.value == pytest.approx(single.value, abs=1e-12)
                assert listed.draws == pytest.approx(single.draws, abs=1e-9)

    def test_beyond_many_rater_pairs_none_is_listed(self, monkeypatch):
        monkeypatch.setattr(registry, "MOST_RATER_PAIRS", 3)
        for raters, listed in ((3, 3), (4, 0)):
            result = matrix_agreement(np.tile([[0], [1]], raters))
            assert len(result.rater_pairs) == listed and len(result.raters) == raters

    def test_a_rater_without_pairs_has_no_agreement(self):
        estimates = self.estimates(np.array([[0, 1]]), np.eye(2))
        assert estimates.agreement(np.zeros(0, dtype=np.int64)).undefined == Undefined.NO_OTHER_RATER
        assert estimates.kappa(np.zeros(0, dtype=np.int64)).undefined == Undefined.NO_OTHER_RATER


@pytest.mark.parametrize(("ties", "step", "share"), [(1, GRID, 1.0), (2, GRID, 0.5), (0, GRID // 2, 0.25)])
def test_the_upper_point_of_twenty_pairs_is_the_first_and_ties_share_it(ties, step, share):
    """Twenty pairs: `ties` have equivalence 1, or, without ties, four have 0.5."""
    counts = np.zeros(GRID + 1)
    counts[[0, GRID // 2, GRID]] = 16 - ties, 4, ties
    assert upper_point(ChanceDistribution.of(counts)) == (step, pytest.approx(share))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 6), st.integers(2, 4)), elements=st.integers(-1, 3)))
@example(np.array([[0, 0, 1, -1], [1, 1, 1, -1], [2, 0, 2, -1], [-1, -1, -1, 2]]))
def test_alpha_without_each_rater_is_that_of_the_others(matrix):
    """Only raters with a comparable answer are left out, and with fewer than three of them nobody is."""
    weights = similarity(4)
    complete = matrix_agreement(matrix, weights)
    assume(len(complete.ratings.comparable_items))
    values = alpha_without_each_rater(complete.center)
    raters = np.unique(complete.ratings.rater[complete.ratings.comparable])
    for rater, value in enumerate(values):
        alpha = matrix_agreement(np.delete(matrix, rater, axis=1), weights).estimates["krippendorff_alpha"]
        if alpha.value is None or rater not in raters or len(raters) < 3:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(alpha.value, abs=1e-10)


@pytest.mark.parametrize("key", ["sigma", "ks"])
def test_two_items_are_enough_for_a_distribution_of_chance(key):
    table = softirr.AnnotationTable.from_answers(
        softirr.Answer(item, rater, (text,))
        for item, texts in {"1": ("a", "a"), "2": ("b", "c")}.items()
        for rater, text in zip("rs", texts, strict=True)
    )
    assert softirr.agreement(table, "exact").coefficients[key].value is not None


@pytest.mark.parametrize("key", ["sigma", "ks"])
@pytest.mark.parametrize("seed", range(5))
def test_only_the_order_of_equivalences_counts(key, seed):
    """Neighboring steps of the grid are as different as distant ones."""
    rng = np.random.default_rng(seed)
    matrix, upper = rng.integers(0, 40, (15, 3)), np.triu(rng.integers(0, 5, (40, 40)), 1)
    matrix[:, 1] = np.where(rng.random(15) < 0.6, matrix[:, 0], matrix[:, 1])
    levels = upper + upper.T + 5 * np.eye(40)
    near, far = (matrix_agreement(matrix, scale) for scale in (1 - (5 - levels) / GRID, levels / 5))
    near_estimate, far_estimate = near.estimates[key], far.estimates[key]
    assert near_estimate.value == pytest.approx(far_estimate.value, abs=1e-12)
    assert near_estimate.draws == pytest.approx(far_estimate.draws, abs=1e-12) and np.ptp(near_estimate.draws) > 0
