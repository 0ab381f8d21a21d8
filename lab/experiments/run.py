"""Score populations of terminologies and annotated tables under each measure (Wullschleger et al. 2026)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
from lab.experiments.scoring import Scored, SharedScorer, Values, score_table, truth
from lab.experiments.tables import GoldTable
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.meaning.measures import Measure, takes
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.meaning.terminology.concepts import Terminology
from softirr.provenance import Progress

REAL = "real"
"""Setting of annotated tables."""


@dataclass(frozen=True, eq=False)
class NamedMeasure:
    """A measure and its label in tables."""

    label: str
    measure: Measure

    @classmethod
    def of(cls, label_and_name: str, **options: object) -> NamedMeasure:
        """From ``NAME`` or ``LABEL=NAME``, with options of measures that have a model."""
        label, name = split_label(label_and_name)
        return cls(label, measure_by_name(name, **(options if takes(name) == "model" else {})).without(Sentences))

    def prompts(self, scored: Scored) -> int:
        """Texts or text pairs that went through a model."""
        family, colon, _ = self.measure.name.partition(":")
        if family == "embedding":
            return scored.texts
        if self.measure.directional:
            return 2 * scored.pairs
        return scored.pairs if colon else 0


def split_label(label_and_name: str) -> tuple[str, str]:
    """Label in tables and name of ``NAME`` or ``LABEL=NAME``; without a label, a model folder gets the folder's name.

    An equals sign in a model's path does not end a label.
    """
    label, equals, name = label_and_name.partition("=")
    if not equals or ":" in label:
        label, name = "", label_and_name
    family, colon, model = name.partition(":")
    folders = [folder for folder in model.replace("\\", "/").split("/") if folder not in ("", "model", "snapshot")]
    default = f"{family}:{folders[-1] if folders else model}" if colon else family
    return label.strip() or default, name


@dataclass(frozen=True, eq=False)
class Project:
    """A population or an annotated table.

    Attributes
    ----------
    source : str
        Name of the terminology or table.
    digest : str
        Hash of the content: the seed of its permutations.
    by_codes : Scored
        Scores and coefficients by the codes.
    counts : dict
        Counts and notes for the report.
    """

    source: str
    setting: str
    negatives: str
    number: int
    digest: str
    table: AnnotationTable
    by_codes: Scored
    counts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def truth(self) -> Values:
        """Coefficients by the codes."""
        return self.by_codes.estimates["optimal"]


@dataclass(frozen=True, eq=False)
class Record:
    """A project under one measure."""

    project: Project
    label: str
    scored: Scored
    prompts: int

    def error(self, coefficient: str = "cohen_kappa", assignment: str = "optimal") -> float | None:
        """|estimate - truth|, or None if one of them is not defined."""
        estimate, truth = self.scored.estimates[assignment][coefficient], self.project.truth[coefficient]
        return None if estimate is None or truth is None else abs(estimate - truth)


@dataclass(frozen=True)
class Plan:
    """The populations of a synthetic experiment.

    Attributes
    ----------
    populations : int or None
        Number for each setting and kind of negatives; None takes the number of Wullschleger et al. 2026.
    size : int
        Items of a population.
    """

    settings: tuple[Setting, ...] = SETTINGS
    negatives: tuple[Negatives, ...] = NEGATIVES
    populations: int | None = None
    size: int = SIZE
    seed: int = 0


def run_synthetic(
    plan: Plan,
    terminologies: Sequence[Terminology],
    measures: Sequence[NamedMeasure],
    *,
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> list[Record]:
    """Score every population of every terminology under every measure."""
    check_labels(measures)
    # all of them before anything is scored: a terminology that is too small ends the run at once
    generators = [
        Generator(terminology, setting, seed=plan.seed, size=plan.size, negatives=plan.negatives)
        for terminology in terminologies
        for setting in plan.settings
    ]
    records: list[Record] = []
    for generator in generators:
        setting = generator.setting
        projects = [
            _of_population(generator.population(number, negatives))
            for negatives in plan.negatives
            for number in range(plan.populations or POPULATIONS[setting])
        ]
        for measure in measures:
            records += _score(projects, measure, PERMUTATIONS[setting], cache, progress)
    return records


def run_real(
    tables: Sequence[GoldTable],
    measures: Sequence[NamedMeasure],
    *,
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> list[Record]:
    """Score annotated tables with gold codes under every measure."""
    check_labels(measures)
    records: list[Record] = []
    for table in tables:
        counts = {
            "items": len(table.table.items),
            "raters": len(table.table.raters),
            "excluded": len(table.excluded),
            "notes": list(table.notes),
        }
        project = Project(table.name, REAL, "", 0, table.digest, table.table, truth(table.gold), counts)
        for measure in measures:
            # all pairs of a measure with blocks are cheap
            permutations = None if measure.measure.has_blocks else PERMUTATIONS["paper"]
            records += _score([project], measure, permutations, cache, progress)
    return records


def check_labels(measures: Sequence[NamedMeasure]) -> None:
    """Refuse two measures with one label: tables could not distinguish them."""
    labels = [measure.label for measure in measures]
    if repeated := [label for label in labels if labels.count(label) > 1]:
        raise InputError(f"Two measures have the same label, {repeated[0]}; give them labels with LABEL=NAME.")


def _of_population(population: Population) -> Project:
    return Project(
        population.terminology,
        population.setting,
        population.negatives,
        population.number,
        population.digest,
        population.table(),
        truth(population.gold()),
    )


def _score(
    projects: Sequence[Project],
    measure: NamedMeasure,
    permutations: int | None,
    cache: PairCache | None,
    progress: Progress | None,
) -> list[Record]:
    """Records of projects that share texts, under one measure."""
    shared = SharedScorer(measure.measure, [project.table for project in projects], cache=cache, progress=progress)
    records: list[Record] = []
    for project in projects:
        scored = score_table(project.table, shared, permutations=permutations, key=project.digest)
        records.append(Record(project, measure.label, scored, measure.prompts(scored)))
    return records
