"""Tables of what several people wrote about the same item.

A measure has to distinguish these answers, which are more alike than random pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np

from lab.experiments.tables.others import derm_ddx_cases, protoqa_questions
from lab.results_table import Table
from lab.train.develop import auroc, mean
from lab.train.set_aside_part import Part, in_part
from softirr.errors import InputError
from softirr.meaning.measures import Measure
from softirr.meaning.terminology import read_table
from softirr.text import normalize

__all__ = ["Item", "clusters", "read_crowd", "read_mentions", "read_readers", "same_item"]


@dataclass(frozen=True)
class Item:
    """What was written about one item.

    Attributes
    ----------
    answers
        Different texts (case-folded), each with what it means: two texts mean the same if they share a meaning.
    """

    id: str
    answers: tuple[tuple[str, frozenset[str]], ...]

    def pairs(self) -> Iterator[tuple[str, str, bool]]:
        """Each pair of its texts, and whether both mean the same."""
        for (a, one), (b, other) in combinations(self.answers, 2):
            yield a, b, not one.isdisjoint(other)


def read_crowd(file: Path) -> list[Item]:
    """Answers of a crowd to questions, clustered by hand."""
    return [
        _item(key, ((text, {cluster}) for cluster, texts in clusters.items() for text in texts))
        for key, _, clusters in protoqa_questions(file)
    ]


def read_readers(file: Path) -> list[Item]:
    """Conditions that dermatologists named for a case, from one list, in which each name is another condition."""
    return [
        _item(case, ((name, {name.casefold()}) for names in readers for name in names))
        for case, readers in derm_ddx_cases(file)
    ]


def read_mentions(file: Path) -> list[Item]:
    """Diseases mentioned in an abstract, with the ids of their concepts (NCBI disease corpus: Dogan et al. 2014)."""
    mentions: defaultdict[str, list[tuple[str, set[str]]]] = defaultdict(list)
    for _, row in read_table(file, ("pmid", "mention", "concept")):
        # several concepts of one mention: all of them (+) or any (|)
        mentions[row["pmid"]].append((row["mention"], set(row["concept"].replace("+", "|").split("|"))))
    return [_item(key, answers) for key, answers in mentions.items()]


READERS: tuple[tuple[str, Callable[[Path], list[Item]], str], ...] = (
    ("protoqa", read_crowd, "dev.crowdsourced.jsonl"),
    ("derm_ddx", read_readers, "derm_ddx.jsonl.gz"),
    ("ncbi_disease", read_mentions, "mentions.tsv.gz"),
)
"""Tables by the name of their folder, their reader and their file."""


def same_item(measure: Measure, folder: Path, part: Part | None = None, each: int = 10) -> Table:
    """Pairs that were written about the same item: whether the measure finds those that mean the same."""
    rows = []
    for name, read, file in READERS:
        items = [item for item in _some(read, folder / name / file) if in_part(f"{name}/{item.id}", part)]
        pairs: dict[tuple[str, str], bool] = {}
        for item in items:
            rng = Random(item.id)
            drawn = list(item.pairs())
            for held in (True, False):
                mine = [(a, b) for a, b, same in drawn if same == held]
                pairs.update((pair, held) for pair in rng.sample(mine, min(each, len(mine))))
        p = measure.score(list(pairs)) if pairs else np.empty(0)
        same = np.array(list(pairs.values()), dtype=bool)
        rows.append(
            (
                name,
                len(items),
                int(same.sum()),
                int((~same).sum()),
                auroc(p[same], p[~same]),
                mean(p[same]),
                mean(p[~same]),
                mean(p[~same] >= 0.5),
            )
        )
    return Table(
        "Answers about the same item",
        ("set", "items", "same", "others", "AUROC", "P same", "P others", "others called equivalent"),
        tuple(rows),
        f"Pairs of different texts about one item, up to {each} that mean the same and {each} that do not; each "
        "pair of texts once. "
        "derm_ddx: names from one list, so that all pairs differ.",
    )


def clusters(measure: Measure, file: Path, each: int = 200, part: Part | None = None) -> Table:
    """Answers of a crowd, clustered by hand: pairs of one cluster against pairs of two."""
    rng = Random(0)
    values: list[float] = []
    same_scores, other_scores = [], []
    for item in read_crowd(file):
        pairs = list(item.pairs())
        same, other = [p for p in pairs if p[2]], [p for p in pairs if not p[2]]
        same, other = rng.sample(same, min(each, len(same))), rng.sample(other, min(each, len(other)))
        if not same or not other or not in_part(f"protoqa/{item.id}", part):
            continue
        p = measure.score([(a, b) for a, b, _ in (*same, *other)])
        same_scores.append(p[: len(same)])
        other_scores.append(p[len(same) :])
        values.append(auroc(same_scores[-1], other_scores[-1]) or 0.0)
    if not values:
        raise InputError(f"{file} contains no clustered answers.")
    pooled = auroc(np.concatenate(same_scores), np.concatenate(other_scores))
    return Table(
        "Clusters of crowd answers",
        ("questions", "AUROC, all pairs", "AUROC, mean of questions"),
        ((len(values), pooled, float(np.mean(values))),),
        f"Up to {each} pairs of one cluster and {each} of two for each question; identical strings left out.",
    )


def _item(key: str, answers: Iterable[tuple[str, Iterable[str]]]) -> Item:
    """Texts that differ in case only are one, with the meanings of all."""
    texts: dict[str, str] = {}
    meanings: defaultdict[str, set[str]] = defaultdict(set)
    for answer, means in answers:
        text = normalize(answer)
        texts.setdefault(text.casefold(), text)
        meanings[text.casefold()].update(means)
    return Item(key, tuple((text, frozenset(meanings[folded])) for folded, text in texts.items() if text))


def _some(read: Callable[[Path], list[Item]], file: Path) -> list[Item]:
    items = read(file)
    if not items:
        raise InputError(f"{file} has no answers.")
    return items
