"""Words for the agreement of one task, which allow for the agreement that chance alone gives in the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ml_backend.scoring.task_score import chosen_score
from ml_backend.settings import LOWEST, MEAN, TEXTS
from softirr.report.headline import by_measure, expected_agreement, headline

__all__ = ["chance_by_measure", "chance_of", "is_low", "word"]

CHANCE_LEVEL = "chance-level"
LOW = 0.6
"""Agreement beyond chance below which the agreement itself is a reason to look."""
_WORDS = ((0.2, "very low"), (0.4, "low"), (LOW, "moderate"), (0.8, "high"))
_HIGHEST = "very high"


def chance_of(summary: Mapping[str, Any] | None) -> float | None:
    """The agreement that chance alone gives in a project, in what the score of a task is made of.

    Parameters
    ----------
    summary : mapping or None
        The project's summary, with its ``controls``.

    Returns
    -------
    float or None
        None where no field has one, and where the score is the lowest of several.
    """
    fields = (summary or {}).get("controls") or {}
    expected = {name: _expected(field) for name, field in fields.items()}
    score = chosen_score(summary)
    if score == LOWEST:
        return None
    if score not in (TEXTS, *fields):
        expected |= {row["name"]: row.get("expected_agreement") for row in (summary or {}).get("fields") or ()}
    chosen = expected.values() if score in (TEXTS, MEAN) else [expected.get(score)]
    known = [value for value in chosen if value is not None]
    return sum(known) / len(known) if known else None


def chance_by_measure(field: Mapping[str, Any], key: str) -> float | None:
    """The agreement by chance that tasks are compared with: without judgments, which correct no task either.

    Parameters
    ----------
    field : mapping
        The summary of a field.
    key : str
        Of the coefficient.

    Returns
    -------
    float or None
        Where judgments correct the coefficient, the value with which the mean agreement by the measure alone gives the
        coefficient by the measure alone.
    """
    expected, coefficients = expected_agreement(field, key), field.get("coefficients") or {}
    if expected is None or not (coefficients.get(key) or {}).get("judgments"):
        return expected
    observed, value = (by_measure(coefficients[name]) for name in ("observed_agreement", key))
    return None if observed is None or value is None or value >= 1 else (observed - value) / (1 - value)


def word(agreement: float, chance: float | None = None) -> str:
    """A word for the agreement of one task.

    Parameters
    ----------
    chance : float, optional
        The agreement that chance alone gives (`chance_of`); without it the word is about the agreement as it is.

    Returns
    -------
    str
        ``chance-level`` where the agreement looks fair and chance explains it.

    Examples
    --------
    >>> word(0.61), word(0.61, 0.05), word(0.61, 0.61), word(0.05, 0.1)
    ('high', 'moderate', 'chance-level', 'very low')
    """
    name = _word(_beyond(agreement, chance))
    return CHANCE_LEVEL if name == _WORDS[0][1] and _word(agreement) != name else name


def is_low(agreement: float, chance: float | None = None) -> bool:
    """Whether the agreement itself is a reason to look at a task: its word is ``moderate`` or below.

    Parameters
    ----------
    chance : float, optional
        As for `word`.
    """
    return _beyond(agreement, chance) < LOW


def _expected(field: Mapping[str, Any]) -> float | None:
    best = headline(field)
    value = chance_by_measure(field, best[0]) if best else None
    return expected_agreement(field, "krippendorff_alpha") if value is None else value


def _beyond(agreement: float, chance: float | None) -> float:
    """The share of the agreement beyond chance; a task with full agreement has all of it."""
    if chance is None or chance >= 1 or agreement >= 1:
        return agreement
    return (agreement - chance) / (1 - chance)


def _word(value: float) -> str:
    return next((name for limit, name in _WORDS if value < limit), _HIGHEST)
