"""How the answers to an item are distributed over meanings: soft labels, and their entropy.

A meaning is a group of equivalent texts of different raters, made from the matches of a report. Each rater has a weight
of 1, which their texts share equally; an empty answer is a separate meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

from softirr.defaults import THRESHOLD
from softirr.statistics.matching.grouping import equivalent_groups

__all__ = ["Meaning", "entropy", "meanings", "soft_label"]


@dataclass(frozen=True)
class Meaning:
    """A meaning of an item.

    Attributes
    ----------
    wording : str
        Its most frequent text; empty where raters found nothing.
    texts : tuple of str
        Its distinct texts.
    raters : int
        Raters who gave one of them.
    share : float
        Weight of these texts; the shares of an item add up to 1.
    """

    wording: str
    texts: tuple[str, ...]
    raters: int
    share: float


def meanings(item: Mapping[str, Any]) -> tuple[Meaning, ...]:
    """The meanings of an item.

    Parameters
    ----------
    item : mapping
        An entry of ``items`` of ``AgreementReport.to_dict()``.

    Returns
    -------
    tuple of Meaning
        The largest share first; empty where nobody answered.
    """
    groups: list[list[tuple[str, str]]] = []
    for match in item["matches"]:
        rater_texts = list(match["texts"].items())
        rater_index = {rater: n for n, (rater, _) in enumerate(rater_texts)}
        pairs = match.get("pairs") or [{"raters": list(rater_index), "equivalence": match["equivalence"]}]
        left_texts, right_texts = zip(
            *(sorted(rater_index[rater] for rater in pair["raters"]) for pair in pairs), strict=True
        )
        p = [pair["equivalence"] for pair in pairs]
        split, _ = equivalent_groups(left_texts, right_texts, p, weight=[1.0] * len(rater_texts), threshold=THRESHOLD)
        groups += [[rater_texts[n] for n in group] for group in split]
    groups += [[(rater, text)] for rater, texts in item["unmatched"].items() for text in texts]
    texts_of = Counter(rater for group in groups for rater, _ in group)
    n_raters, empty = item["n_raters"], item["n_raters"] - len(texts_of)
    result = [_meaning(group, texts_of, n_raters) for group in groups]
    if empty > 0:
        result.append(Meaning("", (), empty, empty / n_raters))
    return tuple(sorted(result, key=lambda meaning: (-meaning.share, meaning.wording)))


def _meaning(group: Sequence[tuple[str, str]], texts_of: Mapping[str, int], n_raters: int) -> Meaning:
    counts = Counter(text for _, text in group)
    wording = min(counts, key=lambda text: (-counts[text], len(text), text))
    return Meaning(wording, tuple(counts), len(group), sum(1 / texts_of[rater] for rater, _ in group) / n_raters)


def entropy(item: Sequence[Meaning]) -> float | None:
    """Entropy of an item's meanings in bits: 0 if all raters mean the same.

    Returns
    -------
    float or None
        None if nobody answered.

    Examples
    --------
    >>> entropy([Meaning("fever", ("fever",), 1, 0.5), Meaning("cough", ("cough",), 1, 0.5)])
    1.0
    """
    return sum(-meaning.share * log2(meaning.share) for meaning in item) + 0.0 if item else None


def soft_label(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item's distribution over meanings, for those who train on disagreement: a line of ``soft_labels.jsonl``.

    Parameters
    ----------
    item : mapping
        As for :func:`meanings`.
    """
    item_meanings = meanings(item)
    labels = [{"text": meaning.wording, "share": meaning.share} for meaning in item_meanings]
    return {"item": item["id"], "entropy": entropy(item_meanings), "labels": labels}
