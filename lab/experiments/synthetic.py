"""Score every population of every terminology under every measure, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from lab.experiments.generate import (
    NEGATIVES,
    PERMUTATIONS,
    POPULATIONS,
    SETTINGS,
    SIZE,
    Generator,
    Negatives,
    Population,
    Setting,
)
from lab.experiments.run import NamedMeasure, Progress, Project, check_labels, score_missing, silent
from lab.experiments.run_store import PopulationRow, RunStore
from lab.experiments.scoring import Chance, truth
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.terminology import Terminology


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes
    ----------
    populations : int or None
        Of each setting and kind of negatives; None takes the number of Wullschleger et al. 2026.
    size : int
        Items of a population.
    """

    settings: tuple[Setting, ...] = SETTINGS
    negatives: tuple[Negatives, ...] = NEGATIVES
    populations: int | None = None
    size: int = SIZE
    seed: int = 0


def _permuted(setting: Setting, _: NamedMeasure) -> Chance:
    """Chance of one setting, whatever the measure: the permutations of Wullschleger et al. 2026."""
    return Chance("permutation", PERMUTATIONS[setting])


def run(
    plan: Plan,
    terminologies: Sequence[Terminology],
    measures: Sequence[NamedMeasure],
    store: RunStore,
    *,
    cache: PairCache | None = None,
    progress: Progress = silent,
) -> None:
    """Score what the store does not have yet."""
    check_labels(measures, store)
    # all of them before anything is scored: a terminology that is too small ends the run at once
    generators = [
        Generator(terminology, setting, seed=plan.seed, size=plan.size, negatives=plan.negatives)
        for terminology in terminologies
        for setting in plan.settings
    ]
    for generator in generators:
        setting = generator.setting
        projects = [
            _project(generator.population(number, negatives))
            for negatives in plan.negatives
            for number in range(plan.populations or POPULATIONS[setting])
        ]
        chance = partial(_permuted, setting)
        what = f"{generator.terminology.name}, {setting}"
        score_missing(projects, measures, store, what, chance, cache=cache, progress=progress)


def _project(population: Population) -> Project:
    by_concepts = truth(population.gold())
    row = PopulationRow(
        digest=population.digest,
        source=population.terminology,
        setting=population.setting,
        negatives=population.negatives,
        number=population.number,
        truth=by_concepts.estimates["optimal"],
    )
    return Project(row, population.table(), by_concepts)
