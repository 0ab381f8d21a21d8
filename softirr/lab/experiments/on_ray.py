"""Whole populations and tables as jobs of a Ray cluster, for measures without a model; the driver puts results into the store as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from softirr.inference.ray_jobs import map_jobs
from softirr.lab.experiments.generate import Generator, Negatives
from softirr.lab.experiments.real import chance_for
from softirr.lab.experiments.scoring import Scored, SharedScorer, score_population, score_table
from softirr.lab.experiments.store import PopulationRow, RunStore
from softirr.lab.experiments.synthetic import NamedMeasure, Plan, Progress, generator_of, population_row
from softirr.lab.experiments.tables import GoldTable
from softirr.policy.rules import Policy
from softirr.terminology import Terminology

__all__ = ["score_populations", "score_tables"]


def score_populations(
    plan: Plan,
    terminologies: Sequence[Terminology],
    measures: Sequence[NamedMeasure],
    store: RunStore,
    *,
    progress: Progress | None = None,
) -> None:
    """As :func:`softirr.lab.experiments.synthetic.run`, one job for each population.

    Parameters
    ----------
    plan : Plan
    terminologies : sequence of Terminology
    measures : sequence of NamedMeasure
        Without a model: workers make them by their names.
    store : RunStore
        What it has is not done again.
    progress : callable, optional
    """
    # all of them before anything is scored: a terminology that is too small ends the run at once
    generators = [generator_of(plan, terminology, s) for terminology in terminologies for s in plan.settings]
    for generator in generators:
        setting = generator.setting
        what = f"{generator.terminology.name}, {setting}"
        chance = plan.chance_of(setting)
        work = _PopulationWork(plan, generator, _names(measures), store.scored())
        jobs = [(negatives, number) for negatives in plan.negatives for number in range(plan.count(setting))]
        if progress is not None:
            progress(what, 0, len(jobs))
        results = map_jobs(work, jobs, name=lambda job, what=what: f"{what}, {job[0]}, population {job[1]}")  # type: ignore[misc]
        for done, (_, result) in enumerate(results, 1):
            store.put_population(result.row)
            for place, scored in result.scored.items():
                named = measures[place]
                store.put(result.row.digest, named.key, chance.name, named.label, scored, named.prompts(scored))
            if progress is not None:
                progress(what, done, len(jobs))


def score_tables(
    tables: Sequence[GoldTable],
    measures: Sequence[NamedMeasure],
    store: RunStore,
    *,
    chance: str = "auto",
    permutations: int = 3,
    progress: Progress | None = None,
) -> None:
    """The scores of :func:`softirr.lab.experiments.real.run_real`, one job for each table and measure.

    Parameters
    ----------
    tables : sequence of GoldTable
    measures : sequence of NamedMeasure
        Without a model: workers make them by their names.
    store : RunStore
        What it has is not done again.
    chance : {"auto", "exact", "permutation"}
    permutations : int
    progress : callable, optional
    """
    methods = [chance_for(named, chance, permutations).name for named in measures]
    jobs = [
        (i, j)
        for i, table in enumerate(tables)
        for j, named in enumerate(measures)
        if not store.has(table.digest, named.key, methods[j])
    ]
    if not jobs:
        return
    work = _TableWork(tuple(tables), _names(measures), chance, permutations)
    results = map_jobs(work, jobs, name=lambda job: f"{tables[job[0]].name}, {measures[job[1]].label}")
    for done, ((i, j), scored) in enumerate(results, 1):
        table, named = tables[i], measures[j]
        store.put_items(table.digest, named.key, methods[j], scored.contributions)
        store.put(table.digest, named.key, methods[j], named.label, scored, named.prompts(scored))
        if progress is not None:
            progress("tables", done, len(jobs))


_Asked = tuple[str, Policy]
"""The name that a measure is made from, and its policy."""


def _names(measures: Sequence[NamedMeasure]) -> tuple[_Asked, ...]:
    return tuple((named.asked, named.policy) for named in measures)


def _named(asked: _Asked) -> NamedMeasure:
    name, policy = asked
    return NamedMeasure.of(name).under(policy)


@dataclass(frozen=True)
class _PopulationResult:
    row: PopulationRow
    scored: dict[int, Scored]
    """By the place of the measure; only what the store did not have."""


@dataclass(frozen=True, eq=False)
class _PopulationWork:
    """Makes and scores one population."""

    plan: Plan
    generator: Generator
    measures: tuple[_Asked, ...]
    known: frozenset[tuple[str, str, str]]

    def __call__(self, job: tuple[Negatives, int]) -> _PopulationResult:
        negatives, number = job
        population = self.generator.population(number, negatives)
        chance = self.plan.chance_of(self.generator.setting)
        scored = {}
        for place, asked in enumerate(self.measures):
            named = _named(asked)
            if (population.digest, named.key, chance.name) not in self.known:
                shared = SharedScorer(named.measure, [population.table()])
                scored[place] = score_population(population, shared, chance)
        return _PopulationResult(population_row(population, self.generator, self.plan), scored)


@dataclass(frozen=True, eq=False)
class _TableWork:
    """Scores one table under one measure."""

    tables: tuple[GoldTable, ...]
    measures: tuple[_Asked, ...]
    chance: str
    permutations: int

    def __call__(self, job: tuple[int, int]) -> Scored:
        table, named = self.tables[job[0]], _named(self.measures[job[1]])
        shared = SharedScorer(named.measure, [table.table])
        used = chance_for(named, self.chance, self.permutations)
        return score_table(table.table, table.codes, shared, used, key=table.digest, named=table.named)
