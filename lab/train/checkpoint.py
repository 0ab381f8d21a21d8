"""What a training keeps in its work folder, to continue where it stopped."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from pickle import UnpicklingError  # what torch.load raises for a damaged file; nothing is unpickled
from typing import Any

import torch

from lab.train.recipe import FOLDERS, Recipe
from softirr.errors import InputError

__all__ = ["State", "read_checkpoint", "write_checkpoint"]

_FILE = "checkpoint.pt"


@dataclass
class State:
    """Progress of a training."""

    done: int = 0
    """Chunks."""
    step: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    best: float = math.inf
    best_round: int = -1
    finished: bool = False
    seconds: float = 0.0


def write_checkpoint(work: Path, recipe: Recipe, kept: dict[str, Any]) -> None:
    """Write a checkpoint; the file is complete at any time."""
    fresh = work / f"{_FILE}.part"
    torch.save({"recipe": _same(recipe), **kept}, fresh)
    os.replace(fresh, work / _FILE)


def read_checkpoint(work: Path, recipe: Recipe) -> dict[str, Any] | None:
    """The checkpoint of a training; None where there is none.

    Raises
    ------
    InputError
        If it is damaged, or belongs to a training with another recipe.
    """
    path = work / _FILE
    if not path.is_file():
        return None
    try:
        kept: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        other, _ = kept["recipe"], kept["words"]
    except (OSError, RuntimeError, KeyError, EOFError, UnpicklingError, ValueError) as error:
        raise InputError(f"{path} is damaged; remove it to train from the beginning.") from error
    if other != _same(recipe):
        changed = [name for name in other if other[name] != _same(recipe).get(name)]
        raise InputError(
            f"{path} belongs to a training with another {', '.join(changed) or 'recipe'}; choose another work folder."
        )
    return kept


def _same(recipe: Recipe) -> dict[str, Any]:
    """Options that must not change between two parts of a training; the path of the start model may."""
    return {name: value for name, value in asdict(recipe).items() if name not in FOLDERS}
