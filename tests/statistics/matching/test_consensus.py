"""Matches over the raters of an item, on answers with known concepts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softirr.statistics.matching.assignment import greedy, optimal
from softirr.statistics.matching.consensus import consensus, distinct_texts, relation
from tests.statistics.matching.known_concepts import entails, known, scores_in


class TestTwoRaters:
    def test_match_surplus_and_suggestion(self):
        actual_consensus = consensus({"ann": ("cough", "fever"), "bob": ("pyrexia",)}, known)
        assert [m.to_dict() for m in actual_consensus.matches] == [
            {"texts": {"ann": "fever", "bob": "pyrexia"}, "equivalence": 1.0, "relation": "equivalent", "support": 2}
        ]
        assert actual_consensus.unmatched == {"ann": ("cough",)}
        assert actual_consensus.suggestion == ("fever",)

    def test_pairs_are_those_of_the_assignment(self):
        p = np.array([[0.90, 0.88, 0.10], [0.85, 0.72, 0.08], [0.15, 0.20, 0.78]])
        matrix = np.eye(6)
        matrix[:3, 3:], matrix[3:, :3] = p, p.T
        answers = {"1": ("Fatigue", "Weakness", "Nausea"), "2": ("Asthenia", "Lethargy", "Vomiting")}
        best = consensus(answers, scores_in(matrix, answers))
        assert {tuple(m.texts.values()) for m in best.matches} == {
            ("Fatigue", "Lethargy"), ("Weakness", "Asthenia"), ("Nausea", "Vomiting"),
        }  # fmt: skip
        assert sum(m.equivalence for m in best.matches) / 3 == pytest.approx(p[optimal(p)].mean())
        paper = consensus(answers, scores_in(matrix, answers), method="greedy")
        assert sum(m.equivalence for m in paper.matches) / 3 == pytest.approx(p[greedy(p)].mean())


def from_general_to_special(members, index_of, directions):
    """Texts ordered by the entailment that they receive, minus the one that they give."""
    general = {
        a: round(sum(directions[index_of[b], index_of[a]] - directions[index_of[a], index_of[b]] for b in members), 9)
        for a in members
    }
    return sorted(members, key=lambda a: -general[a])


class TestSeveralRaters:
    def test_majority(self):
        actual_consensus = consensus(
            {"a": ("fever", "rash"), "b": ("cough", "pyrexia"), "c": ("raised temperature",)}, known
        )
        assert set(actual_consensus.matches[0].texts.values()) == {"fever", "pyrexia", "raised temperature"}
        assert actual_consensus.matches[0].support == 3
        assert actual_consensus.suggestion == ("fever",)
        # rash and cough are left over and stand side by side
        assert [m.relation for m in actual_consensus.matches[1:]] == ["unrelated"]

    def test_most_general_first(self):
        actual_consensus = consensus(
            {"a": ("atopic eczema",), "b": ("atopic dermatitis",), "c": ("dermatitis",)}, known, entails
        )
        assert len(actual_consensus.matches) == 1
        assert next(iter(actual_consensus.matches[0].texts.items())) == ("c", "dermatitis")
        assert (actual_consensus.matches[0].relation, actual_consensus.matches[0].support) == (
            "first is more general",
            2,
        )
        assert actual_consensus.suggestion == ("atopic eczema",)

    def test_pairs_of_three_in_the_report(self):
        p = np.array([[1, 0.9, 0.6], [0.9, 1, 0.8], [0.6, 0.8, 1]])
        answers = {"a": ("x",), "b": ("y",), "c": ("z",)}
        (match,) = consensus(answers, scores_in(p, answers)).matches
        assert match.to_dict()["pairs"] == [
            {"raters": ["a", "b"], "equivalence": 0.9},
            {"raters": ["a", "c"], "equivalence": 0.6},
            {"raters": ["b", "c"], "equivalence": 0.8},
        ]
        assert match.equivalence == pytest.approx(2.3 / 3)

    def test_one_rater(self):
        actual_consensus = consensus({"a": ("fever", "rash")}, known)
        assert (actual_consensus.matches, actual_consensus.suggestion) == ((), ("fever", "rash"))
        assert actual_consensus.unmatched == {"a": ("fever", "rash")}

    @given(seed=st.integers(0, 2**32 - 1), n_raters=st.integers(2, 5))
    @settings(max_examples=50, deadline=None)
    def test_true_clusters_are_found_in_any_order_of_raters(self, seed, n_raters):
        """With P from known concepts, clusters are the concepts, each rater at most once in each."""
        rng = np.random.default_rng(seed)
        answers = {
            f"r{r}": tuple(f"{c}/{r}" for c in rng.permutation(6)[: rng.integers(0, 6)]) for r in range(n_raters)
        }

        def p(pairs):
            return np.array([0.9 if a.split("/")[0] == b.split("/")[0] else 0.2 for a, b in pairs])

        def clusters(result):
            return {frozenset(m.texts.values()) for m in result.matches if m.relation == "equivalent"}

        actual_consensus = consensus(answers, p)
        concepts = {}
        for texts in answers.values():
            for t in texts:
                concepts.setdefault(t.split("/")[0], set()).add(t)
        assert clusters(actual_consensus) == {frozenset(c) for c in concepts.values() if len(c) > 1}
        shuffled = {r: answers[r] for r in rng.permutation(list(answers)).tolist()}
        second_consensus = consensus(shuffled, p)
        assert clusters(second_consensus) == clusters(actual_consensus)
        assert sorted(second_consensus.suggestion) == sorted(actual_consensus.suggestion)

    @given(seed=st.integers(0, 2**32 - 1))
    @settings(max_examples=40, deadline=None)
    def test_every_text_is_in_exactly_one_match(self, seed):
        rng = np.random.default_rng(seed)
        answers = {f"r{r}": tuple(f"t{r}.{i}" for i in range(rng.integers(0, 5))) for r in range(rng.integers(1, 6))}
        n = len(distinct_texts(answers))
        p = rng.random((n, n))
        p = (p + p.T) / 2
        np.fill_diagonal(p, 1)
        actual_consensus = consensus(answers, scores_in(p, answers), scores_in(rng.random((n, n)), answers))
        for rater, texts in answers.items():
            placed = [m.texts[rater] for m in actual_consensus.matches if rater in m.texts] + list(
                actual_consensus.unmatched.get(rater, ())
            )
            assert sorted(placed) == sorted(texts)
        assert all(len(m.texts) > 1 and 1 <= m.support <= len(m.texts) for m in actual_consensus.matches)

    @given(seed=st.integers(0, 2**32 - 1), n_raters=st.integers(2, 4), directed=st.booleans())
    @settings(max_examples=80, deadline=None, derandomize=True)
    def test_every_field_of_a_match_follows_its_definition(self, seed, n_raters, directed):
        rng = np.random.default_rng(seed)
        answers = {
            f"r{r}": tuple(f"t{r}{'x' * rng.integers(3)}{i}" for i in range(rng.integers(0, 4)))
            for r in range(n_raters)
        }
        texts = distinct_texts(answers)
        n, rater_of = len(texts), {text: rater for rater, given_texts in answers.items() for text in given_texts}
        p, directions = (np.round(rng.random((n, n)) ** 0.5, 1) for _ in range(2))
        p = np.maximum(np.maximum(p, p.T), np.eye(n))
        index_of = {text: k for k, text in enumerate(texts)}
        implied = scores_in(directions, answers) if directed else None
        actual_consensus = consensus(answers, scores_in(p, answers), implied)
        for match in actual_consensus.matches:
            members = sorted(match.texts.values(), key=lambda text: (rater_of[text], index_of[text]))
            sums = {a: sum(p[index_of[a], index_of[b]] for b in members) for a in members}
            best = min(members, key=lambda a: (-round(sums[a], 9), len(a), a))
            pairs = [(rater_of[a], rater_of[b], p[index_of[a], index_of[b]]) for a, b in combinations(members, 2)]
            assert (match.wording, list(match.pairs)) == (best, pairs)
            assert match.equivalence == pytest.approx(np.mean([value for *_, value in pairs]))
            assert match.support == sum(p[index_of[best], index_of[b]] >= 0.5 for b in members)
            order = from_general_to_special(members, index_of, directions)
            first, last = (index_of[member] for member in (members if len(members) == 2 else [order[0], order[-1]]))
            both_directions = (directions[first, last], directions[last, first]) if directed else (None, None)
            expected = relation(p[first, last], *both_directions)
            if len(members) > 2 and match.support == len(members):
                expected = "equivalent"
            elif len(members) > 2 and expected != "first is more general":
                expected = "unrelated"
            assert match.relation == expected
            turned = len(members) > 2 and expected == "first is more general"
            assert list(match.texts.values()) == (order if turned else members)
        keys = [(-match.support, -match.equivalence, match.wording) for match in actual_consensus.matches]
        assert keys == sorted(keys)
        matched = {text for match in actual_consensus.matches for text in match.texts.values()}
        remaining = {rater: tuple(t for t in given_texts if t not in matched) for rater, given_texts in answers.items()}
        assert actual_consensus.unmatched == {rater: texts for rater, texts in remaining.items() if texts}
        assert actual_consensus.suggestion == tuple(
            match.wording for match in actual_consensus.matches if 2 * match.support > n_raters
        )

    def test_a_chain_is_two_matches(self):
        """Each text is equivalent to the next; as one match they would lose more than they gain."""
        p = np.where(np.abs(np.subtract.outer(range(4), range(4))) <= 1, 0.9, 0.0)
        np.fill_diagonal(p, 1)
        answers = {rater: (f"text {rater}",) for rater in "abcd"}
        actual_consensus = consensus(answers, scores_in(p, answers))
        assert {frozenset(m.texts) for m in actual_consensus.matches} == {frozenset("ab"), frozenset("cd")}

    @pytest.mark.parametrize(("equivalence", "matches"), [(0.49, 0), (0.5, 1)])
    def test_three_texts_at_the_threshold_are_equivalent(self, equivalence, matches):
        p = np.where(np.eye(3, dtype=bool), 1, equivalence)
        answers = {"a": ("x",), "b": ("y",), "c": ("z",)}
        actual_consensus = consensus(answers, scores_in(p, answers))
        assert (
            sum(match.relation == "equivalent" and len(match.texts) == 3 for match in actual_consensus.matches)
            == matches
        )

    @pytest.mark.parametrize(("entailment", "is_joined"), [(0.49, False), (0.5, True)])
    def test_a_text_joins_a_match_that_entails_it_at_the_threshold(self, entailment, is_joined):
        p = np.array([[1, 0.9, 0.1], [0.9, 1, 0.1], [0.1, 0.1, 1]])
        directions = np.array([[1, 0.9, entailment], [0.9, 1, entailment], [0.1, 0.1, 1]])
        answers = {"a": ("x",), "b": ("y",), "c": ("general",)}
        actual_consensus = consensus(answers, scores_in(p, answers), scores_in(directions, answers))
        assert [set(m.texts) for m in actual_consensus.matches] == [{"a", "b", "c"} if is_joined else {"a", "b"}]
        assert actual_consensus.unmatched == ({} if is_joined else {"c": ("general",)})

    @pytest.mark.parametrize(("lead", "wording"), [(3e-10, "short"), (3e-9, "a longer one")])
    def test_of_wordings_as_close_as_rounding_the_shorter_is_taken(self, lead, wording):
        p = np.array([[1, 0.8, 0.7], [0.8, 1, 0.7 + lead], [0.7, 0.7 + lead, 1]])
        answers = {"a": ("short",), "b": ("a longer one",), "c": ("the longest one",)}
        (match,) = consensus(answers, scores_in(p, answers)).matches
        assert match.wording == wording

    @pytest.mark.parametrize(("lead", "first"), [(3e-10, "a"), (3e-9, "b")])
    def test_of_texts_as_general_as_rounding_the_order_of_raters_is_kept(self, lead, first):
        p = np.full((3, 3), 0.2) + 0.8 * np.eye(3)
        directions = np.array([[1, 0.9, 0.1], [0.9, 1, 0.1], [0.9, 0.9 + lead, 1]])
        answers = {"a": ("x",), "b": ("y",), "c": ("narrow",)}
        (match,) = consensus(answers, scores_in(p, answers), scores_in(directions, answers)).matches
        assert list(match.texts) == [first, "b" if first == "a" else "a", "c"]
