"""Labeled pairs: entailment data sets, judged pairs and the challenge sets."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from softirr.answers.sheets import cell_text
from softirr.errors import InputError
from softirr.meaning.terminology.readers import read_table
from softirr.text import normalize

Directed = tuple[str, str, int]
"""Two texts, and whether the first entails the second."""
_PREMISE = ("premise", "premise_question", "student_answer")
_HYPOTHESIS = ("hypothesis", "hypothesis_question", "reference_answer")
_LABEL = ("label", "accuracy", "verdict")
_ENTAILS = {
    **dict.fromkeys(("entailment", "correct", "1"), 1),
    **dict.fromkeys(("contradiction", "neutral", "not_entailment", "not entailment", "0"), 0),
    **dict.fromkeys(("incorrect", "contradictory"), 0),
}
_JUDGED = {"same": 1, "different": 0}
_GOLD = {"equivalent": (1, 1), "different": (0, 0), "first entails second": (1, 0), "second entails first": (0, 1)}


@dataclass(frozen=True)
class LabeledPairs:
    """Pairs with the truth of "the first entails the second".

    Attributes
    ----------
    name
        Name of the file without its endings.
    contradictions
        Positions in `pairs` of those labeled as contradictions.
    """

    name: str
    pairs: tuple[Directed, ...]
    contradictions: frozenset[int] = frozenset()


def read_pairs(file: str | os.PathLike[str]) -> LabeledPairs:
    """Read a table of labeled pairs.

    Columns ``premise, hypothesis, label`` (entailment; neutral, contradiction, not_entailment) label one direction.
    Columns ``text_a, text_b, judgment`` (same or different) and ``first, second, gold`` (the challenge sets) label
    both.

    Raises
    ------
    InputError
        If the columns are others, or no row is usable.
    """
    path = Path(file)
    if not path.is_file():
        raise InputError(f"{path} is not a file of labeled pairs.")
    pairs: list[Directed] = []
    contradictions: set[int] = set()
    for line, row in read_table(path):
        directed = _directed(row, f"{path}, line {line}")
        if directed and row.get("label", row.get("accuracy", "")).strip().casefold().startswith("contradict"):
            contradictions.add(len(pairs))
        pairs += directed
    if not pairs:
        raise InputError(f"{path} contains no pair with a usable label.")
    return LabeledPairs(path.name.split(".")[0], tuple(pairs), frozenset(contradictions))


def _directed(row: dict[str, str], where: str) -> list[Directed]:
    """The directed pairs of one row; empty if its label is unknown or a text is missing."""
    if {"first", "second", "gold"} <= row.keys():
        if (truth := _GOLD.get(row["gold"].strip().casefold())) is None:
            raise InputError(f"{where}: the gold column says none of {', '.join(_GOLD)}.")
        a, b = normalize(row["first"]), normalize(row["second"])
        return [(a, b, truth[0]), (b, a, truth[1])]
    judgment = row.get("judgment", row.get("judgement"))
    if {"text_a", "text_b"} <= row.keys() and judgment is not None:
        # in a sheet for spreadsheets, an apostrophe keeps a text such as "-fever" from being a formula
        a, b = (normalize(cell_text(row[column])) for column in ("text_a", "text_b"))
        same = _JUDGED.get(judgment.strip().casefold())
        return [] if same is None or not a or not b else [(a, b, same), (b, a, same)]
    premise, hypothesis, label = (
        next((row[column] for column in columns if column in row), None) for columns in (_PREMISE, _HYPOTHESIS, _LABEL)
    )
    if premise is None or hypothesis is None or label is None:
        raise InputError(
            f"{where}: labeled pairs need the columns premise, hypothesis, label or text_a, text_b, judgment."
        )
    a, b, entails = normalize(premise), normalize(hypothesis), _ENTAILS.get(label.strip().casefold())
    return [] if entails is None or not a or not b else [(a, b, entails)]
