"""Pairs of texts for the classifier, and plain versions of its probabilities and of kappa."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import torch

from tests.inference.tiny import plain_probabilities, some_texts

TEXTS = [*some_texts(38), "", "No FEVER, 3.5 cm; naïve"]
RNG = np.random.default_rng(3)
LEFT, RIGHT = RNG.integers(0, len(TEXTS), 150), RNG.integers(0, len(TEXTS), 150)
PAIRS = [(TEXTS[i], TEXTS[j]) for i, j in zip(LEFT.tolist(), RIGHT.tolist(), strict=True)]


@cache
def plain(folder: Path) -> np.ndarray:
    return plain_probabilities(folder, PAIRS)


def softmax(logits: np.ndarray) -> np.ndarray:
    return torch.from_numpy(logits).double().softmax(-1).numpy()


def kappa(p: np.ndarray) -> float:
    """Kappa with the first pairs as observed ones, the others as chance."""
    observed, chance = p[:75, 1].mean(), p[75:, 1].mean()
    return float((observed - chance) / (1 - chance))
