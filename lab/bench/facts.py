"""``python -m lab.bench facts``: how often facts that are read before a model separate texts of one concept, and of two.

Tables of texts that people wrote, with the concept that each was coded with (:mod:`lab.experiments.wording`). A
fact that separates two texts of one concept is an error where codes mean one thing; codes that leave out doses or doubt
show how often these differ.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np

from lab.experiments.wording import coded_rows
from softirr.answers.ratings import Ints
from softirr.markdown import table_head, table_row
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.fact_comparisons import any_differ, comparisons
from softirr.meaning.measures.facts import facts_of
from softirr.terminal import Parser, positive

__all__ = ["add_options", "row", "table"]

MOST_PAIRS = 300
"""Pairs of one concept, at most."""
_SCORED = 200
"""Separated pairs that the model is asked about, at most."""


def row(source: Path, others: int, seed: int, model: Measure | None) -> str:
    """One line of the table.

    Parameters
    ----------
    source : Path
        Table of texts and concepts.
    others : int
        Pairs of different concepts that are drawn.
    model : Measure, optional
        Asked, without facts, about separated pairs.
    """
    rng = Random(seed)
    by_concept, concepts = _read(source)
    texts = sorted(concepts)
    number = {text: index for index, text in enumerate(texts)}
    facts_of.cache_clear()
    start = time.process_time()
    facts = [facts_of(text) for text in texts]
    seconds_each = (time.process_time() - start) / max(len(texts), 1)
    compared = comparisons(facts)
    same = [pair for concept in sorted(by_concept) for pair in _pairs(by_concept[concept], rng)]
    random_pairs = [(rng.choice(texts), rng.choice(texts)) for _ in range(others)]
    different = [(a, b) for a, b in random_pairs if not concepts[a] & concepts[b]]
    cells = []
    for pairs in (same, different):
        first_index, second_index = _numbers(pairs, number)
        differ = any_differ(compared, first_index, second_index)
        separated = [pair for pair, apart in zip(pairs, differ.tolist(), strict=True) if apart]
        rng.shuffle(separated)
        cells += [
            f"{len(pairs):,}",
            f"{len(separated) / max(len(pairs), 1):.3%}",
            _called_same(separated[:_SCORED], model),
        ]
    values = sum(bool(fact.values) for fact in facts) / max(len(facts), 1)
    rewritten = sum(fact.written != text for fact, text in zip(facts, texts, strict=True)) / max(len(facts), 1)
    name = source.name.partition(".")[0]
    return table_row(
        (name, f"{len(texts):,}", f"{values:.1%}", f"{rewritten:.1%}", *cells, f"{seconds_each * 1e6:.0f}")
    )


def _read(source: Path) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    by_concept: defaultdict[str, set[str]] = defaultdict(set)
    concepts: defaultdict[str, set[str]] = defaultdict(set)
    for line in coded_rows(source):
        by_concept[line.concept].add(line.text)
        concepts[line.text].add(line.concept)
    return {concept: sorted(texts) for concept, texts in by_concept.items()}, dict(concepts)


def _pairs(texts: Sequence[str], rng: Random) -> list[tuple[str, str]]:
    if len(texts) * (len(texts) - 1) // 2 <= MOST_PAIRS:
        return list(combinations(texts, 2))
    random_pairs = (rng.sample(texts, 2) for _ in range(MOST_PAIRS))
    return [(a, b) for a, b in random_pairs]


def _numbers(pairs: Sequence[tuple[str, str]], number: dict[str, int]) -> tuple[Ints, Ints]:
    flat = np.array([number[text] for pair in pairs for text in pair], dtype=np.int64).reshape(-1, 2)
    return flat[:, 0], flat[:, 1]


def _called_same(pairs: list[tuple[str, str]], model: Measure | None) -> str:
    """Share of separated pairs that the model alone calls the same."""
    if model is None or not pairs:
        return "-"
    return f"{float(np.mean(model.score(pairs) >= 0.5)):.0%} of {len(pairs)}"


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    model = None if options.measure == "none" else measure_by_name(options.measure, facts=False)
    of_pairs = ("separated", "of these, called the same by the model")
    pairs = ("pairs of one concept", *of_pairs, "pairs of two concepts", *of_pairs)
    yield from table_head(("set", "texts", "with a value", "rewritten", *pairs, "µs per text"))
    for source in options.tables:
        yield row(source, options.others, options.seed, model)


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument("tables", nargs="+", type=Path, help="tables text, concept, source_id, n (.tsv.gz)")
    options.add_argument(
        "--others", type=positive, default=200_000, help="pairs of two concepts that are drawn (default: 200000)"
    )
    options.add_argument(
        "--measure", default="nli", help="the model that is asked about separated pairs; none for none (default: nli)"
    )
    options.add_argument("--seed", type=int, default=0, help="seed of the draws (default: 0)")
