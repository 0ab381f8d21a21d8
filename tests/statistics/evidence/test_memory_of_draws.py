"""Draws of a large table are computed in blocks, which change no number and bound the memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import softirr
from softirr.statistics import draws, weights_and_scores
from softirr.statistics.evidence import posterior_draws

WORDS = [
    "fever",
    "cough",
    "rash",
    "pain",
    "itch",
    "swelling",
    "nausea",
    "headache",
    "dizziness",
    "fatigue",
    "vomiting",
    "chills",
]
PARTS = ["head", "chest", "knee", "skin", "back", "neck", "hand", "foot", "arm", "eye"]


def report(n_items: int) -> softirr.AgreementReport:
    """The report on two sets of three texts an item."""
    rng = np.random.default_rng(0)
    rows = [
        softirr.Answer(str(item), rater, tuple(f"{rng.choice(PARTS)} {word}" for word in rng.choice(WORDS, 3)))
        for item in range(n_items)
        for rater in "ab"
    ]
    table = softirr.AnnotationTable.from_answers(rows)
    options = softirr.AgreementOptions(chance="sample", reasons=False)
    return softirr.agreement(table, "indel", options=options, cache=None, progress=None)


@pytest.mark.parametrize("most_coins", [0, posterior_draws._MOST_COINS], ids=["normal approximation", "coins"])
def test_blocks_of_draws_change_no_interval(monkeypatch: pytest.MonkeyPatch, most_coins: int) -> None:
    monkeypatch.setattr(posterior_draws, "_MOST_COINS", most_coins)
    at_once = report(40).to_dict()["coefficients"]
    monkeypatch.setattr(posterior_draws, "_AT_ONCE", 1_000)
    assert report(40).to_dict()["coefficients"] == at_once


def test_parts_and_less_precision_move_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = report(40).coefficients
    monkeypatch.setattr(draws, "_AT_ONCE", 1_000)
    in_parts = report(40).coefficients
    monkeypatch.setattr(weights_and_scores, "_HALF_FROM", 0)
    in_half = report(40).coefficients
    for name, coefficient in at_once.items():
        if coefficient.ci95 is not None:
            assert in_parts[name].ci95 == pytest.approx(coefficient.ci95, abs=1e-12)
            # in tables that are large enough for it, rounding moves them a hundred times less
            assert in_half[name].ci95 == pytest.approx(coefficient.ci95, abs=0.01)


@pytest.mark.slow
def test_memory_follows_comparisons_and_not_pairs_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior_draws, "_MOST_COINS", 0)
    monkeypatch.setattr(weights_and_scores, "_HALF_FROM", 0)
    monkeypatch.setattr(draws, "_AT_ONCE", 100_000)
    monkeypatch.setattr(posterior_draws, "_AT_ONCE", 100_000)
    n_more, n_draws = 3_000, 400
    report(n_more)  # imports and caches count as memory, too
    fewer, more = (peak_memory(n_items) for n_items in (n_more, 2 * n_more))
    # bytes for each draw of an item: 3 for the weights and the noise, 15 for the report itself; another array of all
    # draws would add 4 or 8, and all draws of the nine pairs of texts of each comparison 130
    assert more - fewer < 20 * n_more * n_draws


def peak_memory(n_items: int) -> int:
    """Bytes that a report takes at most."""
    tracemalloc.start()
    try:
        report(n_items)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
