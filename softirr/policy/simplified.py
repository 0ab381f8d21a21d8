"""Shorter forms of a text, without some of its attributes: how a text is looked up in a terminology that has its head only."""

from __future__ import annotations

import re
from itertools import combinations

from softirr.policy.attributes import attributes, without

__all__ = ["simplifications"]

_SIDES = re.compile(r"left|right|bilateral|both|unilateral", re.IGNORECASE)


def simplifications(text: str) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """Forms of a text without some of its kinds of attributes, those with the fewest left out first.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of (str, tuple of (str, str))
        A form, and the attributes that it lacks: kind and wording, case-folded; of a side the side alone ("left" for "on the left").

    Examples
    --------
    >>> simplifications("severe left knee pain")[0]
    ('severe knee pain', (('side', 'left'),))
    """
    found = attributes(text)
    told = {kind: tuple((kind, _wording(kind, words)) for words in found.of(kind)) for kind in sorted(found.kinds)}
    forms: dict[str, tuple[tuple[str, str], ...]] = {}
    for size in range(1, len(told) + 1):
        for kinds in combinations(told, size):
            forms.setdefault(without(text, kinds), tuple(one for kind in kinds for one in told[kind]))
    forms.pop(found.text, None)
    return list(forms.items())


def _wording(kind: str, words: str) -> str:
    side = _SIDES.search(words) if kind == "side" else None
    if side is None:
        return " ".join(words.casefold().split())
    return "bilateral" if side[0].casefold() == "both" else side[0].casefold()
