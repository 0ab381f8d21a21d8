"""Simulated projects for the audit, in which the raters' meanings and so the true coefficients are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from softirr.audit.design import Design, TextPairs
from softirr.audit.estimate import Audited, estimate
from softirr.chance import estimates as chances
from softirr.coefficients.intervals import Coefficient
from softirr.inference.ray_jobs import map_jobs
from softirr.matching.assignment import batched_set_equivalence
from softirr.tables.ratings import Floats, Ints, Ratings, item_means

NAMES = ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha")


@dataclass(frozen=True)
class World:
    """Where projects are drawn from.

    Each item has a true answer, a concept or a set of concepts; each rater keeps each concept of it with probability ``keep``, else
    names another one, in one of ``names`` wordings. Concepts are drawn by Zipf's law.

    Attributes
    ----------
    n_items, n_raters : int
    concepts, names : int
    skew : float
        Exponent of Zipf's law.
    keep : float
    largest : int
        Largest number of concepts of an answer; 1 is single labels.
    missing : float
        Share of answers that are missing.
    """

    n_items: int = 300
    n_raters: int = 2
    concepts: int = 60
    names: int = 4
    skew: float = 1.0
    keep: float = 0.8
    largest: int = 1
    missing: float = 0.0

    def concept(self, rng: np.random.Generator, size: int) -> Ints:
        """Concepts, shape (size,)."""
        weights = 1 / np.arange(1, self.concepts + 1) ** self.skew
        return rng.choice(self.concepts, size, p=weights / weights.sum()).astype(np.int64)

    def answers(self, rng: np.random.Generator, n_items: int, n_raters: int) -> Ints:
        """The concepts that each rater means, shape (n_items, n_raters, largest): concepts, -1 where there is none, each once."""
        sizes = rng.integers(1, self.largest + 1, n_items)
        core = self.concept(rng, n_items * self.largest).reshape(n_items, 1, self.largest)
        other = self.concept(rng, n_items * n_raters * self.largest).reshape(n_items, n_raters, self.largest)
        meant = np.where(rng.random(other.shape) < self.keep, core, other)
        meant[np.arange(self.largest) >= sizes[:, None, None] + np.zeros((1, n_raters, 1), dtype=np.int64)] = -1
        meant = np.sort(meant, axis=2)[:, :, ::-1]
        repeated = np.zeros(meant.shape, dtype=bool)
        repeated[:, :, 1:] = meant[:, :, 1:] == meant[:, :, :-1]
        return np.where(repeated, -1, meant)


def overlap(a: Ints, b: Ints) -> Floats:
    """True equivalence of sets of concepts, shape (n, s) each, -1 for none: twice the shared ones over both sizes."""
    shared = ((a[:, :, None] == b[:, None, :]) & (a[:, :, None] >= 0)).sum(axis=(1, 2))
    return np.asarray(2 * shared / ((a >= 0).sum(axis=1) + (b >= 0).sum(axis=1)))


@lru_cache(maxsize=32)
def true_kappa(world: World, size: int = 400_000) -> float:
    """Cohen's kappa of the population of items that the world draws from; Fleiss' and alpha are the same, as raters are alike."""
    meant = world.answers(np.random.default_rng(0), size, 2)
    observed = float(overlap(meant[:, 0], meant[:, 1]).mean())
    expected = float(np.mean([overlap(meant[:, 0], np.roll(meant[:, 1], s, axis=0)).mean() for s in range(1, 6)]))
    return (observed - expected) / (1 - expected)


def table_truth(project: Project) -> dict[str, float]:
    """The coefficients of the project's own items, had every pair of answers been judged."""
    ratings = project.ratings
    comparisons = ratings.comparisons
    left, right = (ratings.answer[rows] for rows in (comparisons.left, comparisons.right))
    true = project.truth(left, right)
    kappas = []
    for pair in range(len(comparisons.rater_pairs)):
        mine = np.flatnonzero(comparisons.rater_pair == pair)
        kappas.append(_beyond(float(true[mine].mean()), project.chance(left[mine], right[mine])))
    means = item_means(ratings, true)
    sizes = ratings.per_item[ratings.comparable_items]
    n = int(sizes.sum())
    pooled = ratings.answer[ratings.comparable]
    expected = project.chance(pooled, pooled)
    return {
        "cohen_kappa": float(np.mean(kappas)),
        "fleiss_kappa": _beyond(float(means.mean()), expected),
        "krippendorff_alpha": _beyond(float(sizes @ means) / n, (n * expected - 1) / (n - 1)),
    }


def _beyond(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected)


Quality = Callable[[np.random.Generator, np.ndarray], Floats]


def noise(rng: np.random.Generator, same: np.ndarray) -> Floats:
    """P that has nothing to do with the truth."""
    return rng.random(same.shape)


def shifted(distance: float, steepness: float, center: float) -> Quality:
    """P from a normal variable whose mean is higher by ``distance`` standard deviations for equivalent texts."""

    def quality(rng: np.random.Generator, same: np.ndarray) -> Floats:
        return np.asarray(1 / (1 + np.exp(center - steepness * (rng.normal(size=same.shape) + distance * same))))

    return quality


def wrong(share: float) -> Quality:
    """P of 0 or 1 that is wrong for a share of the pairs."""

    def quality(rng: np.random.Generator, same: np.ndarray) -> Floats:
        return np.where(rng.random(same.shape) < share, ~same, same).astype(np.float64)

    return quality


def deaf(rng: np.random.Generator, same: np.ndarray) -> Floats:
    """P that is 0 for seven of ten synonyms, like exact match."""
    return (same & (rng.random(same.shape) < 0.3)).astype(np.float64)


QUALITIES: dict[str, Quality] = {
    "noise": noise,
    "deaf": deaf,
    "weak": shifted(1.0, 0.6, 1.0),
    "fair": shifted(2.0, 1.0, 1.8),
    "good": shifted(3.0, 1.5, 2.5),
    "3% wrong": wrong(0.03),
    "perfect": wrong(0.0),
}


@dataclass(frozen=True, eq=False)
class Project:
    """One drawn project: ratings, and the equivalence of its distinct answers in truth and according to a measure."""

    ratings: Ratings
    wording: Ints  # (V, s): texts of each answer, -1 for none
    names: int
    p: Floats  # (texts, texts)
    sizes: Ints = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", (self.wording >= 0).sum(axis=1))

    @classmethod
    def draw(cls, world: World, quality: Quality, rng: np.random.Generator) -> Project:
        """A project of the world, measured with a quality."""
        meant = world.answers(rng, world.n_items, world.n_raters)
        texts = np.where(meant >= 0, meant * world.names + rng.integers(0, world.names, meant.shape), -1)
        flat = texts.reshape(-1, world.largest)
        wording, answer = np.unique(flat, axis=0, return_inverse=True)
        there = rng.random((world.n_items, world.n_raters)) >= world.missing
        item, rater = np.nonzero(there)
        ratings = Ratings(item, rater, answer.reshape(there.shape)[there], world.n_items, world.n_raters, len(wording))
        size = world.concepts * world.names
        concept = np.arange(size) // world.names
        p = np.triu(quality(rng, concept[:, None] == concept[None, :]), 1)
        return cls(ratings, wording, world.names, p + p.T + np.eye(size))

    def truth(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """True equivalence of answers."""
        a, b = self.wording[k], self.wording[l]
        return overlap(np.where(a >= 0, a // self.names, -1), np.where(b >= 0, b // self.names, -1))

    def chance(self, left: Ints, right: Ints) -> float:
        """Mean true equivalence of all answers on the left with all on the right."""
        return sum(
            2 / (m + n) * float(a @ b) for m, a in self.marginal(left).items() for n, b in self.marginal(right).items()
        )

    def marginal(self, answers: Ints) -> dict[int, Floats]:
        """By size of answer: how often each concept is named in answers of that size, per answer."""
        wording = self.wording[answers]
        concept = np.where(wording >= 0, wording // self.names, -1)
        sizes = (concept >= 0).sum(axis=1)
        return {
            int(m): np.bincount(concept[sizes == m][concept[sizes == m] >= 0], minlength=len(self.p) // self.names)
            / len(answers)
            for m in np.unique(sizes)
        }

    def score(self, k: Ints, l: Ints) -> Floats:  # noqa: E741
        """Equivalence according to the measure."""
        a, b = self.wording[k], self.wording[l]
        if a.shape[1] == 1:
            return np.asarray(self.p[a[:, 0], b[:, 0]])
        # the texts of an answer stand before its -1s or after them: pick them by size
        m, n = self.sizes[k], self.sizes[l]
        area = m * n
        place = np.repeat(np.arange(len(k)), area)
        within = np.arange(int(area.sum())) - np.repeat(np.cumsum(area) - area, area)
        rows = np.sort(a, axis=1)[:, ::-1][place, within // n[place]]
        cols = np.sort(b, axis=1)[:, ::-1][place, within % n[place]]
        return batched_set_equivalence(self.p[rows, cols], np.stack([m, n], axis=1))

    def block(self, ks: Ints, ls: Ints) -> Floats:
        """Equivalence of all ks with all ls."""
        return self.score(np.repeat(ks, len(ls)), np.tile(ls, len(ks))).reshape(len(ks), len(ls))

    @cached_property
    def flat(self) -> Ints:
        """The texts of each answer, one answer after the other."""
        return self.wording[self.wording >= 0]

    def text_pairs(self, k: Ints, l: Ints) -> TextPairs:  # noqa: E741
        """What could match in answers k[i] and l[i]."""
        return TextPairs.of(k, l, self.sizes, self.flat, lambda a, b: self.p[a, b])

    def same(self, a: Ints, b: Ints) -> Floats:
        """Whether texts mean the same: 1 or 0."""
        return np.asarray(a // self.names == b // self.names, dtype=np.float64)


def all_asked(
    k: Ints,
    l: Ints,  # noqa: E741
    sizes: Ints,
    texts: Ints,
    score: Callable[[Ints, Ints], Floats],
) -> TextPairs:
    """The pairs of texts that could match in answers k[i] and l[i], identical texts included; else as :meth:`TextPairs.of`."""
    far = int(texts.max()) + 1  # the second answers get texts of their own, so that no two are identical
    both = np.tile(sizes, 2), np.concatenate([texts, texts + far])
    found = TextPairs.of(k, l + len(sizes), *both, lambda a, b: score(a, b - far))
    return replace(found, right=found.right - far)


def judge(
    design: Design, truth: Callable[[Ints, Ints], Floats], judgements: int
) -> tuple[dict[tuple[int, int], float], int]:
    """Judge the first distinct pairs of texts; returns their values and the number of draws."""
    wanted: dict[tuple[int, int], float] = {}
    draws = 0
    for frame, member in design.draws():
        key = design.key(frame, member)
        if key not in wanted and len(wanted) == judgements:
            break
        wanted[key] = 0.0
        draws += 1
    pairs = np.array(list(wanted), dtype=np.int64)
    return dict(zip(wanted, truth(pairs[:, 0], pairs[:, 1]).tolist(), strict=True)), draws


def audits(
    project: Project, judgements: tuple[int, ...], *, seed: int, pool: int = 2_000, without: str = ""
) -> Iterator[Audited]:
    """Audits of a project, each larger than the one before.

    ``without``: "measure" leaves P out (one stratum of each frame), "anything" lets identical texts be judged too, like plain random pairs.
    """
    score, text_pairs = project.score, project.text_pairs
    if without:
        made = all_asked if without == "anything" else TextPairs.of
        score = lambda k, l: np.zeros(len(k))  # noqa: E731, E741
        text_pairs = lambda k, l: made(k, l, project.sizes, project.flat, score)  # noqa: E731, E741
    design = Design.of(project.ratings, score, text_pairs, pool=pool, seed=seed)
    chance = chances.permutation(project.ratings, project, permutations=5, seed=seed)
    for n in judgements:
        judged, draws = judge(design, project.same, n)
        yield estimate(design, judged, draws, chance)


@dataclass(frozen=True, eq=False)
class Runs:
    """Estimates of many simulated audits of one coefficient, and the truth."""

    truth: float
    table: Floats  # the same of each project's own items
    values: Floats
    errors: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, truth: float, table: list[float], found: list[Coefficient]) -> Runs:
        """From coefficients that all have a value."""
        rows = [(c.value, c.standard_error, *c.ci95) for c in found if c.value is not None and c.ci95 is not None]
        return cls(truth, np.array(table), *np.array(rows, dtype=np.float64).T)

    @property
    def bias(self) -> float:
        """Mean error against the project's own truth, in its own standard errors."""
        error = self.values - self.table
        return float(error.mean() / max(error.std(ddof=1) / np.sqrt(len(error)), 1e-12))

    @property
    def off(self) -> float:
        """Mean absolute error against the project's own truth."""
        return float(np.mean(np.abs(self.values - self.table)))

    @property
    def covered(self) -> float:
        """Share of the intervals that hold the truth."""
        return float(np.mean((self.low <= self.truth + 1e-9) & (self.truth <= self.high + 1e-9)))

    @property
    def spread(self) -> float:
        """Standard deviation of the estimates: the true standard error."""
        return float(self.values.std(ddof=1))


def simulate(
    world: World,
    quality: Quality,
    judgements: tuple[int, ...],
    simulations: int,
    *,
    seed: int = 0,
    without: str = "",
    engine: str = "local",
) -> dict[tuple[str, int], Runs]:
    """Audits of many projects of a world.

    Parameters
    ----------
    world : World
    quality : callable
        Makes the scores of the simulated measure.
    judgements : tuple of int
        Sizes of the audits.
    simulations : int
        Projects.
    seed : int
    without : {"", "measure", "anything"}
        See :func:`audits`.
    engine : {"local", "ray"}
        Where the projects are simulated; the numbers are the same.

    Returns
    -------
    dict of (coefficient, judgements) to Runs
    """
    truth = true_kappa(world)
    found: dict[tuple[str, int], list[Coefficient]] = {}
    table: dict[str, list[float]] = {}
    work = _Simulation(world, quality, judgements, seed, without)
    numbers = range(simulations)
    if engine == "ray":
        on_ray = dict(map_jobs(work, numbers, name=lambda number: f"simulated project {number}"))
        results = (on_ray[number] for number in numbers)
    else:
        results = (work(number) for number in numbers)
    for known, coefficients in results:
        for name, value in known.items():
            table.setdefault(name, []).append(value)
        for key, coefficient in coefficients.items():
            found.setdefault(key, []).append(coefficient)
    return {key: Runs.of(truth, table[key[0]], values) for key, values in found.items()}


@dataclass(frozen=True, eq=False)
class _Simulation:
    """Draws and audits the project of a number."""

    world: World
    quality: Quality
    judgements: tuple[int, ...]
    seed: int
    without: str

    def __call__(self, number: int) -> tuple[dict[str, float], dict[tuple[str, int], Coefficient]]:
        """The project's own truth, and the audited coefficients by name and judgements."""
        project = Project.draw(self.world, self.quality, np.random.default_rng((self.seed, number)))
        results = audits(project, self.judgements, seed=number, without=self.without)
        return table_truth(project), {
            (name, n): result.coefficients[name]
            for n, result in zip(self.judgements, results, strict=True)
            for name in NAMES
        }
