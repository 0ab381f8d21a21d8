"""From the stream of examples to batches of token ids, by several processes ahead of the training loop."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.train.graph import Graph
from lab.train.labeled import LabeledPairs
from lab.train.sources import Sources
from lab.train.stream import PairStream
from softirr.errors import InputError, SoftirrError


@dataclass(frozen=True, eq=False)
class Batch:
    """Pairs of similar lengths.

    Attributes
    ----------
    ids, types, mask : shape (pairs, tokens)
    labels : shape (pairs,)
        1 where the first text entails the second, else 0.
    """

    ids: NDArray[np.int32]
    types: NDArray[np.int8]
    mask: NDArray[np.int8]
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class ChunkPlan:
    """How chunks are made: what a worker needs besides the sources."""

    start: str
    seed: int
    chunk: int
    batch: int
    max_length: int


class Encoder:
    """Pairs of texts to padded ids, with a tokenizer of the tokenizers library."""

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self._fast = tokenizer.backend_tokenizer
        self._fast.enable_truncation(max_length)
        self._fast.no_padding()
        self._pad = int(tokenizer.pad_token_id or 0)

    def batch(self, pairs: Sequence[tuple[str, str]], labels: Sequence[int]) -> Batch:
        """One batch in the given order."""
        encoded = self._fast.encode_batch([tuple(pair) for pair in pairs])
        return self._padded(encoded, list(labels))

    def batches(
        self, pairs: Sequence[tuple[str, str]], labels: Sequence[int], size: int, rng: Random | None = None
    ) -> Iterator[tuple[list[int], Batch]]:
        """Batches of pairs of similar lengths, with the positions of their pairs.

        In random order where `rng` is given.
        """
        encoded = self._fast.encode_batch([tuple(pair) for pair in pairs])
        lengths = [len(e.ids) for e in encoded]
        # a little noise, so that pairs of one length are not always in a batch with the same others
        key = lengths if rng is None else [length + 3 * rng.random() for length in lengths]
        order = sorted(range(len(pairs)), key=key.__getitem__)
        groups = [order[k : k + size] for k in range(0, len(order), size)]
        if rng is not None:
            rng.shuffle(groups)
        for group in groups:
            yield group, self._padded([encoded[k] for k in group], [labels[k] for k in group])

    def _padded(self, encoded: Sequence[Any], labels: list[int]) -> Batch:
        longest = max(len(e.ids) for e in encoded)
        width = -(-longest // 4) * 4
        shape = (len(encoded), width)
        ids = np.full(shape, self._pad, dtype=np.int32)
        types, mask = np.zeros(shape, dtype=np.int8), np.zeros(shape, dtype=np.int8)
        for row, e in enumerate(encoded):
            n = len(e.ids)
            ids[row, :n], types[row, :n], mask[row, :n] = e.ids, e.type_ids, 1
        return Batch(ids, types, mask, np.asarray(labels, dtype=np.int64))


class ChunkMaker:
    """Makes chunks; each worker has one."""

    def __init__(self, sources: Sources, plan: ChunkPlan) -> None:
        from transformers import AutoTokenizer

        self._sources, self._plan = sources, plan
        self._encoder = Encoder(AutoTokenizer.from_pretrained(plan.start, trust_remote_code=False), plan.max_length)
        self._hard = ""
        self._stream = PairStream(sources, seed=plan.seed)

    def make(self, number: int, hard: str = "") -> list[Batch]:
        """The batches of one chunk; `hard` is a file with pairs that are hard for the model in this round."""
        if hard != self._hard:
            pairs = _tuples(json.loads(Path(hard).read_text(encoding="ascii"))) if hard else ()
            self._stream = PairStream(self._sources, seed=self._plan.seed, hard=pairs)
            self._hard = hard
        examples = self._stream.chunk(number, self._plan.chunk)
        rng = Random(f"{self._plan.seed}/order/{number}")
        pairs = [(e.premise, e.hypothesis) for e in examples]
        labels = [e.entails for e in examples]
        return [batch for _, batch in self._encoder.batches(pairs, labels, self._plan.batch, rng)]


_maker: list[ChunkMaker] = []


def _prepare(file: str, plan: ChunkPlan) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _maker[:] = [ChunkMaker(read_sources(file), plan)]


def _make(number: int, hard: str) -> list[Batch]:
    return _maker[0].make(number, hard)


Chunks = Callable[[int, int, str], Iterator[list[Batch]]]
"""Gives the chunks from one number to another (not included), with the file of hard pairs that is in force."""


@contextmanager
def chunks(file: str, plan: ChunkPlan, workers: int) -> Iterator[Chunks]:
    """Chunks of the sources kept in `file`, in order, made ahead by `workers` processes (0: by this one)."""
    if workers <= 0:
        maker = ChunkMaker(read_sources(file), plan)
        yield lambda first, last, hard: (maker.make(number, hard) for number in range(first, last))
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), _prepare, (file, plan)) as pool:
        yield partial(_made_ahead, pool, 2 * workers + 2)
        pool.shutdown(cancel_futures=True)


def _made_ahead(pool: ProcessPoolExecutor, ahead: int, first: int, last: int, hard: str) -> Iterator[list[Batch]]:
    waiting: list[Future[list[Batch]]] = []
    upcoming = iter(range(first, last))
    try:
        while True:
            waiting += [pool.submit(_make, number, hard) for number in islice(upcoming, ahead - len(waiting))]
            if not waiting:
                return
            try:
                batch = waiting.pop(0).result()
            except BrokenProcessPool:
                raise SoftirrError(
                    "A process that makes batches ended, perhaps for want of memory: try fewer with --workers, or 0."
                ) from None
            yield batch
    finally:
        for future in waiting:
            future.cancel()


def write_sources(file: Path, sources: Sources, about: dict[str, Any]) -> None:
    """Write sources for later commands and for workers, as compressed JSON: reading it runs no code."""
    import gzip

    kept = {f.name: getattr(sources, f.name) for f in fields(Sources)}
    with gzip.open(file, "wt", encoding="ascii", compresslevel=6) as stream:
        stream.write(json.dumps({"about": about, "sources": kept}, default=_plain))


def read_sources(file: str | Path) -> Sources:
    """Sources kept by :func:`write_sources`."""
    return read_kept(file)[1]


def read_kept(file: str | Path) -> tuple[dict[str, Any], Sources]:
    """Read sources and the facts about them.

    Raises
    ------
    InputError
        If the file is damaged or was written by another version.
    """
    import gzip
    import zlib

    try:
        with gzip.open(file, "rt", encoding="ascii") as stream:
            kept = json.load(stream)
        about, given = kept["about"], kept["sources"]
        if given.keys() != {f.name for f in fields(Sources)} or not isinstance(about, dict):
            raise ValueError("other keys")
        values = {name: _tuples(value) for name, value in given.items()}
        values["graphs"] = tuple(_of(Graph, entry) for entry in given["graphs"])
        for name in ("pairs", "judged"):
            values[name] = tuple(_of(LabeledPairs, entry) for entry in given[name])
        for name in ("kept_apart", "banned"):
            values[name] = frozenset(values[name])
        return about, Sources(**values)
    except (OSError, EOFError, zlib.error, LookupError, AttributeError, RecursionError, ValueError, TypeError) as error:
        raise InputError(f"{file} is damaged or from another version; remove it and prepare the data again.") from error


def write_hard(file: Path, pairs: Sequence[tuple[str, str, int]]) -> None:
    """Keep the pairs that are hard for the model, for workers."""
    file.write_text(json.dumps(pairs), encoding="ascii")


def _plain(value: Any) -> Any:
    """JSON form of sets (sorted lists) and of the parts of the sources (objects)."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Graph | LabeledPairs):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _of(kind: Any, entry: dict[str, Any]) -> Any:
    values = {name: _tuples(value) for name, value in entry.items()}
    if kind is LabeledPairs:
        values["contradictions"] = frozenset(values["contradictions"])
    return kind(**values)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
