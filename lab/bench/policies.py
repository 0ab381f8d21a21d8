"""``softirr bench policies``: error of kappa when raters differ in an attribute, under the right and a wrong policy.

Two raters name concepts of a terminology and put an attribute into words: one severity, side, course or number among
several, each in several wordings, or none. What is true depends on the guideline: where the attribute counts, two
answers are the same if concept and attribute are; where it does not, if the concept is. The wordings
(``word_lists/bench_wordings.txt``) were not taken from the recognizer's word lists.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np

from lab.training.words import read_sections
from softirr.answers.table import AnnotationTable, Answer
from softirr.errors import InputError
from softirr.markdown import table_head, table_row
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import PairCache, open_cache
from softirr.meaning.measures.protocols import BlockMeasure
from softirr.meaning.policy.attributes import attributes
from softirr.meaning.policy.rules import PRESETS, Policy
from softirr.meaning.terminology import load
from softirr.report.agreement import agreement
from softirr.terminal import Parser, positive

__all__ = ["KINDS", "Population", "add_options", "concepts", "populations", "table"]

KINDS = ("severity", "side", "time", "number")
"""Attributes that raters differ in."""


@cache
def wordings(kind: str) -> tuple[tuple[str, ...], ...]:
    """Values of an attribute, each in its wordings."""
    return tuple(tuple(line.split(" | ")) for line in dict(read_sections("bench_wordings"))[kind])


_UNSAID = 0.2
"""Share of the answers without the attribute."""
_WORDS = 4
"""Most words of a concept's name."""

GUIDELINES = ("counts", "does not count")


@dataclass(frozen=True)
class Population:
    """Answers of two raters, and what is true of them.

    Attributes
    ----------
    kind : str
        The attribute that they differ in.
    table : AnnotationTable
    truth : dict of str to float
        Cohen's kappa by guideline.
    """

    kind: str
    table: AnnotationTable
    truth: dict[str, float]


def concepts(source: str) -> list[str]:
    """Preferred names of a terminology that are short and say no attribute."""
    terminology = load(source)
    plain = sorted({names[0] for names in terminology.names if _is_plain(names[0])})
    if len(plain) < 2:
        raise InputError(f"{source} has no two names of at most {_WORDS} words without an attribute.")
    return plain


def populations(names: Sequence[str], kind: str, n: int, *, items: int = 100, seed: int = 0) -> Iterator[Population]:
    """Simulate `n` populations whose raters agree on concepts and on the attribute to different degrees."""
    rng = Random(f"{kind} {seed}")
    for _ in range(n):
        same_concept, same_value = rng.uniform(0.2, 1), rng.uniform(0.2, 1)
        labels: list[tuple[tuple[str, int], tuple[str, int]]] = []
        for _ in range(items):
            concept, value = rng.choice(names), _value(rng, kind)
            other = concept if rng.random() < same_concept else rng.choice(names)
            labels.append(((concept, value), (other, value if rng.random() < same_value else _value(rng, kind))))
        answers = (
            Answer(str(item), rater, (_worded(rng, kind, *label),))
            for item, pair in enumerate(labels)
            for rater, label in zip(("ann", "ben"), pair, strict=True)
        )
        truth = {
            "counts": _kappa([one for one, _ in labels], [other for _, other in labels]),
            "does not count": _kappa([one[0] for one, _ in labels], [other[0] for _, other in labels]),
        }
        yield Population(kind, AnnotationTable.from_answers(answers), truth)


def policies(kind: str) -> dict[str, Policy]:
    """The policies that are compared, by name."""
    return {
        "as written": PRESETS["as-written"],
        "strict": PRESETS["exact-concept"],
        "counting it": Policy(f"{kind} counts", count=frozenset({kind})),
        "without it": Policy(f"any {kind}", ignore=frozenset({kind})),
    }


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    with open_cache(options.cache) as cache:
        yield from _table(measure_by_name(options.measure), options, cache)


def _table(measure: Measure, options: argparse.Namespace, cache: PairCache) -> Iterator[str]:
    names, seed = concepts(options.terminology), options.seed
    chance = "exact" if isinstance(measure, BlockMeasure) else "permutation"
    head = [f"{guideline}: {name}" for guideline in GUIDELINES for name in policies("side")]
    yield from table_head(("attribute", *head))
    total = []
    for kind in KINDS:
        errors: dict[tuple[str, str], list[float]] = {}
        for population in populations(names, kind, options.populations, seed=seed):
            for name, policy in policies(kind).items():
                report = agreement(
                    population.table,
                    measure,
                    policy=policy,
                    chance=chance,
                    seed=seed,
                    reasons=False,
                    cache=cache,
                    progress=None,
                )
                value = report.coefficients["cohen_kappa"].value
                for guideline, truth in population.truth.items():
                    errors.setdefault((guideline, name), []).append(abs((value or 0.0) - truth))
        means = [float(np.mean(errors[guideline, name])) for guideline in GUIDELINES for name in policies(kind)]
        total.append(means)
        yield table_row((kind, *(f"{mean:.3f}" for mean in means)))
    yield table_row(("mean", *(f"{mean:.3f}" for mean in np.mean(total, axis=0))))


def _is_plain(name: str) -> bool:
    return len(name.split()) <= _WORDS and name.replace(" ", "").isalpha() and not attributes(name).spans


def _value(rng: Random, kind: str) -> int:
    return -1 if rng.random() < _UNSAID else rng.randrange(len(wordings(kind)))


def _worded(rng: Random, kind: str, concept: str, value: int) -> str:
    return concept if value < 0 else rng.choice(wordings(kind)[value]).format(concept)


def _kappa(one: Sequence[object], other: Sequence[object]) -> float:
    """Cohen's kappa of labels."""
    n = len(one)
    observed = sum(a == b for a, b in zip(one, other, strict=True)) / n
    theirs = Counter(other)
    expected = sum(count * theirs[label] for label, count in Counter(one).items()) / n**2
    return (observed - expected) / (1 - expected)


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument(
        "terminology", metavar="TERMINOLOGY", help="a folder or file with concepts, as for softirr experiment"
    )
    options.add_argument("--measure", default="nli", metavar="NAME", help="see softirr measures (nli)")
    options.add_argument("--populations", type=positive, default=8, metavar="N", help="populations of an attribute (8)")
    options.add_argument("--seed", type=int, default=0, metavar="N", help="of what is drawn at random (0)")
    options.add_argument("--cache", metavar="URL", help="where scored pairs are kept (a file in your cache folder)")
