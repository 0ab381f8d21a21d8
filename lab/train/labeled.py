"""Labeled pairs: entailment data sets, judged pairs and the challenge sets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from softirr.answers.cells import cell_text
from softirr.errors import InputError
from softirr.meaning.terminology import read_table
from softirr.text import normalize

__all__ = ["LabeledPairs", "read_pairs"]

Directed = tuple[str, str, int]
"""Two texts, and whether the first entails the second."""
_PREMISE = ("premise", "premise_question", "student_answer")
_HYPOTHESIS = ("hypothesis", "hypothesis_question", "reference_answer")
_LABEL = ("label", "accuracy", "verdict")
_SUPPORTED = (("dialogue", "note"), ("consumer_question", "summary"))
"""Columns of tables without labels: the first text supports the second."""
_LONGEST = 80
"""Maximum number of words of both texts of such a pair: the text that supports the second must not be cut off."""
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
    skipped
        Number of rows without a usable label.
    contradictions
        Positions in `pairs` of those labeled as contradictions.
    """

    name: str
    pairs: tuple[Directed, ...]
    skipped: int = 0
    contradictions: frozenset[int] = frozenset()


def read_pairs(file: str | os.PathLike[str]) -> LabeledPairs:
    """Read a table of labeled pairs.

    Columns ``premise, hypothesis, label`` (entailment; neutral, contradiction, not_entailment) label one direction.
    Columns ``text_a, text_b, judgment`` (same or different) and ``first, second, gold`` (the challenge sets) label
    both. Columns ``phrase1, phrase2, label`` (same or different) label both for the same; for different phrases, no
    phrase entails one with more words. The first text of columns ``dialogue, note`` and ``consumer_question, summary``
    supports the second; it does not support the second text of the next row.

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
    supported: list[tuple[str, str]] = []
    n_skipped = 0
    for line, row in read_table(path):
        if (columns := next((names for names in _SUPPORTED if set(names) <= row.keys()), None)) is not None:
            supported.append((normalize(row[columns[0]]), normalize(row[columns[1]])))
            continue
        directed = _directed(row, f"{path}, line {line}")
        n_skipped += not directed
        if directed and row.get("label", row.get("accuracy", "")).strip().casefold().startswith("contradict"):
            contradictions.add(len(pairs))
        pairs += directed
    usable = [(a, b) for a, b in supported if a and b and len(a.split()) + len(b.split()) <= _LONGEST]
    n_skipped += len(supported) - len(usable)
    pairs.extend(_supported(usable))
    if not pairs:
        raise InputError(f"{path} contains no pair with a usable label.")
    return LabeledPairs(path.name.split(".")[0], tuple(pairs), n_skipped, frozenset(contradictions))


def _directed(row: dict[str, str], where: str) -> list[Directed]:
    """The directed pairs of one row; empty if its label is unknown or a text is missing."""
    if {"phrase1", "phrase2", "label"} <= row.keys():
        return _phrases(normalize(row["phrase1"]), normalize(row["phrase2"]), row["label"].strip().casefold())
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


def _phrases(first: str, second: str, label: str) -> list[Directed]:
    """Directed pairs of two phrases. If they differ, the longer phrase may still entail the shorter one."""
    if not first or not second or label not in _JUDGED or first.casefold() == second.casefold():
        return []
    if _JUDGED[label]:
        return [(first, second, 1), (second, first, 1)]
    extra = len(first.split()) - len(second.split())
    return [(a, b, 0) for a, b, longer in ((first, second, -extra), (second, first, extra)) if longer >= 0]


def _supported(pairs: Sequence[tuple[str, str]]) -> Iterator[Directed]:
    """Each pair as an entailment, and its first text with the second text of the next pair as no entailment."""
    for (first, second), (_, next_second) in zip(pairs, (*pairs[1:], *pairs[:1]), strict=True):
        yield first, second, 1
        if next_second.casefold() != second.casefold():
            yield first, next_second, 0
