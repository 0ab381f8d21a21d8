"""From the stream of examples to batches of token ids, by several processes ahead of the training loop."""

from __future__ import annotations

import gzip
import os
import pickle
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.train.sources import Sources
from lab.train.stream import MixedStream
from softirr.errors import InputError, SoftirrError

__all__ = ["Batch", "ChunkPlan", "Encoder", "chunks", "read_data", "write_data"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Pairs in the order of their lengths, without padding.

    Attributes
    ----------
    ids, types, positions : shape (tokens,)
        Word pieces of all pairs, one pair after the other; which text they belong to; and their position in the pair.
    lengths, labels : shape (pairs,)
        Word pieces of each pair, and 1 if the first text entails the second, else 0.
    """

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    positions: NDArray[np.int64]
    lengths: NDArray[np.int64]
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class ChunkPlan:
    """Options of the processes that make chunks.

    Attributes
    ----------
    data
        File of :func:`write_data`.
    tokenizer
        Model folder.
    """

    data: str
    tokenizer: str
    seed: int
    chunk: int
    batch: int
    max_length: int


class Encoder:
    """Turns pairs of texts into batches.

    Parameters
    ----------
    tokenizer
        Of transformers, with a backend of the tokenizers library.
    """

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self._backend = tokenizer.backend_tokenizer
        self._backend.enable_truncation(max_length)
        self._backend.no_padding()

    def batches(
        self, pairs: Sequence[tuple[str, str]], labels: Sequence[int], size: int, rng: Random | None = None
    ) -> Iterator[tuple[NDArray[np.int64], Batch]]:
        """Batches of pairs of similar lengths, each with the positions of its pairs; in random order with `rng`."""
        encoded = self._backend.encode_batch([tuple(pair) for pair in pairs])
        lengths = np.array([len(e.ids) for e in encoded], dtype=np.int64)
        # a little noise, so that pairs of one length are not always in a batch with the same others
        noise = [0.0] * len(pairs) if rng is None else [3 * rng.random() for _ in pairs]
        order = np.argsort(lengths + np.array(noise), kind="stable")
        groups = [order[k : k + size] for k in range(0, len(order), size)]
        if rng is not None:
            rng.shuffle(groups)
        for group in groups:
            rows = group[np.argsort(lengths[group], kind="stable")]
            yield rows, self._batch([encoded[k] for k in rows], np.array([labels[k] for k in rows], dtype=np.int64))

    @staticmethod
    def _batch(encoded: Sequence[Any], labels: NDArray[np.int64]) -> Batch:
        ids, types = (
            np.concatenate([getattr(e, name) for e in encoded]).astype(np.int64) for name in ("ids", "type_ids")
        )
        lengths = np.array([len(e.ids) for e in encoded], dtype=np.int64)
        return Batch(ids, types, np.concatenate([np.arange(n) for n in lengths]), lengths, labels)


def write_data(file: Path, sources: Sequence[Sources]) -> None:
    """Write the sources for later commands and for the processes that make batches."""
    partial = file.with_name(file.name + ".part")
    with gzip.open(partial, "wb", compresslevel=4) as stream:
        pickle.dump(tuple(sources), stream, protocol=5)
    os.replace(partial, file)


def read_data(file: str | Path) -> tuple[Sources, ...]:
    """Sources written by :func:`write_data`. Like every pickle, the file must come from a trusted person.

    Raises
    ------
    InputError
        If the file is damaged or was written by another version.
    """
    try:
        with gzip.open(file, "rb") as stream:
            sources: tuple[Sources, ...] = pickle.load(stream)  # noqa: S301 - our own file, in the user's work folder
        return sources
    except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, ValueError, TypeError) as error:
        raise InputError(f"{file} is damaged or from another version; remove it to prepare the data again.") from error


@lru_cache(maxsize=1)
def _stream_and_encoder(plan: ChunkPlan) -> tuple[MixedStream, Encoder]:
    from transformers import AutoTokenizer

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tokenizer = AutoTokenizer.from_pretrained(plan.tokenizer, trust_remote_code=False)
    return MixedStream(read_data(plan.data), seed=plan.seed), Encoder(tokenizer, plan.max_length)


def _make(plan: ChunkPlan, number: int) -> list[Batch]:
    """The batches of one chunk."""
    stream, encoder = _stream_and_encoder(plan)
    examples = stream.chunk(number, plan.chunk)
    rng = Random(f"{plan.seed}/order/{number}")
    pairs, labels = [(e.premise, e.hypothesis) for e in examples], [e.entails for e in examples]
    return [batch for _, batch in encoder.batches(pairs, labels, plan.batch, rng)]


@contextmanager
def chunks(plan: ChunkPlan, first: int, last: int, workers: int) -> Iterator[Iterator[list[Batch]]]:
    """The chunks with numbers from `first` to `last` - 1, made ahead by `workers` processes (0: by this one)."""
    if workers <= 0:
        yield (_make(plan, number) for number in range(first, last))
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        with closing(_made_ahead(pool, plan, iter(range(first, last)), 2 * workers + 2)) as batches_ahead:
            yield batches_ahead
        pool.shutdown(cancel_futures=True)


def _made_ahead(
    pool: ProcessPoolExecutor, plan: ChunkPlan, numbers: Iterator[int], ahead: int
) -> Generator[list[Batch], None, None]:
    waiting: list[Future[list[Batch]]] = []
    while True:
        waiting += [pool.submit(_make, plan, number) for number in islice(numbers, ahead - len(waiting))]
        if not waiting:
            return
        try:
            batches = waiting.pop(0).result()
        except BrokenProcessPool:
            raise SoftirrError(
                "A process that makes batches ended, perhaps for lack of memory: try fewer with --workers, or 0."
            ) from None
        yield batches
