"""Assignment of sets: one harness over the fast kernels and their plain twin."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from softirr.answers.table import AnnotationTable, Answer
from softirr.errors import InputError
from softirr.statistics.matching import answer_scorer, assignment
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.matching.assignment import batched_set_equivalence, greedy, grid_set_equivalence, optimal

# Wullschleger et al. 2026, figure "Toy example of suboptimal greedy assignment": rows Fatigue, Weakness, Nausea;
# columns Asthenia, Lethargy, Nausea / vomiting.
FIGURE = np.array([[0.90, 0.88, 0.10], [0.85, 0.72, 0.08], [0.15, 0.20, 0.78]])


def plain_set_equivalence(weights, method):
    """The literal definition: every injection of the smaller set (optimal), or the first set in order (greedy)."""
    m, n = weights.shape
    if m == 0 or n == 0:
        return 1.0 if m == n else 0.0
    if method == "greedy":
        free, total = set(range(n)), 0.0
        for i in range(min(m, n)):
            j = max(sorted(free), key=lambda j: weights[i, j])
            free.remove(j)
            total += weights[i, j]
        return 2 / (m + n) * total
    w = weights if m <= n else weights.T
    best = max(sum(w[i, j] for i, j in enumerate(columns)) for columns in permutations(range(w.shape[1]), w.shape[0]))
    return 2 / (m + n) * best


def test_one_text_is_assigned_as_the_solver_does():
    for weights in ([[0.2, 0.7, 0.7]], [[0.0, 0.0]], [[-1.0, -1.0, -2.0]], [[0.5]], np.zeros((1, 0))):
        assert [side.tolist() for side in optimal(weights)] == [
            side.tolist() for side in linear_sum_assignment(weights, maximize=True)
        ]


@pytest.mark.parametrize("few_sets", [0, 1_000])
@pytest.mark.parametrize("method", ["optimal", "greedy"])
def test_a_grid_of_sets_has_the_values_of_its_pairs(monkeypatch, few_sets, method):
    monkeypatch.setattr(assignment, "_FEW_SETS", few_sets)
    rng = np.random.default_rng(0)
    grid = rng.random((6, 7))
    rows, columns = rng.integers(0, 6, (4, 2)), rng.integers(0, 7, (5, 3))
    blocks = grid_set_equivalence(grid, rows, columns, method=method, sets="dice")
    pairs = [grid[np.ix_(row, column)] for row in rows for column in columns]
    assert blocks.ravel().tolist() == in_a_batch(pairs, method).tolist()


def one_by_one(matrices, method):
    """From the pairs of :func:`optimal` and :func:`greedy`."""
    solve = optimal if method == "optimal" else greedy
    return np.array([2 / sum(w.shape) * w[solve(w)].sum() if w.size else float(not any(w.shape)) for w in matrices])


def in_a_batch(matrices, method):
    flat = np.concatenate([w.ravel() for w in matrices]) if matrices else np.empty(0)
    return batched_set_equivalence(flat, np.array([w.shape for w in matrices]).reshape(-1, 2), method=method)


def in_a_batch_by_solver(matrices, method):
    """As if every set were a large one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "_LARGEST_TABLE", -1)
        return in_a_batch(matrices, method)


def in_small_steps(matrices, method):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "_STEP", 7)
        return in_a_batch(matrices, method)


@pytest.fixture(params=[one_by_one, in_a_batch, in_a_batch_by_solver, in_small_steps])
def solve(request):
    return request.param


class TestWullschleger2026:
    """Paper, figure on assignment: mean of the assigned pairs 0.84 (optimal) and 0.80 (greedy)."""

    def test_optimal(self, solve):
        assert solve([FIGURE], "optimal")[0] == pytest.approx((0.85 + 0.88 + 0.78) / 3, abs=1e-12)
        assert round(solve([FIGURE], "optimal")[0], 2) == 0.84
        rows, cols = optimal(FIGURE)
        assert list(zip(rows.tolist(), cols.tolist(), strict=True)) == [(0, 1), (1, 0), (2, 2)]

    def test_greedy(self, solve):
        assert round(solve([FIGURE], "greedy")[0], 2) == 0.80
        rows, cols = greedy(FIGURE)
        assert list(zip(rows.tolist(), cols.tolist(), strict=True)) == [(0, 0), (1, 1), (2, 2)]


@st.composite
def matrices(draw):
    shapes = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    coarse = draw(st.booleans())  # ties are where kernels differ
    return [np.round(rng.random(s), 1 if coarse else 9) for s in shapes]


class TestAgainstTheDefinition:
    @given(ws=matrices(), method=st.sampled_from(["optimal", "greedy"]))
    @settings(max_examples=60, deadline=None)
    def test_all_ways_agree(self, ws, method):
        expected = [plain_set_equivalence(w, method) for w in ws]
        for solve in (one_by_one, in_a_batch, in_a_batch_by_solver, in_small_steps):
            np.testing.assert_allclose(solve(ws, method), expected, rtol=0, atol=1e-12)

    @given(ws=matrices())
    @settings(max_examples=30, deadline=None)
    def test_optimal_is_symmetric_and_never_below_greedy(self, ws):
        forth, back = in_a_batch(ws, "optimal"), in_a_batch([w.T for w in ws], "optimal")
        np.testing.assert_allclose(forth, back, rtol=0, atol=1e-12)
        assert np.all(forth >= in_a_batch(ws, "greedy") - 1e-12)

    def test_larger_sets(self, solve):
        rng = np.random.default_rng(5)
        ws = [rng.random((m, n)) for m, n in [(9, 9), (3, 14), (14, 2), (1, 40), (12, 30)]]
        expected = [2 / sum(w.shape) * w[optimal(w)].sum() for w in ws]
        np.testing.assert_allclose(solve(ws, "optimal"), expected, rtol=0, atol=1e-12)

    def test_zero_one_weights_give_exact_fractions(self):
        rng = np.random.default_rng(0)
        ws = [(rng.random((3, 4)) < 0.4).astype(np.float32) for _ in range(50)]
        actual = in_a_batch(ws, "optimal")
        assert np.all(actual * 7 / 2 == np.round(actual * 7 / 2))

    @pytest.mark.parametrize(
        ("first_set", "second_set", "jaccard", "masi"),
        [
            ("ab", "ab", 1, 1),
            ("ab", "abc", 2 / 3, 4 / 9),
            ("abc", "ab", 2 / 3, 4 / 9),
            ("abc", "bcd", 2 / 4, 1 / 6),
            ("ab", "cd", 0, 0),
        ],
    )
    def test_jaccard_and_masi_of_known_sets(self, first_set, second_set, jaccard, masi):
        """Passonneau (2006): Jaccard times 1 for equal sets, 2/3 if one contains the other, 1/3 if they overlap."""
        weights = [float(a == b) for a in first_set for b in second_set]
        for sets, value in (("jaccard", jaccard), ("masi", masi)):
            result = batched_set_equivalence(weights, [[len(first_set), len(second_set)]], sets=sets)
            assert result.tolist() == pytest.approx([value], abs=1e-12)

    def test_small_sets_cost_no_call_each(self, monkeypatch):
        """100,000 pairs of small sets: array operations only, no solver."""
        import scipy.optimize

        calls = []
        monkeypatch.setattr(scipy.optimize, "linear_sum_assignment", lambda *a, **k: calls.append(1))
        steps = []
        kernel = assignment._table_sums
        monkeypatch.setattr(assignment, "_table_sums", lambda w: steps.append(1) or kernel(w))
        rng = np.random.default_rng(1)
        sizes = rng.integers(1, 6, size=(100_000, 2))
        sizes[:100] = 2, 14
        actual = batched_set_equivalence(rng.random(int(sizes.prod(axis=1).sum()), dtype=np.float32), sizes)
        assert actual.shape == (100_000,)
        assert not calls
        assert len(steps) < 100

    def test_greedy_takes_many_large_sets_at_once(self, monkeypatch):
        steps = []
        kernel = assignment._greedy_columns
        monkeypatch.setattr(assignment, "_greedy_columns", lambda w: steps.append(1) or kernel(w))
        batched_set_equivalence(np.zeros(300 * 20 * 20), [[20, 20]] * 300, method="greedy")
        assert len(steps) < 10

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: batched_set_equivalence([0.5], [[1, 2]]), "ask for 2 weights, but 1 were given"),
            (lambda: batched_set_equivalence([1.0], [[1, 1]], method="best"), "optimal, greedy, not 'best'"),
            (lambda: optimal([1.0, 0.5]), "a matrix"),
        ],
    )
    def test_bad_input(self, call, message):
        with pytest.raises(InputError, match=message):
            call()


class MatrixScorer:
    """Stands in for PairScorer: P of two texts from a fixed symmetric matrix."""

    directional = False
    cheap = True

    def __init__(self, p):
        self.p = p
        self.asked = 0
        self.most = 0

    def directions(self, left_texts, right_texts):
        self.asked += len(left_texts)
        self.most = max(self.most, len(left_texts))
        return np.repeat(self.p[np.asarray(left_texts), np.asarray(right_texts)][:, None], 2, axis=1)

    def block(self, rows, cols):
        self.asked += len(rows) * len(cols)
        return self.p[np.ix_(rows, cols)].astype(np.float32)


def table_of(sets):
    return AnnotationTable.from_answers(
        Answer(item=f"i{k // 2}", rater=f"r{k % 2}", texts=tuple(f"text {t:03d}" for t in texts))
        for k, texts in enumerate(sets)
    )


def scorer_for(table, rng, decimals=6):
    n = len(table.texts)
    p = np.round(rng.random((n, n)), decimals)
    p = np.maximum(p, p.T)
    np.fill_diagonal(p, 1.0)
    return MatrixScorer(p)


class TestAnswerScorer:
    @pytest.mark.parametrize("method", ["optimal", "greedy"])
    @pytest.mark.parametrize("largest", [0, 1, 5, 9])
    def test_score_and_block_follow_the_definition(self, method, largest):
        rng = np.random.default_rng(largest)
        table = table_of(
            [rng.choice(30, size=rng.integers(0 if largest != 1 else 1, largest + 1), replace=False) for _ in range(40)]
        )
        scorer = scorer_for(table, rng)
        answers = AnswerScorer(table, scorer, method=method)
        n = len(table.answers)
        k, j = np.divmod(np.arange(n * n), n)
        weights = [scorer.p[np.ix_(a, b)].reshape(len(a), len(b)) for a, b in product(table.answers, table.answers)]
        expected = np.where(k == j, 1.0, one_by_one(weights, method)).reshape(n, n)
        np.testing.assert_allclose(answers.score(k, j), expected.ravel(), atol=1e-12)
        np.testing.assert_allclose(answers.block(np.arange(n), np.arange(n)), expected, atol=1e-6)
        some = rng.permutation(n)[: n // 2 + 1]
        np.testing.assert_allclose(
            answers.block(some, np.arange(n)[::-1]), expected[np.ix_(some, np.arange(n)[::-1])], atol=1e-6
        )

    def test_an_answer_is_equivalent_to_itself_without_asking(self):
        table = table_of([(1, 2), (1, 2), (3,), (4, 5)])
        scorer = scorer_for(table, np.random.default_rng(0))
        answers = AnswerScorer(table, scorer)
        assert answers.score([0, 1, 2], [0, 1, 2]).tolist() == [1.0, 1.0, 1.0]
        assert scorer.asked == 0

    def test_a_pair_given_twice_is_asked_once(self):
        table = table_of([(1, 2), (3,)])
        scorer = scorer_for(table, np.random.default_rng(0))
        AnswerScorer(table, scorer).score([0, 0, 0], [1, 1, 1])
        assert scorer.asked == 2

    def test_in_parts(self, monkeypatch):
        rng = np.random.default_rng(3)
        table = table_of([rng.choice(30, size=rng.integers(0, 6), replace=False) for _ in range(30)])
        scorer = scorer_for(table, rng)
        n = len(table.answers)
        k, j = np.divmod(np.arange(n * n), n)
        at_once = AnswerScorer(table, scorer).score(k, j), AnswerScorer(table, scorer).block(np.arange(n), np.arange(n))
        monkeypatch.setattr(answer_scorer, "_ASKED_AT_ONCE", 11)
        monkeypatch.setattr(assignment, "_STEP", 13)
        in_steps = (
            AnswerScorer(table, scorer).score(k, j),
            AnswerScorer(table, scorer).block(np.arange(n), np.arange(n)),
        )
        np.testing.assert_array_equal(at_once[0], in_steps[0])
        np.testing.assert_array_equal(at_once[1], in_steps[1])

    def test_no_more_texts_are_asked_at_once_than_the_limit_or_one_pair_of_answers(self, monkeypatch):
        table = table_of([(4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3) for k in range(10)])
        for limit, largest_request in ((11, 16), (16, 16), (31, 16), (32, 32), (47, 32)):
            monkeypatch.setattr(answer_scorer, "_ASKED_AT_ONCE", limit)
            scorer = scorer_for(table, np.random.default_rng(0))
            AnswerScorer(table, scorer).score([0, 2, 4, 6, 8], [1, 3, 5, 7, 9])
            assert (scorer.asked, scorer.most) == (5 * 16, largest_request)
