"""A sequence classifier on one device, which computes the logits of directed pairs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from softirr.errors import InputError, SoftirrError
from softirr.inference.bert import is_own_bert, load_own_bert
from softirr.inference.formats import choose_format
from softirr.inference.loading import CLASSIFIER, load, out_of_memory, pick_device
from softirr.inference.models import PRECISIONS, ClassifierOptions
from softirr.inference.tokens import Bools, Ints, PairTokens, TokenTable, length_limit

Results = Iterator[tuple[Ints, NDArray[np.float32] | None]]
"""Batches with their logits; None for a batch that did not fit into memory."""

_CPU_BUDGET, _GPU_BUDGET = 768, 65_536
"""Tokens of a batch: on a processor few enough for its cache, on a GPU enough to keep it busy."""
_CPU_PAIRS, _GPU_PAIRS = 512, 131_072
"""Directed pairs of a request, for each thread of a processor and for a GPU."""
_SMALL = 256
"""Tokens up to which a job runs as one batch after another."""
_SMALL_MODEL = 30_000_000
"""Weights up to which such a job runs on one thread: for so little work, threads that wait for each other take several
times the processor time of the work itself."""
_LAST_BATCH = 192
"""Tokens below which the last batches of several threads are not made smaller."""


@dataclass(frozen=True, eq=False)
class Outputs:
    """Logits (pairs, labels) as float32, and which pairs were cut to fit, (pairs,)."""

    logits: NDArray[np.float32]
    truncated: Bools


class TorchThreads:
    """Number of threads of torch, which several jobs of a process change for a while.

    Setting it in one thread changes it for later threads, too: a job that begins and ends while another one runs would
    otherwise take the other one's number for the lasting one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_jobs = self._lasting = 0

    def lasting(self) -> int:
        """The number without what jobs changed."""
        with self._lock:
            return self._lasting if self._n_jobs else torch.get_num_threads()

    @contextmanager
    def changed(self) -> Iterator[None]:
        """Let a job change the number, which has the lasting value again after it."""
        with self._lock:
            if not self._n_jobs:
                self._lasting = torch.get_num_threads()
            self._n_jobs += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_jobs -= 1
                torch.set_num_threads(self._lasting)


THREADS = TorchThreads()


class PairClassifier:
    """A transformers sequence classifier loaded from a folder.

    Parameters
    ----------
    folder
        Weights, configuration and tokenizer.
    options
        Device, number format and limits.

    Raises
    ------
    InputError
        If the folder contains no sequence classifier with a tokenizer.
    """

    def __init__(self, folder: Path, options: ClassifierOptions) -> None:
        if options.precision not in PRECISIONS:
            raise InputError(
                f"There is no precision {options.precision!r}; use auto, float32, bfloat16, float16 or int8."
            )
        self.device = pick_device(options.device)
        if options.precision == "float16" and self.device.type == "cpu":
            raise InputError("The precision float16 is for GPUs; use auto, float32 or bfloat16 on a processor.")
        self._threads = options.threads or THREADS.lasting()
        with THREADS.changed():  # waiting threads would cost more than they save in the many small steps of loading
            torch.set_num_threads(1)
            load_model: Any = load_own_bert if is_own_bert(folder) else partial(load, kind=CLASSIFIER)
            self.tokenizer, model = load_model(folder, dtype=torch.float32)
            self.config = model.config
            # rows of a table in int8 are read one by one
            weight_counts = (weight.numel() for weight in model.parameters() if weight.dtype != torch.int8)
            self._is_small = sum(weight_counts) <= _SMALL_MODEL
            self.n_labels = int(self.config.num_labels)
            self.id2label: dict[int, str] = dict(self.config.id2label)
            limit = length_limit(self.tokenizer, self.config)
            self.tokens = PairTokens(self.tokenizer, min(options.max_length or limit, limit))
            self.precision, self._forward = choose_format(model.to(self.device), options.precision, self.tokens)
        self.token_budget = options.token_budget or (_GPU_BUDGET if self.device.type == "cuda" else _CPU_BUDGET)
        self.max_length = self.tokens.max_length
        self.device_name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else str(self.device)

    @property
    def batch(self) -> int:
        """Number of directed pairs to request at once: about a second of work."""
        return _GPU_PAIRS if self.device.type == "cuda" else _CPU_PAIRS * self._threads

    def run(self, texts: Sequence[str], left_texts: Ints, right_texts: Ints) -> Outputs:
        """Logits of the directed pairs (texts[left_texts[k]], texts[right_texts[k]]).

        Each text is tokenized once. Pairs run in batches of similar lengths; where a batch does not fit into memory, it
        and the token budget are halved.
        """
        if not len(left_texts):
            return Outputs(np.zeros((0, self.n_labels), dtype=np.float32), np.zeros(0, dtype=bool))
        table = self.tokens.table(texts)
        lengths, truncated = table.pair_lengths(left_texts, right_texts)
        logits = np.zeros((len(left_texts), self.n_labels), dtype=np.float32)
        run = self._run_on_gpu if self.device.type == "cuda" else self._run_on_threads
        waiting = self._batches(lengths, np.argsort(-lengths, kind="stable"))
        while waiting:
            too_large = []
            for batch, values in run(table, left_texts, right_texts, waiting):
                if values is None:
                    too_large.append(batch)
                else:
                    logits[batch] = values
            waiting = [half for batch in too_large for half in self._halves(batch, lengths)]
        return Outputs(logits, truncated)

    def close(self) -> None:
        """Do nothing: the classifier runs in this process."""

    def _batches(self, lengths: Ints, order: Ints) -> list[Ints]:
        """Indices of pairs, longest first, in batches that fit the token budget.

        With several threads the last batches are smaller, so that no thread waits long for the last one of another.
        """
        remaining_tokens = int(lengths[order].sum())
        threads = self._threads if self.device.type == "cpu" and remaining_tokens > _SMALL else 1
        batches, start = [], 0
        while start < len(order):
            budget = self.token_budget
            if threads > 1:
                budget = min(budget, max(remaining_tokens // (2 * threads), _LAST_BATCH))
            batch = order[start : start + max(1, budget // int(lengths[order[start]]))]
            batches.append(batch)
            start += len(batch)
            remaining_tokens -= int(lengths[batch].sum())
        return batches

    def _run_on_threads(self, table: TokenTable, left_texts: Ints, right_texts: Ints, batches: list[Ints]) -> Results:
        """Run a batch per thread, so that threads do not wait for each other inside every matrix product."""

        def run(batch: Ints) -> tuple[Ints, Any]:
            try:
                with torch.inference_mode():
                    return batch, self._forward(table.pack(left_texts[batch], right_texts[batch])).cpu().numpy()
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                return batch, None

        is_small = len(batches) == 1 and int(table.pair_lengths(left_texts, right_texts)[0].sum()) <= _SMALL
        with THREADS.changed():
            if self.device.type != "cpu" or self._threads == 1 or is_small:
                torch.set_num_threads(1 if is_small and self._is_small else self._threads)
                yield from map(run, batches)
                return
            with ThreadPoolExecutor(self._threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                try:
                    yield from pool.map(run, batches)
                except BaseException:  # an interrupted run drops pending batches
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise

    def _run_on_gpu(self, table: TokenTable, left_texts: Ints, right_texts: Ints, batches: list[Ints]) -> Results:
        """Pack batches while the GPU computes. Results are fetched one batch later, so that the GPU never waits."""
        previous: tuple[Ints, torch.Tensor, torch.cuda.Event] | None = None
        with torch.inference_mode(), ThreadPoolExecutor(1) as packer:
            packed = [packer.submit(table.pack, left_texts[batch], right_texts[batch]) for batch in batches]
            for batch, inputs in zip(batches, packed, strict=True):
                try:
                    result = self._forward(inputs.result())
                    host = torch.empty(result.shape, dtype=torch.float32, pin_memory=True)
                    host.copy_(result, non_blocking=True)
                    is_ready = torch.cuda.Event()
                    is_ready.record()
                except RuntimeError as error:
                    if not out_of_memory(error):
                        raise
                    torch.cuda.empty_cache()
                    yield batch, None
                    continue
                if previous is not None:
                    previous[2].synchronize()
                    yield previous[0], previous[1].numpy()
                previous = (batch, host, is_ready)
            if previous is not None:
                previous[2].synchronize()
                yield previous[0], previous[1].numpy()

    def _halves(self, batch: Ints, lengths: Ints) -> list[Ints]:
        """Split a batch that did not fit into two, and limit the token budget to half of it."""
        if len(batch) == 1:
            raise SoftirrError(
                "There is not enough memory for a single pair; use a smaller model or a smaller max_length."
            )
        self.token_budget = min(self.token_budget, max(1, int(lengths[batch].sum()) // 2))
        return [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
