"""Equivalence measures, which estimate P(a ≡ b): one module per family (``families.tsv``), made by name.

``measure("indel")``, ``measure("nli:/path/to/model")``; the modules of the families, and with them torch and
transformers, are imported only when a measure of the family is made. The list has every measure, with known models,
their size, revision, label order and whether they are on this machine.
"""

from __future__ import annotations

import functools
import importlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.inference.models import KNOWN_MODELS, KnownModel, bundled
from softirr.meaning.lexicon import rows
from softirr.meaning.measures.protocols import Measure

__all__ = ["DEFAULT_MEASURE", "SPEEDS", "CatalogueEntry", "Measure", "catalogue", "families", "measure", "takes"]


DEFAULT_MEASURE = "nli"
"""The default measure: the bundled entailment model."""


def takes(name: str) -> str:
    """The kind of argument behind a measure's name: ``model`` (with options such as device), ``path``, or nothing.

    Parameters
    ----------
    name : str
        A measure's name, with or without a model or a path.

    Examples
    --------
    >>> takes("nli:FOLDER"), takes("terminology"), takes("indel")
    ('model', 'path', '')
    """
    family = families().get(name.partition(":")[0])
    return "" if family is None else family.takes


def measure(name: str, **options: Any) -> Measure:
    """An equivalence measure by name.

    Parameters
    ----------
    name : str
        ``exact``, ``jaccard``, ``masi``, ``levenshtein``, ``indel``, ``lcs``, or a name with a model after a colon:
        ``embedding:MODEL``, ``nli:MODEL``, ``llm-logprob:MODEL``, ``llm-verbalised:MODEL``, where MODEL is a folder, a
        name on the model hub, a short name or (language models only) the URL of an OpenAI-compatible server;
        ``terminology:PATH``.
    **options
        Keyword options of the family, such as ``device="cuda"``; see the family's module. With ``facts=False``, a model
        compares texts as they are: numbers, sides and negations are not read before
        (:mod:`softirr.meaning.measures.facts`).

    Raises
    ------
    InputError
        If the name or an option is not known, or the model cannot be used.

    Examples
    --------
    >>> measure("indel").score([("fever", "fevers"), ("fever", "fever")]).round(2).tolist()
    [0.91, 1.0]
    """
    name = DEFAULT_MEASURE if name == "auto" else name
    family_name, colon, model = name.partition(":")
    family = families().get(family_name)
    if family is None:
        raise InputError(f"There is no measure {name!r}; the measures are {', '.join(families())}.")
    if colon and not family.takes:
        raise InputError(f"The measure {family_name} takes no model, but {name!r} names one.")
    if colon and not model:
        raise InputError(f"The measure {name!r} names no model behind the colon.")
    make = importlib.import_module(f"softirr.meaning.measures.{family.module}").make
    facts = options.pop("facts", True)
    try:
        raw: Measure = make(family_name, model or None, **options)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(
            f"The measure {name} needs PyTorch, which is not installed: pip install torch, on a machine without an "
            "NVIDIA card with --index-url https://download.pytorch.org/whl/cpu (a small download)."
        ) from None
    if not (facts and family.takes == "model"):
        return raw
    from softirr.meaning.measures.fact_comparisons import Facts

    return raw.with_stage(Facts())


SPEEDS: dict[str, str] = dict(rows("speeds", "softirr.meaning.measures"))
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
    entry : CatalogueEntry
        Its line in the list, without a model.
    """

    module: str
    takes: str
    models: str
    entry: CatalogueEntry


@functools.cache
def families() -> dict[str, Family]:
    """Every family by its name."""
    result = {}
    for name, module, takes, models, directional, cheap, *described in rows("families", "softirr.meaning.measures"):
        speed, device, summary = described
        listed_name = f"{name}:PATH" if takes == "path" else name
        entry = CatalogueEntry(listed_name, summary, bool(models), directional == "yes", cheap == "yes", speed, device)
        result[name] = Family(module, takes, models, entry)
    return result


def catalogue() -> list[CatalogueEntry]:
    """Every measure by name, those with models once for each known model; imports neither torch nor transformers."""
    without_models = [family.entry for family in families().values() if not family.models]
    with_models = sorted((family for family in families().values() if family.models), key=lambda f: f.models != "nli")
    pinned_models = [
        _known(family.entry, model) for family in with_models for model in KNOWN_MODELS if model.family == family.models
    ]
    return [*without_models, _bundled(families()["nli"].entry), *pinned_models]


def _bundled(entry: CatalogueEntry) -> CatalogueEntry:
    entry = replace(entry, summary=f"{entry.summary} by the bundled model")
    if (model := bundled("nli")) is None:
        return replace(entry, installed=False)
    size = f"{sum(p.stat().st_size for p in model.folder.rglob('*.safetensors')) / 1e6:.0f} MB"
    return replace(entry, size=size, model=model.name)


def _known(entry: CatalogueEntry, model: KnownModel) -> CatalogueEntry:
    return replace(
        entry,
        name=f"{entry.name}:{model.short}",
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
