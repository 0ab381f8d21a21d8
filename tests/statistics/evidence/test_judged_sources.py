"""Estimates with a terminology, ids of units, and pairs of different items."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softirr
from softirr import AnnotationTable, Answer
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.terminology import load
from softirr.statistics.evidence.sampling_frames import Frames, is_of_item, stem, unit_id
from softirr.statistics.matching.answer_scorer import AnswerScorer
from tests.meaning.measures.function_measures import FunctionMeasure
from tests.statistics.evidence.concepts import concept
from tests.statistics.evidence.judged_rows import direct, rows


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
        from softirr.meaning.measures.known_pairs import with_terminology

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
        frames = Frames(AnswerScorer(table, PairScorer(measure, table.texts)), 0)
        assert frames.design.pairs.complete == complete
        assert len(measure.scored) <= n + (2 * n * (n - 1) if complete else 400)
        repeated = Frames(AnswerScorer(table, PairScorer(self.Costly(), table.texts)), 0)
        assert [unit.id for unit in repeated.units()] == [unit.id for unit in frames.units()]
