"""Score annotated tables with gold codes under every measure, once (Wullschleger et al. 2026)."""

from __future__ import annotations

from collections.abc import Sequence

from lab.experiments.run import NamedMeasure, Progress, Project, check_labels, score_missing, silent
from lab.experiments.run_store import PopulationRow, RunStore
from lab.experiments.scoring import EXACT, Chance, truth
from lab.experiments.tables import GoldTable
from softirr.meaning.measures.cache import PairCache

SETTING = "real"


def chance_for(measure: NamedMeasure) -> Chance:
    """How agreement by chance is computed: exactly if all pairs are cheap, else by permutations."""
    return EXACT if measure.measure.has_blocks else Chance()


def run_real(
    tables: Sequence[GoldTable],
    measures: Sequence[NamedMeasure],
    store: RunStore,
    *,
    cache: PairCache | None = None,
    progress: Progress = silent,
) -> None:
    """Score what the store does not have yet."""
    check_labels(measures, store)
    for table in tables:
        by_codes = truth(table.gold)
        counts = {
            "items": len(table.table.items),
            "raters": len(table.table.raters),
            "answers": len(table.answers),
            "excluded": len(table.excluded),
            "notes": list(table.notes),
        }
        row = PopulationRow(table.digest, table.name, SETTING, "", 0, by_codes.estimates["optimal"], counts)
        project = Project(row, table.table, by_codes)
        score_missing([project], measures, store, table.name, chance_for, cache=cache, progress=progress)
