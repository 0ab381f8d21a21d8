"""The time in which annotations were made, such as the rounds of a project before and after a change of its guideline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from softirr.errors import InputError

__all__ = ["Period"]


@dataclass(frozen=True)
class Period:
    """From a moment on, until before another one.

    Attributes
    ----------
    since, before : datetime or None
    """

    since: datetime | None = None
    before: datetime | None = None

    @classmethod
    def of(cls, since: str | None, before: str | None) -> Period:
        """From dates as people write them.

        Parameters
        ----------
        since, before : str or None
            Such as ``2026-03-01`` or ``2026-03-01T12:00``; UTC, unless they say otherwise.

        Returns
        -------
        Period

        Raises
        ------
        InputError
            If one is no date.

        Examples
        --------
        >>> march = Period.of("2026-03-01", "2026-04-01")
        >>> [march.holds({"updated_at": at}) for at in ("2026-03-31T23:00:00Z", "2026-04-01T00:00:00Z")]
        [True, False]
        """
        return cls(*(None if one is None else _moment(one) for one in (since, before)))

    @property
    def is_all(self) -> bool:
        """Whether it has no limits."""
        return self.since is None and self.before is None

    def in_words(self) -> str:
        """In words.

        Examples
        --------
        >>> Period.of("2026-03-01", None).in_words()
        'since 2026-03-01'
        """
        named = (("since", self.since), ("before", self.before))
        return " and ".join(f"{word} {_day(at)}" for word, at in named if at is not None)

    def holds(self, annotation: Mapping[str, Any]) -> bool:
        """Whether an annotation was last changed in it.

        Parameters
        ----------
        annotation : mapping
            With ``updated_at`` or ``created_at``.

        Returns
        -------
        bool
            False for an annotation without a date, unless there are no limits.
        """
        if self.is_all:
            return True
        try:
            at = _moment(str(annotation.get("updated_at") or annotation.get("created_at") or ""))
        except InputError:
            return False
        return (self.since is None or self.since <= at) and (self.before is None or at < self.before)


def _day(at: datetime) -> str:
    return at.isoformat(" ", "minutes").removesuffix("+00:00").removesuffix(" 00:00")


def _moment(given: str) -> datetime:
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise InputError(f"{given[:40]!r} is no date such as 2026-03-01.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
