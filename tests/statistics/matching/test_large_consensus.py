"""Consensus of many texts, and the relation of two texts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from softirr.statistics.matching import consensus as module
from softirr.statistics.matching.consensus import consensus, relation
from tests.statistics.matching.known_concepts import entails, known, scores_in


class TestRelation:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ((0.9,), "equivalent"),
            ((0.5,), "equivalent"),
            ((0.2,), "unrelated"),
            ((0.2, 0.9, 0.1), "second is more general"),
            ((0.2, 0.1, 0.9), "first is more general"),
            ((0.2, 0.1, 0.1), "unrelated"),
            ((0.9, 0.9, 0.9), "equivalent"),
        ],
    )
    def test_relation(self, values, expected):
        assert relation(*values) == expected

    def test_a_direction_is_entailed_at_its_threshold(self):
        assert relation(0.2, 0.5, 0.49) == "second is more general"
        assert relation(0.2, 0.49, 0.5) == "first is more general"
        assert relation(0.2, 0.5, 0.5) == "unrelated"
        assert relation(0.2, 0.9) == relation(0.2, None, 0.9) == "unrelated"


class TestManyTexts:
    @pytest.mark.parametrize("limit", [2, 500])
    def test_only_pairs_that_can_meet_are_asked(self, limit, monkeypatch):
        monkeypatch.setattr(module, "MANY", limit)
        scored_pairs = []

        def p(pairs):
            scored_pairs.extend(pairs)
            return known(pairs)

        consensus({"a": ("fever", "rash"), "b": ("cough",), "c": ("cough", "tussis")}, p)
        # not fever with rash, which one rater wrote; each pair once
        assert {frozenset(pair) for pair in scored_pairs} == {
            frozenset(pair)
            for pair in [
                ("fever", "cough"), ("fever", "tussis"), ("rash", "cough"), ("rash", "tussis"), ("cough", "tussis"),
            ]
        }  # fmt: skip
        assert len(scored_pairs) == 5

    def test_parts_of_an_item_do_not_touch_each_other(self):
        # two groups that have nothing in common are matched as they are alone
        near = np.array([[1, 0.9, 0.6], [0.9, 1, 0.7], [0.6, 0.7, 1]])
        block_matrix = np.full((6, 6), 0.1)
        block_matrix[:3, :3] = block_matrix[3:, 3:] = near
        answers = {"a": ("p", "u"), "b": ("q", "v"), "c": ("r", "w")}
        in_order = block_matrix[np.ix_([0, 3, 1, 4, 2, 5], [0, 3, 1, 4, 2, 5])]
        together = consensus(answers, scores_in(in_order, answers))
        single = {"a": ("p",), "b": ("q",), "c": ("r",)}
        single_group = consensus(single, scores_in(near, single))
        assert together.matches[0] == single_group.matches[0]
        assert [m.texts["a"] for m in together.matches] == ["p", "u"]

    def test_above_a_number_of_texts_the_surest_pairs_come_first(self, monkeypatch):
        answers = {
            "a": ("fever", "rash", "dermatitis"),
            "b": ("cough", "pyrexia", "exanthem"),
            "c": ("raised temperature", "atopic eczema"),
            "d": ("fever",),
        }
        exact = consensus(answers, known, entails)
        monkeypatch.setattr(module, "MANY", 3)
        actual_consensus = consensus(answers, known, entails)
        expected_matches = [m for m in exact.matches if m.relation == "equivalent"]
        assert [m.to_dict() for m in actual_consensus.matches] == [m.to_dict() for m in expected_matches]
        assert actual_consensus.suggestion == exact.suggestion
        # a text without an equivalent one remains unmatched
        assert "atopic eczema" in actual_consensus.unmatched["c"]

    @pytest.mark.parametrize("surest", ["xy", "yz"])
    def test_of_two_matches_that_exclude_each_other_the_surer_is_taken(self, monkeypatch, surest):
        monkeypatch.setattr(module, "MANY", 2)
        p = {frozenset("xy"): 0.7, frozenset("yz"): 0.7, frozenset("xz"): 0.2} | {frozenset(surest): 0.9}
        actual_consensus = consensus(
            {"a": ("x",), "b": ("y",), "c": ("z",)}, lambda pairs: [p[frozenset(pair)] for pair in pairs]
        )
        assert [set(match.texts.values()) for match in actual_consensus.matches] == [set(surest)]

    def test_directions_of_a_match_of_many(self, monkeypatch):
        """All of its pairs are asked in both directions, and it is of texts of one meaning."""
        p = {frozenset("xy"): 0.9, frozenset("yz"): 0.8, frozenset("xz"): 0.5}
        scored_pairs = []

        def directions(pairs):
            scored_pairs.extend(pairs)
            return [0.9 if a < b else 0.1 for a, b in pairs]

        monkeypatch.setattr(module, "MANY", 2)
        answers = {"a": ("x",), "b": ("y",), "c": ("z",)}
        actual_consensus = consensus(answers, lambda pairs: [p[frozenset(pair)] for pair in pairs], directions)
        assert [(m.relation, m.equivalence) for m in actual_consensus.matches] == [
            ("equivalent", pytest.approx(2.2 / 3))
        ]
        assert sorted(scored_pairs) == sorted((a, b) for a, b in product("xyz", repeat=2) if a != b)

    def test_texts_of_one_rater_are_in_two_matches_of_many_though_others_wrote_them_too(self, monkeypatch):
        answers = {"a": ("x", "y"), "b": ("x",), "c": ("y",)}
        monkeypatch.setattr(module, "MANY", 3)
        actual_consensus = consensus(answers, lambda pairs: [0.9] * len(pairs))
        assert [m.texts for m in actual_consensus.matches] == [{"a": "x", "b": "x"}, {"a": "y", "c": "y"}]

    def test_one_text_of_each_rater_in_a_match_of_many(self, monkeypatch):
        monkeypatch.setattr(module, "MANY", 10)
        rng = np.random.default_rng(0)
        answers = {str(r): tuple(f"{c} {rng.integers(3)}" for c in rng.choice(4, 2, replace=False)) for r in range(40)}
        actual_consensus = consensus(answers, lambda pairs: np.array([float(a[0] == b[0]) for a, b in pairs]))
        observed = {(rater, text) for match in actual_consensus.matches for rater, text in match.texts.items()}
        assert all(len({text[0] for text in match.texts.values()}) == 1 for match in actual_consensus.matches)
        assert len(observed) == sum(len(match.texts) for match in actual_consensus.matches) == 80
