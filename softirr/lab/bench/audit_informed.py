"""Intervals from the first judgement on: how often they hold the truth, at fixed numbers of judgements and where somebody stops by looking.

A measure's quality differs from project to project, as it does between real populations. Its record is fitted on projects of the same family, or of
other kinds of populations, but never on those that are reported.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from softirr.audit.design import Design
from softirr.audit.estimate import estimate
from softirr.audit.units import Frames, proxy_scores
from softirr.chance import estimates as chances
from softirr.coefficients import chance_corrected as co
from softirr.coefficients.informed import Informed, grid, informed
from softirr.coefficients.intervals import standard_error
from softirr.lab.bench.audit_simulation import Project, Quality, World, judge, noise, shifted, table_truth
from softirr.lab.bench.audit_texts import TERMINOLOGIES
from softirr.lab.bench.errors import COEFFICIENTS, NOISE, Noise, Row, fit
from softirr.lab.experiments.generate import NEGATIVES, Generator, Negatives, Population
from softirr.measures import Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.known_errors import KnownError
from softirr.tables.ratings import Floats, Ints
from softirr.tables.table import AnnotationTable, Answer
from softirr.terminology import load
from softirr.text import normalize

__all__ = ["FAMILIES", "Case", "Found", "record_tables", "records_of", "simulated", "tables", "texts", "trial"]

NAME = "krippendorff_alpha"
TARGET = 0.667
WIDTH = 0.2
_POOL = 2_000
_LEAST = 5
"""Fewest judgements after which the simulated person looks at the interval."""

_TOO_LOW = 0.93
_EVERY = 1e6
"""So many times as many judgements are all of them."""

FAMILIES: Mapping[str, Callable[[np.random.Generator], Quality]] = {
    "good": lambda rng: shifted(rng.uniform(2.5, 3.5), 1.5, rng.uniform(2.0, 3.0)),
    "fair": lambda rng: shifted(rng.uniform(1.5, 3.0), 1.2, rng.uniform(1.2, 2.8)),
    "noise": lambda rng: noise,
}


@dataclass(frozen=True, eq=False)
class Case:
    """A project that is audited, its truth, and what the measure says.

    Attributes
    ----------
    design : Design
    same : callable
        The judge.
    chance : Chance
    plain, error : float
        The coefficient by the measure, and its standard error over items.
    truth, table : float
        The coefficient of the population, and of the project's own items.
    proxies : tuple of (E, d) and (E', d) arrays, optional
        P by other measures, of the pairs of texts of both frames.
    """

    design: Design
    same: Callable[[Ints, Ints], Floats]
    chance: Any
    plain: float
    error: float
    truth: float
    table: float
    proxies: tuple[Floats, Floats] | None = None

    @classmethod
    def of(
        cls,
        design: Design,
        same: Callable[[Ints, Ints], Floats],
        chance: Any,
        truth: float,
        table: float,
        proxies: tuple[Floats, Floats] | None = None,
    ) -> Case:
        """With the measure's coefficient worked out."""
        alpha = co.krippendorff(design.ratings, design.same.p, chance)
        return cls(design, same, chance, alpha.value or 0.0, standard_error(alpha) or 0.0, truth, table, proxies)


@dataclass
class Found:
    """Whether the intervals of many projects held the truth, and their widths, by kind of interval and moment."""

    held: dict[tuple[str, str], list[bool]] = field(default_factory=dict)
    width: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    judged: dict[str, list[int]] = field(default_factory=dict)

    def add(self, interval: str, moment: str, limits: tuple[float, float], truth: float) -> None:
        """One interval of one project."""
        key = interval, moment
        self.held.setdefault(key, []).append(limits[0] - 1e-9 <= truth <= limits[1] + 1e-9)
        self.width.setdefault(key, []).append(limits[1] - limits[0])

    def coverage(self, interval: str, moment: str) -> float:
        """Share of the projects whose truth is in the interval."""
        return float(np.mean(self.held[interval, moment]))

    def mean_width(self, interval: str, moment: str) -> float:
        """Mean width of the interval."""
        return float(np.mean(self.width[interval, moment]))


def simulated(family: str, number: int, seed: int, n_items: int = 200) -> Case:
    """Project ``number`` of a family of measures: agreement and the measure's quality are drawn, too."""
    rng = np.random.default_rng((seed, zlib.crc32(family.encode()), number))
    kappa = rng.uniform(0.1, 0.95)
    world = World(n_items=n_items, keep=float(np.sqrt(kappa)))
    project = Project.draw(world, FAMILIES[family](rng), rng)
    chance = chances.permutation(project.ratings, project, permutations=5, seed=number)
    design = Design.of(project.ratings, project.score, project.text_pairs, pool=_POOL, seed=number)
    return Case.of(design, project.same, chance, kappa, table_truth(project)[NAME])


def texts(
    terminology: str,
    measure: Measure,
    negatives: Negatives,
    *,
    projects: int,
    seed: int,
    populations: int = 6,
    size: int = 300,
    n_items: int = 150,
    proxies: Sequence[Measure] = (),
) -> Iterator[Case]:
    """Projects in the words of a terminology: each item keeps its concept with a probability drawn for the project, else has a negative."""
    generator = Generator(load(terminology), "paper", seed=seed + 1000, size=size)
    drawn = [generator.population(number, negatives) for number in range(populations)]
    concept = {text: of for population in drawn for text, of in _concepts(population).items()}
    items = [item for population in drawn for item in zip(population.concepts, population.texts, strict=True)]
    kept, lost = ([item for item in items if (item[0][0] == item[0][1]) is which] for which in (True, False))
    code = {name: place for place, name in enumerate(sorted(set(concept.values())))}
    for project in range(projects):
        rng = np.random.default_rng((seed, project, zlib.crc32(f"{terminology} {negatives}".encode())))
        share = rng.uniform(0.1, 0.95)
        n = int(rng.binomial(n_items, share))
        chosen = [kept[i] for i in rng.permutation(len(kept))[:n]]
        chosen += [lost[i] for i in rng.permutation(len(lost))[: n_items - n]]
        answers = (
            Answer(f"{place:03d}", who, said[r])
            for place, (_, said) in enumerate(chosen)
            for r, who in enumerate(("1", "2"))
        )
        frames = Frames(AnnotationTable.from_answers(answers), measure, project, "optimal", None, None)
        meant = np.array([code[concept[text]] for text in frames.table.texts])

        def same(a: Ints, b: Ints, meant: Ints = meant) -> Floats:
            return (meant[a] == meant[b]).astype(np.float64)

        chance = chances.permutation(frames.design.ratings, frames.answers, permutations=5, seed=seed)
        truth = _alpha([*kept, *lost], [share / len(kept)] * len(kept) + [(1 - share) / len(lost)] * len(lost))
        table = _alpha(chosen, [1 / n_items] * n_items)
        others = proxy_scores(frames, proxies)
        yield Case.of(frames.design, same, chance, truth, table, others)


def _concepts(population: Population) -> dict[str, str]:
    return {
        normalize(text): concept
        for concepts, said in zip(population.concepts, population.texts, strict=True)
        for of, names in zip(concepts, said, strict=True)
        for concept, text in zip(of, names, strict=True)
    }


def _alpha(items: Sequence[Any], weights: Sequence[float]) -> float:
    """Alpha of two raters' concepts, of a population with these shares of items."""
    codes = [of[0] for concepts, _ in items for of in concepts]
    names, number = np.unique(np.array(codes), return_inverse=True)
    pair = number.reshape(-1, 2)
    shares = np.array(weights)
    share = np.bincount(pair.ravel(), weights=np.repeat(shares / 2, 2), minlength=len(names))
    expected = float(share @ share)
    return (float(shares @ (pair[:, 0] == pair[:, 1])) - expected) / (1 - expected)


def records_of(cases: Iterable[Case]) -> KnownError:
    """The record of a measure from projects with a known truth, as for real measures."""
    rows: list[Row] = []
    for number, case in enumerate(cases):
        rows.append(
            {
                "measure": "simulated",
                "model_sha256": None,
                "setting": f"project {number}",  # a kind of its own: its measure's quality is drawn anew
                "number": number,
                "source": f"part {number % 4}",
                "negatives": f"part {number // 4 % 4}",
                "plain": dict.fromkeys(COEFFICIENTS, case.plain),
                "true": dict.fromkeys(COEFFICIENTS, case.table),
                "identical": dict.fromkeys(COEFFICIENTS, -1.0),
            }
        )
    return KnownError("simulated", **fit(rows)["simulated"]["errors"][NAME])


def record_tables(
    seed: int, records: int, *, sizes: Sequence[int] = (20, 50, 200), projects: int = 400
) -> Iterator[str]:
    """Coverage without judgements by records from few projects: its mean over records, and that of the worst record.

    A record is a draw of projects itself. Its interval is predictive where the mean over records is nominal.
    """
    yield "| measure | projects of a record | coverage, mean over records | worst record | records below 93% | mean width |"
    yield "|---|---|---|---|---|---|"
    for family in FAMILIES:
        cases = [simulated(family, number, seed + 1) for number in range(projects)]
        drawn = [
            [simulated(family, number, seed + 2 + record) for number in range(max(sizes))] for record in range(records)
        ]
        for size in sizes:
            held, width = [], []
            for one in drawn:
                known = records_of(one[:size])
                limits = np.array([before(case, known).ci95 for case in cases])
                truth = np.array([case.truth for case in cases])
                held.append(float(np.mean((limits[:, 0] - 1e-9 <= truth) & (truth <= limits[:, 1] + 1e-9))))
                width.append(float(np.mean(limits[:, 1] - limits[:, 0])))
            few = sum(share < _TOO_LOW for share in held)
            yield f"| {family} | {size} | {np.mean(held):.1%} | {min(held):.1%} | {few} of {records} | {np.mean(width):.3f} |"


def before(case: Case, known: KnownError) -> Informed:
    """The intervals without judgements."""
    at = grid(NAME)
    prior = known.log_density(case.plain, at)
    return informed(prior, np.zeros_like(at), at, case.error * max(known.slope, 1.0), 200.0)


def trial(case: Case, known: KnownError, judgements: Sequence[int], found: Found) -> None:
    """One audit, looked at after every number of judgements of ``judgements`` (ascending, 0 first)."""
    prior = known.log_density(case.plain, grid(NAME))
    told = before(case, known)
    seen = [(0, told)]
    found.add("informed", "0", told.ci95, case.truth)
    for n in judgements[1:]:
        judged, draws = judge(case.design, case.same, n)
        result = estimate(case.design, judged, draws, case.chance, {NAME: prior}, case.proxies)
        fixed = result.coefficients[NAME].ci95
        if NAME not in result.informed or fixed is None:
            continue
        told = result.informed[NAME]
        seen.append((n, told))
        found.add("fixed", str(n), fixed, case.truth)
        # with every pair judged, what is left is due to the items
        items = result.widths(NAME, _EVERY) or 0.0
        width = fixed[1] - fixed[0]
        found.width.setdefault(("items alone", str(n)), []).append(items)
        found.width.setdefault(("judgements alone", str(n)), []).append(max(width**2 - items**2, 0.0) ** 0.5)
        found.add("informed", str(n), told.ci95, case.truth)
        found.add("any time", str(n), told.ci95_any_time, case.truth)
    later = [one for one in seen if one[0] >= _LEAST]
    for rule, stops in (
        ("narrow", lambda low, high: high - low <= WIDTH),
        ("clear of the target", lambda low, high: not low <= TARGET <= high),
    ):
        n, told = next((one for one in later if stops(*one[1].ci95)), later[-1])
        found.add("informed", rule, told.ci95, case.truth)
        found.add("any time", rule, told.ci95_any_time, case.truth)
        found.judged.setdefault(rule, []).append(n)
    for interval in ("ci95", "ci95_any_time"):
        limits = np.array([getattr(told, interval) for _, told in later])
        widest = (float(limits[:, 0].max()), float(limits[:, 1].min()))
        found.add("informed" if interval == "ci95" else "any time", "all looks", widest, case.truth)


def tables(
    judgements: Sequence[int], simulations: int, seed: int, families: Sequence[str] = tuple(FAMILIES)
) -> Iterator[str]:
    """Coverage and width on simulated projects."""
    looks = sorted({0, *judgements, *range(_LEAST, max(judgements) + 1, 5)})
    yield from _head(judgements)
    for family in families:
        known = records_of(simulated(family, number, seed) for number in range(simulations))
        found = Found()
        for number in range(simulations):
            trial(simulated(family, number, seed + 1), known, looks, found)
        yield from _lines(family, found, judgements)


def text_tables(
    folder: str,
    rows: Sequence[Row],
    measures: Sequence[str],
    judgements: Sequence[int],
    *,
    projects: int,
    seed: int,
    proxies: Sequence[Measure] = (),
) -> Iterator[str]:
    """Coverage and width on projects of real texts, and with ``proxies`` as further measures; the record knows neither the terminology nor the kind of disagreement."""
    looks = sorted({0, *judgements, *range(_LEAST, max(judgements) + 1, 5)})
    yield from _head(judgements)
    for name in measures:
        measure = Noise() if name == NOISE else measure_by_name(name)
        others = [one for one in proxies if one.name != measure.name]
        whole, helped = Found(), Found()
        for terminology in TERMINOLOGIES:
            for negatives in NEGATIVES:
                apart = [row for row in rows if row["source"] != terminology and row["negatives"] != negatives]
                key = name
                if name == NOISE:  # a measure without a record: that of any measure, which never saw noise
                    apart, key = [row for row in apart if row["measure"] != NOISE], "any measure"
                known = KnownError(name, **fit(apart)[key]["errors"][NAME])
                source = str(Path(folder) / terminology)
                for case in texts(source, measure, negatives, projects=projects, seed=seed, proxies=others):
                    trial(replace(case, proxies=None), known, looks, whole)
                    if others:
                        trial(case, known, looks, helped)
        yield from _lines(name, whole, judgements)
        if others:
            yield from _lines(f"{name}, with proxies", helped, judgements)


def _head(judgements: Sequence[int]) -> Iterator[str]:
    moments = [str(n) for n in sorted({0, *judgements})]
    yield (
        "| measure | interval | "
        + " | ".join(moments)
        + " | stopped when narrow | stopped when clear of the target | all looks |"
    )
    yield "|---|---|" + "---|" * (len(moments) + 3)


def _lines(name: str, found: Found, judgements: Sequence[int]) -> Iterator[str]:
    moments = [*(str(n) for n in sorted({0, *judgements})), "narrow", "clear of the target", "all looks"]
    for interval in ("fixed", "informed", "any time"):
        cells = []
        for moment in moments:
            if (interval, moment) not in found.held:
                cells.append("")
                continue
            cell = f"{found.coverage(interval, moment):.1%}"
            if moment != "all looks":
                cell += f", {found.mean_width(interval, moment):.3f}"
            if interval == "informed" and moment in found.judged:
                cell += f" ({np.mean(found.judged[moment]):.0f})"
            cells.append(cell)
        yield f"| {name} | {interval} | " + " | ".join(cells) + " |"
    for part in ("judgements alone", "items alone"):
        cells = [f"{found.mean_width(part, moment):.3f}" if (part, moment) in found.width else "" for moment in moments]
        yield f"| {name} | width of the {part} | " + " | ".join(cells) + " |"
