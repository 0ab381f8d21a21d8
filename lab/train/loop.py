"""The training loop: rounds of chunks, an average of the weights, hard pairs, checkpoints, early stopping."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from lab.train.batches import Batch, ChunkPlan, Chunks, Encoder, chunks, read_sources, write_hard
from lab.train.checkpoint import State, read_checkpoint, write_checkpoint
from lab.train.develop import Calibration, DevelopmentSet, calibrate, measures
from lab.train.embedding_rows import TouchedRows
from lab.train.folder import average_weights, load_start
from lab.train.packed import PackedTraining
from lab.train.rates import groups, rate_of_layer, schedule
from lab.train.recipe import Recipe
from lab.train.replicas import Replicas
from lab.train.stream import PairStream
from softirr.errors import InputError
from softirr.inference.tokens import length_limit
from softirr.meaning.terminology import Terminology

Progress = Callable[[int, int], None]
_KEEP_EVERY = 300.0
"""Seconds between two checkpoints within a round: what a training that is killed loses at most."""
_CLEAR = 0.98
"""Neighbors that the model is surer of than this are rather synonyms that the terminology lacks."""

_REPORTED = (
    "score",
    "P synonym",
    "P random",
    "P sibling",
    "P neighbor",
    "changed called equivalent",
    "direction right",
)
"""Measures that are reported after each round."""
_HARD = {
    "sibling": 3.0,
    "neighbor": 4.0,
    "hypernym": 2.0,
    "synonym": 4.0,
    "opposite": 1.0,
    "other word": 1.0,
    "modifier": 1.0,
    "look-alike": 2.0,
    "everyday": 8.0,
}
"""How often each kind is drawn where hard pairs are looked for."""


@dataclass(frozen=True, eq=False)
class Trained:
    """The trained model and its measures.

    Attributes
    ----------
    model, tokenizer
        Best weights so far (the average), not yet calibrated.
    for_unseen
        The part of the calibration's shift that is for terminologies that the model never saw.
    before, after
        Measures of the start and of the best model on the development set.
    """

    model: Any
    tokenizer: Any
    calibration: Calibration
    for_unseen: float
    before: dict[str, float]
    after: dict[str, float]
    state: State


class Trainer:
    """Trains one model from kept sources.

    Parameters
    ----------
    data
        File written by :func:`lab.train.batches.write_sources`.
    work
        Folder for checkpoints.
    device
        ``auto``, ``cpu``, ``cuda``.
    precision
        ``bfloat16`` (matrix products only; weights stay in float32), ``float32``, or ``auto``: bfloat16 where the
        device is fast in it.
    workers
        Processes that make batches; 0 makes them in this one.
    unseen
        Terminologies that nothing was trained on. On what it learned beside, a model is surer of synonyms than
        elsewhere, and a calibration by that alone is too cautious: these say by how much, as a further shift.
    for_unseen
        That shift where it is known already, from a model before.
    say, progress
        Get sentences, and (pairs done, pairs in all).
    """

    def __init__(
        self,
        recipe: Recipe,
        data: Path,
        work: Path,
        *,
        device: str = "auto",
        precision: str = "auto",
        workers: int = 0,
        unseen: Sequence[Terminology] = (),
        for_unseen: float = 0.0,
        say: Callable[[str], None] = lambda sentence: None,
        progress: Progress = lambda done, total: None,
    ) -> None:
        from softirr.inference.devices import fast_bfloat16, pick_device

        self.recipe, self.work, self._data, self._workers = recipe, work, data, workers
        self._say, self._progress = say, progress
        self._unseen = DevelopmentSet.of_unseen(unseen, recipe.development, seed=recipe.seed) if unseen else None
        self._for_unseen = for_unseen
        self.device = pick_device(device)
        fast = fast_bfloat16() if self.device.type == "cpu" else self.device.type == "cuda"
        self._half = precision == "bfloat16" or (precision == "auto" and fast)
        torch.manual_seed(recipe.seed)
        self.model, self.tokenizer = load_start(recipe.start, dropout=recipe.dropout)
        if recipe.mean:
            average_weights(self.model, recipe.mean)
        self.model.to(self.device)
        if self.device.type == "cpu":
            # texts are short: training is 1.5 times as fast with plain products as with fused attention and its masks
            self.model.set_attn_implementation("eager")
        self._sources = read_sources(data)
        self._dev = DevelopmentSet.of(self._sources, recipe.development, seed=recipe.seed)
        if not len(self._dev):
            raise InputError("The data are too few to train on: no concept is left for development.")
        # batches are padded to multiples of four, so the limit is one too
        self._max_length = min(recipe.max_length, length_limit(self.tokenizer, self.model.config)) // 4 * 4
        self._encoder = Encoder(self.tokenizer, self._max_length)
        self._average = _copied(self.model.state_dict())
        words = self.model.get_input_embeddings().weight
        self._words_name = next(name for name, p in self.model.named_parameters() if p is words)
        self._words = TouchedRows(words, self._average[self._words_name], recipe.weight_decay)
        self._optimizer = torch.optim.AdamW(groups(self.model, recipe), fused=self.device.type in ("cpu", "cuda"))
        self._best = _copied(self._average)
        packs = PackedTraining.fits(self.model) and self.device.type == "cpu"
        self._packed = PackedTraining(self.model) if packs else None
        self._replicas = Replicas(torch.get_num_threads()) if packs and torch.get_num_threads() > 1 else None
        self._hard: list[tuple[str, str, int]] = []
        self.state = State()
        self._resume()
        mine = {
            name: p for name, p in self.model.state_dict().items() if p.is_floating_point() and name != self._words_name
        }
        self._averaged, self._weights = [self._average[name] for name in mine], list(mine.values())

    def run(self, *, seconds: float | None = None) -> Trained:
        """Train for at most this time and return the best model so far.

        Call it again, or use the same folder again, to continue.
        """
        started, recipe, state = time.monotonic(), self.recipe, self.state
        self._spent = spent = state.seconds
        self._kept = started
        plan = ChunkPlan(recipe.start, recipe.seed, recipe.chunk, recipe.batch, self._max_length)
        if not state.history:
            self._measure(0)
        state.finished = state.finished or not recipe.chunks
        with chunks(str(self._data), plan, self._workers) as source:
            while not state.finished:
                kept_time = seconds is None or time.monotonic() - started < seconds
                if not kept_time or not self._round(source, started, seconds):
                    break
                state.seconds = spent + time.monotonic() - started
                self._end_of_round()
        state.seconds = spent + time.monotonic() - started
        self._keep()
        # after the checkpoint: rows brought up to date in two steps differ from one step in their last bits
        self._words.settle()
        best = copy.deepcopy(self.model).eval()
        best.load_state_dict(self._best if state.best_round >= 0 else self._average)
        ground = DevelopmentSet.of_calibration(self._sources, recipe.development, seed=recipe.seed)
        calibration = calibrate(ground, self.margins(best, ground.pairs))
        for_unseen = self._for_unseen
        if self._unseen is not None:
            there = calibrate(self._unseen, self.margins(best, self._unseen.pairs), scale=calibration.scale)
            for_unseen = there.shift - calibration.shift
        calibration = replace(calibration, shift=calibration.shift + for_unseen)
        return Trained(
            best,
            self.tokenizer,
            calibration,
            for_unseen,
            state.history[0],
            measures(self._dev, self.margins(best, self._dev.pairs), calibration),
            state,
        )

    def margins(self, model: Any, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Logit of entailment minus logit of its absence, in both directions, shape (n, 2)."""
        both = [*pairs, *((b, a) for a, b in pairs)]
        return self._one_way(model, both).reshape(2, -1).T

    def _one_way(self, model: Any, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        model.eval()
        margins = np.zeros(len(pairs))
        with torch.inference_mode():
            for places, batch in self._encoder.batches(
                pairs, [0] * len(pairs), 1024 if self.device.type == "cuda" else 128
            ):
                logits = self._logits(model, batch)
                margins[places] = (logits[:, 1] - logits[:, 0]).double().cpu().numpy()
        return margins

    def _round(self, source: Chunks, started: float, seconds: float | None) -> bool:
        """The rest of the current round; False if time ran out in it."""
        recipe, state = self.recipe, self.state
        size = recipe.chunks // recipe.rounds
        last = (state.done // size + 1) * size
        file = ""
        if self._hard:
            path = self.work / f"hard-{state.done // size}.json"
            write_hard(path, self._hard)
            file = str(path)
        for batches in source(state.done, last, file):
            self.model.train()
            for batch in batches:
                self._step(batch)
            state.done += 1
            self._progress(min(state.done * recipe.chunk, recipe.chunks * recipe.chunk), recipe.chunks * recipe.chunk)
            if seconds is not None and time.monotonic() - started > seconds and state.done < last:
                return False
            if time.monotonic() - self._kept > _KEEP_EVERY and state.done < last:
                state.seconds = self._spent + time.monotonic() - started
                self._keep()
        return True

    def _step(self, batch: Batch) -> None:
        recipe, state = self.recipe, self.state
        factor = schedule(state.step, recipe.steps, recipe.warmup)
        for group in self._optimizer.param_groups:
            group["lr"] = group["highest"] * factor
        self._optimizer.zero_grad(set_to_none=True)
        ids = batch.ids if self._packed is None else batch.ids[batch.mask == 1]
        rows = self._words.read(torch.from_numpy(ids).long().to(self.device))
        trained = [*(p for p in self.model.parameters() if p.requires_grad), rows]
        if self._replicas is not None:
            self._replicas.backward(self._loss, batch, trained)
        else:
            self._loss(batch).backward()
        torch.nn.utils.clip_grad_norm_(trained, recipe.clip)
        self._optimizer.step()
        state.step += 1
        # at first the average would keep the untrained weights for too long
        decay = min(recipe.average, (1 + state.step) / (10 + state.step))
        self._words.step(rate_of_layer(self.model, recipe, 0) * factor, decay)
        with torch.no_grad():
            torch._foreach_lerp_(self._averaged, self._weights, 1 - decay)

    def _loss(self, batch: Batch) -> torch.Tensor:
        """Mean loss of the batch, which the embedding table has read."""
        if self._packed is not None:
            with torch.autocast(self.device.type, torch.bfloat16) if self._half else nullcontext():
                logits, labels = self._packed(batch, self._words)
        else:
            labels = torch.from_numpy(batch.labels).to(self.device, non_blocking=True)
            logits = self._logits(self.model, batch, self._words)
        return -F.log_softmax(logits, dim=-1).gather(1, labels[:, None]).mean()

    def _logits(self, model: Any, batch: Batch, words: TouchedRows | None = None) -> torch.Tensor:
        ids, types, mask = (torch.from_numpy(x) for x in (batch.ids, batch.types, batch.mask))
        if self.device.type == "cuda":
            ids, types, mask = (x.pin_memory().to(self.device, non_blocking=True) for x in (ids, types, mask))
        inputs = {"attention_mask": mask.long()}
        if words is None:
            inputs["input_ids"] = ids.long()
        else:
            inputs["inputs_embeds"] = words.embed(ids.long())
        if int(getattr(model.config, "type_vocab_size", 0) or 0) > 1:
            inputs["token_type_ids"] = types.long()
        with torch.autocast(self.device.type, torch.bfloat16) if self._half else nullcontext():
            logits: torch.Tensor = model(**inputs).logits
        return logits.float()

    def _end_of_round(self) -> None:
        recipe, state = self.recipe, self.state
        number = state.done // (recipe.chunks // recipe.rounds)
        values = self._measure(number)
        if values["score"] < state.best:
            state.best, state.best_round = values["score"], number
            self._best = _copied(self._average)
        if number >= recipe.rounds:
            state.finished = True
        elif number - max(state.best_round, 0) >= recipe.patience:
            self._say(f"No better model since round {state.best_round}: training ends here.")
            state.finished = True
        elif recipe.hard:
            self._find_hard(number)
        self._keep()

    @contextmanager
    def _as_average(self) -> Iterator[None]:
        """The model has the averaged weights meanwhile."""
        own = _copied(self.model.state_dict())
        self.model.load_state_dict(self._average)
        yield
        self.model.load_state_dict(own)

    def _measure(self, number: int) -> dict[str, float]:
        """Measures the average on the development set, each time with its own calibration."""
        self._words.settle()
        with self._as_average():
            margins = self.margins(self.model, self._dev.pairs)
        values = measures(self._dev, margins, calibrate(self._dev, margins))
        self.state.history.append(values)
        summary = ", ".join(f"{name} {values[name]:.3f}" for name in _REPORTED if name in values)
        state = self.state
        fast = f" {state.done * self.recipe.chunk / state.seconds:,.0f} pairs a second so far." if state.seconds else ""
        self._say(f"Round {number} of {self.recipe.rounds}: {summary}.{fast}")
        return values

    def _find_hard(self, number: int) -> None:
        """Pairs that the average gets wrong, for the next round."""
        recipe = self.recipe
        stream = PairStream(self._sources, seed=recipe.seed + 1, weights=_HARD)
        examples = stream.chunk(number, 3 * recipe.hard)
        with self._as_average():
            margins = self._one_way(self.model, [(e.premise, e.hypothesis) for e in examples])
        p = Calibration()(margins)
        wrong = np.array([abs(e.entails - x) for e, x in zip(examples, p, strict=True)])
        unclear = np.array([e.kind in ("sibling", "neighbor") for e in examples]) & (wrong > _CLEAR)
        order = np.argsort(-np.where(unclear, 0, wrong), kind="stable")[: recipe.hard]
        self._hard = [
            (examples[k].premise, examples[k].hypothesis, examples[k].entails) for k in order.tolist() if wrong[k] > 0.3
        ]
        self._say(f"{len(self._hard):,} hard pairs for the next round.")

    def _keep(self) -> None:
        """Write a checkpoint."""
        self._kept = time.monotonic()
        write_checkpoint(
            self.work,
            self.recipe,
            {
                "state": asdict(self.state),
                "model": self.model.state_dict(),
                "average": self._average,
                "best": self._best,
                "optimizer": self._optimizer.state_dict(),
                "words": self._words.state(),
                "hard": self._hard,
                "random": torch.get_rng_state(),
                "random_cuda": torch.cuda.get_rng_state() if self.device.type == "cuda" else None,
            },
        )

    def _resume(self) -> None:
        kept = read_checkpoint(self.work, self.recipe)
        if kept is None:
            return
        self.model.load_state_dict(kept["model"])
        self._optimizer.load_state_dict(kept["optimizer"])
        self._average = {name: p.to(self.device) for name, p in kept["average"].items()}
        self._words.load(kept["words"], self._average[self._words_name])
        self._best = {name: p.to(self.device) for name, p in kept["best"].items()}
        self._hard = [tuple(pair) for pair in kept["hard"]]
        self.state = State(**kept["state"])
        torch.set_rng_state(kept["random"])
        if kept["random_cuda"] is not None and self.device.type == "cuda":
            torch.cuda.set_rng_state(kept["random_cuda"])
        self._say(f"Going on after {self.state.done * self.recipe.chunk:,} pairs.")


def _copied(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in weights.items()}
