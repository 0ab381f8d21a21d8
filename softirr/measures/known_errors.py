"""What is known about the error of a measure before any judgement: its errors on benchmark populations that it did not learn.

``known_errors.json`` holds, for each measure, a line from the measure's coefficient to the true one and a heavy-tailed spread around it. It is
written by ``softirr bench errors``, which says how, and is checked there on populations that were not used. A measure without a record, such as a
model of your own, gets the record of any measure, the widest one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from softirr.provenance import Provenance
from softirr.tables.ratings import Floats

__all__ = ["ANY", "RECORDED", "KnownError", "known_error", "records"]

ANY = "any measure"
"""The record of measures without one of their own."""

RECORDED = {
    "observed_agreement": "observed_agreement",
    "cohen_kappa": "krippendorff_alpha",
    "scott_pi": "krippendorff_alpha",
    "fleiss_kappa": "krippendorff_alpha",
    "krippendorff_alpha": "krippendorff_alpha",
}
"""The coefficient whose record each coefficient takes; on the benchmark populations those beyond chance differ by less than 0.01."""

_FILE = Path(__file__).with_name("known_errors.json")


@dataclass(frozen=True)
class KnownError:
    """The distribution of the true coefficient of a table, given the coefficient by the measure: a line and a scaled Student t.

    Attributes
    ----------
    measure : str
        The measure that was recorded, or ``ANY``.
    start, slope : float
        The true coefficient is expected at ``start + slope * value``, within its limits.
    scale : float
        Scale of Student's t around it.
    freedom : float
        Its degrees of freedom.
    """

    measure: str
    start: float
    slope: float
    scale: float
    freedom: float

    def center(self, value: float) -> float:
        """The expected true coefficient.

        Examples
        --------
        >>> KnownError("indel", 0.1, 1.2, 0.1, 4.0).center(0.5)
        0.7
        """
        return min(max(self.start + self.slope * value, 0.0), 1.0)

    def log_density(self, value: float, true: Floats) -> Floats:
        """Logarithm of the density at possible true coefficients, up to a constant."""
        z = (true - self.center(value)) / self.scale
        return np.asarray(-(self.freedom + 1) / 2 * np.log1p(z * z / self.freedom))


@cache
def records() -> Mapping[str, Any]:
    """The content of ``known_errors.json``."""
    found: Mapping[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def known_error(coefficient: str, provenance: Provenance) -> KnownError | None:
    """What is known about a measure's error of a coefficient.

    Parameters
    ----------
    coefficient : str
    provenance : Provenance
        Of the measure. A model has the record of its name only if it is the model that was recorded, and a policy that changes what counts as the
        same leaves a measure without one.

    Returns
    -------
    KnownError or None
        None for a coefficient that is not recorded.

    Examples
    --------
    >>> known_error("cohen_kappa", Provenance("embedding:mine")).measure
    'any measure'
    >>> known_error("sigma", Provenance("indel")) is None
    True
    """
    name = RECORDED.get(coefficient)
    if name is None:
        return None
    measures = records()["measures"]
    own = measures.get(provenance.measure)
    policy = provenance.policy or {}
    as_written = (
        not policy.get("ignore") and not policy.get("count") and policy.get("more_general", "graded") == "graded"
    )
    if own is None or own["model_sha256"] != provenance.model_sha256 or not as_written:
        own = measures[ANY]
    measure = provenance.measure if own is not measures[ANY] else ANY
    return KnownError(measure, **own["errors"][name])
