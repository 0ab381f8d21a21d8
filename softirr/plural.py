"""Numbers with their nouns: 1 item, 2 items."""

from __future__ import annotations

__all__ = ["plural"]


def plural(n: int, one: str, many: str | None = None) -> str:
    """A number with what is counted, in the singular or the plural.

    Parameters
    ----------
    n : int
        Number.
    one : str
        What follows 1, verbs included, such as ``row repeats``.
    many : str, optional
        What follows every other number; by default `one` with an s.

    Examples
    --------
    >>> plural(1, "item"), plural(1200, "item"), plural(0, "entry", "entries")
    ('1 item', '1,200 items', '0 entries')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"
