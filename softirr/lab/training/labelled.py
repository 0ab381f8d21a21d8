"""Reading labelled pairs: entailment data sets and what reviewers decided."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from softirr.errors import InputError
from softirr.tables.cells import cell_text
from softirr.terminology import read_table
from softirr.text import normalise

_PREMISE = ("premise", "premise_question", "student_answer")
_HYPOTHESIS = ("hypothesis", "hypothesis_question", "reference_answer")
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
class LabelledPairs:
    """Pairs with the truth of "the first entails the second".

    Attributes
    ----------
    name
        Of the file, without its endings.
    pairs
        (premise, hypothesis, 1 or 0).
    skipped
        Rows without a usable label.
    contradictions
        Positions in `pairs` of those that were labelled as contradictions.
    """

    name: str
    pairs: tuple[tuple[str, str, int], ...]
    skipped: int = 0
    contradictions: frozenset[int] = frozenset()


def read_pairs(file: str | os.PathLike[str]) -> LabelledPairs:
    """Read a table of labelled pairs.

    Columns ``premise, hypothesis, label`` (entailment; neutral, contradiction, not_entailment) say one direction; columns ``text_a, text_b,
    judgement`` (same or different, the sheet of ``softirr audit sample``) say both: two texts that mean the same entail each other, for two
    that do not, neither entails the other. Columns ``first, second, gold`` (equivalent, different, first entails second, second entails
    first: the challenge set) say both directions.

    Raises
    ------
    InputError
        If the columns are others, or no row is usable.
    """
    path = Path(file)
    if not path.is_file():
        raise InputError(f"{path} is not a file of labelled pairs.")
    pairs: list[tuple[str, str, int]] = []
    contradictions: set[int] = set()
    skipped = 0
    for line, row in read_table(path):
        premise = next((row[c] for c in _PREMISE if c in row), None)
        hypothesis = next((row[c] for c in _HYPOTHESIS if c in row), None)
        label = row.get("label", row.get("accuracy"))
        both = False
        if premise is None and {"first", "second", "gold"} <= row.keys():
            pairs.extend(_told(path, line, row))
            continue
        if premise is None and "text_a" in row:
            # a sheet for people: an apostrophe keeps a text such as "-fever" from being a formula
            premise, hypothesis = (
                None if cell is None else cell_text(cell) for cell in (row["text_a"], row.get("text_b"))
            )
            label, both = row.get("judgement"), True
        if premise is None or hypothesis is None or label is None:
            raise InputError(
                f"{path}, line {line}: labelled pairs need the columns premise, hypothesis, label or text_a, text_b, judgement."
            )
        word = label.strip().casefold()
        truth = (_JUDGED if both else _ENTAILED | _NOT_ENTAILED).get(word)
        premise, hypothesis = normalise(premise), normalise(hypothesis)
        if truth is None or not premise or not hypothesis:
            skipped += 1
            continue
        if word.startswith("contradict"):
            contradictions.add(len(pairs))
        pairs.append((premise, hypothesis, truth))
        if both:
            pairs.append((hypothesis, premise, truth))
    if not pairs:
        raise InputError(f"{path} holds no pair with a usable label.")
    return LabelledPairs(path.name.split(".")[0], tuple(pairs), skipped, frozenset(contradictions))


def _told(path: Path, line: int, row: dict[str, str]) -> list[tuple[str, str, int]]:
    truth = _TOLD.get(row["gold"].strip().casefold())
    if truth is None:
        raise InputError(f"{path}, line {line}: the gold column says none of {', '.join(_TOLD)}.")
    one, other = normalise(row["first"]), normalise(row["second"])
    return [(one, other, truth[0]), (other, one, truth[1])]
