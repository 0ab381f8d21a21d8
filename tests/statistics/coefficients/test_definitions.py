"""A coefficient is one definition.

Everything that shows coefficients derives from it, and its influences are derivatives of its value.
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
from softirr.answers.ratings import Ratings
from softirr.cli.main import main
from softirr.report.methods import methods_paragraph
from softirr.report.page.render import report_page
from softirr.report.view import view
from softirr.statistics.chance.equivalence import MatrixEquivalence
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.expected import GRID, ChanceDistribution
from softirr.statistics.coefficients import registry, summary
from softirr.statistics.coefficients.cohen import mean_cohen
from softirr.statistics.coefficients.definition import Definition, Reference
from softirr.statistics.coefficients.distributions import upper_point
from softirr.statistics.coefficients.estimate import Undefined
from softirr.statistics.coefficients.leave_one_out import alpha_without_each_rater
from softirr.statistics.coefficients.matrix import matrix_agreement
from softirr.statistics.coefficients.observed import chosen_agreement, observed_agreement
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
    references=(Reference(key="nobody2026", authors="Nobody, N.", short="Nobody", year=2026, title="On halves"),),
    estimate=lambda ratings, scores, chance: observed_agreement(ratings, scores / 2),
    over_draws=lambda draws: draws.observed() / 2,
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


class TestOneDefinition:
    def test_a_new_coefficient_is_in_json_text_page_and_paper(self, registered, file):
        before = softirr.agreement(softirr.read(file), "indel")
        registered(NEW)
        report = softirr.agreement(softirr.read(file), "indel")
        exported = report.to_dict()
        assert (
            exported["coefficients"]["half_agreement"]["value"] == before.coefficients["observed_agreement"].value / 2
        )
        assert exported["coefficients"]["half_agreement"]["details"]["items_only"]["ci95"] is not None
        assert {k: v for k, v in exported["coefficients"].items() if k != NEW.key} == before.to_dict()["coefficients"]
        assert "Half of the agreement" in str(report) and "half_agreement" in report.to_frame().index
        page = report_page(view(exported))
        assert "Half of the agreement" in page and "Half of the mean equivalence of two answers to one item." in page
        assert "Agreement was " in methods_paragraph(exported)

    def test_a_new_coefficient_is_a_choice_of_the_command_line(self, registered, file, capsys):
        registered(NEW)
        half = ["--measure", "indel", "--coefficient", "half_agreement", "--json"]
        assert main(["compare", str(file), str(file), *half]) == 0
        assert json.loads(capsys.readouterr().out)["coefficient"] == "half_agreement"

    def test_a_new_coefficient_is_in_the_table_of_the_documentation(self, registered):
        registered(NEW)
        row = "| Half of the agreement | `half_agreement` | half of the mean | $0$ | Nobody 2026 |"
        assert row in registry.documentation_table()

    def test_the_documentation_has_this_table(self):
        page = (ROOT / "docs/explanation/definitions.md").read_text(encoding="utf-8")
        assert "\n".join(registry.documentation_table()) in page

    def test_the_documentation_names_each_key(self):
        (line,) = (
            one
            for one in (ROOT / "docs/reference/json.md").read_text().splitlines()
            if "coefficients.NAME`" in one and "NAME is" in one
        )
        assert all(f"`{key}`" in line for key in registry.coefficient_keys())

    def test_those_that_judgments_correct_are_those_that_the_estimator_covers(self, file, tmp_path):
        table = softirr.read(file)
        sheet = softirr.audit.draw_sheet(table, "indel")
        (tmp_path / "sheet.csv").write_text(
            sheet.to_csv().replace(",\r\n", ",different\r\n").replace(",\n", ",different\n")
        )
        report = softirr.agreement(table, "indel", judgments=[tmp_path / "sheet.csv"])
        assert {key for key, one in report.coefficients.items() if one.value is not None} == set(
            registry.coefficient_keys(audited=True)
        )

    def test_keys_are_unique_and_meanings_are_sentences(self):
        assert len(set(registry.coefficient_keys())) == len(registry.DEFINITIONS)
        for one in registry.DEFINITIONS:
            assert one.meaning.endswith(".") and one.meaning.format(item="task", rater="annotator")

    def test_an_unknown_coefficient_is_refused(self, file):
        table = softirr.read(file)
        with pytest.raises(softirr.InputError, match="'lambda' is not known: there are observed_agreement, cohen"):
            softirr.compare([table, table], "indel", coefficient="lambda")


class TestInfluence:
    """The influence of an item is N times the derivative of the value by the item's weight, where all weights sum to N."""

    CATEGORIES, STEP = 4, 1e-5
    CORRECTED = tuple(key for key in registry.coefficient_keys() if key not in ("sigma", "ks"))

    def estimate(self, key, matrix, similarity, weights=None):
        ratings = replace(Ratings.from_matrix(matrix), weights=weights)
        equivalence = MatrixEquivalence(similarity)
        scores = scored(ratings, equivalence)
        return registry.definition(key).estimate(ratings, scores, exact(ratings, equivalence, scores))

    def table(self, key, seed, missing=0.0):
        rng = np.random.default_rng(seed)
        matrix = rng.integers(0, self.CATEGORIES, (8, 2 if key == "scott_pi" else 3))
        upper = np.triu(rng.random((self.CATEGORIES, self.CATEGORIES)), 1)
        return np.where(rng.random(matrix.shape) < missing, -1, matrix), upper + upper.T + np.eye(self.CATEGORIES)

    def directions(self, n):
        return self.STEP * np.eye(n) - self.STEP / n

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("key", CORRECTED)
    def test_is_the_derivative(self, key, seed):
        matrix, similarity = self.table(key, seed)
        estimate, n = self.estimate(key, matrix, similarity), len(matrix)
        derivatives = []
        for direction in self.directions(n):
            ends = [self.estimate(key, matrix, similarity, 1 + sign * direction).value for sign in (1, -1)]
            derivatives.append(n * (ends[0] - ends[1]) / (2 * self.STEP))
        assert estimate.influence == pytest.approx(derivatives, abs=1e-7)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("key", CORRECTED)
    def test_is_the_derivative_also_where_answers_are_missing(self, key, seed, weighted):
        matrix, similarity = self.table(key, seed, missing=0.2)
        weights = np.linspace(0.5, 2, len(matrix)) if weighted else np.ones(len(matrix))
        estimate = self.estimate(key, matrix, similarity, weights)
        n, derivatives = len(estimate.influence), []
        for direction in self.directions(n):
            ends = []
            for sign in (1, -1):
                changed = weights.copy()
                changed[estimate.items] *= 1 + sign * direction
                ends.append(self.estimate(key, matrix, similarity, changed).value)
            derivatives.append(n * (ends[0] - ends[1]) / (2 * self.STEP))
        # alpha's chance is without replacement: its influence leaves out how many answers there are, a term of 1 / n
        assert estimate.influence == pytest.approx(derivatives, abs=0.03 if key == "krippendorff_alpha" else 1e-7)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("seed", range(3))
    def test_of_alpha_is_the_derivative_at_a_fixed_number_of_answers(self, seed, weighted):
        matrix, similarity = self.table("krippendorff_alpha", seed, missing=0.2)
        weights = np.linspace(0.5, 2, len(matrix)) if weighted else np.ones(len(matrix))
        result = self.estimate("krippendorff_alpha", matrix, similarity, weights)
        rows = [row[row >= 0] for row in matrix[result.items]]
        own = weights[result.items]
        n = sum(w * len(row) for w, row in zip(own, rows, strict=True))

        def alpha(w):
            agreement, answers, share = 0.0, 0.0, np.zeros(self.CATEGORIES)
            for weight, row in zip(w, rows, strict=True):
                grid = similarity[np.ix_(row, row)]
                agreement += weight * len(row) * grid[np.triu_indices(len(row), 1)].mean()
                answers += weight * len(row)
                np.add.at(share, row, weight)
            share /= answers
            expected = (n * share @ similarity @ share - 1) / (n - 1)
            return 1 - (1 - agreement / answers) / (1 - expected)

        assert len({len(row) for row in rows}) > 1
        assert result.value == pytest.approx(alpha(own), abs=1e-12)
        ends = [[alpha(own * (1 + s * d)) for s in (1, -1)] for d in self.directions(len(rows))]
        derivatives = [len(rows) * (up - down) / (2 * self.STEP) for up, down in ends]
        assert result.influence == pytest.approx(derivatives, abs=1e-7)

    @pytest.mark.parametrize(("seed", "weighted"), [(1, False), (2, False), (3, False), (3, True)])
    @pytest.mark.parametrize(("key", "step", "close"), [("sigma", 0.3, 0.1), ("ks", 1e-5, 3e-3)])
    def test_of_a_distribution_is_the_change_by_other_weights(self, key, step, close, seed, weighted):
        """Of sigma by large changes of weights, since its slope is measured over a range of levels."""
        rng = np.random.default_rng(seed)
        own, share = rng.integers(0, 8, (80, 1)), rng.random((80, 3)) < 0.5
        points = (np.where(share, own, rng.integers(0, 8, (80, 3))) + rng.normal(0, 0.3, (80, 3))).ravel()
        similarity = np.round(np.exp(-np.abs(points[:, None] - points)), 1)
        matrix = np.arange(240).reshape(80, 3)
        directions = rng.choice([-step, step], (25, 80))
        directions -= directions.mean(axis=1, keepdims=True)
        weights = np.linspace(0.2, 4, 80) if weighted else np.ones(80)
        ends = [
            [self.estimate(key, matrix, similarity, weights * (1 + s * d)).value for s in (1, -1)] for d in directions
        ]
        changes = np.array([up - down for up, down in ends]) / 2
        expected = directions @ self.estimate(key, matrix, similarity, weights).influence / 80
        assert np.std(changes - expected) < close * np.std(changes)

    @pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 8)])
    @pytest.mark.parametrize("key", ["fleiss_kappa", "krippendorff_alpha"])
    def test_the_shift_is_to_the_value_by_pairs_of_answers_to_different_items(self, key, weights):
        matrix, similarity = self.table(key, 3)
        own = np.ones(len(matrix)) if weights is None else weights
        total = mass = 0.0
        for i, first in enumerate(matrix):
            for j, second in enumerate(matrix):
                if i != j:
                    total += own[i] * own[j] * similarity[np.ix_(first, second)].mean()
                    mass += own[i] * own[j]
        result = self.estimate(key, matrix, similarity, weights)
        pairs = [similarity[np.ix_(row, row)][np.triu_indices(3, 1)].mean() for row in matrix]
        observed, expected = np.average(pairs, weights=own), total / mass
        assert result.value + result.shift == pytest.approx((observed - expected) / (1 - expected), abs=1e-12)

    @pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 8)])
    def test_the_shift_of_kappa_is_the_mean_over_rater_pairs(self, weights):
        matrix, similarity = self.table("cohen_kappa", 3)
        own = np.ones(len(matrix)) if weights is None else weights
        apart = np.outer(own, own) * (1 - np.eye(len(matrix)))
        kappas = []
        for left, right in ((0, 1), (0, 2), (1, 2)):
            grid = similarity[np.ix_(matrix[:, left], matrix[:, right])]
            observed, expected = np.average(np.diag(grid), weights=own), np.average(grid, weights=apart)
            kappas.append((observed - expected) / (1 - expected))
        result = self.estimate("cohen_kappa", matrix, similarity, weights)
        assert result.value + result.shift == pytest.approx(np.mean(kappas), abs=1e-12)

    @pytest.mark.parametrize("key", ["cohen_kappa", "fleiss_kappa", "krippendorff_alpha"])
    def test_there_is_no_shift_where_all_answers_to_different_items_are_equivalent(self, key):
        similarity = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
        result = self.estimate(key, np.array([[0, 1], [2, 2]]), similarity)
        assert result.value is not None and result.shift == 0.0

    def test_the_shift_of_kappa_of_two_items_is_to_the_value_by_answers_to_different_items(self):
        _, similarity = self.table("cohen_kappa", 3)
        result = self.estimate("cohen_kappa", np.array([[0, 1], [2, 3]]), similarity)
        observed, expected = (similarity[0, 1] + similarity[2, 3]) / 2, (similarity[0, 3] + similarity[2, 1]) / 2
        assert result.value + result.shift == pytest.approx((observed - expected) / (1 - expected), abs=1e-12)

    @pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 8)])
    @pytest.mark.parametrize("items", [slice(8), slice(2)])
    @pytest.mark.parametrize("pair", [0, 1, 2])
    def test_the_kappa_of_a_pair_of_raters_is_that_of_a_table_of_the_two(self, weights, items, pair):
        """A pair of a table of three raters, and a table that has the two only."""
        matrix, similarity = self.table("cohen_kappa", 3)
        error, noise = np.array([0.1, 0.2, 0.3]), np.array([0.02, 0.03, 0.05])
        estimates = []
        for raters, place in (([0, 1, 2], pair), ([[0, 1], [0, 2], [1, 2]][pair], 0)):
            ratings = Ratings.from_matrix(matrix[items][:, raters])
            ratings = replace(ratings, weights=None if weights is None else weights[items])
            equivalence = MatrixEquivalence(similarity)
            scores = scored(ratings, equivalence)
            known = slice(None) if len(raters) == 3 else slice(pair, pair + 1)
            chance = replace(exact(ratings, equivalence, scores), cohen_error=error[known], cohen_noise=noise[known])
            estimates.append(mean_cohen(ratings, scores, chance, np.array([place])))
        of_three, of_two = estimates
        assert of_three.value is not None and np.array_equal(of_three.items, of_two.items)
        assert of_three.influence == pytest.approx(of_two.influence, abs=1e-12)
        for name in ("value", "expected", "chance_error", "noise", "floor", "shift"):
            assert getattr(of_three, name) == pytest.approx(getattr(of_two, name), abs=1e-12), name

    def test_error_and_noise_of_chance_in_the_mean_kappa_are_those_of_a_mean_of_independent_pairs(self):
        """An estimate's variance from noise is its noise by the number of its items."""
        matrix, similarity = self.table("cohen_kappa", 1)
        ratings, equivalence = Ratings.from_matrix(matrix), MatrixEquivalence(similarity)
        scores = scored(ratings, equivalence)
        sampled = {"cohen_error": np.array([0.1, 0.2, 0.3]), "cohen_noise": np.array([0.1, 0.2, 0.4])}
        chance = replace(exact(ratings, equivalence, scores), **sampled)
        pairs = [mean_cohen(ratings, scores, chance, np.array([pair])) for pair in range(3)]
        mean = registry.definition("cohen_kappa").estimate(ratings, scores, chance)
        variances = [one.noise / len(one.influence) for one in pairs]
        assert mean.noise / len(mean.influence) == pytest.approx(sum(variances) / 3**2, rel=1e-12)
        assert mean.chance_error == pytest.approx(np.linalg.norm([one.chance_error for one in pairs]) / 3, rel=1e-12)
        assert min(variances) > 0

    def test_the_noise_of_chance_in_alpha_is_by_its_own_slope(self):
        """Of n answers alpha expects (n Pe - 1) / (n - 1), kappa Pe: its slope by Pe is larger."""
        matrix, similarity = self.table("fleiss_kappa", 1)
        ratings, equivalence = Ratings.from_matrix(matrix[:3]), MatrixEquivalence(similarity)
        scores = scored(ratings, equivalence)
        chance = replace(exact(ratings, equivalence, scores), pooled_noise=0.1)
        alpha, kappa = (
            registry.definition(key).estimate(ratings, scores, chance) for key in ("krippendorff_alpha", "fleiss_kappa")
        )
        slopes = [(1 - one.value) / (1 - one.expected) for one in (alpha, kappa)]
        assert alpha.noise / kappa.noise == pytest.approx((slopes[0] / slopes[1] * 9 / 8) ** 2, rel=1e-12)

    def test_beyond_many_rater_pairs_none_is_listed(self, monkeypatch):
        monkeypatch.setattr(summary, "MOST_RATER_PAIRS", 3)
        for raters, listed in ((3, 3), (4, 0)):
            result = matrix_agreement(np.tile([[0], [1]], raters)).summary
            assert len(result.rater_pairs) == listed and len(result.raters) == raters

    def test_a_rater_without_pairs_has_no_agreement(self):
        ratings = Ratings.from_matrix(np.array([[0, 1]]))
        none = chosen_agreement(ratings, np.ones(1), np.zeros(0, dtype=np.int64))
        assert none.undefined == Undefined.NO_OTHER_RATER


@pytest.mark.parametrize(("ties", "step", "share"), [(1, GRID, 1.0), (2, GRID, 0.5), (0, GRID // 2, 0.25)])
def test_the_upper_point_of_twenty_pairs_is_the_first_and_ties_share_it(ties, step, share):
    """Of twenty pairs `ties` have equivalence 1, and, where there is none, four have 0.5."""
    counts = np.zeros(GRID + 1)
    counts[[0, GRID // 2, GRID]] = 16 - ties, 4, ties
    assert upper_point(ChanceDistribution.of(counts)) == (step, pytest.approx(share))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 6), st.integers(2, 4)), elements=st.integers(-1, 3)))
@example(np.array([[0, 0, 1, -1], [1, 1, 1, -1], [2, 0, 2, -1], [-1, -1, -1, 2]]))
def test_alpha_without_each_rater_is_that_of_the_others(matrix):
    """Only raters with a comparable answer are left out, and with fewer than three of them nobody is."""
    weights = similarity(4)
    whole = matrix_agreement(matrix, weights)
    assume(len(whole.ratings.comparable_items))
    values = alpha_without_each_rater(whole.ratings, whole.scores, whole.chance)
    raters = np.unique(whole.ratings.rater[whole.ratings.comparable])
    for rater, value in enumerate(values):
        rest = matrix_agreement(np.delete(matrix, rater, axis=1), weights).summary.coefficients["krippendorff_alpha"]
        if rest.value is None or rater not in raters or len(raters) < 3:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(rest.value, abs=1e-10)


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
    one, other = near.summary.coefficients[key], far.summary.coefficients[key]
    assert (one.value, one.chance_error) == pytest.approx((other.value, other.chance_error), abs=1e-12)
    assert one.influence == pytest.approx(other.influence, abs=1e-12) and np.ptp(one.influence) > 0


def test_a_coefficient_without_a_chance_of_its_own_needs_every_expectation():
    assert set(registry.definition("cohen_kappa").expectations) == {"cohen"}
    assert set(registry.definition("sigma").expectations) == {"cohen", "pooled", "uniform"}
