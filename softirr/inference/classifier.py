"""A sequence classifier on one device, which computes the logits of directed pairs."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from softirr.errors import InputError, SoftirrError
from softirr.inference.bert import is_own_bert, load_own_bert
from softirr.inference.classifier_options import ClassifierOptions
from softirr.inference.devices import fast_bfloat16, out_of_memory, pick_device
from softirr.inference.forward import Bfloat16Linear, Forward, PackedBert, PaddedForward
from softirr.inference.int8 import Int8Linear, int8_is_fast
from softirr.inference.loading import CLASSIFIER, load
from softirr.inference.tokens import Packed, PairTokens, TokenTable, length_limit

__all__ = ["Outputs", "PairClassifier"]

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
_FORMATS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_TOLERANCE = {"float32": 1e-5, "bfloat16": 5e-2, "float16": 5e-2}
"""Largest difference of a probability between the packed and the padded pass in float32."""
_AUTO_BOUND = 0.003
"""Root mean square change of the check pairs' probabilities that ``auto`` accepts from a faster format.

Such errors differ from pair to pair, so a mean of 100 pairs moves by 0.0003. The largest change says little: one pair
near 0.5 doubles it, with the same errors on all pairs.
"""
_INT8_BOUND, _INT8_AUTO_BOUND = 0.01, 0.0075
"""Largest change that is accepted from int8 when it is requested by name, and from ``auto``."""
_CHECK = (
    "heart attack",
    "myocardial infarction",
    "fever",
    "no fever at all",
    "chronic cough for three weeks",
    "x",
    "small pleural effusion on the left side, unchanged",
    "left-sided pleural effusion",
    "The committee agreed on the budget.",
    "Nobody agreed on anything, least of all on the budget.",
)
"""Check texts: when a model is loaded, each two of them are run in float32 and in a faster format."""
_CHECK_PARTS = 10


@dataclass(frozen=True, eq=False)
class Outputs:
    """Logits (pairs, labels) as float32, and which pairs were cut to fit, (pairs,)."""

    logits: NDArray[np.float32]
    truncated: NDArray[np.bool_]


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
        if options.precision not in ("auto", "int8", *_FORMATS):
            raise InputError(
                f"There is no precision {options.precision!r}; use auto, float32, bfloat16, float16 or int8."
            )
        self.device = pick_device(options.device)
        if options.precision == "float16" and self.device.type == "cpu":
            raise InputError("The precision float16 is for GPUs; use auto, float32 or bfloat16 on a processor.")
        self._threads = options.threads or torch.get_num_threads()
        with _one_thread():
            self._open(folder, options)

    def _open(self, folder: Path, options: ClassifierOptions) -> None:
        model: Any
        self.tokenizer: Any
        self.tokenizer, model = (
            load_own_bert(folder, torch.float32) if is_own_bert(folder) else load(folder, CLASSIFIER, torch.float32)
        )
        self.config: Any = model.config
        # rows of a table in int8 are read one by one
        counted = (weight.numel() for weight in model.parameters() if weight.dtype != torch.int8)
        self._is_small = sum(counted) <= _SMALL_MODEL
        self.n_labels = int(self.config.num_labels)
        self.id2label: dict[int, str] = dict(self.config.id2label)
        limit = length_limit(self.tokenizer, self.config)
        self.tokens = PairTokens(self.tokenizer, min(options.max_length or limit, limit))
        default = _GPU_BUDGET if self.device.type == "cuda" else _CPU_BUDGET
        self.token_budget = options.token_budget or default
        self.precision, self._forward = self._choose(model, options.precision)
        self.max_length = self.tokens.max_length
        self.device_name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else str(self.device)

    @property
    def batch(self) -> int:
        """Number of directed pairs to request at once: about a second of work."""
        return _GPU_PAIRS if self.device.type == "cuda" else _CPU_PAIRS * self._threads

    def run(self, texts: Sequence[str], left: NDArray[np.int64], right: NDArray[np.int64]) -> Outputs:
        """Logits of the directed pairs (texts[left[k]], texts[right[k]]).

        Each text is tokenized once. Pairs run in batches of similar lengths; where a batch does not fit into memory, it
        and the token budget are halved.
        """
        if not len(left):
            return Outputs(np.zeros((0, self.n_labels), dtype=np.float32), np.zeros(0, dtype=bool))
        table = self.tokens.table(texts)
        lengths, truncated = table.pair_lengths(left, right)
        order = np.argsort(-lengths, kind="stable")
        logits = np.zeros((len(left), self.n_labels), dtype=np.float32)
        run = self._run_cuda if self.device.type == "cuda" else self._run_threads
        for where, values in run(table, left, right, lengths, order):
            logits[where] = values
        return Outputs(logits, truncated)

    def close(self) -> None:
        """Do nothing: the classifier runs in this process."""

    def _batches(
        self, lengths: NDArray[np.int64], order: NDArray[np.int64], threads: int = 1
    ) -> Iterator[NDArray[np.int64]]:
        """Indices of pairs, longest first, in batches that fit the current token budget.

        With several threads the last batches are smaller, so that no thread waits long for the last one of another.
        """
        left = int(lengths[order].sum())
        start = 0
        while start < len(order):
            budget = self.token_budget
            if threads > 1:
                budget = min(budget, max(left // (2 * threads), _LAST_BATCH))
            size = max(1, budget // int(lengths[order[start]]))
            where = order[start : start + size]
            yield where
            start += size
            left -= int(lengths[where].sum())

    def _run_threads(
        self,
        table: TokenTable,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        lengths: NDArray[np.int64],
        order: NDArray[np.int64],
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Run one batch per thread, so that threads do not wait for each other inside every matrix product."""

        def work(where: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32] | None]:
            try:
                with torch.inference_mode():
                    return where, self._forward(table.pack(left[where], right[where])).cpu().numpy()
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                return where, None

        threads = self._threads if self.device.type == "cpu" else 1
        before = torch.get_num_threads()
        small = int(lengths.sum()) <= _SMALL
        if threads == 1 or small:
            torch.set_num_threads(1 if small and self._is_small else self._threads)
            try:
                waiting = list(self._batches(lengths, order))[::-1]
                while waiting:
                    where, values = work(waiting.pop())
                    if values is None:
                        waiting.extend(self._halves(where))
                    else:
                        yield where, values
            finally:
                torch.set_num_threads(before)
            return
        try:
            with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                batches, running = self._batches(lengths, order, threads), set[Future[Any]]()
                try:
                    for where in batches:
                        running.add(pool.submit(work, where))
                        while len(running) >= 2 * threads:
                            finished, running = wait(running, return_when=FIRST_COMPLETED)
                            for future in finished:
                                yield from self._settled(future, pool, work, running)
                    while running:
                        finished, running = wait(running, return_when=FIRST_COMPLETED)
                        for future in finished:
                            yield from self._settled(future, pool, work, running)
                except BaseException:  # an interrupted run drops pending batches
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
        finally:
            # set_num_threads in a worker also changes the default of later threads
            torch.set_num_threads(before)

    def _settled(
        self, future: Future[Any], pool: ThreadPoolExecutor, work: Any, running: set[Future[Any]]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        where, values = future.result()
        if values is None:
            running.update(pool.submit(work, half) for half in self._halves(where))
        else:
            yield where, values

    def _run_cuda(
        self,
        table: TokenTable,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        lengths: NDArray[np.int64],
        order: NDArray[np.int64],
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Pack the next batch while the GPU computes.

        Results are fetched one batch later, so that the GPU never waits.
        """
        batches = self._batches(lengths, order)
        again: list[NDArray[np.int64]] = []

        def following() -> NDArray[np.int64] | None:
            return again.pop() if again else next(batches, None)

        with torch.inference_mode(), ThreadPoolExecutor(1) as packer:

            def ahead() -> tuple[NDArray[np.int64], Future[Packed]] | None:
                where = following()
                return None if where is None else (where, packer.submit(table.pack, left[where], right[where]))

            upcoming, late = ahead(), None
            while upcoming is not None:
                where, packed = upcoming
                batch = packed.result()
                upcoming = ahead()
                try:
                    result = self._forward(batch)
                    host = torch.empty(result.shape, dtype=torch.float32, pin_memory=True)
                    host.copy_(result, non_blocking=True)
                    ready = torch.cuda.Event()
                    ready.record()
                except RuntimeError as error:
                    if not out_of_memory(error):
                        raise
                    torch.cuda.empty_cache()
                    again.extend(self._halves(where))
                    upcoming = upcoming or ahead()
                    continue
                if late is not None:
                    late[2].synchronize()
                    yield late[0], late[1].numpy()
                late = (where, host, ready)
            if late is not None:
                late[2].synchronize()
                yield late[0], late[1].numpy()

    def _halves(self, where: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Split a batch that did not fit into two, and halve the token budget of all later batches."""
        if len(where) == 1:
            raise SoftirrError(
                "There is not enough memory for a single pair; use a smaller model or a smaller max_length."
            )
        self.token_budget = max(1, self.token_budget // 2)
        return [where[: len(where) // 2], where[len(where) // 2 :]]

    def _choose(self, model: Any, precision: str) -> tuple[str, Forward]:
        """Number format and forward pass; fast ones are used only where the check pairs confirm their accuracy."""
        model = model.to(self.device)
        (check,) = self._check_batches(1)
        with torch.inference_mode():
            plain = self._padded(model)
            # the padded pass needs the most memory, so it runs in parts; one batch keeps the kernels of the others few
            exact = torch.cat([plain(batch) for batch in self._check_batches(_CHECK_PARTS)])
            if precision != "auto":
                return precision, self._forward_in(model, precision, check, exact)
            for candidate in self._fast_formats(model):
                try:
                    forward = self._forward_in(model, candidate, check, exact, int8_bound=_INT8_AUTO_BOUND)
                except InputError:
                    continue  # int8 refused: the next format
                if _typically_moved(forward(check), exact) <= _AUTO_BOUND:
                    return candidate, forward
            return "float32", self._forward_in(model, "float32", check, exact)

    def _fast_formats(self, model: Any) -> list[str]:
        """Formats that are faster here than float32, the fastest first."""
        if self.device.type == "cuda":
            # float16 is as fast and eight times as exact, but overflows where bfloat16 does not
            return ["bfloat16", "float16"] if torch.cuda.is_bf16_supported() else ["float16"]
        if self.device.type != "cpu":
            return []
        formats = ["int8"] if PackedBert.fits(model) and int8_is_fast() else []
        return [*formats, "bfloat16"] if fast_bfloat16() else formats

    def _forward_in(
        self,
        model: Any,
        precision: str,
        check: Packed,
        exact: torch.Tensor,
        *,
        int8_bound: float = _INT8_BOUND,
    ) -> Forward:
        if precision == "int8":
            if self.device.type != "cpu" or not PackedBert.fits(model) or not int8_is_fast():
                raise InputError(
                    "The precision int8 is for BERT, RoBERTa and XLM-R on processors with 8-bit products; use auto, bfloat16 or float32."
                )
            quantised = PackedBert(model, Int8Linear)
            # most models are refused by the first pairs alone, which saves the time of the others
            for batch in (self._check_batches(_CHECK_PARTS)[0], check):
                moved = _moved(quantised(batch), exact[: len(batch.lengths)])
                if moved > int8_bound:
                    raise InputError(
                        f"The precision int8 moves this model's probabilities by {moved:.3f} or more; use auto, bfloat16 or float32."
                    )
            return quantised
        if precision == "bfloat16" and self.device.type == "cpu" and PackedBert.fits(model):
            return PackedBert(model, Bfloat16Linear)
        if precision != "float32":
            model = copy.deepcopy(model).to(_FORMATS[precision])
        plain = self._padded(model)
        if PackedBert.fits(model):
            try:
                packed = PackedBert(model)
                if _moved(packed(check), exact) <= _TOLERANCE[precision]:
                    return packed
            except (RuntimeError, AttributeError, KeyError):
                # a variant of the architecture, or a device without the packed attention: the padded pass always works
                return plain
        return plain

    def _padded(self, model: Any) -> PaddedForward:
        return PaddedForward(model, int(self.config.pad_token_id or 0), self.device)

    def _check_batches(self, parts: int) -> list[Packed]:
        """Each two check texts once, the longest pairs first: most of the time of loading is spent on them."""
        table = self.tokens.table(_CHECK)
        left, right = np.tril_indices(len(_CHECK))
        lengths, _ = table.pair_lengths(left, right)
        order = np.argsort(-lengths, kind="stable")
        return [table.pack(left[part], right[part]) for part in np.array_split(order, parts)]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run torch on one thread: loading is a little work in many small steps, in which waiting threads would cost more time than they save."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _moved(values: torch.Tensor, exact: torch.Tensor) -> float:
    """Largest difference of any probability."""
    return float((values.softmax(-1) - exact.softmax(-1)).abs().max())


def _typically_moved(values: torch.Tensor, exact: torch.Tensor) -> float:
    """Root mean square of the differences of the probabilities."""
    return float((values.softmax(-1) - exact.softmax(-1)).square().mean().sqrt())
