"""Simulated audits: what judgments of a pilot may be before there are any."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from softirr.audit.workflow import draw_sheet
from softirr.errors import InputError
from softirr.measures import Measure
from softirr.planning.parts import Scoring
from softirr.tables.sheets import Judgements, read_sheet
from softirr.tables.table import AnnotationTable

__all__ = ["SIMULATED_AUDITS", "simulated_sheet"]

SIMULATED_AUDITS = 3
"""Simulated audits that estimate what a judgment is worth before there are any."""
_SHARPER, _NEARLY = 3, 0.9
"""People are surer than scores, and texts of different items rarely mean the same."""


def simulated_sheet(table: AnnotationTable, scoring: Scoring, judgments: int, seed: int) -> Judgements:
    """A sheet of a pilot, judged as people may judge it.

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
        As :func:`softirr.tables.sheets.read_sheet` returns it.

    Raises
    ------
    InputError
        If too few pairs of texts differ.
    """
    sheet = draw_sheet(
        table,
        scoring.measure,
        judgements=judgments,
        seed=seed,
        assignment=scoring.options.assignment,
        cache=scoring.cache,
        progress=None,
    )
    return read_sheet(io.StringIO(_judged_alike(sheet.to_csv(), sheet.units, table, scoring.measure, seed)))


def _judged_alike(csv: str, units: Sequence[Any], table: AnnotationTable, measure: Measure, seed: int) -> str:
    """Texts of one item are judged at random by the measure, texts of different items are the same where P is high."""
    rng = np.random.default_rng(seed)
    p = measure.score([(unit.text_a, unit.text_b) for unit in units])
    number = {text: n for n, text in enumerate(table.texts)}
    of_text: dict[int, set[int]] = {}
    for item, answer in zip(table.item.tolist(), table.answer.tolist(), strict=True):
        for text in table.answers[answer]:
            of_text.setdefault(text, set()).add(item)
    together = np.array([bool(of_text[number[u.text_a]] & of_text[number[u.text_b]]) for u in units])
    sharp = p**_SHARPER / (p**_SHARPER + (1 - p) ** _SHARPER)
    marks = np.where(np.where(together, rng.random(len(units)) < sharp, p >= _NEARLY), "same", "different").tolist()
    head, *rows = csv.splitlines()
    if len(rows) != len(units):
        raise InputError("A text of the pilot has several lines.")
    return "\n".join([head, *(f"{row}{mark}" for row, mark in zip(rows, marks, strict=True))])
