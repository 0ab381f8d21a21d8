"""Reading labeled pairs: entailment data sets and what reviewers decided."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from softirr.answers.cells import cell_text
from softirr.errors import InputError
from softirr.meaning.terminology import read_table
from softirr.text import normalize

_PREMISE = ("premise", "premise_question", "student_answer")
_HYPOTHESIS = ("hypothesis", "hypothesis_question", "reference_answer")
_LABEL = ("label", "accuracy", "verdict")
_SUPPORTED = (("dialogue", "note"), ("consumer_question", "summary"))
"""Columns of tables without labels: the first text supports the second."""
_LONGEST = 80
"""Words of both texts of such a pair at most: what is cut off may be what supports the second."""
_ENTAILED = {"entailment": 1, "correct": 1, "1": 1}
_NOT_ENTAILED = {
    "contradiction": 0,
    "neutral": 0,
    "not_entailment": 0,
    "not entailment": 0,
    "incorrect": 0,
    "contradictory": 0,
    "0": 0,
}
_JUDGED = {"same": 1, "different": 0}


_TOLD = {"equivalent": (1, 1), "different": (0, 0), "first entails second": (1, 0), "second entails first": (0, 1)}


@dataclass(frozen=True)
class LabeledPairs:
    """Pairs with the truth of "the first entails the second".

    Attributes
    ----------
    name
        Name of the file without its endings.
    pairs
        (premise, hypothesis, 1 or 0).
    skipped
        Rows without a usable label.
    contradictions
        Positions in `pairs` of those that were labeled as contradictions.
    """

    name: str
    pairs: tuple[tuple[str, str, int], ...]
    skipped: int = 0
    contradictions: frozenset[int] = frozenset()


def read_pairs(file: str | os.PathLike[str]) -> LabeledPairs:
    """Read a table of labeled pairs.

    Columns ``premise, hypothesis, label`` (entailment; neutral, contradiction, not_entailment) say one direction;
    columns ``text_a, text_b, judgment`` (same or different, the sheet of ``softirr audit sample``) say both: two
    texts that mean the same entail each other, for two that do not, neither entails the other. Columns ``phrase1,
    phrase2, label`` (same or different) say both directions for the same, and for different ones only that a text
    entails none with more words. Columns ``dialogue, note`` and ``consumer_question, summary`` hold texts whose
    first supports the second; another row's second text serves as one that it does not support. Columns ``first,
    second, gold`` (equivalent, different, first entails second, second entails first: the challenge set) say both
    directions.

    Raises
    ------
    InputError
        If the columns are others, or no row is usable.
    """
    path = Path(file)
    if not path.is_file():
        raise InputError(f"{path} is not a file of labeled pairs.")
    pairs: list[tuple[str, str, int]] = []
    contradictions: set[int] = set()
    supported: list[tuple[str, str]] = []
    skipped = 0
    for line, row in read_table(path):
        if {"phrase1", "phrase2", "label"} <= row.keys():
            phrases = _phrases(normalize(row["phrase1"]), normalize(row["phrase2"]), row["label"].strip().casefold())
            pairs.extend(phrases)
            skipped += not phrases
            continue
        if (texts := next((pair for pair in _SUPPORTED if set(pair) <= row.keys()), None)) is not None:
            supported.append((normalize(row[texts[0]]), normalize(row[texts[1]])))
            continue
        premise = next((row[c] for c in _PREMISE if c in row), None)
        hypothesis = next((row[c] for c in _HYPOTHESIS if c in row), None)
        label = next((row[c] for c in _LABEL if c in row), None)
        both = False
        if premise is None and {"first", "second", "gold"} <= row.keys():
            pairs.extend(_told(path, line, row))
            continue
        if premise is None and "text_a" in row:
            # a sheet for spreadsheets: an apostrophe keeps a text such as "-fever" from being a formula
            premise, hypothesis = (
                None if cell is None else cell_text(cell) for cell in (row["text_a"], row.get("text_b"))
            )
            label, both = row.get("judgment", row.get("judgement")), True
        if premise is None or hypothesis is None or label is None:
            raise InputError(
                f"{path}, line {line}: labeled pairs need the columns premise, hypothesis, label or text_a, "
                "text_b, judgment."
            )
        word = label.strip().casefold()
        truth = (_JUDGED if both else _ENTAILED | _NOT_ENTAILED).get(word)
        premise, hypothesis = normalize(premise), normalize(hypothesis)
        if truth is None or not premise or not hypothesis:
            skipped += 1
            continue
        if word.startswith("contradict"):
            contradictions.add(len(pairs))
        pairs.append((premise, hypothesis, truth))
        if both:
            pairs.append((hypothesis, premise, truth))
    usable = [(a, b) for a, b in supported if a and b and len(a.split()) + len(b.split()) <= _LONGEST]
    skipped += len(supported) - len(usable)
    pairs.extend(_supported(usable))
    if not pairs:
        raise InputError(f"{path} contains no pair with a usable label.")
    return LabeledPairs(path.name.split(".")[0], tuple(pairs), skipped, frozenset(contradictions))


def _phrases(one: str, other: str, label: str) -> list[tuple[str, str, int]]:
    """Directed pairs of two phrases that mean the same, or not.

    In the latter case the longer one may still entail the shorter one.
    """
    if not one or not other or label not in _JUDGED or one.casefold() == other.casefold():
        return []
    if _JUDGED[label]:
        return [(one, other, 1), (other, one, 1)]
    words = len(one.split()) - len(other.split())
    return [(a, b, 0) for a, b, longer in ((one, other, -words), (other, one, words)) if longer >= 0]


def _supported(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, int]]:
    """Each pair as an entailment, and its first text with the second text of the next pair as none."""
    for (first, second), (_, other) in zip(pairs, (*pairs[1:], *pairs[:1]), strict=True):
        yield first, second, 1
        if other.casefold() != second.casefold():
            yield first, other, 0


def _told(path: Path, line: int, row: dict[str, str]) -> list[tuple[str, str, int]]:
    truth = _TOLD.get(row["gold"].strip().casefold())
    if truth is None:
        raise InputError(f"{path}, line {line}: the gold column says none of {', '.join(_TOLD)}.")
    one, other = normalize(row["first"]), normalize(row["second"])
    return [(one, other, truth[0]), (other, one, truth[1])]
