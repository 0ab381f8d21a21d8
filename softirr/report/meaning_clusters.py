"""Clusters of equivalent texts over a whole table, and who uses them.

Texts of different items are compared if they are spelled alike, or if other pairs link them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softirr.answers.ratings import Ratings
from softirr.answers.table import AnnotationTable
from softirr.defaults import THRESHOLD
from softirr.json_object import JsonObject
from softirr.meaning.policy.attributes import LONGEST
from softirr.statistics.matching.answer_scorer import AnswerScorer
from softirr.statistics.matching.grouping import equivalent_groups, linked_groups

Pairs = NDArray[np.int64]

NEIGHBORS = 10
"""Texts that each text is compared with because they are spelled alike."""

ALIKE = 55.0
"""Lowest similarity of spelling, of 100, at which texts are compared."""

MOST_ALIKE = 20_000
"""Distinct texts, the most frequent ones, among which those spelled alike are looked for."""

MOST_BETWEEN = 20_000
"""Further pairs, between texts that other pairs link already."""

_COMPLETED = 60
"""Groups of linked texts with all of their pairs compared."""

_CUTS = (THRESHOLD, 0.6, 0.7, 0.8, 0.9, 0.95)

_NO_PAIRS: Pairs = np.zeros((0, 2), dtype=np.int64)
_BLOCK = 256
_NEGLIGIBLE = 0.01
_SHORTENED = re.compile(r"\b(?:[A-Z]{2,4}|[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{2,4})\b|\b[A-Za-z]{2,5}\.(?=\s+[a-z])")
_LONGEST_PREFIX = 5


def pairs_spelled_alike(texts: Sequence[str], counts: Sequence[int]) -> Pairs:
    """Pairs of each text with those spelled most alike, among the most frequent texts.

    Parameters
    ----------
    counts : sequence of int
        How often each text occurs.

    Returns
    -------
    ndarray of int, shape (n, 2)
        Numbers of the texts, the smaller one first.
    """
    order = sorted(range(len(texts)), key=lambda text: (-counts[text], texts[text]))
    frequent = np.array(sorted(order[:MOST_ALIKE]), dtype=np.int64)
    blocks = _blocks([texts[text][:LONGEST].casefold() for text in frequent.tolist()])
    pairs = frequent[np.concatenate([_NO_PAIRS, *blocks])]
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _blocks(texts: Sequence[str]) -> Iterator[Pairs]:
    from rapidfuzz.fuzz import token_sort_ratio
    from rapidfuzz.process import cdist

    for start in range(0, len(texts), _BLOCK):
        rows = texts[start : start + _BLOCK]
        scores = cdist(rows, texts, scorer=token_sort_ratio, score_cutoff=ALIKE, dtype=np.float32)
        scores[np.arange(len(rows)), start + np.arange(len(rows))] = 0.0
        n_nearest = min(NEIGHBORS, len(texts) - 1)
        nearest = np.argpartition(-scores, n_nearest, axis=1)[:, :n_nearest]
        row, rank = np.nonzero(np.take_along_axis(scores, nearest, axis=1) > 0)
        yield np.stack([start + row, nearest[row, rank]], axis=1)


def pairs_between(n: int, pairs: Pairs, p: NDArray[np.float64]) -> Pairs:
    """Pairs that were not compared between texts that equivalent pairs link, up to ``MOST_BETWEEN``.

    Where very many texts are linked, those that only higher equivalences link are completed.

    Parameters
    ----------
    n : int
        Number of texts.
    pairs : ndarray of int, shape (k, 2)
        Pairs that were compared.
    p : ndarray, shape (k,)
        Equivalence of each.

    Returns
    -------
    ndarray of int, shape (m, 2)
        Numbers of the texts, the smaller one first.
    """
    new_pairs = [_NO_PAIRS]
    for group in linked_groups(n, pairs, p, cuts=_CUTS, largest=_COMPLETED):
        if 2 <= len(group) <= _COMPLETED:
            later, earlier = np.tril_indices(len(group), -1)
            texts = np.sort(group)
            new_pairs.append(np.stack([texts[earlier], texts[later]], axis=1))
    between = np.concatenate(new_pairs)
    is_known = np.isin(between @ [n, 1], pairs @ [n, 1])
    return between[~is_known][:MOST_BETWEEN]


@dataclass(frozen=True)
class MeaningCluster(JsonObject):
    """A group of equivalent texts.

    Attributes
    ----------
    name : str
        Its most frequent text without abbreviations.
    texts : dict of str to int
        Its texts and the number of answers with each, the most frequent first.
    raters : dict of str to int
        Number of answers with one of its texts, by rater.
    items : tuple of str
        Items with an answer that contains one of its texts.
    count : int
        Number of answers with one of its texts, counted for each text.
    """

    name: str
    texts: dict[str, int]
    raters: dict[str, int]
    items: tuple[str, ...]
    count: int


def meaning_clusters(answers: AnswerScorer) -> tuple[MeaningCluster, ...]:
    """Cluster the texts of a table by their equivalence.

    Compared are texts of the same item by different raters, texts that are spelled alike, and texts that such pairs
    link. All other pairs count as different.

    Parameters
    ----------
    answers : AnswerScorer
        Scorer of the table's answers.

    Returns
    -------
    tuple of MeaningCluster
        The most frequent first.

    Examples
    --------
    >>> import softirr
    >>> from softirr.meaning.measures.pairs import PairScorer
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "Fever"), ("2", "ann", "fever")]
    >>> rows += [("2", "bob", "dry cough"), ("3", "ann", "dry coughs")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> scorer = PairScorer(softirr.measure("indel"), table.texts, cache=None, progress=None)
    >>> [list(cluster.texts) for cluster in meaning_clusters(AnswerScorer(table, scorer))]
    [['fever', 'Fever'], ['dry cough', 'dry coughs']]
    """
    table, scorer = answers.table, answers.scorer
    uses = _uses(table)
    counts = [by_rater.total() for by_rater, _ in uses]
    alike = pairs_spelled_alike(table.texts, counts)
    of_items = np.stack(answers.text_pairs_of_items(Ratings.of(table)), axis=1)
    pairs = np.unique(np.concatenate([of_items[of_items[:, 0] < of_items[:, 1]], alike]), axis=0)
    p = scorer.score(pairs[:, 0], pairs[:, 1]) if len(pairs) else np.zeros(0)
    more = pairs_between(len(table.texts), pairs, p)
    if len(more):
        p, pairs = np.concatenate([p, scorer.score(more[:, 0], more[:, 1])]), np.concatenate([pairs, more])
    pairs, p = pairs[p > _NEGLIGIBLE], p[p > _NEGLIGIBLE]
    groups = equivalent_groups(pairs, p, weight=counts)
    central = _centrality(groups, pairs, p, len(table.texts)).round(6).tolist()

    def by_frequency(text: int) -> tuple[Any, ...]:
        return (-counts[text], -central[text], len(table.texts[text]), table.texts[text])

    clusters = [_cluster(table, sorted(group, key=by_frequency), uses) for group in groups]
    return tuple(sorted(clusters, key=lambda cluster: (-cluster.count, cluster.name)))


def _uses(table: AnnotationTable) -> list[tuple[Counter[int], set[int]]]:
    """For each text, the number of answers with it by rater, and the items of these answers."""
    uses: list[tuple[Counter[int], set[int]]] = [(Counter(), set()) for _ in table.texts]
    for item, rater, answer in zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True):
        for text in table.answers[answer]:
            by_rater, items = uses[text]
            by_rater[rater] += 1
            items.add(item)
    return uses


def _centrality(groups: Sequence[Sequence[int]], pairs: Pairs, p: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Sum of each text's equivalence with the other texts of its group."""
    group_of: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
    for number, group in enumerate(groups):
        group_of[list(group)] = number
    within = group_of[pairs[:, 0]] == group_of[pairs[:, 1]]
    sums = [np.bincount(pairs[within, side], p[within], n) for side in (0, 1)]
    return np.asarray(sums[0] + sums[1])


def _cluster(
    table: AnnotationTable, texts: Sequence[int], uses: Sequence[tuple[Counter[int], set[int]]]
) -> MeaningCluster:
    """A cluster of texts, the most frequent first."""
    wordings = [table.texts[text] for text in texts]
    counts = {table.texts[text]: uses[text][0].total() for text in texts}
    by_rater = sum((uses[text][0] for text in texts), Counter[int]())
    items = set[int]().union(*(uses[text][1] for text in texts))
    return MeaningCluster(
        min(wordings, key=lambda text: _abbreviations(text, wordings)),
        counts,
        {table.raters[rater]: n for rater, n in sorted(by_rater.items())},
        tuple(table.items[item] for item in sorted(items)),
        sum(counts.values()),
    )


def _abbreviations(text: str, cluster: Sequence[str]) -> int:
    """Number of words that look shortened: a few capitals, no vowel, a period, or the start of another text's word.

    Examples
    --------
    >>> [_abbreviations(text, ["dig tox", "digoxin toxicity"]) for text in ("dig tox", "digoxin toxicity", "SOB")]
    [2, 0, 1]
    """
    words = {word for cluster_text in cluster for word in cluster_text.casefold().split()}
    prefixes = sum(
        any(word != longer and longer.startswith(word) for longer in words)
        for word in text.casefold().split()
        if 2 <= len(word) <= _LONGEST_PREFIX and f"{word}s" not in words
    )
    return len(_SHORTENED.findall(text)) + prefixes
