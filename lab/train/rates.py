"""Learning rates: by layer, and over the steps of a training."""

from __future__ import annotations

import math
from typing import Any

from lab.train.recipe import Recipe

__all__ = ["groups", "rate_of_layer", "schedule"]


def groups(model: Any, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters by layer: deeper layers have a lower learning rate; norms and biases have no weight decay."""
    last = int(model.config.num_hidden_layers) + 1
    parameters: dict[tuple[int, bool], list[Any]] = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            _, _, layer = name.partition(".layer.")
            depth = int(layer.split(".")[0]) + 1 if layer else 0 if "embeddings" in name else last
            parameters.setdefault((depth, p.ndim > 1), []).append(p)
    return [
        {
            "params": own,
            "lr": 0.0,
            "highest": rate_of_layer(model, recipe, depth),
            "weight_decay": recipe.weight_decay if decays else 0.0,
        }
        for (depth, decays), own in parameters.items()
    ]


def rate_of_layer(model: Any, recipe: Recipe, depth: int) -> float:
    """Highest learning rate of a layer; the embeddings are layer 0, and the head belongs to the last layer."""
    return recipe.rate * recipe.layer_decay ** (int(model.config.num_hidden_layers) + 1 - depth)


def schedule(step: int, steps: int, warmup: float) -> float:
    """Factor of the learning rate: a linear rise, then half a cosine down to 2%."""
    rise = max(1, round(steps * warmup))
    if step < rise:
        return (step + 1) / rise
    share = min(1.0, (step - rise) / max(1, steps - rise))
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share))
