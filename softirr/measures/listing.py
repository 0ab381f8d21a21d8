"""What ``softirr measures`` lists.

Every measure, with known models, their size, revision, label order and whether they are on this machine.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from softirr.errors import InputError
from softirr.inference.models import KNOWN_MODELS, KnownModel, bundled_model
from softirr.measures.labels import letter_of

__all__ = ["SPEEDS", "CatalogueEntry", "catalogue"]

_LEXICAL = {
    "exact": "the same text",
    "jaccard": "shared words, intersection over union",
    "masi": "shared words, with a penalty unless one set contains the other",
    "levenshtein": "edit distance over the longer length",
    "indel": "insertions and deletions over both lengths",
    "lcs": "longest common subsequence over the longer length",
}
_MODEL = {
    "nli": ("mutual entailment", True, "slow"),
    "embedding": ("cosine of two vectors", False, "fast"),
    "llm-logprob": ("a language model's odds of yes against no", True, "very slow"),
    "llm-verbalised": ("the probability that a language model writes", True, "very slow"),
}

SPEEDS = {
    "instant": "millions of pairs a second on one thread (measured)",
    "fast": "one pass a text, about 170 a second on one thread for a model of 6 layers, then millions of pairs a second (measured)",
    "slow": "about 300 pairs a second on one thread for a model of 6 layers, 12 to 25 for one of BERT's size (measured)",
    "very slow": "two questions a pair to a language model: needs a GPU or a server (not measured)",
}
"""What the speed classes of :class:`CatalogueEntry` mean.

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
    label_order: str | None = None
    model: str | None = None
    revision: str | None = None
    installed: bool = True


def catalogue() -> list[CatalogueEntry]:
    """Every measure by name, those with models once for each known model; imports neither torch nor transformers.

    Returns
    -------
    list of CatalogueEntry
    """
    entries = [
        CatalogueEntry(
            name=name,
            summary=summary,
            needs_model=False,
            directional=False,
            cheap=True,
            speed="instant",
            device="cpu",
        )
        for name, summary in _LEXICAL.items()
    ]
    entries.append(
        CatalogueEntry(
            name="terminology:PATH",
            summary="what a terminology tells: same concept, more general, different",
            needs_model=False,
            directional=True,
            cheap=True,
            speed="instant",
            device="cpu",
        )
    )
    entries.append(_bundled())
    for name, family in (("nli", "nli"), ("embedding", "embedding"), ("llm-logprob", "llm"), ("llm-verbalised", "llm")):
        entries.extend(_entry(name, known) for known in KNOWN_MODELS if known.family == family)
    return entries


def _bundled() -> CatalogueEntry:
    summary, directional, speed = _MODEL["nli"]
    try:
        model = bundled_model()
    except InputError:
        model = None
    size = (
        None if model is None else f"{sum(p.stat().st_size for p in model.folder.rglob('*.safetensors')) / 1e6:.0f} MB"
    )
    return CatalogueEntry(
        name="nli",
        summary=f"{summary} by the bundled model",
        needs_model=True,
        directional=directional,
        cheap=False,
        speed=speed,
        device="cpu, cuda or mps",
        size=size,
        label_order=None if model is None else _named_order(model.folder),
        model=None if model is None else model.name,
        installed=model is not None,
    )


def _entry(name: str, known: KnownModel) -> CatalogueEntry:
    summary, directional, speed = _MODEL[name]
    return CatalogueEntry(
        name=f"{name}:{known.short}",
        summary=summary,
        needs_model=True,
        directional=directional,
        cheap=name == "embedding",
        speed=speed,
        device="cuda, or a server" if known.family == "llm" else "cpu, cuda or mps",
        size=f"{known.size} parameters",
        label_order=known.label_order,
        model=known.hub,
        revision=known.revision,
        installed=(_hub_folder() / f"models--{known.hub.replace('/', '--')}" / "snapshots" / known.revision).is_dir(),
    )


def _named_order(folder: Path) -> str | None:
    """The order of the outputs that the model's configuration names; None where it names none."""
    names = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("id2label") or {}
    letters = [letter_of(str(names[key])) for key in sorted(names, key=int)]
    return ",".join(letters) if "e" in letters and "?" not in letters else None


def _hub_folder() -> Path:
    """Where the hub's library keeps models: as its documentation says, without importing it."""
    if folder := os.environ.get("HF_HUB_CACHE"):
        return Path(folder).expanduser()
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    return Path(home).expanduser() / "hub"
