"""The audited coefficient with judgements simulated from the codes, as a reference for every estimator."""

from __future__ import annotations

from collections.abc import Sequence

from softirr.lab.experiments.draw import Draw
from softirr.lab.experiments.generate import Population
from softirr.lab.experiments.gold import gold_summary
from softirr.lab.experiments.gold import values as values_of
from softirr.lab.experiments.store import AuditRow, RunStore
from softirr.lab.experiments.synthetic import NamedMeasure, Plan, Progress, generator_of
from softirr.measures.cache import PairCache
from softirr.terminology import Terminology
from softirr.text import normalize

COEFFICIENT = "cohen_kappa"


def run_audits(
    plan: Plan,
    terminologies: Sequence[Terminology],
    measures: Sequence[NamedMeasure],
    store: RunStore,
    *,
    judgements: Sequence[int] = (60, 100, 200),
    populations: int = 5,
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> None:
    """Audit the first populations of each setting and kind of negatives; what the store has is not done again.

    Parameters
    ----------
    plan : Plan
    terminologies : sequence of Terminology
    measures : sequence of NamedMeasure
    store : RunStore
    judgements : sequence of int
        How many pairs the simulated judge judges.
    populations : int
        Of each setting and kind of negatives.
    cache : PairCache, optional
    progress : callable, optional
    """
    done = {(row.digest, row.measure, row.judgements, row.seed) for row in store.audits()}
    for terminology in terminologies:
        for setting in plan.settings:
            generator = generator_of(plan, terminology, setting)
            numbers = range(min(populations, plan.count(setting)))
            chosen = [generator.population(n, kind) for kind in plan.negatives for n in numbers]
            for named in measures:
                what = f"{terminology.name}, {setting}, {named.label}, audit"
                for place, population in enumerate(chosen):
                    if progress is not None:
                        progress(what, place, len(chosen))
                    for count in judgements:
                        key = (population.digest, named.key, count, population.number)
                        if key not in done:
                            store.put_audit(audited(population, named, count, cache=cache))


def audited(
    population: Population, named: NamedMeasure, judgements: int, *, cache: PairCache | None = None
) -> AuditRow:
    """Cohen's kappa of one population, corrected by judgements that follow the codes.

    A text that names several of the population's concepts counts as the same as another if they share one.
    """
    from softirr.audit.audited import ONLY, Judgements, apply, sample

    table = population.table()
    meant: dict[str, set[str]] = {}
    for texts, concepts in zip(population.texts, population.concepts, strict=True):
        for rater in (0, 1):
            for text, concept in zip(texts[rater], concepts[rater], strict=True):
                meant.setdefault(normalize(text), set()).add(concept)
    # another seed for each population and size, so that the draws are independent
    seed = Draw("audit", population.digest, judgements).below(2**31)
    sheet = sample(table, named.measure, judgements=judgements, seed=seed, cache=cache, progress=None)
    values = {
        (unit.id, ONLY): "same" if meant[normalize(unit.text_a)] & meant[normalize(unit.text_b)] else "different"
        for unit in sheet.units
    }
    report = apply(table, named.measure, [Judgements("codes", values)], cache=cache, progress=None).to_dict()
    found = report["coefficients"][COEFFICIENT]
    low, high = found["ci95"] or (None, None)
    plain = report["audit"]["plain"][COEFFICIENT]
    truth = values_of(gold_summary(population.gold(), "dice"))[COEFFICIENT]
    return AuditRow(
        population.digest, named.key, judgements, population.number, found["value"], low, high, plain, truth
    )
