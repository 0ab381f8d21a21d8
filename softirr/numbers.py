"""Numbers as people read them, by one rule for every surface: pages, charts, papers, terminals; and with their nouns.

A negative number has the minus sign (U+2212), and a number that rounds to zero has no sign. Text for a terminal, from
where numbers are copied into programs that know the hyphen only, passes :func:`in_terminal` last. The panel and the
audit page follow the same rule: ``number`` in ``plugin/panel/pieces.js`` and in
``ml_backend/web/static/audit_words.js``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MINUS = "−"
_SIGN = re.compile(rf"{MINUS}(?=\d)")


def number(value: float | None, digits: int = 2, *, sign: bool = False, none: str = "–") -> str:
    """A number with a number of digits after the point.

    Parameters
    ----------
    sign : bool
        Whether positive numbers have a plus sign, as differences do.
    none : str
        Text for None.

    Examples
    --------
    >>> number(-0.25), number(-0.0004), number(0.25, sign=True), number(None)
    ('−0.25', '0.00', '+0.25', '–')
    """
    if value is None:
        return none
    text = f"{value:z.{digits}f}"
    return f"+{text}" if sign and value > 0 and float(text) else text.replace("-", MINUS)


def short_number(value: float) -> str:
    """A number that a person set, such as a target: two digits, or three if it has them.

    Examples
    --------
    >>> short_number(0.8), short_number(0.667)
    ('0.80', '0.667')
    """
    return number(value, 2 if abs(value - round(value, 2)) < 1e-9 else 3)


def interval(ci95: Sequence[float] | None, *, sign: bool = False, none: str = "–") -> str:
    """The two ends of an interval, with the parameters of :func:`number`.

    Examples
    --------
    >>> interval((-0.05, 0.3)), interval(None)
    ('−0.05 to 0.30', '–')
    """
    return " to ".join(number(end, sign=sign) for end in ci95[:2]) if ci95 else none


def cell(value: float | None) -> str:
    """A number in a table of a terminal, with two digits; a hyphen for None.

    Examples
    --------
    >>> cell(0.5), cell(None)
    ('0.50', '-')
    """
    return number(value, none="-")


def in_terminal(text: str) -> str:
    """The text with hyphens instead of minus signs.

    Examples
    --------
    >>> in_terminal("bob − ann: −0.25")
    'bob − ann: -0.25'
    """
    return _SIGN.sub("-", text)


def straight_apostrophes(text: str) -> str:
    """A sentence of ours with names of coefficients as tables and programs write them.

    Examples
    --------
    >>> straight_apostrophes("Krippendorff’s alpha")
    "Krippendorff's alpha"
    """
    return text.replace("’", "'")


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
