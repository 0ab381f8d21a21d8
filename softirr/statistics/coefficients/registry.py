"""Every coefficient, registered: the command line, JSON, screens, papers and documentation go through this list."""

from __future__ import annotations

from softirr.errors import InputError
from softirr.statistics.coefficients import (
    brennan_prediger,
    cohen,
    fleiss,
    gwet,
    krippendorff,
    ks,
    observed,
    scott,
    sigma,
)
from softirr.statistics.coefficients.definition import Definition

DEFINITIONS: tuple[Definition, ...] = (
    observed.DEFINITION,
    cohen.DEFINITION,
    scott.DEFINITION,
    fleiss.DEFINITION,
    krippendorff.DEFINITION,
    gwet.DEFINITION,
    brennan_prediger.DEFINITION,
    sigma.DEFINITION,
    ks.DEFINITION,
)
"""All coefficients, in the order of reports."""


def coefficient_keys(*, audited: bool | None = None) -> tuple[str, ...]:
    """Keys of the coefficients, in the order of reports.

    Parameters
    ----------
    audited : bool, optional
        Only those that judgments correct, or only the others.

    Examples
    --------
    >>> coefficient_keys(audited=False)
    ('sigma', 'ks')
    """
    return tuple(entry.key for entry in DEFINITIONS if audited is None or entry.audited == audited)


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
