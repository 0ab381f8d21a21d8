"""Equivalence measures, which estimate P(a ≡ b): one module per family, made by name.

``measure("indel")``, ``measure("nli:/path/to/model")``; the modules of the families, and with them torch and
transformers, are imported only when a measure of the family is made.
"""

from __future__ import annotations

import importlib
from typing import Any

from softirr.errors import InputError
from softirr.meaning.measures.arrays import mutual
from softirr.meaning.measures.listing import SPEEDS, CatalogueEntry, catalogue, families
from softirr.meaning.measures.protocols import Measure
from softirr.provenance import Provenance

__all__ = [
    "DEFAULT_MEASURE",
    "SPEEDS",
    "CatalogueEntry",
    "Measure",
    "Provenance",
    "catalogue",
    "measure",
    "measure_names",
    "mutual",
    "takes_model",
    "takes_path",
]


DEFAULT_MEASURE = "nli"
"""The default measure: the bundled entailment model."""


def measure_names() -> tuple[str, ...]:
    """The names that :func:`measure` knows, without models."""
    return tuple(families())


def takes_model(name: str) -> bool:
    """Whether a measure uses a model, and so takes options such as device, precision and engine.

    Parameters
    ----------
    name : str
        A measure's name, with or without a model.
    """
    return _takes(name) == "model"


def takes_path(name: str) -> bool:
    """Whether a measure needs a file after its name, as ``terminology:PATH`` does.

    Parameters
    ----------
    name : str
        A measure's name, with or without a path.

    Examples
    --------
    >>> takes_path("terminology"), takes_path("indel")
    (True, False)
    """
    return _takes(name) == "path"


def _takes(name: str) -> str | None:
    family = families().get(name.partition(":")[0])
    return None if family is None else family.takes


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
