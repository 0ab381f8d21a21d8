"""Stages that decide or rewrite pairs of texts before a measure scores them.

Their order is fixed by their ranks: decided by a reviewer, policy, sentences, facts, known to a terminology. A policy
comes before the others because it removes what does not count, and identical texts are 1 at every stage.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from softirr.meaning.measures.arrays import Bools, Floats, Ints, mutual, numbered_texts
from softirr.provenance import Provenance

AskPairs = Callable[[Ints, Ints], Floats]
AskBlock = Callable[[Ints, Ints], NDArray[np.float32]]
_CELLS_AT_ONCE = 1 << 18
"""Number of pairs of a block that run through the stages together."""


class PreparedStage(ABC):
    """A stage that has read the texts of a project.

    Attributes
    ----------
    texts : sequence of str
        Normalized and different texts for the next stage.
    """

    texts: Sequence[str]

    @abstractmethod
    def directions(self, left_texts: Ints, right_texts: Ints, ask: AskPairs) -> Floats:
        """Directions of pairs of the texts that it has read, shape (n, 2); `ask` scores pairs of `texts`."""

    def rewrite(self, left_texts: Ints, right_texts: Ints) -> tuple[Ints, Ints]:
        """The numbers of the pairs' texts for the next stage."""
        return left_texts, right_texts


class Stage(ABC):
    """Decides or rewrites pairs of texts."""

    rank: int
    """Position among the stages."""
    has_directions = False

    @abstractmethod
    def prepare(self, texts: Sequence[str], different: Callable[[], float]) -> PreparedStage:
        """Read the texts; `different` gives P of texts that the stage calls different."""

    def provenance(self, provenance: Provenance) -> Provenance:
        """The provenance of the measure, with the stage, and the measure's name with what the stage changes."""
        return provenance


class Pipeline:
    """Several stages, one after the other.

    Attributes
    ----------
    texts : sequence of str
        Normalized and different texts for the measure.
    """

    def __init__(self, stages: Iterable[Stage], texts: Sequence[str], different: Callable[[], float]) -> None:
        self.texts = texts
        self.stages: list[PreparedStage] = []
        for stage in stages:
            self.stages.append(stage.prepare(self.texts, different))
            self.texts = self.stages[-1].texts

    def directions(self, left_texts: Ints, right_texts: Ints, ask: AskPairs) -> Floats:
        """Directions of pairs, shape (n, 2); `ask` scores pairs of the pipeline's own texts."""
        for stage in reversed(self.stages):
            ask = partial(stage.directions, ask=ask)
        return ask(left_texts, right_texts)

    def block(self, rows: Ints, columns: Ints, ask: AskBlock) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text; `ask` scores blocks of the pipeline's own texts."""
        if not self.stages:
            return ask(rows, columns)
        result = np.empty((len(rows), len(columns)), dtype=np.float32)
        n_rows = max(1, _CELLS_AT_ONCE // max(1, len(columns)))
        for start in range(0, len(rows), n_rows):
            block_rows = rows[start : start + n_rows]
            left_texts, right_texts = np.repeat(block_rows, len(columns)), np.tile(columns, len(block_rows))
            directions = self.directions(left_texts, right_texts, partial(_from_block, ask, len(self.texts)))
            result[start : start + n_rows] = mutual(directions).reshape(len(block_rows), len(columns))
        return result


def _from_block(ask: AskBlock, n_texts: int, left_texts: Ints, right_texts: Ints) -> Floats:
    """Directions of pairs, from the block of their texts."""
    (rows, row), (columns, column) = (_present(texts, n_texts) for texts in (left_texts, right_texts))
    values = ask(rows, columns)[row, column].astype(np.float64)
    values[left_texts == right_texts] = 1.0
    return np.repeat(values[:, None], 2, axis=1)


def _present(texts: Ints, n_texts: int) -> tuple[Ints, Ints]:
    """The different numbers, ascending, and the index of each number among them."""
    is_present = np.zeros(n_texts, dtype=bool)
    is_present[texts] = True
    return np.flatnonzero(is_present), (np.cumsum(is_present) - 1)[texts]


class RewrittenTexts(PreparedStage):
    """Rewritten texts, and pairs that are called different.

    How a text is rewritten may depend on what it shares with the other text of the pair.

    Parameters
    ----------
    forms : sequence of mappings, n of them
        Rewritten forms of each text by the aspects that it shares with the other text, as bits; 0 for none.
    codes : sequence of arrays, each of shape (n,)
        Value of one aspect in each text, as a number: bit k is shared if two texts have the same number above 0 in
        array k.
    is_different : callable, optional
        Takes the numbers of two texts and returns which pairs are different, whatever the measure gives.
    different : callable
        Returns P of such pairs.
    adjust : callable, optional
        Changes the directions of the next stage, shape (n, 2).
    one_sided : bool
        Whether a bit is also shared if one text lacks the aspect (0). A value that is not understood (-1) is never
        shared.
    """

    def __init__(
        self,
        forms: Sequence[Mapping[int, str]],
        codes: Sequence[Ints] = (),
        *,
        is_different: Callable[[Ints, Ints], Bools] = lambda left_texts, _: np.zeros(len(left_texts), dtype=bool),
        different: Callable[[], float] = float,
        adjust: Callable[[Floats], Floats] = np.asarray,
        one_sided: bool = False,
    ) -> None:
        self._codes, self._is_different, self._one_sided = codes, is_different, one_sided
        self._different, self._adjust = different, adjust
        self._bits_of = np.array([max(by_shared) for by_shared in forms], dtype=np.int64)
        self.texts, numbers = numbered_texts(form for by_shared in forms for form in by_shared.values())
        texts = [text for text, by_shared in enumerate(forms) for _ in by_shared]
        self._forms = np.zeros((len(forms), 1 << len(codes)), dtype=np.int64)
        self._forms[texts, [bits for by_shared in forms for bits in by_shared]] = numbers

    def rewrite(self, left_texts: Ints, right_texts: Ints) -> tuple[Ints, Ints]:
        """The numbers, in `texts`, of the rewritten pairs."""
        bits = np.zeros(len(left_texts), dtype=np.int64)
        for k, codes in enumerate(self._codes):
            a, b = codes[left_texts], codes[right_texts]
            is_shared = (a == b) | (self._one_sided & ((a == 0) | (b == 0)))
            bits |= is_shared.astype(np.int64) << k
        # an aspect that a text lacks, or that is not understood, is in none of its forms
        left_bits, right_bits = bits & self._bits_of[left_texts], bits & self._bits_of[right_texts]
        return self._forms[left_texts, left_bits], self._forms[right_texts, right_bits]

    def directions(self, left_texts: Ints, right_texts: Ints, ask: AskPairs) -> Floats:
        """Ask about the rewritten pairs that are not called different."""
        is_different = self._is_different(left_texts, right_texts)
        result = np.full((len(left_texts), 2), self._different() if is_different.any() else 0.0)
        result[~is_different] = self._adjust(ask(*self.rewrite(left_texts[~is_different], right_texts[~is_different])))
        return result
