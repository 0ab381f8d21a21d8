"""The protocol of equivalence measures, which estimate P(a ⇒ b) and P(b ⇒ a) of two texts.

A measure has one method, :meth:`Measure.directions`. It may also score blocks of texts (:attr:`Measure.has_blocks`),
and stages may decide or rewrite pairs before it (:attr:`Measure.stages`). P(a ≡ b) is the geometric mean of both
directions.
"""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.meaning.lexicon import word_list
from softirr.meaning.measures.arrays import Floats, Ints, mutual, numbered_pairs, unique_pairs
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.stages import Pipeline, Stage
from softirr.provenance import Provenance

Pairs = Sequence[tuple[str, str]]
_Stage = TypeVar("_Stage", bound=Stage)
CHUNK = 32_768
"""Default number of pairs that are requested at once: an interrupted run can lose as many."""


class Measure(ABC):
    """An equivalence measure.

    Parameters
    ----------
    name : str
        The name that the measure was requested by.

    Attributes
    ----------
    stages : tuple of Stage
        What decides or rewrites pairs before the measure scores them, the first one first.
    has_directions : bool
        Whether P(a ⇒ b) and P(b ⇒ a) can differ.
    has_blocks : bool
        Whether the measure is cheap enough for all pairs, by :meth:`block`.
    may_fail : bool
        Whether directions can be nan, for answers that could not be read. They count as 0 and are not cached.
    """

    has_directions = False
    has_blocks = False
    may_fail = False

    def __init__(self, name: str) -> None:
        self.raw_name = name
        self.stages: tuple[Stage, ...] = ()

    @abstractmethod
    def directions(self, texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) of each pair of texts, shape (n, 2).

        Parameters
        ----------
        texts : sequence of str
            Normalized and different texts.
        left_texts, right_texts : shape (n,)
            Indices of the two texts of each pair, which are different.
        """

    def block(self, texts: Sequence[str], rows: Ints, columns: Ints) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text, shape (len(rows), len(columns))."""
        raise NotImplementedError(f"The measure {self.raw_name} has no blocks.")

    def describe(self) -> Provenance:
        """Model, device and counters, without the stages; by default only the name."""
        return Provenance(measure=self.raw_name)

    @property
    def cache_key(self) -> str:
        """Everything besides the texts that scores depend on; empty if scores are not worth caching."""
        return ""

    @property
    def is_cached(self) -> bool:
        """Whether there is a cache key, which a model may have to be opened for."""
        return bool(self.cache_key)

    def recall(self, cache: PairCache) -> None:  # noqa: B027 - most measures have nothing to recall
        """Take what an earlier run has left in the cache about the model."""

    @property
    def chunk(self) -> int:
        """Number of pairs to request at once."""
        return CHUNK

    def close(self) -> None:  # noqa: B027 - most measures have nothing to close
        """Stop worker processes."""

    @property
    def name(self) -> str:
        """The requested name, with the changes of scores by the stages."""
        return self._with_stages(Provenance(measure=self.raw_name)).measure

    @property
    def directional(self) -> bool:
        """Whether the measure or a stage gives different directions."""
        return self.has_directions or any(stage.has_directions for stage in self.stages)

    def stage(self, kind: type[_Stage]) -> _Stage | None:
        """The stage of a kind, if the measure has one."""
        return next((stage for stage in self.stages if isinstance(stage, kind)), None)

    def without(self, kind: type[Stage]) -> Self:
        """The measure without its stage of a kind."""
        return self.with_stages([stage for stage in self.stages if not isinstance(stage, kind)])

    def with_stages(self, stages: Collection[Stage]) -> Self:
        """The measure with other stages, in their fixed order; models and counters are shared."""
        result = copy.copy(self)
        result.stages = tuple(sorted(stages, key=lambda stage: stage.rank))
        return result

    def with_stage(self, stage: Stage) -> Self:
        """The measure with one more stage, which replaces another one of its kind."""
        return self.with_stages([*(present for present in self.stages if present.rank != stage.rank), stage])

    def provenance(self) -> Provenance:
        """Origin of the scores: model, stages and counters."""
        return self._with_stages(self.describe())

    def _with_stages(self, provenance: Provenance) -> Provenance:
        for stage in reversed(self.stages):
            provenance = stage.provenance(provenance)
        return provenance

    def pipeline(self, texts: Sequence[str]) -> Pipeline:
        """The stages, ready for these normalized and different texts."""
        return Pipeline(self.stages, texts, lambda: self.unrelated)

    def both(self, pairs: Pairs) -> Floats:
        """P(a ⇒ b) and P(b ⇒ a) of each pair, shape (n, 2); 1 for texts that are the same after normalizing."""
        texts, left_texts, right_texts = numbered_pairs(pairs)
        pipeline = self.pipeline(texts)

        def scored(a: Ints, b: Ints) -> Floats:
            low, high, restored = unique_pairs(a, b)
            directions = self.directions(pipeline.texts, low, high) if len(low) else np.zeros((0, 2))
            return restored(self.checked(directions))

        return pipeline.directions(left_texts, right_texts, scored)

    def score(self, pairs: Pairs) -> Floats:
        """P(a ≡ b) of each pair, shape (n,).

        Examples
        --------
        >>> from softirr.meaning.measures import measure
        >>> measure("indel").score([("fever", "fevers"), ("fever", "fever")]).round(2).tolist()
        [0.91, 1.0]
        """
        return mutual(self.both(pairs))

    def entail(self, pairs: Pairs) -> Floats:
        """P(a ⇒ b) of each pair, shape (n,)."""
        return self.both(pairs)[:, 0]

    def checked(self, directions: Floats) -> Floats:
        """Directions with 0 for answers that could not be read.

        Raises
        ------
        InputError
            If a value is not a probability.
        """
        is_valid = (directions >= 0) & (directions <= 1)
        if not np.all(is_valid | np.isnan(directions) if self.may_fail else is_valid):
            raise InputError(f"The measure {self.name} returned scores that are not probabilities.")
        return np.nan_to_num(directions)

    @cached_property
    def unrelated(self) -> float:
        """P of texts that a stage calls different: 0 without blocks, else the mean over unrelated findings.

        Letters of unrelated texts are alike in part, and agreement by chance contains that part. With less, raters who
        agree on an attribute that counts, and on nothing else, would seem to agree beyond chance.
        """
        if not self.has_blocks:
            return 0.0
        findings = word_list("unrelated")
        rows = np.arange(len(findings))
        p = self.block(findings, rows, rows)
        return float(np.mean(p[~np.eye(len(findings), dtype=bool)]))


class TextIndex(ABC):
    """Texts that were processed once, for symmetric scores by number."""

    @abstractmethod
    def pairs(self, left_texts: Ints, right_texts: Ints) -> Floats:
        """P(a ≡ b) of text left_texts[k] with text right_texts[k], shape (n,)."""

    def block(self, rows: Ints, columns: Ints) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text, shape (len(rows), len(columns)).

        By default :meth:`pairs` of the numbers, broadcast.
        """
        return self.pairs(rows[:, None], columns[None, :]).astype(np.float32)


class IndexedMeasure(Measure):
    """A symmetric measure that processes each text once and then scores pairs and blocks by number."""

    has_blocks = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._latest: tuple[Sequence[str], TextIndex] | None = None

    @abstractmethod
    def index(self, texts: Sequence[str]) -> TextIndex:
        """Process the texts."""

    def directions(self, texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Floats:
        """P(a ≡ b) twice, shape (n, 2)."""
        return np.repeat(self._index_of(texts).pairs(left_texts, right_texts)[:, None], 2, axis=1)

    def block(self, texts: Sequence[str], rows: Ints, columns: Ints) -> NDArray[np.float32]:
        """P(a ≡ b) of every row text with every column text."""
        return self._index_of(texts).block(rows, columns)

    def _index_of(self, texts: Sequence[str]) -> TextIndex:
        """The index of the texts; consecutive calls with the same sequence share it."""
        latest = self._latest
        if latest is None or latest[0] is not texts:
            latest = self._latest = (texts, self.index(texts))
        return latest[1]


def refuse_unknown(
    name: str, options: Mapping[str, Any], kind: Callable[..., Any], *, also: Collection[str] = ()
) -> None:
    """Check the options of a measure against the keyword parameters of the class made with them.

    Raises
    ------
    InputError
        If an option is unknown.
    """
    parameters = inspect.signature(kind).parameters.values()
    accepted = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY} | set(also)
    if unknown := sorted(set(options) - accepted):
        raise InputError(
            f"The measure {name} does not take these options: {', '.join(unknown)}; it takes "
            f"{', '.join(sorted(accepted))}."
        )
