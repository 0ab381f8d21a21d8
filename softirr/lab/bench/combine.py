"""``softirr bench combine``: error of kappa by how both directions of entailment become one equivalence.

The geometric mean (Wullschleger et al. 2026), the smaller direction, the product, the larger direction, and a calibrated P(a ≡ b): a logistic function of the
smaller and the larger direction, fitted on terminologies that are for training. All are computed from the same scores.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.lab.experiments.generate import NEGATIVES, Generator
from softirr.lab.training.annotators import READERS, Item
from softirr.measures import DirectionalMeasure, measure
from softirr.measures.base import mutual
from softirr.measures.cache import PairCache, open_cache
from softirr.measures.calibration_curves import Calibration, fit
from softirr.measures.pairs import PairScorer
from softirr.terminal import Parser, guarded, positive
from softirr.terminology import load

__all__ = ["COMBINATIONS", "Answers", "errors_of", "main", "of_items", "table"]

Floats = NDArray[np.float64]
TERMINOLOGIES = ("hpo", "cl", "icd10cm")
COMBINATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "geometric": mutual,
    "minimum": lambda d: d.min(axis=1),
    "product": lambda d: d.prod(axis=1),
    "maximum": lambda d: d.max(axis=1),
}
_ITEMS = 100
_PERMUTATIONS = 3
_SAME = 0.5
"""Share of the pairs of a crowd's or a corpus' population that are drawn to mean the same."""


@dataclass(frozen=True)
class Answers:
    """Texts of two raters, item by item, and what each means; two texts mean the same if their meanings overlap.

    Attributes
    ----------
    texts, meanings : tuple of (first, second)
    """

    texts: tuple[tuple[str, str], ...]
    meanings: tuple[tuple[frozenset[str], frozenset[str]], ...]

    def same(self) -> Floats:
        """Whether the texts of each item mean the same, shape (n,)."""
        return np.array([float(bool(a & b)) for a, b in self.meanings])

    def truth(self) -> float:
        """Cohen's kappa of the meanings."""
        expected = float(np.mean([[bool(a & b) for _, b in self.meanings] for a, _ in self.meanings]))
        return (float(self.same().mean()) - expected) / (1 - expected)

    def by_chance(self) -> list[tuple[str, str]]:
        """Texts of the first rater with texts of the second one from items drawn by permutations."""
        rng = np.random.default_rng(1)
        firsts, seconds = zip(*self.texts, strict=True)
        return [
            (firsts[k], seconds[j]) for _ in range(_PERMUTATIONS) for k, j in enumerate(rng.permutation(len(firsts)))
        ]

    def error(self, observed: Floats, expected: Floats) -> float:
        """Absolute error of kappa by P of the pairs of texts and of those :meth:`by_chance`."""
        p, q = float(observed.mean()), float(expected.mean())
        return abs((p - q) / (1 - q) - self.truth())


def of_terminology(source: str, n: int) -> Iterator[tuple[str, Answers]]:
    """Populations of a terminology, by kind of negative."""
    generator = Generator(load(source), "hard", seed=1)
    for kind in NEGATIVES:
        for number in range(n):
            drawn = generator.population(number, kind)
            texts = tuple((a[0], b[0]) for a, b in drawn.texts)
            yield kind, Answers(texts, tuple((frozenset(a), frozenset(b)) for a, b in drawn.concepts))


def of_items(name: str, items: Sequence[Item], n: int) -> Iterator[Answers]:
    """Populations of pairs that were written about one item; each item's meanings are its own."""
    rng = Random(name)
    several = [item for item in items if len(item.answers) > 1]
    for _ in range(n):
        texts, meanings = [], []
        for _ in range(_ITEMS):
            item = rng.choice(several)
            own = f"{item.id} " if name == "protoqa" else ""
            first = rng.choice(item.answers)
            alike = [answer for answer in item.answers if answer[1] & first[1]]
            second = rng.choice(alike if rng.random() < _SAME else item.answers)
            texts.append((first[0], second[0]))
            meanings.append(tuple(frozenset(own + key for key in answer[1]) for answer in (first, second)))
        yield Answers(tuple(texts), tuple((a, b) for a, b in meanings))


def table(
    made: DirectionalMeasure, data: Path, training: Sequence[str], *, n: int, cache: PairCache | None = None
) -> Iterator[str]:
    """Lines of the table.

    Parameters
    ----------
    made : DirectionalMeasure
    data : Path
        Folder with ``benchmark/``.
    training : sequence of str
        Terminologies that the calibration is fitted on.
    n : int
        Populations of each kind.
    cache : PairCache, optional

    Returns
    -------
    iterator of str
    """
    fitted = _fitted(made, training, n, cache)
    ways = {**COMBINATIONS, "calibrated": fitted.of_pairs}
    yield f"| data | {' | '.join(ways)} |"
    yield f"|---|{'---|' * len(ways)}"
    means: dict[str, list[Floats]] = {}
    for name in TERMINOLOGIES:
        by_kind: dict[str, list[Floats]] = {}
        for kind, answers in of_terminology(f"{name}={data / 'benchmark' / 'terminology' / name}", n):
            by_kind.setdefault(kind, []).append(errors_of(made, answers, ways, cache))
        for kind, errors in by_kind.items():
            yield _row(f"{name}, {kind}", errors)
            means.setdefault(name, []).append(np.mean(errors, axis=0))
    for name, read, file in READERS:
        items = read(data / "benchmark" / "annotators" / name / file)
        means[name] = [errors_of(made, answers, ways, cache) for answers in of_items(name, items, 2 * n)]
    for name, errors in means.items():
        yield _row(f"mean of {name}", errors)
    yield ""
    yield (
        f"Calibrated on {fitted.n:,} pairs: logit P = {fitted.weaker:.2f} logit(smaller) + {fitted.stronger:.2f} logit(larger) {fitted.intercept:+.2f}."
    )


def _row(name: str, errors: Sequence[Floats]) -> str:
    return f"| {name} | {' | '.join(f'{value:.3f}' for value in np.mean(errors, axis=0))} |"


def _fitted(made: DirectionalMeasure, sources: Sequence[str], n: int, cache: PairCache | None) -> Calibration:
    """The calibration on pairs of different texts of one item, in populations of these terminologies."""
    directions, judged = [], []
    for source in sources:
        for _, answers in of_terminology(source, n):
            differ = np.array([a != b for a, b in answers.texts])
            directions.append(_directions(made, answers.texts, cache)[differ])
            judged.append(answers.same()[differ])
    return fit(np.concatenate(directions), np.concatenate(judged), method="directions", measure=made.name)


def _directions(made: DirectionalMeasure, pairs: Sequence[tuple[str, str]], cache: PairCache | None) -> Floats:
    texts = sorted({text for pair in pairs for text in pair})
    number = {text: place for place, text in enumerate(texts)}
    left, right = (np.array([number[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
    found = PairScorer(made, texts, cache=cache).entail(left, right)
    assert found is not None
    return found


def errors_of(
    made: DirectionalMeasure, answers: Answers, ways: Mapping[str, Callable[[Floats], Floats]], cache: PairCache | None
) -> Floats:
    """Absolute error of kappa of each way, with chance by permutations."""
    pairs = answers.texts, answers.by_chance()
    scores = [_directions(made, part, cache) for part in pairs]
    alike = [np.array([a == b for a, b in part]) for part in pairs]
    found = []
    for way in ways.values():
        observed, expected = (np.where(same, 1.0, way(p)) for same, p in zip(alike, scores, strict=True))
        found.append(answers.error(observed, expected))
    return np.array(found)


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = Parser(prog="softirr bench combine", description="Error of kappa by how both directions are combined.")
    made.add_argument("--data", required=True, metavar="FOLDER", help="folder with benchmark/")
    made.add_argument("--training", nargs="+", required=True, metavar="TERMINOLOGY", help="for the calibrated P")
    made.add_argument("--measure", default="nli", metavar="NAME", help="a measure with directions (nli)")
    made.add_argument("--populations", type=positive, default=4, metavar="N", help="populations of each kind (4)")
    made.add_argument("--cache", metavar="URL", help="where scored pairs are kept (a file in your cache folder)")
    return made


def main(argv: Sequence[str]) -> int:
    """Print the table; returns the exit status."""
    options = parser().parse_args(argv)

    def run() -> int:
        made: Any = measure(options.measure)
        if not isinstance(made, DirectionalMeasure):
            raise InputError(f"The measure {options.measure} has no directions to combine.")
        with open_cache(options.cache) as cache:
            for line in table(made, Path(options.data), options.training, n=options.populations, cache=cache):
                print(line, flush=True)
        return 0

    return guarded(run)
