"""How results name the measure and the policy they were computed with."""

from __future__ import annotations

from collections.abc import Iterable

from softirr.policy.rules import Policy
from softirr.report.terminal import printable

__all__ = ["measure_phrase", "policy_lines"]


def measure_phrase(measure: str, policy: Policy) -> str:
    """The measure, and that texts are compared as written where they are.

    Parameters
    ----------
    measure : str
    policy : Policy

    Returns
    -------
    str

    Examples
    --------
    >>> measure_phrase("indel", Policy())
    'measure indel, texts as written'
    """
    return f"measure {measure}{', texts as written' if policy.is_default else ''}"


def policy_lines(policy: Policy) -> Iterable[str]:
    """What counts as the same, where that is more than the texts as written.

    Parameters
    ----------
    policy : Policy

    Yields
    ------
    str
    """
    if not policy.is_default:
        yield f"What counts as the same: {printable(policy.told())}"
