"""Several runs of a model: agreement of the runs with each other and with other raters, against loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import softirr
from tests.planning.examples import WORDS, table_of


def answers(seed: int, n: int = 60) -> dict[str, list[str]]:
    """Two people who are right on 80% of the items, and a model whose runs repeat each other on most of them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=n)
    noise = {name: rng.integers(4, size=n) for name in ("ann", "ben", "model", "model:m#1", "model:m#2", "model:m#3")}
    people = {name: np.where(rng.random(n) < 0.8, truth, noise[name]) for name in ("ann", "ben")}
    model = np.where(rng.random(n) < 0.6, truth, noise["model"])
    runs = {f"model:m#{k}": np.where(rng.random(n) < 0.95, model, noise[f"model:m#{k}"]) for k in (1, 2, 3)}
    return {rater: [WORDS[i] for i in labels] for rater, labels in (people | runs | {"model:other": model}).items()}


def test_runs_are_one_group() -> None:
    given = answers(1)
    table = table_of((str(item), rater, text) for rater, texts in given.items() for item, text in enumerate(texts))
    result = softirr.raters(table, "exact")
    (runs,) = result.runs
    own = [rater for rater in given if rater.startswith("model:m#")]
    others = [rater for rater in given if rater not in own]
    for coefficient, pairs in (
        (runs.within, list(itertools.combinations(own, 2))),
        (runs.between, list(itertools.product(own, others))),
    ):
        expected = np.mean([[x == y for x, y in zip(given[a], given[b], strict=True)] for a, b in pairs])
        assert coefficient.value == pytest.approx(expected, abs=1e-12)
        assert coefficient.ci95 is not None and coefficient.ci95[0] < expected < coefficient.ci95[1]
    assert (runs.model, runs.runs) == ("model:m", 3) and runs.within.value > runs.between.value
    assert result.to_dict()["runs"][0]["within"]["value"] == runs.within.value
    assert (
        "several runs" in str(result) and "model:other" not in str(result).partition("several runs")[2].split("\n")[1]
    )


def test_runs_alone_have_nobody_else_and_one_run_is_no_group() -> None:
    rows = [(str(i), f"model:m#{k}", "fever") for i in range(5) for k in (1, 2)]
    (runs,) = softirr.raters(table_of(rows), "exact").runs
    assert runs.within.value == 1 and runs.between.value is None and runs.between.undefined
    one = [(str(i), rater, "fever") for i in range(5) for rater in ("ann", "case#1")]
    assert softirr.raters(table_of(one), "exact").runs == ()


def test_the_name_of_a_model_stands_for_its_runs() -> None:
    given = answers(2)
    table = table_of((str(item), rater, text) for rater, texts in given.items() for item, text in enumerate(texts))
    runs = ["model:m#1", "model:m#2", "model:m#3"]
    by_name, one_by_one = (softirr.compare_raters(table, names, "exact").to_dict() for names in (["model:m"], runs))
    assert by_name == one_by_one and [one["b"] for one in by_name["differences"]] == runs
