"""Every coefficient, registered: the command line, JSON, screens, papers and documentation go through this list."""

from __future__ import annotations

from softirr.errors import InputError
from softirr.statistics.coefficients.braylan import KS, SIGMA
from softirr.statistics.coefficients.cohen import COHEN_KAPPA
from softirr.statistics.coefficients.definition import Definition
from softirr.statistics.coefficients.distinct_answers import BRENNAN_PREDIGER, GWET_AC2
from softirr.statistics.coefficients.krippendorff import KRIPPENDORFF_ALPHA
from softirr.statistics.coefficients.pooled import FLEISS_KAPPA, OBSERVED_AGREEMENT, SCOTT_PI

DEFINITIONS: tuple[Definition, ...] = (
    OBSERVED_AGREEMENT,
    COHEN_KAPPA,
    SCOTT_PI,
    FLEISS_KAPPA,
    KRIPPENDORFF_ALPHA,
    GWET_AC2,
    BRENNAN_PREDIGER,
    SIGMA,
    KS,
)
"""All coefficients, in the order of reports."""


def coefficient_keys() -> tuple[str, ...]:
    """Keys of the coefficients, in the order of reports."""
    return tuple(entry.key for entry in DEFINITIONS)


def definition(key: str) -> Definition:
    """The coefficient of a key.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> definition("cohen_kappa").name
    "Cohen's kappa"
    """
    for entry in DEFINITIONS:
        if entry.key == key:
            return entry
    raise InputError(f"The coefficient {key!r} is not known: there are {', '.join(coefficient_keys())}.")


def coefficient_name(key: str) -> str:
    """Name of a coefficient for tables; the key itself if it is not known, as in a report of another version."""
    return definition(key).name if key in coefficient_keys() else key


def coefficient_title(key: str) -> str:
    """Name of a coefficient for screens; the key itself if it is not known."""
    return definition(key).title if key in coefficient_keys() else key
