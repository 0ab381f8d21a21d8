"""Options of a pair classifier."""

from __future__ import annotations

from dataclasses import dataclass

PRECISIONS = ("auto", "int8", "float32", "bfloat16", "float16")


@dataclass(frozen=True, kw_only=True)
class ClassifierOptions:
    """Options for running a classifier.

    Attributes
    ----------
    device
        ``auto`` (a GPU where there is one), ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
    precision
        ``float32``, ``bfloat16``, ``float16`` (GPUs), ``int8`` (BERT-like models on processors with 8-bit products) or
        ``auto``: on a GPU bfloat16, else float16, on a processor the fastest it has, if the probabilities of the check
        pairs move by at most 0.003 (root mean square), else float32.
    max_length
        Most tokens of a pair; the model's own limit by default.
    token_budget
        Tokens of a batch.
    threads
        Processor threads; as many as torch uses by default.
    """

    device: str = "auto"
    precision: str = "auto"
    max_length: int | None = None
    token_budget: int | None = None
    threads: int | None = None
