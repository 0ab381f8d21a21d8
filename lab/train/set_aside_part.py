"""The part of the benchmarks that is set aside.

A fifth of the concepts and items, chosen by a hash, for the final evaluation only.

Recipes, thresholds and calibrations are chosen by the visible part. A gain that the set-aside part does not show was
fitted to what was seen.
"""

from __future__ import annotations

import hashlib
from typing import Literal

from softirr.meaning.terminology import Terminology

__all__ = ["PARTS", "SHARE", "Part", "concepts_of", "in_part", "without_set_aside"]

Part = Literal["visible", "set-aside"]
PARTS: tuple[Part, ...] = ("visible", "set-aside")
SHARE = 0.2
"""Share of the concepts and items that are set aside."""


def in_part(key: str, part: Part | None) -> bool:
    """Whether a concept or item is in a part; every one is in None, which means both.

    Parameters
    ----------
    key
        Id of the concept or item: the same ones are set aside whatever else a file contains.

    Examples
    --------
    >>> in_part("HP:0000003", "visible") != in_part("HP:0000003", "set-aside")
    True
    """
    if part is None:
        return True
    digest = hashlib.sha256(f"set aside/{key}".encode()).digest()
    return (int.from_bytes(digest[:4], "big") < SHARE * 2**32) == (part == "set-aside")


def concepts_of(terminology: Terminology, part: Part | None) -> frozenset[int]:
    """Concepts of a part, by position."""
    return frozenset(k for k, key in enumerate(terminology.ids) if in_part(key, part))


def without_set_aside(terminology: Terminology) -> Terminology:
    """The terminology without the concepts that are set aside: the visible part uses none of their names."""
    visible = sorted(concepts_of(terminology, "visible"))
    new_position = {old: new for new, old in enumerate(visible)}
    return Terminology(
        name=terminology.name,
        ids=tuple(terminology.ids[k] for k in visible),
        names=tuple(terminology.names[k] for k in visible),
        parents=tuple(tuple(new_position[p] for p in terminology.parents[k] if p in new_position) for k in visible),
        synonyms=tuple((new_position[k], text, scope) for k, text, scope in terminology.synonyms if k in new_position),
        notes=terminology.notes,
    )
