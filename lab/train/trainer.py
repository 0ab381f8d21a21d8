"""The training loop: batches, learning rates, the average of the weights, a teacher, checkpoints."""

from __future__ import annotations

import copy
import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from pickle import UnpicklingError  # what torch.load raises for a damaged file; nothing is unpickled
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from lab.train.batches import Batch, ChunkPlan, Encoder, chunks
from lab.train.develop import DevelopmentSet, calibrate, measures
from lab.train.recipe import Training
from softirr.errors import InputError

CHECKPOINT = "checkpoint.pt"
_SECONDS_BETWEEN_CHECKPOINTS = 300.0
_HIDDEN = 0.5
"""Weight of the differences between hidden states at first; it falls to 0 over the first part of the training."""
_HIDDEN_PART = 0.7
_LOWEST_RATE = 0.02


@dataclass(frozen=True)
class Machine:
    """Where a training runs.

    Attributes
    ----------
    half
        Whether matrix products use bfloat16.
    workers
        Processes that make batches; 0 makes them in this one.
    deadline
        Time of the monotonic clock after which training stops with a checkpoint.
    """

    device: torch.device
    half: bool = False
    workers: int = 0
    deadline: float = math.inf
    say: Callable[[str], None] = lambda sentence: None

    @classmethod
    def of(cls, device: str, precision: str, workers: int, seconds: float, say: Callable[[str], None]) -> Machine:
        """The machine by the names of the command line."""
        from softirr.inference.loading import fast_bfloat16, pick_device

        picked = pick_device(device)
        is_fast = fast_bfloat16() if picked.type == "cpu" else picked.type == "cuda"
        half = precision == "bfloat16" or (precision == "auto" and is_fast)
        return cls(picked, half, workers, time.monotonic() + seconds, say)

    def products(self) -> Any:
        """Context in which matrix products use the machine's number format."""
        return torch.autocast(self.device.type, torch.bfloat16) if self.half else nullcontext()


@dataclass
class State:
    """Progress of a training.

    Attributes
    ----------
    done
        Number of chunks.
    history
        Measures on the development set at the start and after each round.
    """

    done: int = 0
    step: int = 0
    seconds: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)


class Trainer:
    """Trains one model.

    Parameters
    ----------
    model
        BERT classifier without dropout that the training starts from.
    plan
        Options of the batches.
    development
        Pairs that the average of the weights is measured on after each round.
    work
        Folder for the checkpoint, from which an interrupted training continues.

    Attributes
    ----------
    teacher
        Classifier of the same width with twice as many layers, or None.
    """

    def __init__(
        self, training: Training, model: Any, plan: ChunkPlan, development: DevelopmentSet, work: Path, machine: Machine
    ) -> None:
        self.training, self.model, self._plan, self._work, self._machine = training, model, plan, work, machine
        self._development = development
        self.model.to(machine.device).train()
        self.teacher: Any = None
        self.state = State()
        self._encoder = plan.encoder()
        self._optimizer = torch.optim.AdamW(_groups(model, training))
        self._average = {name: p.detach().clone() for name, p in model.state_dict().items()}
        self._resume()
        names = [name for name, p in model.state_dict().items() if p.is_floating_point()]
        self._averaged, self._weights = ([d[n] for n in names] for d in (self._average, model.state_dict()))

    def run(self) -> bool:
        """Train until the end or until time is up; whether the training is finished."""
        started, earlier_seconds, state = time.monotonic(), self.state.seconds, self.state
        if self.teacher is not None:
            self.teacher.to(self._machine.device).eval()
        if not state.history:
            self._measure()
        last, saved = self.training.chunks, started
        for batches in chunks(self._plan, state.done, last, self._machine.workers):
            for batch in batches:
                self._step(batch)
            state.done += 1
            now = time.monotonic()
            state.seconds = earlier_seconds + now - started
            if state.done % (last // self.training.rounds) == 0:
                self._measure()
            is_over = now > self._machine.deadline
            if is_over or state.done == last or now - saved > _SECONDS_BETWEEN_CHECKPOINTS:
                self._save()
                saved = now
            if is_over:
                break
        return state.done == last

    def averaged(self) -> Any:
        """The model with the average of the weights."""
        model = copy.deepcopy(self.model).eval()
        model.load_state_dict(self._average)
        return model

    def _step(self, batch: Batch) -> None:
        training, state = self.training, self.state
        factor = rate_factor(state.step, training)
        for group in self._optimizer.param_groups:
            group["lr"] = group["highest"] * factor
        self._optimizer.zero_grad(set_to_none=True)
        self._loss(batch).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), training.clip)
        self._optimizer.step()
        state.step += 1
        # at first the average would keep the untrained weights for too long
        decay = min(training.average, (1 + state.step) / (10 + state.step))
        with torch.no_grad():
            torch._foreach_lerp_(self._averaged, self._weights, 1 - decay)

    def _loss(self, batch: Batch) -> Tensor:
        """Mean loss of the batch: half of it by the labels and half by the teacher, if there is one."""
        labels = torch.from_numpy(batch.labels).to(self._machine.device)
        with self._machine.products():
            logits, hidden = outputs(self.model, batch, with_hidden=self.teacher is not None)
            loss = F.cross_entropy(logits, labels)
            if self.teacher is None:
                return loss
            with torch.no_grad():
                taught, taught_hidden = outputs(self.teacher, batch, with_hidden=True)
        soft = F.kl_div(F.log_softmax(logits, -1), F.log_softmax(taught, -1), reduction="batchmean", log_target=True)
        weight = _HIDDEN * max(0.0, 1 - self.state.step / self.training.steps / _HIDDEN_PART)
        differences = [
            (student_hidden.float() - teacher_hidden.float()).pow(2).mean() / teacher_hidden.float().pow(2).mean()
            for student_hidden, teacher_hidden in zip(hidden, taught_hidden[1::2], strict=True)
        ]
        return (loss + soft) / 2 + (weight * sum(differences) / len(differences) if differences else 0.0)

    def _measure(self) -> None:
        """Calibrate the average on the development set, and measure it there."""
        state, training = self.state, self.training
        values = margins(self.averaged(), self._encoder, self._development.pairs, self._machine)
        values_by_name = measures(self._development, values, calibrate(self._development, values))
        state.history.append({name: round(value, 4) for name, value in values_by_name.items()})
        summary = ", ".join(f"{name} {value:.3f}" for name, value in values_by_name.items())
        rate = f" {state.done * training.chunk / state.seconds:,.0f} pairs a second." if state.seconds else ""
        self._machine.say(f"{training.name}, {state.done * training.chunk:,} pairs: {summary}.{rate}")

    def _save(self) -> None:
        """Write a checkpoint; the file is complete at any time."""
        partial = self._work / f"{CHECKPOINT}.part"
        content = {"training": asdict(self.training), "state": asdict(self.state), "model": self.model.state_dict()}
        torch.save(content | {"average": self._average, "optimizer": self._optimizer.state_dict()}, partial)
        os.replace(partial, self._work / CHECKPOINT)

    def _resume(self) -> None:
        path = self._work / CHECKPOINT
        if not path.is_file():
            return
        try:
            content = torch.load(path, map_location=self._machine.device, weights_only=True)
            training = content["training"]
        except (OSError, RuntimeError, KeyError, EOFError, UnpicklingError, ValueError) as error:
            raise InputError(f"{path} is damaged; remove it to train from the beginning.") from error
        if training != asdict(self.training):
            raise InputError(f"{path} belongs to a training with other options; choose another work folder.")
        self.model.load_state_dict(content["model"])
        self._optimizer.load_state_dict(content["optimizer"])
        self._average = content["average"]
        self.state = State(**content["state"])
        self._machine.say(f"Continuing after {self.state.done * self.training.chunk:,} pairs.")


def outputs(model: Any, batch: Batch, *, with_hidden: bool) -> tuple[Tensor, list[Tensor]]:
    """Logits of a batch, shape (pairs, 2), and the output of each layer except the last, shape (tokens, width)."""
    ids, types, mask = (torch.from_numpy(values).to(model.device) for values in (batch.ids, batch.types, batch.mask))
    result = model(ids, attention_mask=mask, token_type_ids=types, output_hidden_states=with_hidden)
    layers = result.hidden_states[1:-1] if with_hidden else ()
    return result.logits.float(), [hidden[mask.bool()] for hidden in layers]


def margins(model: Any, encoder: Encoder, pairs: Sequence[tuple[str, str]], machine: Machine) -> NDArray[np.float64]:
    """Logit of entailment minus logit of its absence, in both directions, shape (n, 2)."""
    directed = [*pairs, *((b, a) for a, b in pairs)]
    values = np.zeros(len(directed))
    with torch.inference_mode(), machine.products():
        for rows, batch in encoder.batches(directed, [0] * len(directed), 1024):
            logits, _ = outputs(model, batch, with_hidden=False)
            values[rows] = (logits[:, 1] - logits[:, 0]).double().cpu().numpy()
    return values.reshape(2, -1).T


def _groups(model: Any, training: Training) -> list[dict[str, Any]]:
    """Parameters by layer: lower layers have a lower learning rate; norms and biases have no weight decay."""
    last = int(model.config.num_hidden_layers) + 1
    parameters: dict[tuple[int, bool], list[Any]] = {}
    for name, p in model.named_parameters():
        _, _, layer = name.partition(".layer.")
        depth = int(layer.split(".")[0]) + 1 if layer else 0 if "embeddings" in name else last
        parameters.setdefault((depth, p.ndim > 1), []).append(p)
    return [
        {
            "params": group,
            "lr": 0.0,
            "highest": training.rate * training.layer_decay ** (last - depth),
            "weight_decay": training.weight_decay if decays else 0.0,
        }
        for (depth, decays), group in parameters.items()
    ]


def rate_factor(step: int, training: Training) -> float:
    """Factor of the learning rate: a linear rise, then half a cosine down to 2%."""
    rise = max(1, round(training.steps * training.warmup))
    if step < rise:
        return (step + 1) / rise
    share = min(1.0, (step - rise) / max(1, training.steps - rise))
    return _LOWEST_RATE + (1 - _LOWEST_RATE) * 0.5 * (1 + math.cos(math.pi * share))
