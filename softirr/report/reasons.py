"""Why raters disagree: the reason of every pair of texts of an item that does not match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any

from softirr.answers.ratings import Floats
from softirr.defaults import THRESHOLD
from softirr.json_object import JsonObject
from softirr.meaning.measures.arrays import mutual
from softirr.meaning.policy.attributes import KINDS, without
from softirr.meaning.policy.reasons import Reason

Score = Callable[[Sequence[tuple[str, str]]], Floats]
"""Values of pairs of texts."""
Explain = Callable[..., Sequence[Reason]]
"""Reasons of pairs of texts, from the pairs and their ``directions``."""


@dataclass(frozen=True)
class ItemReason(JsonObject):
    """Two texts of an item that do not match, and why.

    Attributes
    ----------
    texts : (str or None, str or None)
        A text of each; None if one of them wrote none.
    equivalence : float
        P(a ≡ b) of the texts; 0 if one is missing.
    """

    raters: tuple[str, str]
    texts: tuple[str | None, str | None]
    equivalence: float
    reason: Reason

    @property
    def broader(self) -> int | None:
        """Which of the two texts is the more general one, 0 or 1; None for other reasons."""
        if self.reason.kind != "more general":
            return None
        for index, text in enumerate(self.texts):
            if text is not None and self.reason.left_wording in (text, without(text, self.reason.also)):
                return index
        return None

    @property
    def difference(self) -> str:
        """The type of difference from the first rater's side: see :mod:`softirr.report.differences`."""
        kind, left_words, right_words = self.reason.kind, self.reason.left_wording, self.reason.right_wording
        if kind in ("contradiction", "negation"):
            return "contradiction"
        if kind == "one rater only":
            return "addition" if left_words else "omission"
        if kind == "list":
            return "addition" if len(left_words) > len(right_words) else "omission"
        if (broader := self.broader) is not None:
            return "more specific" if broader else "more general"
        if kind in KINDS and not (left_words and right_words):
            return "more specific" if left_words else "more general"
        return "substitution"

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``items[].reasons``."""
        values = super().to_dict()
        return values | values.pop("reason") | {"difference": self.difference}

    def with_broader(self) -> dict[str, Any]:
        """The entry, with ``broader`` if one of the texts is the more general one."""
        return self.to_dict() | ({} if self.broader is None else {"broader": self.broader})


@dataclass(frozen=True)
class OpenPair:
    """Two texts to explain; ``lone`` is the index of a text without a counterpart."""

    raters: tuple[str, str]
    texts: tuple[str | None, str | None]
    lone: int | None = None

    @property
    def sorted_texts(self) -> tuple[str, str] | None:
        """Both texts in order; None if one wrote none."""
        text, other_text = self.texts
        return None if text is None or other_text is None else (min(text, other_text), max(text, other_text))


def open_pairs(texts_by_rater: Mapping[str, Sequence[str]], score: Score) -> list[OpenPair]:
    """The pairs of texts of an item that do not match, for every two raters.

    A text matches if a text of the other rater reaches the threshold. Texts of both that have no match are
    paired, the closest first. One that is left over is compared with its best counterpart.

    Parameters
    ----------
    score : callable
        P(a ≡ b) of pairs of texts.
    """
    answers = combinations(texts_by_rater.items(), 2)
    differing = [
        ((a, b), left_texts, right_texts) for (a, left_texts), (b, right_texts) in answers if left_texts != right_texts
    ]
    pairs = [pair for _, left_texts, right_texts in differing for pair in product(left_texts, right_texts)]
    values = iter(score(pairs).tolist() if pairs else ())
    result: list[OpenPair] = []
    for raters, left_texts, right_texts in differing:
        in_row = [list(islice(values, len(right_texts))) for _ in left_texts]
        result += _of_sets(raters, left_texts, right_texts, in_row)
    return result


def _of_sets(
    raters: tuple[str, str], left_texts: Sequence[str], right_texts: Sequence[str], in_row: Sequence[list[float]]
) -> Iterator[OpenPair]:
    """The open pairs of two sets; `in_row` is how equal each left text is to the right ones."""
    in_column = [[row[column] for row in in_row] for column in range(len(right_texts))]
    rows = {row: None for row, values in enumerate(in_row) if max(values, default=0.0) < THRESHOLD}
    columns = {column: None for column, values in enumerate(in_column) if max(values, default=0.0) < THRESHOLD}
    for _, row, column in sorted((-in_row[row][column], row, column) for row in rows for column in columns):
        if row in rows and column in columns:
            del rows[row], columns[column]
            yield OpenPair(raters, (left_texts[row], right_texts[column]))
    for row in rows:
        yield OpenPair(raters, (left_texts[row], _closest(right_texts, in_row[row])), 0)
    for column in columns:
        yield OpenPair(raters, (_closest(left_texts, in_column[column]), right_texts[column]), 1)


def _closest(texts: Sequence[str], values: Sequence[float]) -> str | None:
    """The first text with the highest value; None if the other rater wrote nothing."""
    return texts[values.index(max(values))] if texts else None


def explain_items(
    items: Sequence[Sequence[OpenPair]], directions: Score, explain: Explain
) -> list[tuple[ItemReason, ...]]:
    """The reasons of every item; each pair of texts is explained once.

    Parameters
    ----------
    items : sequence of sequences of OpenPair
        For each item what :func:`open_pairs` gives.
    directions : callable
        P(a ⇒ b) and P(b ⇒ a) of pairs of texts, shape (n, 2).
    explain : callable
        Gives the reasons.
    """
    text_pairs = (pair.sorted_texts for open_item_pairs in items for pair in open_item_pairs)
    pairs = list(dict.fromkeys(texts for texts in text_pairs if texts is not None))
    both_directions = directions(pairs)
    values = zip(mutual(both_directions).tolist(), explain(pairs, directions=both_directions), strict=True)
    explained = {None: (0.0, Reason("unrelated"))} | dict(zip(pairs, values, strict=True))
    return [
        tuple(_reason(pair, *explained[pair.sorted_texts]) for pair in open_item_pairs) for open_item_pairs in items
    ]


def _reason(pair: OpenPair, equivalence: float, reason: Reason) -> ItemReason:
    """The reason of an open pair, from the one of its sorted texts."""
    if pair.texts != pair.sorted_texts:
        reason = reason.turned()
    if pair.lone is not None and reason.kind == "unrelated":
        left_text, right_text = (text or "" if side == pair.lone else "" for side, text in enumerate(pair.texts))
        reason = Reason("one rater only", left_text, right_text)
    return ItemReason(pair.raters, pair.texts, equivalence, reason)
