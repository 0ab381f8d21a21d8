"""The families of measures, from ``families.tsv``, and what ``softirr measures`` lists.

The list has every measure, with known models, their size, revision, label order and whether they are on this machine.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.inference.models import KNOWN_MODELS, KnownModel, bundled_model
from softirr.meaning.lexicon.words import rows

SPEEDS = {
    "instant": "millions of pairs a second on one thread (measured)",
    "fast": (
        "one pass a text, about 170 a second on one thread for a model of 6 layers, "
        "then millions of pairs a second (measured)"
    ),
    "slow": (
        "about 300 pairs a second on one thread for a model of 6 layers, 12 to 25 with 12 layers as BERT has (measured)"
    ),
    "very slow": "two questions a pair to a language model: needs a GPU or a server (not measured)",
}
"""Descriptions of the speed classes of :class:`CatalogueEntry`.

Measured on an AMD EPYC with AVX-512.
"""


@dataclass(frozen=True)
class CatalogueEntry:
    """One line of ``softirr measures``; :data:`SPEEDS` explains the values of `speed`."""

    name: str
    summary: str
    needs_model: bool
    directional: bool
    cheap: bool
    speed: str
    device: str
    size: str | None = None
    model: str | None = None
    revision: str | None = None
    installed: bool = True


@dataclass(frozen=True)
class Family:
    """One line of the table.

    Attributes
    ----------
    module : str
        Module of ``softirr.meaning.measures``; its ``make(name, model, **options)`` makes the measure.
    takes : str
        What follows the colon: ``model``, ``path``, or nothing.
    models : str
        The family of its known models in ``softirr/inference/known_models.tsv``; empty without a model.
    directional, cheap : bool
        As for :class:`CatalogueEntry`.
    """

    name: str
    module: str
    takes: str
    models: str
    directional: bool
    cheap: bool
    speed: str
    device: str
    summary: str


@cache
def families() -> dict[str, Family]:
    """Every family by its name."""
    return {
        name: Family(name, module, takes, models, directional == "yes", cheap == "yes", *described)
        for name, module, takes, models, directional, cheap, *described in rows("families", "softirr.meaning.measures")
    }


def catalogue() -> list[CatalogueEntry]:
    """Every measure by name, those with models once for each known model; imports neither torch nor transformers."""
    without_models = [_entry(family) for family in families().values() if not family.models]
    with_models = sorted((family for family in families().values() if family.models), key=lambda f: f.name != "nli")
    pinned_models = [
        _known(family, model) for family in with_models for model in KNOWN_MODELS if model.family == family.models
    ]
    return [*without_models, _bundled(families()["nli"]), *pinned_models]


def _entry(family: Family, **more: Any) -> CatalogueEntry:
    described: dict[str, Any] = {
        "name": family.name + (":PATH" if family.takes == "path" else ""),
        "summary": family.summary,
        "needs_model": bool(family.models),
        "directional": family.directional,
        "cheap": family.cheap,
        "speed": family.speed,
        "device": family.device,
    }
    return CatalogueEntry(**(described | more))


def _bundled(family: Family) -> CatalogueEntry:
    summary = f"{family.summary} by the bundled model"
    try:
        model = bundled_model()
    except InputError:
        return _entry(family, summary=summary, installed=False)
    size = f"{sum(p.stat().st_size for p in model.folder.rglob('*.safetensors')) / 1e6:.0f} MB"
    return _entry(family, summary=summary, size=size, model=model.name)


def _known(family: Family, model: KnownModel) -> CatalogueEntry:
    return _entry(
        family,
        name=f"{family.name}:{model.short}",
        size=f"{model.size} parameters",
        model=model.hub,
        revision=model.revision,
        installed=(_hub_folder() / f"models--{model.hub.replace('/', '--')}" / "snapshots" / model.revision).is_dir(),
    )


def _hub_folder() -> Path:
    """Folder of downloaded models, as documented by the hub's library, without importing it."""
    if folder := os.environ.get("HF_HUB_CACHE"):
        return Path(folder).expanduser()
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    return Path(home).expanduser() / "hub"
