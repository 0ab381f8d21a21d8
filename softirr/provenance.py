"""The origin of scores, and the progress of long computations; every layer passes them on."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from softirr.json_object import JsonObject

Progress = Callable[[int, int], None]
"""Called with (pairs done, pairs in all); both count unordered pairs."""


@dataclass(frozen=True)
class TerminologyUsed(JsonObject):
    """A terminology that scores depend on: its name, the hash of its files, and how many concepts and names it has."""

    name: str
    sha256: str
    concepts: int
    names: int


@dataclass(frozen=True)
class Provenance(JsonObject):
    """Where a score comes from: everything needed to get it again, and what went wrong on the way.

    Attributes
    ----------
    measure
        Requested name of the measure, such as ``indel`` or ``nli:PATH``.
    model, model_sha256
        Folder or hub name of the model, and the hash of its weights, configuration and tokenizer; None for lexical
        measures.
    device, precision
        Where and in which number format the model ran; None for lexical measures.
    label_order
        For entailment models: the meaning of each output, in order, and how it was found out; else None.
    truncated_texts
        Number of pairs (for embeddings: texts) so far that did not fit the model and lost tokens.
    clipped
        Number of negative cosines set to 0 so far; None if the measure has none.
    failed_answers
        Number of answers of a language model so far that could not be read, each counted as P = 0; None if there are
        none.
    policy
        The policy, as :meth:`softirr.Policy.to_dict` returns it; None if no policy was chosen.
    facts
        Version of the facts that are read before a model compares texts; None if none are.
    terminologies
        Terminologies that texts were looked up in.
    kind
        Kind of the field, such as ``text`` or ``ordinal`` (:mod:`softirr.answers.kinds`).
    """

    measure: str
    model: str | None = None
    model_sha256: str | None = None
    device: str | None = None
    truncated_texts: int = 0
    precision: str | None = None
    label_order: str | None = None
    clipped: int | None = None
    failed_answers: int | None = None
    policy: dict[str, Any] | None = None
    facts: int | None = None
    terminologies: tuple[TerminologyUsed, ...] = ()
    kind: str = "text"


def version() -> str:
    """Version of the installed package; "unknown" where it runs from a checkout without an installation."""
    try:
        return metadata.version("softirr")
    except metadata.PackageNotFoundError:
        return "unknown"
