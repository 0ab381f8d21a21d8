"""Numbers with their nouns: 1 item, 2 items."""

from __future__ import annotations


def plural(n: int, singular: str, plural_form: str | None = None) -> str:
    """A number with what is counted, in the singular or the plural.

    Parameters
    ----------
    n : int
        Number.
    singular : str
        What follows 1, verbs included, such as ``row repeats``.
    plural_form : str, optional
        What follows every other number; by default `singular` with an s.

    Examples
    --------
    >>> plural(1, "item"), plural(1200, "item"), plural(0, "entry", "entries")
    ('1 item', '1,200 items', '0 entries')
    """
    return f"{n:,} {singular if n == 1 else plural_form or singular + 's'}"
