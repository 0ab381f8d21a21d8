"""The record of a measure: how it scores pairs of texts on populations that it did not learn.

It includes how much that differs between kinds of wording.

``python -m lab.bench evidence`` writes ``records.json``; see its documentation for the method. For each measure it
contains the mean over kinds of populations and the standard deviation between them, so that a project is treated as one
more kind:

recovery
    Mean P of pairs of an item that mean the same, as a share of the way from the mean P of pairs of different items to
    1. On a logit scale.
leak
    Mean P of pairs of an item that do not mean the same, on the same way.
slope
    Logarithm of the slope of the logistic function from the logit of P to the probability that two texts of an item
    mean the same.
chance
    For pairs of different items with a low, middle and high P (`CHANCE_CUTS` of
    :mod:`softirr.statistics.evidence.design`): the beta distribution, over kinds, of the share that means the same.

A measure without a record, such as a model of your own, gets the record of any measure, which is the widest one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from softirr.json_object import data_file
from softirr.meaning.measures import Measure
from softirr.meaning.policy.measure import policy_of
from softirr.provenance import Provenance

ANY = "any measure"
"""The record for measures without a record."""


class Spread(NamedTuple):
    """A quantity over kinds of populations."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class Record:
    """Prior knowledge of a measure, before any judgment.

    Attributes
    ----------
    measure : str
        The measure that was recorded, or ``ANY``.
    chance : tuple of (float, float)
        Parameters of the beta distribution in each stratum of pairs of different items.
    """

    measure: str
    recovery: Spread
    leak: Spread
    slope: Spread
    chance: tuple[tuple[float, float], ...]

    @classmethod
    def from_dict(cls, measure: str, content: Mapping[str, Any]) -> Record:
        """The record as in ``records.json``."""
        recovery, leak, slope = (Spread(*content[name]) for name in ("recovery", "leak", "slope"))
        return cls(measure, recovery, leak, slope, tuple((float(a), float(b)) for a, b in content["chance"]))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {name: getattr(self, name) for name in ("recovery", "leak", "slope", "chance")}


def records() -> Mapping[str, Any]:
    """The content of ``records.json``."""
    content: Mapping[str, Any] = data_file("softirr.statistics.evidence", "records")
    return content


def recorded_provenance(measure: Measure) -> Provenance:
    """The provenance that identifies the record of a measure.

    It is the provenance of the measure below decisions and terminologies, under the policy.
    """
    return replace(measure.describe(), policy=policy_of(measure).to_dict())


def record_of(provenance: Provenance, *, fits: bool = True) -> Record:
    """The record of a measure.

    Parameters
    ----------
    provenance : Provenance
        Provenance of the measure. A model gets the record of its name only if it is the recorded model, and only if it
        uses its two directions as recorded. Other settings of a policy change single pairs and keep the record, so a
        policy that changes no pairs does not change the result.
    fits : bool
        Whether the measure fits the texts. Otherwise its record does not apply to them.

    Examples
    --------
    >>> record_of(Provenance("embedding:mine")).measure
    'any measure'
    """
    recorded = records()["measures"]
    entry = recorded.get(provenance.measure)
    graded = (provenance.policy or {}).get("more_general", "graded") == "graded"
    one_direction = provenance.model_sha256 is not None and not graded
    is_known = entry is not None and _first_hash(entry["model_sha256"]) == _first_hash(provenance.model_sha256)
    if one_direction or not (is_known and fits):
        return Record.from_dict(ANY, recorded[ANY])
    return Record.from_dict(provenance.measure, entry)


def _first_hash(model_sha256: str | None) -> str:
    """The hash of the English model; the bundled measure also has a model for other languages."""
    return (model_sha256 or "").partition(", ")[0]
