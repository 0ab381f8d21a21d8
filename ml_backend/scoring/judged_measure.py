"""A measure with people's word over it: pairs that a reviewer decided are 1 or 0, and the others can be calibrated.

The scores of the measure itself go through the cache as ever, so a decision costs no model run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from softirr.measures.base import BlockMeasure, DirectionalMeasure, IndexedMeasure, Measure, Pairs, TextIndex
from softirr.measures.pairs import PairScorer
from softirr.provenance import Provenance
from softirr.text import normalise

Floats = NDArray[np.float64]
Calibrate = Callable[[Floats], Floats]
Verdicts = Mapping[tuple[str, str], bool]
_LEAST = 1e-9


def verdicts(decisions: Iterable[Mapping[str, Any]], *, casefold: bool = False) -> dict[tuple[str, str], bool]:
    """Decisions of the store (text_a, text_b, same) by unordered pair of normalised texts; the latest one wins."""
    found: dict[tuple[str, str], bool] = {}
    for one in sorted(decisions, key=lambda row: row["decided_at"]):
        a, b = sorted((normalise(one["text_a"], casefold=casefold), normalise(one["text_b"], casefold=casefold)))
        if a != b:
            found[a, b] = bool(one["same"])
    return found


def judged(measure: Measure, decided: Verdicts, *, calibrate: Calibrate | None = None, cache: Any = None) -> Measure:
    """`measure` under people's decisions.

    Parameters
    ----------
    decided : mapping
        (text, text), sorted and normalised, to whether they mean the same.
    calibrate : callable, optional
        Turns scores of shape (n,) into calibrated ones; identical texts stay at 1.
    cache : PairCache, optional
        Where the measure's own scores are kept.
    """
    if not decided and calibrate is None:
        return measure
    kind: type[_JudgedPlain] = _JudgedPlain
    if isinstance(measure, IndexedMeasure):
        kind = _JudgedIndexed
    elif isinstance(measure, BlockMeasure):
        kind = _JudgedBlock
    elif isinstance(measure, DirectionalMeasure):
        kind = _JudgedDirectional
    return cast(Measure, kind(measure, decided, calibrate, cache))


class _JudgedPlain:
    def __init__(self, measure: Measure, decided: Verdicts, calibrate: Calibrate | None, cache: Any):
        self._measure, self._decided, self._calibrate, self._cache = measure, decided, calibrate, cache

    @property
    def name(self) -> str:
        return self._measure.name

    def provenance(self) -> Provenance:
        return self._measure.provenance()

    def score(self, pairs: Pairs) -> Floats:
        scorer, left, right = self._scorer(pairs)
        return self._over(pairs, self._calibrated(scorer.score(left, right), pairs))

    def _scorer(self, pairs: Pairs) -> tuple[PairScorer, NDArray[np.int64], NDArray[np.int64]]:
        texts = [text for pair in pairs for text in pair]
        places = np.arange(len(texts), dtype=np.int64)
        return PairScorer(self._measure, texts, cache=self._cache), places[0::2], places[1::2]

    def _calibrated(self, scores: Floats, pairs: Pairs) -> Floats:
        if self._calibrate is None or not len(scores):
            return scores
        same = np.array([a == b or normalise(a) == normalise(b) for a, b in pairs], dtype=bool)
        return np.where(same, 1.0, np.clip(self._calibrate(scores), 0.0, 1.0))

    def _over(self, pairs: Pairs, scores: Floats) -> Floats:
        for place, (a, b) in enumerate(pairs):
            verdict = self._decided.get((a, b) if a <= b else (b, a))
            if verdict is not None:
                scores[place] = float(verdict)
        return scores


class _JudgedDirectional(_JudgedPlain):
    """Keeps which text is the more general one: calibration moves both directions so that their mutual score is the calibrated one."""

    def score(self, pairs: Pairs) -> Floats:
        both = self.entail_both(pairs)
        return np.sqrt(both[:, 0] * both[:, 1])

    def entail(self, pairs: Pairs) -> Floats:
        return self.entail_both(pairs)[:, 0]

    def entail_both(self, pairs: Pairs) -> Floats:
        scorer, left, right = self._scorer(pairs)
        both = cast(Floats, scorer.entail(left, right)).copy()
        if self._calibrate is not None and len(both):
            forward, backward = np.maximum(both[:, 0], _LEAST), np.maximum(both[:, 1], _LEAST)
            wanted = self._calibrated(np.sqrt(both[:, 0] * both[:, 1]), pairs)
            first = np.minimum(1.0, wanted * np.sqrt(forward / backward))
            second = np.minimum(1.0, wanted * np.sqrt(backward / forward))
            # where one direction met its ceiling, the other makes up for it
            both[:, 0] = np.where(second >= 1.0, wanted**2, first)
            both[:, 1] = np.where(first >= 1.0, wanted**2, second)
            both[wanted >= 1.0] = 1.0
        for place, (a, b) in enumerate(pairs):
            verdict = self._decided.get((a, b) if a <= b else (b, a))
            if verdict is not None:
                both[place] = float(verdict)
        return both


class _JudgedBlock(_JudgedPlain):
    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        values = cast(BlockMeasure, self._measure).block(rows, cols).astype(np.float32)
        if self._calibrate is not None:
            same = np.array(rows, dtype=object)[:, None] == np.array(cols, dtype=object)[None, :]
            flat = np.clip(self._calibrate(values.astype(np.float64).ravel()), 0.0, 1.0).reshape(values.shape)
            values = np.where(same, 1.0, flat).astype(np.float32)
        row_of, col_of = _places(rows), _places(cols)
        for (a, b), verdict in self._decided.items():
            for first, second in ((a, b), (b, a)):
                if first in row_of and second in col_of:
                    values[np.ix_(row_of[first], col_of[second])] = float(verdict)
        return values


class _JudgedIndexed(_JudgedBlock):
    def index(self, texts: Sequence[str]) -> TextIndex:
        inner = cast(IndexedMeasure, self._measure).index(texts)
        return _JudgedIndex(inner, texts, self._decided, self._calibrate)


class _JudgedIndex:
    def __init__(self, inner: TextIndex, texts: Sequence[str], decided: Verdicts, calibrate: Calibrate | None):
        self._inner, self._calibrate = inner, calibrate
        places = {text: place for place, text in enumerate(texts)}
        known = [(places[a], places[b], float(v)) for (a, b), v in decided.items() if a in places and b in places]
        self._n = max(1, len(texts))
        pairs = sorted([(a * self._n + b, v) for a, b, v in known] + [(b * self._n + a, v) for a, b, v in known])
        self._keys = np.array([key for key, _ in pairs], dtype=np.int64)
        self._values = np.array([value for _, value in pairs], dtype=np.float64)

    def pairs(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Floats:
        values = self._inner.pairs(left, right)
        if self._calibrate is not None:
            values = np.where(left == right, 1.0, np.clip(self._calibrate(values), 0.0, 1.0))
        return self._over(values, left * self._n + right)

    def block(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float32]:
        values = self._inner.block(rows, cols)
        if self._calibrate is not None:
            flat = np.clip(self._calibrate(values.astype(np.float64).ravel()), 0.0, 1.0).reshape(values.shape)
            values = np.where(rows[:, None] == cols[None, :], 1.0, flat).astype(np.float32)
        if len(self._keys):
            row_at, col_at = np.argsort(rows, kind="stable"), np.argsort(cols, kind="stable")
            for key, verdict in zip(self._keys.tolist(), self._values.tolist(), strict=True):
                a, b = divmod(key, self._n)
                i, j = _found(rows, row_at, a), _found(cols, col_at, b)
                if len(i) and len(j):
                    values[np.ix_(i, j)] = verdict
        return values

    def _over(self, values: Floats, keys: NDArray[np.int64]) -> Floats:
        if len(self._keys):
            place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            values = np.where(self._keys[place] == keys, self._values[place], values)
        return values


def _found(values: NDArray[np.int64], order: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    start = np.searchsorted(values, wanted, side="left", sorter=order)
    end = np.searchsorted(values, wanted, side="right", sorter=order)
    return order[start:end]


def _places(texts: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        found.setdefault(text, []).append(place)
    return found
