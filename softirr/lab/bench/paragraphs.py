"""``softirr bench paragraphs``: texts of several sentences, read at once or compared sentence by sentence.

Composed paragraphs say which of some findings a patient has. The second text of a pair denies what the first one says, misses a finding, or says the same in
other words. Data sets of sentence pairs with a label (``--pairs``) add natural ones: only pairs with a text of several sentences are taken.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np

from softirr.lab.training.develop import auroc
from softirr.lab.training.labelled import read_pairs
from softirr.measures import measure
from softirr.terminal import Parser, guarded, positive
from softirr.text import sentences

__all__ = ["KINDS", "compose", "main"]

FINDINGS = {
    "pulmonary edema": "edema of the lungs",
    "fever": "pyrexia",
    "chest pain": "pain in the chest",
    "rash": "skin eruption",
    "joint swelling": "swollen joints",
    "back pain": "backache",
    "insomnia": "sleeplessness",
    "jaundice": "icterus",
    "cardiomegaly": "enlarged heart",
    "hematuria": "blood in the urine",
    "pneumonia": "lung infection",
    "itching": "pruritus",
    "vomiting": "emesis",
    "hair loss": "alopecia",
    "high blood pressure": "hypertension",
    "shortness of breath": "dyspnea",
}
"""Findings with other words for them."""
KINDS = {
    "all denied": False,
    "one denied": False,
    "one missing": False,
    "other words, another order": True,
    'joined by "and" and "or"': True,
}
"""What the second text of a pair does with the first, and whether both mean the same."""


def compose(kind: str, size: int, rng: Random) -> tuple[str, str]:
    """A pair of paragraphs about `size` findings, at least one of them present and one absent.

    Parameters
    ----------
    kind
        One of ``KINDS``.
    size
        Two or more.
    rng

    Returns
    -------
    (str, str)

    Examples
    --------
    >>> compose("all denied", 2, Random(1))
    ('There is no chest pain. There is pneumonia.', 'There is chest pain. There is no pneumonia.')
    """
    found = rng.sample(sorted(FINDINGS), size)
    present = [rng.random() < 0.5 for _ in found]
    if len(set(present)) == 1:
        present[0] = not present[0]
    told = list(zip(found, present, strict=True))
    first = " ".join(_said(*one) for one in told)
    if kind == "all denied":
        return first, " ".join(_said(name, not there) for name, there in told)
    if kind == "one denied":
        return first, " ".join(_said(name, there != (place == 0)) for place, (name, there) in enumerate(told))
    if kind == "one missing":
        return first, " ".join(_reworded(*one) for one in told[:-1])
    if kind == "other words, another order":
        return first, " ".join(_reworded(*one) for one in rng.sample(told, size))
    yes = " and ".join(name for name, there in told if there)
    no = " or ".join(name for name, there in told if not there)
    return first, f"There is {yes}. There is no {no}."


def _said(name: str, there: bool) -> str:
    return f"There is {name}." if there else f"There is no {name}."


def _reworded(name: str, there: bool) -> str:
    other = FINDINGS[name]
    return f"{other.capitalize()} is present." if there else f"No {other}."


def table(ways: Sequence[Any], n: int, sizes: Sequence[int], seed: int) -> Iterator[str]:
    """Mean P of composed pairs, and the share called the same, each kind by each way."""
    yield "| second text | same | read at once: P | called the same | by sentence: P | called the same |"
    yield "|---|---|---:|---:|---:|---:|"
    for kind, same in KINDS.items():
        rng = Random(f"{seed} {kind}")
        pairs = [compose(kind, size, rng) for size in sizes for _ in range(n)]
        cells = [f"{p.mean():.2f} | {(p >= 0.5).mean():.0%}" for p in (way.score(pairs) for way in ways)]
        yield f"| {kind} | {'yes' if same else 'no'} | {' | '.join(cells)} |"


def natural(ways: Sequence[Any], files: Sequence[str], most: int, seed: int) -> Iterator[str]:
    """AUROC of entailment for labelled pairs with a text of several sentences."""
    yield "| pairs | n | read at once: AUROC | by sentence: AUROC |"
    yield "|---|---:|---:|---:|"
    for file in files:
        read = read_pairs(file)
        several = [one for one in read.pairs if max(len(sentences(one[0])), len(sentences(one[1]))) > 1]
        chosen = Random(seed).sample(several, min(most, len(several)))
        truth = np.array([label for *_, label in chosen], dtype=bool)
        texts = [(premise, hypothesis) for premise, hypothesis, _ in chosen]
        found = [auroc(p[truth], p[~truth]) for p in (way.entail(texts) for way in ways)]
        cells = ["–" if value is None else f"{value:.3f}" for value in found]
        yield f"| {read.name} | {len(chosen)} | {' | '.join(cells)} |"


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = Parser(
        prog="softirr bench paragraphs", description="Texts of several sentences, read at once or sentence by sentence."
    )
    made.add_argument("--measure", default="nli", metavar="NAME", help="an entailment measure (nli)")
    made.add_argument("--n", type=positive, default=100, metavar="N", help="composed pairs of each kind and size (100)")
    made.add_argument("--pairs", nargs="*", default=[], metavar="FILE", help="tables of labelled sentence pairs")
    made.add_argument("--most", type=positive, default=400, metavar="N", help="pairs of each table (400)")
    made.add_argument("--seed", type=int, default=0, metavar="N")
    return made


def main(argv: Sequence[str]) -> int:
    """Print the tables; returns the exit status."""
    options = parser().parse_args(argv)

    def run() -> int:
        ways = [measure(options.measure, by_sentence=choice) for choice in (False, True)]
        for line in table(ways, options.n, (2, 3, 4), options.seed):
            print(line, flush=True)
        if options.pairs:
            print()
            for line in natural(ways, options.pairs, options.most, options.seed):
                print(line, flush=True)
        return 0

    return guarded(run)
