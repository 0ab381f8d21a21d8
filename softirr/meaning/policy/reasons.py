"""Reasons why two texts do not match, and their names."""

from __future__ import annotations

from dataclasses import dataclass

from softirr.meaning.policy.attributes import KIND_NAMES, KINDS

REASON_NAMES: dict[str, str] = KIND_NAMES | {
    "list": "a list against a part of it",
    "contradiction": "contradiction",
    "spelling": "spelling",
    "look-alike": "words that look alike",
    "more general": "one is more general",
    "one rater only": "found by one rater only",
    "unrelated": "unrelated",
}
"""Reasons, in the order in which they are tried, and their names for people."""
REASONS: tuple[str, ...] = tuple(REASON_NAMES)


@dataclass(frozen=True)
class Reason:
    """Why two texts do not match.

    Attributes
    ----------
    kind : str
        One of :data:`REASONS`.
    left_wording, right_wording : str
        Wordings of the two texts: "left" and "right" of `side`. Empty if a text has none.
    also : tuple of str
        Other attributes that have to be left out, too, before the texts match.
    """

    kind: str
    left_wording: str = ""
    right_wording: str = ""
    also: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The reason in words, such as "left against right"."""
        first, second = self.left_wording, self.right_wording
        if self.kind == "more general":
            beside = f", apart from {' and '.join(self.also)}" if self.also else ""
            return f"“{first}” is more general than “{second}”{beside}"
        if self.kind == "one rater only":
            return f"found by one rater only: {' and '.join(filter(None, (first, second)))}"
        if self.kind in KINDS and not (first and second):
            first, second = _named(self.kind, first), _named(self.kind, second)
        return f"{first} against {second}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Everything that the texts disagree about."""
        return (self.kind, *self.also)

    def turned(self) -> Reason:
        """The reason of the same two texts in the other order; which text is more general does not depend on it."""
        if self.kind == "more general":
            return self
        return Reason(self.kind, self.right_wording, self.left_wording, self.also)

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return {"kind": self.kind, "also": list(self.also), "words": self.words}


def _named(kind: str, text: str) -> str:
    """Wording of an attribute that only one of two texts has."""
    if kind == "negation":
        return f"negated (“{text}”)" if text else "affirmed"
    return f"“{text}”" if text else f"no {kind}"
