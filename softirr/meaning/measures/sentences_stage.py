"""The stage that compares texts of several sentences sentence by sentence.

A model that reads two paragraphs at once finds the same words in both and overlooks the sentence with "no". Two
paragraphs are therefore compared as sets of sentences: their equivalence is the equivalence of the best assignment.
Equal sentences are each other's counterparts. Of the others, two sentences match only if each follows from the
other by the model. The best of many small P would otherwise make long unrelated paragraphs similar.

A single sentence is compared with each sentence of a paragraph and with all of it: the paragraph follows if each of
its sentences does, and the single sentence follows from the best premise, as in the zero-shot method of Laban et al.
(2022), SummaC, TACL 10, section 3.2, with the minimum in place of the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from softirr.meaning.measures.arrays import Floats, Ints, with_equivalence
from softirr.meaning.measures.stages import AskPairs, PreparedStage, Stage
from softirr.text import sentences

MOST_SENTENCES = 50
"""Maximum number of sentences of a text; the last one contains the remainder of a longer text."""
ALL_PAIRS = 4
"""Number of pairs of sentences up to which all are compared; of more only those that are near each other."""
FOLLOWS = 0.5
"""Smallest P(a ⇒ b) of a sentence that follows from another."""
_ONE_WAY = 1e-6
"""Weight of pairs that follow one way only, which are assigned after all pairs that match."""
_DISTANCE = 6
"""Similarity, of 100, that a pair of sentences loses if one begins its paragraph and the other ends it."""


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


class _Paragraphs(PreparedStage):
    def __init__(self, texts: Sequence[str]) -> None:
        numbers = {text: number for number, text in enumerate(texts)}
        self._parts: dict[int, list[int]] = {}
        for number, text in enumerate(texts):
            text_sentences = different_sentences(text)
            if len(text_sentences) > 1:
                self._parts[number] = [numbers.setdefault(sentence, len(numbers)) for sentence in text_sentences]
        self.texts = list(numbers)
        self._has_parts = np.zeros(len(self.texts), dtype=bool)
        self._has_parts[list(self._parts)] = True

    def directions(self, left_texts: Ints, right_texts: Ints, ask: AskPairs) -> Floats:
        """Ask about sentences in place of paragraphs."""
        is_compared = (self._has_parts[left_texts] | self._has_parts[right_texts]) & (left_texts != right_texts)
        if not is_compared.any():
            return ask(left_texts, right_texts)
        pairs = zip(left_texts[is_compared].tolist(), right_texts[is_compared].tolist(), strict=True)
        first, second, combine = zip(*(self._compare(a, b) for a, b in pairs), strict=True)
        first, second = (left_texts[~is_compared], *first), (right_texts[~is_compared], *second)
        values = ask(np.concatenate(first), np.concatenate(second))
        result = np.empty((len(left_texts), 2), dtype=np.float64)
        result[~is_compared], *sentence_directions = np.split(values, np.cumsum([*map(len, first)])[:-1])
        result[is_compared] = [combined(values) for combined, values in zip(combine, sentence_directions, strict=True)]
        return result

    def _compare(self, a: int, b: int) -> tuple[Ints, Ints, Callable[[Floats], Floats]]:
        """Pairs of sentences of two texts, and a function from their directions to the directions of the texts."""
        left_numbers, right_numbers = self._parts.get(a, [a]), self._parts.get(b, [b])
        sizes = len(left_numbers), len(right_numbers)
        rows, columns = near_sentences([self.texts[k] for k in left_numbers], [self.texts[k] for k in right_numbers])
        first, second = np.array(left_numbers)[rows], np.array(right_numbers)[columns]
        if min(sizes) == 1:
            return np.append(first, a), np.append(second, b), partial(_single_directions, sizes)
        # every sentence that is not equal is in a pair: the others are numbered without the equal ones
        rows, columns = (np.unique(numbers, return_inverse=True)[1] for numbers in (rows, columns))
        n_equal = len(set(left_numbers) & set(right_numbers))
        return first, second, partial(_set_directions, sizes, n_equal, rows, columns)


def _single_directions(sizes: tuple[int, int], values: Floats) -> Floats:
    """Directions of a single sentence and a paragraph, shape (2,); the last pair has the whole paragraph."""
    return np.where(np.array(sizes) == 1, values[:-1].min(axis=0), values.max(axis=0))


def _set_directions(sizes: tuple[int, int], n_equal: int, rows: Ints, columns: Ints, values: Floats) -> Floats:
    """Directions of two paragraphs, shape (2,), from the directions of pairs of sentences that only one of them has."""
    from scipy.optimize import linear_sum_assignment

    n, m = sizes
    following = np.zeros((n - n_equal, m - n_equal, 2))
    following[rows, columns] = np.where(values >= FOLLOWS, values, 0.0)
    same = np.sqrt(following.prod(axis=2))
    row, column = linear_sum_assignment(same + _ONE_WAY * following.max(axis=2), maximize=True)
    covered = (n_equal + following[row, column].sum(axis=0)) / (m, n)
    equivalence = 2 * (n_equal + same[row, column].sum()) / (n + m)
    return with_equivalence(covered[None, :], np.array([equivalence]))[0]


def near_sentences(left_sentences: Sequence[str], right_sentences: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the pairs of sentences to score, as indices: each sentence with the nearest of the other text.

    The nearest has most words in common; positions in the text, from 0 to 1, decide if others have about as many.
    Sentences that both paragraphs have are left out.
    """
    has_single = min(len(left_sentences), len(right_sentences)) == 1
    equal = set() if has_single else set(left_sentences) & set(right_sentences)
    rows, columns = (
        np.flatnonzero([sentence not in equal for sentence in text_sentences])
        for text_sentences in (left_sentences, right_sentences)
    )
    n, m = len(rows), len(columns)
    is_near = np.ones((n, m), dtype=bool)
    if n * m > ALL_PAIRS and min(n, m) > 1:
        from rapidfuzz import fuzz, process

        left_positions, right_positions = rows / (len(left_sentences) - 1), columns / (len(right_sentences) - 1)
        words_in_common = process.cdist(
            [left_sentences[k] for k in rows],
            [right_sentences[k] for k in columns],
            scorer=fuzz.token_set_ratio,
            workers=1,
        )
        nearness = words_in_common - _DISTANCE * np.abs(np.subtract.outer(left_positions, right_positions))
        is_near[:] = False
        is_near[np.arange(n), nearness.argmax(axis=1)] = True
        is_near[nearness.argmax(axis=0), np.arange(m)] = True
    row, column = np.nonzero(is_near)
    return rows[row], columns[column]


def different_sentences(text: str) -> tuple[str, ...]:
    """The different sentences of a text, the last of very many as one."""
    text_sentences = sentences(text)
    if len(text_sentences) > MOST_SENTENCES:
        text_sentences = (*text_sentences[: MOST_SENTENCES - 1], " ".join(text_sentences[MOST_SENTENCES - 1 :]))
    return tuple(dict.fromkeys(text_sentences))
