"""Patterns of English attributes, from ``patterns.tsv`` and ``attribute_rules.tsv`` of the lexicon.

Both tables have regular expressions, in which ``{tens}`` is the pattern of that name and ``{side.level}`` any wording
of a class of ``attributes.tsv``. Rows of one name are alternatives.
"""

from __future__ import annotations

import re
from functools import cache

from softirr.meaning.lexicon.words import any_of, rows, wordings

_REFERENCE = re.compile(r"\{([a-z_.]+)\}")


@cache
def pattern(name: str) -> str:
    """The regular expression of a name, for lower case and upper case alike.

    Parameters
    ----------
    name : str
        Of ``patterns.tsv`` or ``numbers.tsv``, or kind and class of ``attributes.tsv`` with a period between them.
        ``name`` has names, and other wordings that hold no attribute.

    Examples
    --------
    >>> pattern("side.left_right"), re.findall(pattern("quantity"), "about 3 to 5, a few")
    ('(?:right|left)', ['about 3 to 5', 'a few'])
    """
    if name == "bound":  # "CA 125" is a protein, and "from 3 to 5 days" is a range
        return any_of(set(wordings("number", "bound")) - {"ca", "from"})
    if name == "month":
        return any_of(set(wordings("time", "month")) - {"may"})
    if "." in name:
        return any_of(wordings(*name.split(".")))
    if numbers := [word for word, _, row_name in rows("numbers") if row_name == name]:
        return any_of(numbers)
    return "(?:" + "|".join(_filled(wording) for row_name, wording in rows("patterns") if row_name == name) + ")"


def _filled(wording: str) -> str:
    return _REFERENCE.sub(lambda match: pattern(match[1]), wording)


@cache
def rules() -> tuple[tuple[str, str, bool], ...]:
    """The rules that recognize attributes; the first one that fits a place claims it.

    Returns
    -------
    tuple of (str, str, bool)
        Kind, regular expression, and whether the wording runs on to the end of the clause.
    """
    return tuple((kind, _filled(wording), ends == "clause") for kind, ends, wording in rows("attribute_rules"))
