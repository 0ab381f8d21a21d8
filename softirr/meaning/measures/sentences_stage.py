"""The stage that compares texts of several sentences sentence by sentence.

A model that reads two paragraphs at once finds the same words in both and overlooks the sentence with "no". Two
paragraphs are therefore compared as sets of sentences: their equivalence is the equivalence of the best assignment. A single
sentence is compared with each sentence of a paragraph and with all of it: the paragraph follows if each of its
sentences does, and the single sentence follows from the best premise, as in the zero-shot method of Laban et al.
(2022), SummaC, TACL 10, section 3.2, with the minimum in place of the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.measures.arrays import Floats, Ints, mutual, with_equivalence
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.stages import AskBlock, PreparedStage, Stage, Step
from softirr.text import sentences

__all__ = ["MOST_SENTENCES", "Sentences", "compares_sentences", "without_sentences"]

MOST_SENTENCES = 50
"""Maximum number of sentences of a text; the last one contains the remainder of a longer text."""
ALL_PAIRS = 4
"""Number of pairs of sentences up to which all are compared; of more only those that are near each other."""


class Sentences(Stage):
    """Texts of several sentences are compared sentence by sentence.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> by_sentence = measure("exact").with_stage(Sentences())
    >>> by_sentence.score([("No fever. Dry cough. Rash.", "Dry cough. No fever.")]).round(2).tolist()
    [0.8]
    """

    rank = 2
    has_directions = True

    def prepare(self, texts: Sequence[str], different: Callable[[], float]) -> PreparedStage:
        """The sentences of the texts."""
        return _Paragraphs(texts)


@dataclass(frozen=True, eq=False)
class _Compared:
    """Two texts, at least one with several sentences: index of the pair, and the pairs of sentences to score."""

    index: int
    sizes: tuple[int, int]
    rows: Ints
    columns: Ints

    def directions(self, values: Floats) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a), shape (1, 2), from the directions of the pairs of sentences."""
        n, m = self.sizes
        if min(n, m) == 1:  # the last pair has the whole paragraph
            sentence_values, paragraph_values = values[:-1], values[-1]
            forward = sentence_values[:, 0].min() if n == 1 else max(sentence_values[:, 0].max(), paragraph_values[0])
            backward = sentence_values[:, 1].min() if m == 1 else max(sentence_values[:, 1].max(), paragraph_values[1])
            return np.array([[forward, backward]])
        from scipy.optimize import linear_sum_assignment

        table = np.zeros((n, m))
        table[self.rows, self.columns] = mutual(values)
        row, column = linear_sum_assignment(table, maximize=True)
        matched = np.zeros((n, m, 2))
        matched[self.rows, self.columns] = values
        covered = matched[row, column].sum(axis=0) / (m, n)
        return with_equivalence(covered[None, :], np.array([2 * table[row, column].sum() / (n + m)]))


class _Paragraphs(PreparedStage):
    def __init__(self, texts: Sequence[str]) -> None:
        numbers = {text: number for number, text in enumerate(texts)}
        self._parts: dict[int, list[int]] = {}
        for number, text in enumerate(texts):
            text_sentences = _sentences(text)
            if len(text_sentences) > 1:
                self._parts[number] = [numbers.setdefault(sentence, len(numbers)) for sentence in text_sentences]
        self.texts = list(numbers)
        self._has_parts = np.zeros(len(self.texts), dtype=bool)
        self._has_parts[list(self._parts)] = True

    def step(self, left: Ints, right: Ints) -> Step:
        """Ask about sentences in place of paragraphs."""
        is_compared = (self._has_parts[left] | self._has_parts[right]) & (left != right)
        if not is_compared.any():
            return Step(left, right, lambda values: values)
        is_single = np.flatnonzero(~is_compared)
        first, second, compared = [left[is_single]], [right[is_single]], []
        for index in np.flatnonzero(is_compared).tolist():
            a, b = int(left[index]), int(right[index])
            pair, left_sentences, right_sentences = self._compare(index, a, b)
            compared.append(pair)
            first.append(left_sentences)
            second.append(right_sentences)

        def combine(values: Floats) -> Floats:
            result = np.empty((len(left), 2), dtype=np.float64)
            result[is_single] = values[: len(is_single)]
            start = len(is_single)
            for pair, sentence_pairs in zip(compared, first[1:], strict=True):
                result[pair.index] = pair.directions(values[start : start + len(sentence_pairs)])
                start += len(sentence_pairs)
            return result

        return Step(np.concatenate(first), np.concatenate(second), combine)

    def block(self, rows: Ints, columns: Ints, ask: AskBlock) -> NDArray[np.float32]:
        """Measures with blocks compare whole texts."""
        return ask(rows, columns)

    def _compare(self, index: int, a: int, b: int) -> tuple[_Compared, Ints, Ints]:
        left_numbers, right_numbers = self._parts.get(a, [a]), self._parts.get(b, [b])
        rows, columns = self._near(left_numbers, right_numbers)
        first, second = np.array(left_numbers, dtype=np.int64)[rows], np.array(right_numbers, dtype=np.int64)[columns]
        if min(len(left_numbers), len(right_numbers)) == 1:
            first, second = np.append(first, a), np.append(second, b)
        return _Compared(index, (len(left_numbers), len(right_numbers)), rows, columns), first, second

    def _near(self, left_numbers: Sequence[int], right_numbers: Sequence[int]) -> tuple[Ints, Ints]:
        """Pairs of sentences to score: those with most words in common, and those in the same place."""
        n, m = len(left_numbers), len(right_numbers)
        if n * m <= ALL_PAIRS or min(n, m) == 1:
            row, column = np.indices((n, m)).reshape(2, -1)
            return row, column
        from rapidfuzz import fuzz, process

        alike = process.cdist(
            [self.texts[k] for k in left_numbers],
            [self.texts[k] for k in right_numbers],
            scorer=fuzz.token_set_ratio,
            workers=1,
        )
        is_near = np.zeros((n, m), dtype=bool)
        is_near[np.arange(n), alike.argmax(axis=1)] = True
        is_near[alike.argmax(axis=0), np.arange(m)] = True
        shorter = np.arange(min(n, m))
        is_near[shorter, shorter] = True
        row, column = np.nonzero(is_near)
        return row, column


def _sentences(text: str) -> tuple[str, ...]:
    """The different sentences of a text, the last of very many as one."""
    parts = sentences(text)
    if len(parts) > MOST_SENTENCES:
        parts = (*parts[: MOST_SENTENCES - 1], " ".join(parts[MOST_SENTENCES - 1 :]))
    return tuple(dict.fromkeys(parts))


def compares_sentences(measure: Measure) -> bool:
    """Whether a measure compares paragraphs sentence by sentence."""
    return any(isinstance(stage, Sentences) for stage in measure.stages)


def without_sentences(measure: Measure) -> Measure:
    """The measure that reads paragraphs at once, as in the paper."""
    return measure.with_stages([stage for stage in measure.stages if not isinstance(stage, Sentences)])
