"""Score every population of every terminology under every measure, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from softirr.errors import InputError
from softirr.lab.experiments.generate import (
    NEGATIVES,
    PERMUTATIONS,
    POPULATIONS,
    SIZE,
    Generator,
    Negatives,
    Population,
    Setting,
)
from softirr.lab.experiments.gold import Overlap, gold_summary, values
from softirr.lab.experiments.run_store import PopulationRow, RunStore
from softirr.lab.experiments.scoring import Chance, ChanceMethod, Scored, SharedScorer, score_population
from softirr.measures import DirectionalMeasure, Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.cache import PairCache
from softirr.policy.measure import under_policy
from softirr.policy.rules import Policy
from softirr.terminology import Terminology

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many populations (or text pairs of one) are done, and how many there are."""


@dataclass(frozen=True, eq=False)
class NamedMeasure:
    """A measure, its label in tables, and the key of its scores in the store."""

    label: str
    measure: Measure
    key: str

    @classmethod
    def of(cls, asked: str, **options: object) -> NamedMeasure:
        """From ``NAME`` or ``LABEL=NAME``; a model folder gets the folder's name."""
        scorer = measure_by_name(split_label(asked)[1], **options)
        return cls(label_of(asked), scorer, measure_key(scorer))

    def under(self, policy: Policy) -> NamedMeasure:
        """The measure under a policy, which stands in the label; itself where the policy changes no score."""
        if not policy.changes_scores:
            return self
        mark = f"({policy.mark()})"
        measure = under_policy(self.measure, policy)
        return NamedMeasure(f"{self.label} {mark}", measure, f"{self.key} {mark}")

    def prompts(self, scored: Scored) -> int:
        """Texts or text pairs that went through a model."""
        family, colon, _ = self.measure.name.partition(":")
        if family == "embedding":
            return scored.texts
        if isinstance(self.measure, DirectionalMeasure):
            return 2 * scored.pairs
        return scored.pairs if colon else 0


def split_label(asked: str) -> tuple[str, str]:
    """Label (empty where none is given) and name of ``LABEL=NAME``.

    An equals sign in a model's path does not end a label.
    """
    label, equals, name = asked.partition("=")
    return (label, name) if equals and ":" not in label else ("", asked)


def measure_key(measure: Measure) -> str:
    """What scores depend on besides the texts: the family, and the content of a model, not its path."""
    family = measure.name.partition(":")[0]
    kept = getattr(measure, "cache_key", None)
    content = str(kept) if kept else measure.provenance().model_sha256
    return f"{family}:{content}" if content else measure.name


def label_of(asked: str) -> str:
    """The label in tables of ``NAME`` or ``LABEL=NAME``."""
    label, name = split_label(asked)
    if label.strip():
        return label.strip()
    family, colon, model = name.partition(":")
    if not colon:
        return family
    parts = [part for part in model.replace("\\", "/").split("/") if part]
    last = parts[-1] if parts else model
    if last in ("model", "snapshot") and len(parts) > 1:
        last = parts[-2]
    return f"{family}:{last}"


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes
    ----------
    settings, negatives : tuple of str
    populations : int or None
        Of each setting and kind of negatives; None takes the number of Wullschleger et al. 2026.
    size : int
        Items of a population.
    seed : int
    chance : {"permutation", "exact"}
    permutations : int or None
        D; None takes that of Wullschleger et al. 2026.
    truth : {"jaccard", "dice", "equal"}
        Equivalence of two sets of concepts.
    """

    settings: tuple[Setting, ...] = ("paper", "hard", "sets")
    negatives: tuple[Negatives, ...] = NEGATIVES
    populations: int | None = None
    size: int = SIZE
    seed: int = 0
    chance: ChanceMethod = "permutation"
    permutations: int | None = None
    truth: Overlap = "jaccard"

    def chance_of(self, setting: Setting) -> Chance:
        """Chance of one setting."""
        return Chance(self.chance, self.permutations or PERMUTATIONS[setting])

    def count(self, setting: Setting) -> int:
        """Populations of one setting and kind of negatives."""
        return self.populations or POPULATIONS[setting]


def run(
    plan: Plan,
    terminologies: Sequence[Terminology],
    measures: Sequence[NamedMeasure],
    store: RunStore,
    *,
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> None:
    """Score what the store does not have yet.

    Parameters
    ----------
    plan : Plan
    terminologies : sequence of Terminology
    measures : sequence of NamedMeasure
    store : RunStore
        Gets each population as soon as it is scored.
    cache : PairCache, optional
        Keeps a model's scores of text pairs beyond this run.
    progress : callable, optional
    """
    check_labels([named.label for named in measures])
    # all of them before anything is scored: a terminology that is too small ends the run at once
    generators = [generator_of(plan, terminology, s) for terminology in terminologies for s in plan.settings]
    for generator in generators:
        setting, source = generator.setting, generator.terminology.name
        chance = plan.chance_of(setting)
        populations = _populations(generator, plan, setting, store)
        for named in measures:
            what = f"{source}, {setting}, {named.label}"
            open_ = [p for p in populations if not store.has(p.digest, named.key, chance.name)]
            done = len(populations) - len(open_)
            if progress is not None:
                progress(what, done, len(populations))
            if not open_:
                continue
            pairs = pairs_of(progress, what)
            shared = SharedScorer(named.measure, [p.table() for p in open_], cache=cache, progress=pairs)
            for population in open_:
                scored = score_population(population, shared, chance)
                store.put(population.digest, named.key, chance.name, named.label, scored, named.prompts(scored))
                done += 1
                if progress is not None:
                    progress(what, done, len(populations))


def pairs_of(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    """Progress of a model through the text pairs of one population or table."""
    return None if progress is None else lambda done, total: progress(f"{what}, text pairs", done, total)


def generator_of(plan: Plan, terminology: Terminology, setting: Setting) -> Generator:
    """The generator of the plan's populations of one terminology and setting."""
    return Generator(terminology, setting, seed=plan.seed, size=plan.size, negatives=plan.negatives)


def check_labels(labels: Sequence[str]) -> None:
    """Refuse two measures with one label: tables could not distinguish them."""
    if len(set(labels)) < len(labels):
        raise InputError("Two measures have the same label; give them labels with LABEL=NAME.")


def _populations(generator: Generator, plan: Plan, setting: Setting, store: RunStore) -> list[Population]:
    populations = []
    for negatives in plan.negatives:
        for number in range(plan.count(setting)):
            population = generator.population(number, negatives)
            store.put_population(population_row(population, generator, plan))
            populations.append(population)
    return populations


def population_row(population: Population, generator: Generator, plan: Plan) -> PopulationRow:
    """What the store keeps of a population besides its scores."""
    return PopulationRow(
        digest=population.digest,
        source=population.terminology,
        setting=population.setting,
        negatives=population.negatives,
        number=population.number,
        target=population.target,
        truth=values(gold_summary(population.gold(), plan.truth)),
        about={
            "items": len(population.texts),
            "pool": len(generator.pool),
            "substituted": population.substituted,
            **_same_strings(population),
        },
    )


def _same_strings(population: Population) -> dict[str, int]:
    """How many concepts both raters named, and how often in the same words."""
    shared = same = 0
    for (a, b), (words, others) in zip(population.concepts, population.texts, strict=True):
        named = dict(zip(a, words, strict=True))
        for concept, word in zip(b, others, strict=True):
            shared += concept in named
            same += named.get(concept) == word
    return {"shared": shared, "same_string": same}
