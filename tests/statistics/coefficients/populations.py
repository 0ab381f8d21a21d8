"""Infinite populations of free-text answers with known coefficients, from which simulated projects are drawn.

An item has a concept; a rater names it with the probability ``hit``, else any concept; a concept has several wordings.
Two wordings of one concept have a high equivalence, wordings of two concepts a low one. The coefficients of the
population follow from the probabilities, without simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from softirr.answers.ratings import Floats, Ints


@dataclass(frozen=True, eq=False)
class Population:
    """An infinite population of items and answers.

    Attributes
    ----------
    concepts : shape (K,)
        Probability that an item is of each concept.
    hit : float
        Probability that a rater names the item's concept.
    guesses : shape (R, K)
        Probability of each concept if one of R raters does not name the item's.
    wordings : int
        Number of wordings of each concept; all are equally likely.
    similarity : shape (K * wordings, K * wordings)
        Equivalence of wordings; wording w of concept k is number k * wordings + w.
    missing : float
        Probability that an answer is missing.
    """

    name: str
    concepts: Floats
    hit: float
    guesses: Floats
    wordings: int
    similarity: Floats
    missing: float = 0.0

    def draw(self, n_items: int, rng: np.random.Generator) -> Ints:
        """A project: items × raters, wording numbers, -1 where an answer is missing."""
        k, r = len(self.concepts), len(self.guesses)
        concept = rng.choice(k, n_items, p=self.concepts)
        naming = np.empty((n_items, r), dtype=np.int64)
        for rater in range(r):
            guess = rng.choice(k, n_items, p=self.guesses[rater])
            naming[:, rater] = np.where(rng.random(n_items) < self.hit, concept, guess)
        answers = naming * self.wordings + rng.integers(0, self.wordings, naming.shape)
        return np.where(rng.random(naming.shape) < self.missing, -1, answers)

    def truth(self) -> dict[str, float]:
        """Cohen's kappa (mean over rater pairs), Fleiss' kappa, Krippendorff's alpha and Gwet's AC2 of the population.

        AC2 only if a concept has one wording: it depends on how many different answers there are, which for free
        text grows with the items.
        """
        k, r = len(self.concepts), len(self.guesses)
        between = self.similarity.reshape(k, self.wordings, k, self.wordings).mean(axis=(1, 3))
        naming = [self.hit * np.eye(k) + (1 - self.hit) * guess for guess in self.guesses]
        marginal = [self.concepts @ shares for shares in naming]
        pairs = list(combinations(range(r), 2))
        observed = [float(np.sum((self.concepts[:, None] * naming[a]).T @ naming[b] * between)) for a, b in pairs]
        expected = [float(marginal[a] @ between @ marginal[b]) for a, b in pairs]
        pooled = np.mean(marginal, axis=0)
        by_chance = float(pooled @ between @ pooled)
        fleiss = (float(np.mean(observed)) - by_chance) / (1 - by_chance)
        kappa = float(np.mean([(o - e) / (1 - e) for o, e in zip(observed, expected, strict=True)]))
        truths = {"cohen_kappa": kappa, "fleiss_kappa": fleiss, "krippendorff_alpha": fleiss}
        if self.wordings == 1:
            unsure = k / (k - 1) * float(between.mean()) * float(np.sum(pooled * (1 - pooled)))
            truths["gwet_ac2"] = (float(np.mean(observed)) - unsure) / (1 - unsure)
        return truths


def soft_similarity(
    concepts: int, wordings: int, rng: np.random.Generator, *, within: float = 0.85, between: float = 0.12
) -> Floats:
    """A symmetric similarity with ones on its diagonal; ``within`` and ``between`` are means over pairs of wordings."""
    size = concepts * wordings
    concept = np.arange(size) // wordings
    same = concept[:, None] == concept[None, :]
    high = rng.beta(8 * within, 8 * (1 - within), (size, size))
    low = rng.beta(1.5 * between, 1.5 * (1 - between), (size, size))
    values = np.triu(np.where(same, high, low), 1)
    return np.asarray(values + values.T + np.eye(size))


def populations() -> tuple[Population, ...]:
    """Free text and categories, low and high agreement, two and more raters, missing answers, skewed categories."""
    rng = np.random.default_rng(20_221)

    def shares(k: int, exponent: float) -> Floats:
        weights = 1 / np.arange(1, k + 1) ** exponent
        return np.asarray(weights / weights.sum())

    def population(name: str, k: int, wordings: int, hit: float, raters: int, *, exponent: float = 0.7) -> Population:
        p = shares(k, exponent)
        guesses = np.stack([p, *(rng.dirichlet(20 * k * p) for _ in range(raters - 1))])
        similarity = np.eye(k) if wordings == 1 else soft_similarity(k, wordings, rng)
        return Population(name, p, hit, guesses, wordings, similarity)

    return (
        population("free text, 2 raters, low agreement", 120, 4, 0.45, 2),
        population("free text, 2 raters, high agreement", 120, 4, 0.92, 2),
        replace(population("free text, 4 raters, 25% missing", 120, 4, 0.75, 4), missing=0.25),
        population("3 categories, 2 raters", 3, 1, 0.75, 2),
        replace(population("5 categories, 3 raters, 20% missing", 5, 1, 0.8, 3), missing=0.2),
        population("2 categories of 85% and 15%, 2 raters", 2, 1, 0.85, 2, exponent=2.5),
    )
