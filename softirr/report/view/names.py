"""The names, words and addresses that a surface uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from softirr.text import printable

_TERM = re.compile(r"(?<![\w-])(?:(an?) )?(item|rater)(s?)(?![\w-])", re.IGNORECASE)
"""The terms with an article, but not in the name of an option such as --predictions-as-raters."""


def _no_link(*_: Any) -> str | None:
    return None


@dataclass(frozen=True)
class Names:
    """The names that a surface uses.

    Attributes
    ----------
    raters, items : mapping of str to str
        Shown names by id; raters and items without an entry keep their id.
    item, rater : str
        The words for items and raters: ``task`` and ``annotator`` in Label Studio.
    part_word : str
        The word for what coefficients count if an item has several, such as ``turn``; empty if they count items.
    """

    raters: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    item: str = "item"
    rater: str = "rater"
    part_word: str = ""

    @property
    def counted_word(self) -> str:
        """The word for what coefficients count."""
        return self.part_word or self.item

    def of_rater(self, rater: str) -> str:
        """The shown name of a rater."""
        return printable(self.raters.get(rater, rater))

    def of_item(self, item: str) -> str:
        """The shown name of an item."""
        return printable(self.items.get(item, item))


@dataclass(frozen=True)
class Links:
    """Addresses; each function returns None if the page does not exist.

    Attributes
    ----------
    item : callable
        Address of an item, by its id.
    items : callable
        Address of a list of items, by their ids and a title.
    rater : callable
        Address of the items of a rater, the lowest agreement first.
    judge, policy : str or None
        Addresses of the audit page and of the page that changes the policy.
    """

    item: Callable[[str], str | None] = _no_link
    items: Callable[[list[str], str], str | None] = _no_link
    rater: Callable[[str], str | None] = _no_link
    judge: str | None = None
    policy: str | None = None


def adapted(sentence: str, names: Names) -> str:
    """A sentence, such as a warning, with the words of a surface for item and rater.

    Parameters
    ----------
    names : Names
        Names of raters that occur in the sentence stay as they are.

    Examples
    --------
    >>> adapted("Raters who share an item", Names(item="task", rater="annotator"))
    'Annotators who share a task'
    """
    fixed = "|".join(re.escape(name) for name in sorted({*names.raters.values()} - {""}, key=len, reverse=True))
    pieces = re.split(rf"({fixed})", printable(sentence)) if fixed else [printable(sentence)]

    def instead(match: re.Match[str]) -> str:
        article, term, plural = match.groups()
        word = (names.counted_word if term.lower() == "item" else names.rater) + plural
        if not article:
            return word.capitalize() if term[0].isupper() else word
        indefinite = "an" if word[0] in "aeiou" else "a"
        return f"{indefinite.capitalize() if article[0].isupper() else indefinite} {word}"

    return "".join(piece if n % 2 else _TERM.sub(instead, piece) for n, piece in enumerate(pieces))
