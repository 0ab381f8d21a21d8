"""Simulated audits: what judgments of a pilot may be before there are any."""

from __future__ import annotations

import numpy as np

from softirr.answers.sheets import DIFFERENT, SAME, Judgements
from softirr.answers.table import AnnotationTable
from softirr.audit.workflow import draw_sheet
from softirr.planning.compared_parts import Scoring
from softirr.statistics.evidence.judged import ONLY

__all__ = ["SIMULATED_AUDITS", "simulated_sheet"]

SIMULATED_AUDITS = 3
"""Simulated audits that estimate what a judgment is worth before there are any."""
_SHARPER, _NEARLY = 3, 0.9
"""People are surer than scores, and texts of different items rarely mean the same."""


def simulated_sheet(table: AnnotationTable, scoring: Scoring, judgments: int, seed: int) -> Judgements:
    """A sheet of a pilot, judged as people may judge it.

    Texts of one item are judged at random by the measure, texts of different items are the same where P is high.

    Parameters
    ----------
    table : AnnotationTable
    scoring : Scoring
    judgments : int
        Pairs to draw.
    seed : int

    Returns
    -------
    object
        As :func:`softirr.answers.sheets.read_sheet` returns it.
    """
    units = draw_sheet(
        table,
        scoring.measure,
        judgements=judgments,
        seed=seed,
        assignment=scoring.options.assignment,
        cache=scoring.cache,
        progress=None,
    ).units
    texts = {(unit.id, ONLY): (unit.text_a, unit.text_b) for unit in units}
    p = scoring.measure.score(list(texts.values()))
    of_text: dict[str, set[int]] = {}
    for item, answer in zip(table.item.tolist(), table.answer.tolist(), strict=True):
        for text in table.texts_of(answer):
            of_text.setdefault(text, set()).add(item)
    together = np.array([bool(of_text[a] & of_text[b]) for a, b in texts.values()])
    sharp = p**_SHARPER / (p**_SHARPER + (1 - p) ** _SHARPER)
    same = np.where(together, np.random.default_rng(seed).random(len(units)) < sharp, p >= _NEARLY).tolist()
    values = {key: SAME if one else DIFFERENT for key, one in zip(texts, same, strict=True)}
    return Judgements("simulated", values, texts)
