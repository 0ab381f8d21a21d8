"""Pairs of texts with a known truth: judged in an audit, decided by a reviewer, or known to a terminology."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from softirr.answers.ratings import Floats, Ints
from softirr.meaning.measures import Measure
from softirr.meaning.measures.arrays import find_keys, pair_keys
from softirr.meaning.measures.known_pairs import Terminologies, decisions_of, sources_of
from softirr.text import normalize


@dataclass(frozen=True, eq=False)
class FormerPairs:
    """Judged pairs of texts that are no longer pairs of the table.

    They inform the calibration of the measure and nothing else.

    Attributes
    ----------
    p : shape (n,)
        The measure's P.
    same : shape (n,)
        1 for the same meaning, 0 for different ones, in between if judges differ.
    of_item : shape (n,)
        Whether the texts were of answers to the same item.
    """

    p: Floats = field(default_factory=lambda: np.zeros(0))
    same: Floats = field(default_factory=lambda: np.zeros(0))
    of_item: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def part(self, *, of_item: bool) -> tuple[Floats, Floats]:
        """P and judgment of the pairs of the same item, or of different ones."""
        selected = self.of_item == of_item
        return self.p[selected], self.same[selected]


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged pairs of texts.

    Attributes
    ----------
    keys : shape (n,)
        ``low * n_texts + high`` of the numbers of the two texts, ascending.
    same : shape (n,)
        1 for the same meaning, 0 for different ones, in between if judges differ.
    p : shape (n,)
        The measure's P.
    n_texts : int
        Number of texts of the table; part of the encoding of ``keys``.
    former : FormerPairs
        Judged pairs that are no longer pairs of the table.
    """

    keys: Ints
    same: Floats
    p: Floats
    n_texts: int
    former: FormerPairs = field(default_factory=FormerPairs)

    @classmethod
    def nothing(cls, n_texts: int) -> Judged:
        """No judgments."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), n_texts)

    def place(self, left_texts: Ints, right_texts: Ints) -> Ints:
        """Number of the judgment of each pair of texts, -1 without one, shape (len(left_texts),)."""
        index, is_judged = find_keys(self.keys, pair_keys(left_texts, right_texts, self.n_texts))
        return np.where(is_judged, index, -1)


def known_pairs(measure: Measure, texts: tuple[str, ...]) -> Callable[[Ints, Ints], Floats] | None:
    """The truth of pairs of texts, from terminologies and reviewers' decisions.

    Returns
    -------
    callable or None
        Takes two arrays of text numbers and returns, for each pair, 1 if the texts are known to mean the same, 0 if
        they are known to differ, and nan if unknown. None if the measure has neither terminologies nor decisions.
    """
    decided = {pair: float(is_same) for pair, is_same in decisions_of(measure).items()}
    terms = measure.stage(Terminologies)
    if not decided and terms is None:
        return None
    normalized = [normalize(text) for text in texts]

    def truth(left_texts: Ints, right_texts: Ints) -> Floats:
        keys, inverse = np.unique(pair_keys(left_texts, right_texts, len(texts)), return_inverse=True)
        pairs = [(normalized[i], normalized[j]) for i, j in (divmod(key, len(texts)) for key in keys.tolist())]
        values = np.full(len(keys), np.nan)
        if terms is not None and pairs:
            sources = enumerate(sources_of(measure, pairs))
            in_terminology = [index for index, source in sources if source == "terminology"]
            if in_terminology:
                values[in_terminology] = measure.score([pairs[index] for index in in_terminology]) > 0.5
        for index, (first, second) in enumerate(pairs if decided else ()):
            values[index] = decided.get((min(first, second), max(first, second)), values[index])
        return np.asarray(values[inverse])

    return truth
