"""Training options: together with the data they determine the trained model."""

from __future__ import annotations

from dataclasses import dataclass

FOLDERS = ("start", "mean")
"""What of a recipe are folders: where these lie may change between two parts of a training."""


@dataclass(frozen=True)
class Recipe:
    """How to train; together with the data and the seed it determines the result.

    Attributes
    ----------
    start
        Model folder.
    mean
        Further model folders of the same shape: training starts from the mean of their weights and the start's (model
        soups, Wortsman et al. 2022).
    pairs
        How many pairs to train on; 0 only calibrates what training would start from.
    rounds
        Parts of the training; after each the model is measured on the development set and hard pairs are collected.
    batch, chunk
        Pairs of a step, and pairs of a chunk.
    rate, layer_decay, warmup, weight_decay, clip
        Highest learning rate, its factor from each layer to the next lower one, share of the steps in which it rises,
        weight decay, and largest gradient.
    average
        Decay of the moving average of the weights; the average is the trained model.
    dropout
        See :func:`lab.train.folder.load_start`.
    max_length
        Tokens of a pair.
    development
        Pairs of each kind in the development set.
    hard
        How many hard pairs are kept after a round; 0 collects none.
    patience
        Rounds without a better model before training stops.
    """

    start: str
    mean: tuple[str, ...] = ()
    pairs: int = 6_000_000
    rounds: int = 12
    batch: int = 256
    chunk: int = 8192
    rate: float = 2e-4
    layer_decay: float = 0.9
    warmup: float = 0.06
    weight_decay: float = 0.01
    clip: float = 1.0
    average: float = 0.999
    dropout: float | None = None
    max_length: int = 128
    development: int = 300
    hard: int = 20_000
    patience: int = 4
    seed: int = 0

    @property
    def chunks(self) -> int:
        """Chunks in all, the same number in each round."""
        return max(1, round(self.pairs / self.chunk / self.rounds)) * self.rounds if self.pairs else 0

    @property
    def steps(self) -> int:
        """Steps in all."""
        return self.chunks * -(-self.chunk // self.batch)
