"""Entailment between paragraphs, sentence by sentence.

A model that reads two paragraphs at once finds the same words in both and overlooks which sentence says "no". So a
paragraph follows from another one only if each of its sentences follows from a sentence of the other, from the two
sentences nearest to it, or from all of it: the minimum over hypothesis sentences of the maximum over premises, as in
the zero-shot method of Laban et al. (2022), SummaC, TACL 10, section 3.2, which takes the mean in place of the minimum.
The two nearest are for "fever and itching" after "There is fever. There is no rash. There is itching."
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.measures.pair_plan import each_once
from softirr.text import sentences

__all__ = ["MOST_SENTENCES", "NEAREST", "SentencePlan"]

MOST_SENTENCES = 100
"""Sentences of a text that are asked about one by one.

The rest is one more, which the model reads as far as it can and counts as cut.
"""
NEAREST = 4
"""Most sentences of a premise that are asked about one sentence: those that share most words with it.

More would cost the square of a text's length.
"""


@dataclass(frozen=True, eq=False)
class SentencePlan:
    """What a model is asked so that paragraphs are compared sentence by sentence.

    Attributes
    ----------
    texts
        The texts of the pairs, followed by sentences.
    left, right : shape (q,)
        Premise and hypothesis of each question as indices, each question once.
    whole : shape (q,)
        Whether the premise is a text of several sentences.
    """

    texts: tuple[str, ...]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    whole: NDArray[np.bool_]
    _asked: NDArray[np.int64]  # for each use of a question its place; -1 where premise and hypothesis are the same
    _sentence: NDArray[np.int64]  # where the uses of a sentence begin
    _pair: NDArray[np.int64]  # where the sentences of a pair begin

    @classmethod
    def of(cls, texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64]) -> SentencePlan | None:
        """The plan of directed pairs of normalized texts.

        Parameters
        ----------
        texts
            Each once.
        left, right : shape (n,)
            Premise and hypothesis as indices.

        Returns
        -------
        SentencePlan or None
            None if no text has more than one sentence.
        """
        parts = {int(k): sentences for k in np.union1d(left, right) if len(sentences := _sentences(texts[k])) > 1}
        if not parts:
            return None
        numbers = {text: number for number, text in enumerate(texts)}
        uses: list[tuple[int, int]] = []
        sentence_starts: list[int] = []
        pair_starts: list[int] = []
        for premise, hypothesis in zip(left.tolist(), right.tolist(), strict=True):
            pair_starts.append(len(sentence_starts))
            for sentence in parts.get(hypothesis, (texts[hypothesis],)):
                sentence_starts.append(len(uses))
                hypothesis_number = numbers.setdefault(sentence, len(numbers))
                near = [numbers.setdefault(one, len(numbers)) for one in _premises(sentence, parts.get(premise, ()))]
                uses += [(one, hypothesis_number) for one in (*near, premise)]
        premises, hypotheses, places = each_once(*np.array(uses, dtype=np.int64).T)
        return cls(
            tuple(numbers),
            premises,
            hypotheses,
            np.isin(premises, list(parts)),
            places,
            np.array(sentence_starts, dtype=np.int64),
            np.array(pair_starts, dtype=np.int64),
        )

    def combine(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(premise ⇒ hypothesis) of each pair, shape (n,), from the questions' values, shape (q,)."""
        best = np.maximum.reduceat(np.append(values, 1.0)[self._asked], self._sentence)
        result: NDArray[np.float64] = np.minimum.reduceat(best, self._pair)
        return result

    def cut(self, truncated: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which pairs hold a sentence that was cut, shape (n,).

        A premise that was cut as a whole is there in its sentences too.
        """
        uses = np.append(truncated & ~self.whole, False)[self._asked]
        return np.logical_or.reduceat(np.logical_or.reduceat(uses, self._sentence), self._pair)


def _sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, the last of very many as one."""
    every = sentences(text)
    return (
        every if len(every) <= MOST_SENTENCES else (*every[: MOST_SENTENCES - 1], " ".join(every[MOST_SENTENCES - 1 :]))
    )


def _premises(sentence: str, text: Sequence[str]) -> list[str]:
    """The sentences of a text that share most words with a sentence, and the nearest two of more as one premise."""
    if len(text) < 3:
        return list(text)
    from rapidfuzz import fuzz, process

    nearest = process.extract(sentence, text, scorer=fuzz.token_set_ratio, limit=NEAREST)
    two = sorted(place for _, _, place in nearest[:2])
    return [*(one for one, _, _ in nearest), " ".join(text[place] for place in two)]
