"""Engine that distributes shares of a job to workers, wherever they run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.inference.classifier import Outputs, PairClassifier
from softirr.inference.models import ClassifierOptions

_SHARE = 4_096
"""Most directed pairs of one task (an even number): enough to sort by length, few enough to spread and to lose."""
_SMALLEST_SHARE = 256
"""Directed pairs, of long texts some seconds of work, that are not worth a second task."""


@dataclass(frozen=True)
class About:
    """Properties of a worker's classifier."""

    n_labels: int
    id2label: dict[int, str]
    precision: str
    max_length: int
    device_name: str


class Worker:
    """A classifier in a separate process."""

    def __init__(self, folder: Path, options: ClassifierOptions) -> None:
        self._classifier = PairClassifier(folder, options)

    def about(self) -> About:
        """Properties of this process's classifier."""
        c = self._classifier
        return About(c.n_labels, c.id2label, c.precision, c.max_length, c.device_name)

    def run(self, texts: Sequence[str], left_texts: NDArray[np.int64], right_texts: NDArray[np.int64]) -> Outputs:
        """Outputs of the comparisons."""
        return self._classifier.run(texts, left_texts, right_texts)


class ShardedEngine(ABC):
    """Engine that distributes shares of a job to idle workers, which all use one number format."""

    def __init__(self, first: About) -> None:
        self.n_labels, self.id2label, self.max_length = first.n_labels, first.id2label, first.max_length
        self.precision, self.device_name = first.precision, first.device_name

    def _admit(self, properties: About) -> None:
        """Register a worker, which gets shares from now on."""
        if properties.precision != self.precision:
            raise InputError("The workers chose different number formats; name one with the option precision.")
        self.device_name = ", ".join(dict.fromkeys([*self.device_name.split(", "), properties.device_name]))

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of workers."""

    @property
    def batch(self) -> int:
        """Directed pairs to request at once, enough to keep every worker busy."""
        return 4 * self.workers * _SHARE

    def run(self, texts: Sequence[str], left_texts: NDArray[np.int64], right_texts: NDArray[np.int64]) -> Outputs:
        """Logits of the directed pairs; each share takes only the texts that it needs."""
        logits = np.zeros((len(left_texts), self.n_labels), dtype=np.float32)
        truncated = np.zeros(len(left_texts), dtype=bool)
        # two for each worker, so that none waits long for the last one of another
        size = min(_SHARE, max(_SMALLEST_SHARE, len(left_texts) // (4 * self.workers) * 2))
        for where, outputs in self._map(_shares(texts, left_texts, right_texts, size)):
            logits[where], truncated[where] = outputs.logits, outputs.truncated
        return Outputs(logits, truncated)

    @abstractmethod
    def _map(self, shares: Iterator[Share]) -> Iterator[tuple[NDArray[np.int64], Outputs]]:
        """Outputs of the shares with their indices, as they finish."""


@dataclass(frozen=True, eq=False)
class Share:
    """A worker's share of the comparisons: their indices in the job, and the texts to compare."""

    where: NDArray[np.int64]
    texts: list[str]
    left_texts: NDArray[np.int64]
    right_texts: NDArray[np.int64]

    def __str__(self) -> str:
        """Description for messages, without texts because messages are logged."""
        return f"{len(self.where):,} comparisons of texts of up to {max(map(len, self.texts)):,} characters"


def _shares(
    texts: Sequence[str], left_texts: NDArray[np.int64], right_texts: NDArray[np.int64], size: int
) -> Iterator[Share]:
    # Pairs of similar lengths go together, the longest first: the last shares are quick, so all workers finish at
    # about the same time.
    lengths = np.fromiter((len(text) for text in texts), dtype=np.int64, count=len(texts))
    order = np.argsort(-(lengths[left_texts] + lengths[right_texts]), kind="stable")
    for start in range(0, len(order), size):
        where = order[start : start + size]
        text_numbers, local = np.unique(np.concatenate([left_texts[where], right_texts[where]]), return_inverse=True)
        yield Share(where, [texts[i] for i in text_numbers.tolist()], local[: len(where)], local[len(where) :])
