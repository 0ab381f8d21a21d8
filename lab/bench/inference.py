"""``python -m lab.bench inference``: speed of an entailment model, compared with other methods in one run."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.bench.coefficients import Timing, clocked
from lab.bench.inference_contenders import (
    BUNDLED,
    Run,
    cross_encoder_way,
    label_order,
    pipeline_way,
    set_threads,
    short_texts,
    softirr_way,
)
from lab.results_table import table_head
from softirr.errors import InputError
from softirr.inference.loading import pick_device
from softirr.inference.models import bundled_model
from softirr.terminal import Parser, positive

PIPELINE, ENCODER = "(a) transformers.pipeline", "(b) CrossEncoder.predict"


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1 (cpu)")
    options.add_argument(
        "--models", nargs="*", default=[BUNDLED], metavar="MODEL",
        help=f"{BUNDLED}, or the folder of a model with a class entailment ({BUNDLED})",
    )  # fmt: skip
    options.add_argument(
        "--precisions", nargs="+", choices=("auto", "float32", "bfloat16", "int8"), default=["float32", "auto"],
        help="number formats to run (float32 auto)",
    )  # fmt: skip
    options.add_argument(
        "--pairs", type=positive, default=500, help="pairs of short texts, each in both directions (500)"
    )
    options.add_argument("--rounds", type=positive, default=3, help="rounds, each way once in each (3)")
    options.add_argument("--threads", type=positive, default=2, help="processor threads of every way (2)")


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the tables."""
    pick_device(options.device)
    set_threads(options.threads)
    for name in options.models:
        yield from speed_table(name, _folder(name), options)


def speed_table(name: str, folder: Path, options: argparse.Namespace) -> Iterator[str]:
    """Directed pairs per second of each method, and how far its probabilities are from (a)."""
    texts, entailment = short_texts(2 * options.pairs), label_order(folder).index("e")
    pairs = list(zip(texts[: options.pairs], texts[options.pairs :], strict=True))
    directed = [*pairs, *((b, a) for a, b in pairs)]
    contenders: dict[str, Run] = {
        PIPELINE: pipeline_way(folder, directed, options.device),
        ENCODER: cross_encoder_way(folder, directed, options.device),
    }
    for precision in options.precisions:
        try:
            run, used_precision = softirr_way(folder, directed, options.device, precision, options.threads)
        except InputError as error:
            yield f"\n{name}, {precision}: {error}"
            continue
        contenders[f"softirr {precision}" + (f" ({used_precision})" if used_precision != precision else "")] = run
    timed = measure_all(contenders, options.rounds)
    device = _device_name(options.device)
    yield f"\n## {name}, {len(directed):,} directed pairs, {device}, {options.threads} threads\n"
    times = ("times (a)", "times (b)", "by CPU time: (a), (b)")
    yield from table_head(("way", "pairs/s", *times, "spread", "max abs dP", "abs dkappa"))
    a, b, reference = timed[PIPELINE], timed[ENCODER], timed[PIPELINE].answers
    for contender, timing in timed.items():
        slowest = max(one_round.wall for one_round in timing.rounds)
        moved = float(np.abs(timing.answers - reference).max())
        kappa = abs(_kappa(timing.answers[:, entailment]) - _kappa(reference[:, entailment]))
        yield (
            f"| {contender} | {len(directed) / timing.best:,.0f} "
            f"| {a.best / timing.best:.2f} | {b.best / timing.best:.2f} "
            f"| {a.cpu / timing.cpu:.2f}, {b.cpu / timing.cpu:.2f} | {slowest / timing.best:.2f} | "
            f"{moved:.1e} | {kappa:.1e} |"
        )


@dataclass
class Timed:
    """The results, and the times of each round."""

    answers: NDArray[np.float64]
    rounds: list[Timing] = field(default_factory=list)

    @property
    def best(self) -> float:
        """The fastest round, because other programs can only slow a round down."""
        return min(timing.wall for timing in self.rounds)

    @property
    def cpu(self) -> float:
        """Least processor time of a round."""
        return min(timing.processor for timing in self.rounds)


def measure_all(contenders: dict[str, Run], rounds: int) -> dict[str, Timed]:
    """Run each method once to warm up, then once a round, so that a slow minute of the machine affects all of them."""
    timed = {name: Timed(run()) for name, run in contenders.items()}
    for _ in range(rounds):
        for name, run in contenders.items():
            timed[name].rounds.append(clocked(run))
    return timed


def _kappa(entailment: NDArray[np.float64]) -> float:
    """Kappa with the first half of the pairs as same-item pairs and the second half as chance pairs."""
    forward, backward = np.split(entailment, 2)
    observed, chance = (float(half.mean()) for half in np.array_split(np.sqrt(forward * backward), 2))
    return (observed - chance) / (1 - chance)


def _folder(name: str) -> Path:
    if name != BUNDLED and not Path(name, "config.json").is_file():
        raise InputError(f"There is no model {name}; use {BUNDLED} or the folder of a model.")
    return bundled_model().folder if name == BUNDLED else Path(name)


def _device_name(device: str) -> str:
    import torch

    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device
