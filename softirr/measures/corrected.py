"""A measure corrected by people: P is calibrated, and decided pairs are 1 or 0.

The cache holds the scores of the raw measure, so neither a calibration nor a decision needs a model run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.measures.base import Measure, RewritingMeasure, raw_of, with_equivalence
from softirr.measures.calibration_curves import Calibration
from softirr.provenance import Progress
from softirr.tables.ratings import Floats, Ints
from softirr.text import normalize

__all__ = ["CorrectedMeasure", "Decided", "corrected"]

Decided = Mapping[tuple[str, str], bool]
"""Whether two texts mean the same, by the sorted pair of normalized texts."""


class CorrectedMeasure:
    """A measure corrected by a calibration and by decisions; identical texts stay at 1.

    Attributes
    ----------
    raw : Measure
        The measure without corrections, whose scores a cache may hold.
    calibration : Calibration or None
        Applied to P.
    decided : mapping
        Pairs that are 1 or 0 by decision.
    """

    def __init__(self, raw: Measure, calibration: Calibration | None, decided: Decided) -> None:
        self.raw = raw
        self.calibration = calibration
        self.decided = decided
        self._rewrite = raw.rewrite if isinstance(raw, RewritingMeasure) else None

    @property
    def name(self) -> str:
        """The measure's name, with a mark where it is calibrated."""
        return (
            self.raw.name if self.calibration is None else f"{self.raw.name} (calibrated on {self.calibration.n} pairs)"
        )

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Corrected P(a ≡ b) of each pair, shape (n,)."""
        return self._decide(pairs, self._curve(self.raw.score(pairs)))

    def adjust(self, directions: Floats) -> Floats:
        """Calibrate raw P(a ⇒ b) and P(b ⇒ a) of different texts, shape (n, 2); both columns are equal without directions."""
        if self.calibration is None:
            return directions
        if not hasattr(self.raw, "entail_both") or getattr(raw_of(self.raw), "symmetric", False):
            return self.calibration.apply(directions)
        # judgements say whether two texts mean the same, not that neither implies the other
        return with_equivalence(directions, self.calibration.of_pairs(directions))

    def by_chance(self, p: Floats) -> CorrectedMeasure:
        """The measure for pairs of different items, which are equivalent far more rarely than judged pairs.

        Parameters
        ----------
        p : shape (n,) or (n, 2)
            The raw measure's P of random pairs of different texts of different items, or both of its directions.
        """
        if self.calibration is None:
            return self
        return corrected(self.raw, self.calibration.at(self.calibration.prior_of(p)), self.decided)

    def provenance(self) -> Any:
        """The raw measure's provenance, under the corrected name."""
        return replace(self.raw.provenance(), measure=self.name)

    def _curve(self, p: Floats) -> Floats:
        return np.array(p, dtype=np.float64) if self.calibration is None else self.calibration.apply(p)

    def _decide(self, pairs: Sequence[tuple[str, str]], values: Floats) -> Floats:
        """Replace the values of identical and decided pairs, shape (n,) or (n, 2)."""
        for place, (a, b) in enumerate(pairs):
            a, b = sorted((normalize(a), normalize(b)))
            if a == b:
                values[place] = 1.0
            elif (verdict := self.decided.get((a, b))) is not None:
                values[place] = float(verdict)
            elif self._rewrite is not None and self._rewrite(a) == self._rewrite(b):
                values[place] = 1.0
        return values


class _Directional(CorrectedMeasure):
    def entail_both(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Corrected P(a ⇒ b) and P(b ⇒ a), shape (n, 2)."""
        return self._decide(pairs, np.array(self.adjust(cast(Any, self.raw).entail_both(pairs))))

    def entail(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Corrected P(a ⇒ b), shape (n,)."""
        return self.entail_both(pairs)[:, 0]

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Corrected P(a ≡ b) of each pair, shape (n,)."""
        both = self.entail_both(pairs)
        return np.asarray(np.sqrt(both[:, 0] * both[:, 1]))


class _Checked(CorrectedMeasure):
    @property
    def cache_key(self) -> str:
        """The measure's key and the corrections."""
        curve = None if self.calibration is None else self.calibration.to_dict()
        told = json.dumps([curve, sorted((*pair, bool(same)) for pair, same in self.decided.items())], sort_keys=True)
        return f"{cast(Any, self.raw).cache_key}+corrected:{hashlib.sha256(told.encode()).hexdigest()[:16]}"

    def entail_checked(
        self, pairs: Sequence[tuple[str, str]], *, progress: Progress | None = None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Corrected directions, shape (n, 2), and which rows are valid."""
        values, valid = cast(Any, self.raw).entail_checked(pairs, progress=progress)
        return self._decide(pairs, np.array(self.adjust(values))), valid


class _Block(CorrectedMeasure):
    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        """Corrected P of all rows with all columns, shape (len(rows), len(cols))."""
        texts = _Texts([*rows, *cols], self.decided, self._rewrite)
        row, col = texts.number[: len(rows)], texts.number[len(rows) :]
        return texts.over_block(self._curve(cast(Any, self.raw).block(rows, cols)), row, col)


class _Indexed(_Block):
    def index(self, texts: Sequence[str]) -> Any:
        """An index of the texts with corrected scores."""
        return _CorrectedIndex(
            cast(Any, self.raw).index(texts), self._curve, _Texts(texts, self.decided, self._rewrite)
        )


class _Texts:
    """Identical texts and decided pairs among some texts."""

    def __init__(self, texts: Sequence[str], decided: Decided, rewrite: Callable[[str], str] | None = None) -> None:
        numbers: dict[str, int] = {}
        self.number = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
        kinds: dict[str, int] = {}
        written = numbers if rewrite is None else [rewrite(text) for text in numbers]
        self._kind = np.array([kinds.setdefault(text, len(kinds)) for text in written], dtype=np.int64)
        self._n = max(len(numbers), 1)
        known = sorted(
            (min(numbers[a], numbers[b]) * self._n + max(numbers[a], numbers[b]), same)
            for (a, b), same in decided.items()
            if a in numbers and b in numbers
        )
        self._keys = np.array([key for key, _ in known], dtype=np.int64)
        self._values = np.array([same for _, same in known], dtype=np.float64)

    def over(self, p: Floats, a: Ints, b: Ints) -> Floats:
        """Replace, in place, the P of identical and decided pairs of texts a[i] and b[i]."""
        p[self._kind[a] == self._kind[b]] = 1.0
        if len(self._keys):
            key = np.minimum(a, b) * self._n + np.maximum(a, b)
            place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
            found = self._keys[place] == key
            p[found] = self._values[place[found]]
        return p

    def over_block(self, p: Floats, row: Ints, col: Ints) -> NDArray[np.float32]:
        """As `over`, for all rows with all columns."""
        p[self._kind[row][:, None] == self._kind[col][None, :]] = 1.0
        low, high = np.divmod(self._keys, self._n)
        for first, second in ((low, high), (high, low)):
            here = np.flatnonzero(np.isin(first, row) & np.isin(second, col))
            for a, b, value in zip(first[here].tolist(), second[here].tolist(), self._values[here], strict=True):
                p[np.ix_(row == a, col == b)] = value
        return p.astype(np.float32)


@dataclass(frozen=True, eq=False)
class _CorrectedIndex:
    raw: Any
    curve: Callable[[Floats], Floats]
    texts: _Texts

    def pairs(self, left: Ints, right: Ints) -> Floats:
        return self.texts.over(
            self.curve(self.raw.pairs(left, right)), self.texts.number[left], self.texts.number[right]
        )

    def block(self, rows: Ints, cols: Ints) -> NDArray[np.float32]:
        p = self.curve(self.raw.block(rows, cols))
        return self.texts.over_block(p, self.texts.number[rows], self.texts.number[cols])


def corrected(
    measure: Measure, calibration: Calibration | None = None, decided: Decided | None = None
) -> CorrectedMeasure:
    """Make a corrected measure with the capabilities of the raw one (blocks, directions, caching).

    Parameters
    ----------
    measure : Measure
    calibration : Calibration, optional
    decided : mapping, optional
        Whether two texts mean the same, by the sorted pair of normalized texts.

    Returns
    -------
    CorrectedMeasure

    Raises
    ------
    InputError
        If the calibration was fitted with another measure.

    Examples
    --------
    >>> from softirr.measures import measure
    >>> told = corrected(measure("indel"), decided={("fever", "pyrexia"): True})
    >>> told.score([("pyrexia", "fever")]).tolist()
    [1.0]
    """
    if calibration is not None and calibration.measure and calibration.measure != measure.name:
        raise InputError(f"The calibration was made for the measure {calibration.measure}, not for {measure.name}.")
    kinds: list[type] = []
    if hasattr(measure, "entail_checked"):
        kinds.append(_Checked)
    if hasattr(measure, "entail_both"):
        kinds.append(_Directional)
    if hasattr(measure, "block"):
        kinds.append(_Indexed if hasattr(measure, "index") else _Block)
    make: Callable[..., CorrectedMeasure] = (
        kinds[0] if len(kinds) == 1 else type("CorrectedMeasure", (*kinds, CorrectedMeasure), {})
    )
    return make(measure, calibration, dict(decided or {}))
