"""Kinds of disagreement between annotators, with their texts, and which annotators write more general texts.

The kinds are those of Wullschleger et al. (2026), "Consensus Measures for Unstructured Biomedical Text Annotations", section "Error
Analysis".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softirr.matching.assignment import optimal
from softirr.matching.consensus import KINDS, disagreement
from softirr.measures.pairs import PairScorer

if TYPE_CHECKING:
    from softirr.measures import Measure
    from softirr.report.agreement import ItemAgreement

MOST_PAIRS = 20  # text pairs shown of each kind
MOST_TASKS = 40  # tasks named for each

_Text = tuple[str, str]  # rater, text


def disagreements(
    items: Iterable[ItemAgreement], measure: Measure, *, threshold: float = 0.5, cache: Any = None
) -> dict[str, Any]:
    """Kinds of disagreement over the items of a project.

    Two raters' texts are compared where they belong to one match, and unmatched texts where the optimal assignment between two raters pairs
    them. Pairs that are not equivalent are disagreements.

    Parameters
    ----------
    items : iterable of ItemAgreement
    measure : Measure
        The measure that the items were scored with.
    threshold : float
        Lowest equivalence of two matching texts.

    Returns
    -------
    dict
        ``{"kinds": [{"kind", "n", "pairs": [{"texts": [a, b], "n", "tasks"}]}], "tendency": {rater: {"general", "specific"}},
        "directional"}``; the more general text of a generalization is first.
    """
    compared: list[tuple[str, _Text, _Text]] = []
    left: list[tuple[str, list[_Text], list[_Text]]] = []
    for item in items:
        for match in item.matches:
            compared += [(item.id, one, other) for one, other in combinations(match.texts.items(), 2)]
        for a, b in combinations([rater for rater, texts in item.unmatched.items() if texts], 2):
            left.append((item.id, [(a, t) for t in item.unmatched[a]], [(b, t) for t in item.unmatched[b]]))
    named = [one[1] for _, *pair in compared for one in pair] + [
        t for _, *sides in left for side in sides for _, t in side
    ]
    texts = sorted(set(named))
    place = {text: number for number, text in enumerate(texts)}
    scorer = PairScorer(measure, texts, cache=cache)
    for id, first, second in left:
        rows, cols = _places(first, place), _places(second, place)
        weights = scorer.score(np.repeat(rows, len(cols)), np.tile(cols, len(rows))).reshape(len(rows), len(cols))
        compared += [(id, first[i], second[j]) for i, j in zip(*optimal(weights), strict=True)]
    rows, cols = _places([one for _, one, _ in compared], place), _places([other for *_, other in compared], place)
    equivalence = scorer.score(rows, cols)
    directions = scorer.entail(rows, cols)
    found = _Found()
    for n, (id, one, other) in enumerate(compared):
        forward, backward = (None, None) if directions is None else directions[n].tolist()
        kind = disagreement(one[1], other[1], float(equivalence[n]), forward, backward, threshold=threshold)
        if kind == "generalisation" and forward is not None and backward is not None:
            # the text that entails the other is the narrower one
            found.generalisation(id, *((other, one) if forward >= backward else (one, other)))
        elif kind is not None:
            found.add(kind, id, one[1], other[1])
    return found.to_dict(directional=scorer.directional)


def _places(texts: Sequence[_Text], place: Mapping[str, int]) -> NDArray[np.int64]:
    return np.array([place[text] for _, text in texts], dtype=np.int64)


class _Found:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.pairs: dict[str, Counter[tuple[str, str]]] = {kind: Counter() for kind in KINDS}
        self.tasks: dict[tuple[str, tuple[str, str]], dict[str, None]] = {}
        self.general: Counter[str] = Counter()
        self.specific: Counter[str] = Counter()

    def add(self, kind: str, item: str, a: str, b: str, *, ordered: bool = False) -> None:
        pair = (a, b) if ordered or a <= b else (b, a)
        self.counts[kind] += 1
        self.pairs[kind][pair] += 1
        tasks = self.tasks.setdefault((kind, pair), {})
        if len(tasks) < MOST_TASKS:
            tasks[item] = None

    def generalisation(self, item: str, broad: tuple[str, str], narrow: tuple[str, str]) -> None:
        self.add("generalisation", item, broad[1], narrow[1], ordered=True)
        self.general[broad[0]] += 1
        self.specific[narrow[0]] += 1

    def to_dict(self, *, directional: bool) -> dict[str, Any]:
        kinds = []
        for kind in KINDS:
            top = sorted(self.pairs[kind].items(), key=lambda entry: (-entry[1], entry[0]))[:MOST_PAIRS]
            pairs = [{"texts": list(pair), "n": n, "tasks": list(self.tasks[kind, pair])} for pair, n in top]
            kinds.append({"kind": kind, "n": self.counts[kind], "pairs": pairs})
        raters = sorted({*self.general, *self.specific})
        tendency = {rater: {"general": self.general[rater], "specific": self.specific[rater]} for rater in raters}
        return {"kinds": kinds, "tendency": tendency, "directional": directional}
