"""Shorter forms of a text, without some of its attributes.

How a text is looked up in a terminology that has its head only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import combinations

from softirr.meaning.lexicon.words import any_of, entries, words_of
from softirr.meaning.policy.attributes import attributes, without_spans

__all__ = ["simplifications"]

_KEPT = frozenset({"negation", "subject"})
"""Kinds that are not taken off: without them a text says something else."""
_MOST = 4
"""Attributes of a text that are tried in all combinations; of more, each alone and all together."""
_MOST_ALONE = 20
"""Attributes of a text that are tried alone; of more, only all together."""


def simplifications(text: str) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """Forms of a text without some of its attributes, those with the fewest left out first; negation and subject stay.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of (str, tuple of (str, str))
        A form, and the attributes that it lacks: kind and wording, case-folded; of a side the side alone ("left" for
        "on the left").

    Examples
    --------
    >>> for form, lacking in simplifications("severe left knee pain"):
    ...     print(form, lacking)
    left knee pain (('severity', 'severe'),)
    severe knee pain (('side', 'left'),)
    knee pain (('severity', 'severe'), ('side', 'left'))
    """
    read = attributes(text)
    around = f" {read.text} "
    spans = [
        span
        for span in read.spans
        if span.kind not in _KEPT
        and "/" not in (around[span.start], around[span.end + 1])  # absent/small: an alternative
    ]
    sizes: Sequence[int] = range(1, len(spans) + 1)
    if len(spans) > _MOST:
        sizes = (1, len(spans)) if len(spans) <= _MOST_ALONE else (len(spans),)
    forms: dict[str, tuple[tuple[str, str], ...]] = {}
    for size in sizes:
        for left_out in combinations(spans, size):
            lacking = {(span.kind, _wording(span.kind, read.text[span.start : span.end])) for span in left_out}
            forms.setdefault(without_spans(read.text, left_out), tuple(sorted(lacking)))
    forms.pop(read.text, None)
    return list(forms.items())


def _wording(kind: str, words: str) -> str:
    folded = " ".join(words.casefold().split())
    if kind != "side":
        return folded
    matches = ((pattern.search(folded), side) for side, pattern in _sides())
    return min(((match.start(), side) for match, side in matches if match is not None), default=(0, folded))[1]


@cache
def _sides() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each value of laterality with its wordings."""
    values = dict.fromkeys(entry.value for entry in entries() if entry.dimension == "laterality")
    return tuple((one, re.compile(rf"(?<!\w){any_of(words_of('side', one))}(?!\w)")) for one in values)
