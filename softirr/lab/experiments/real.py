"""Score annotated tables with gold codes under every measure, once (Wullschleger et al. 2026)."""

from __future__ import annotations

from collections.abc import Sequence

from softirr.lab.experiments.gold import Overlap, gold_summary, values
from softirr.lab.experiments.run_store import PopulationRow, RunStore
from softirr.lab.experiments.scoring import Chance, SharedScorer, contributions, score_table
from softirr.lab.experiments.synthetic import NamedMeasure, Progress, check_labels, pairs_of
from softirr.lab.experiments.tables import GoldTable
from softirr.measures import BlockMeasure
from softirr.measures.cache import PairCache

SETTING = "real"
TRUTH = "truth"
"""Under this the store keeps the items' contributions to the true coefficients."""


def chance_for(named: NamedMeasure, method: str, permutations: int) -> Chance:
    """How agreement by chance is computed.

    ``auto`` is exact where all pairs are cheap, else by permutations (Wullschleger et al. 2026).
    """
    exact = method == "exact" or (method == "auto" and isinstance(named.measure, BlockMeasure))
    return Chance("exact" if exact else "permutation", permutations)


def run_real(
    tables: Sequence[GoldTable],
    measures: Sequence[NamedMeasure],
    store: RunStore,
    *,
    chance: str = "auto",
    permutations: int = 3,
    truth: Overlap = "jaccard",
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> None:
    """Score what the store does not have yet.

    Parameters
    ----------
    tables : sequence of GoldTable
    measures : sequence of NamedMeasure
    store : RunStore
    chance : {"auto", "exact", "permutation"}
    permutations : int
        D.
    truth : {"jaccard", "dice", "equal"}
        Equivalence of two sets of codes.
    cache : PairCache, optional
    progress : callable, optional
    """
    check_labels([named.label for named in measures])
    for table in tables:
        summary = gold_summary(table.gold, truth)
        store.put_population(
            PopulationRow(
                digest=table.digest,
                source=table.name,
                setting=SETTING,
                negatives="",
                number=0,
                target=None,
                truth=values(summary),
                about={
                    "items": len(table.table.items),
                    "raters": len(table.table.raters),
                    "answers": len(table.answers),
                    "excluded": len(table.excluded),
                    "notes": list(table.notes),
                },
            )
        )
        store.put_items(table.digest, TRUTH, "", contributions(summary))
        for done, named in enumerate(measures):
            used = chance_for(named, chance, permutations)
            if progress is not None:
                progress(f"{table.name}, {named.label}", done, len(measures))
            if store.has(table.digest, named.key, used.name):
                continue
            pairs = pairs_of(progress, f"{table.name}, {named.label}")
            shared = SharedScorer(named.measure, [table.table], cache=cache, progress=pairs)
            scored = score_table(table.table, table.codes, shared, used, key=table.digest, named=table.named)
            store.put_items(table.digest, named.key, used.name, scored.contributions)
            store.put(table.digest, named.key, used.name, named.label, scored, named.prompts(scored))
        if progress is not None:
            progress(table.name, len(measures), len(measures))
