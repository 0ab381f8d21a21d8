"""From the stream of examples to batches of token ids, by several processes ahead of the training loop."""

from __future__ import annotations

import gzip
import os
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset

from lab.train.sources import Sources
from lab.train.stream import MixedStream
from softirr.errors import InputError, SoftirrError


@dataclass(frozen=True, eq=False)
class Batch:
    """Pairs of similar lengths.

    Attributes
    ----------
    ids, types, mask : shape (pairs, longest)
        Word pieces of each pair, the text that they belong to, and 1 for pieces, 0 for padding.
    labels : shape (pairs,)
        1 if the first text entails the second, else 0.
    """

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    mask: NDArray[np.int64]
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

    def encoder(self) -> Encoder:
        """The encoder of the plan's tokenizer."""
        from transformers import AutoTokenizer

        return Encoder(AutoTokenizer.from_pretrained(self.tokenizer, trust_remote_code=False), self.max_length)


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
        for rows in groups:
            ids, types, mask = np.zeros((3, len(rows), lengths[rows].max()), dtype=np.int64)
            for row, k in enumerate(rows.tolist()):
                ids[row, : lengths[k]], types[row, : lengths[k]] = encoded[k].ids, encoded[k].type_ids
                mask[row, : lengths[k]] = 1
            yield rows, Batch(ids, types, mask, np.array([labels[k] for k in rows], dtype=np.int64))


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
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    return MixedStream(read_data(plan.data), seed=plan.seed), plan.encoder()


class _Chunks(Dataset[list[Batch]]):
    """The batches of the chunks of a plan by their numbers."""

    def __init__(self, plan: ChunkPlan) -> None:
        self._plan = plan

    def __getitem__(self, number: int) -> list[Batch]:
        stream, encoder = _stream_and_encoder(self._plan)
        examples = stream.chunk(number, self._plan.chunk)
        rng = Random(f"{self._plan.seed}/order/{number}")
        pairs, labels = [(e.premise, e.hypothesis) for e in examples], [e.entails for e in examples]
        return [batch for _, batch in encoder.batches(pairs, labels, self._plan.batch, rng)]


def chunks(plan: ChunkPlan, first: int, last: int, workers: int) -> Iterator[list[Batch]]:
    """The chunks with numbers from `first` to `last` - 1, made ahead by `workers` processes (0: by this one).

    Raises
    ------
    SoftirrError
        If a process ended.
    """
    ahead: dict[str, Any] = {"multiprocessing_context": "spawn", "prefetch_factor": 2} if workers else {}
    loader = DataLoader(
        _Chunks(plan), sampler=range(first, last), batch_size=None, collate_fn=list, num_workers=workers, **ahead
    )
    batches = iter(loader)
    while True:
        try:
            chunk = next(batches, None)
        except RuntimeError as error:
            if "DataLoader worker" not in str(error):
                raise
            raise SoftirrError(
                "A process that makes batches ended, perhaps for lack of memory: try fewer with --workers, or 0."
            ) from None
        if chunk is None:
            return
        yield chunk
