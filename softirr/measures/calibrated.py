"""A measure whose P went through a calibration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.measures import Measure
from softirr.measures.calibration_curves import Calibration, Floats
from softirr.provenance import Progress
from softirr.text import normalise


class CalibratedMeasure:
    """A measure whose P went through a calibration; identical texts stay at 1.

    Where the measure has directions, the stronger one stays and the weaker one takes the correction, so that
    ``sqrt(P(a ⇒ b) P(b ⇒ a))`` is the calibrated P.

    Attributes
    ----------
    raw : Measure
        Without the calibration: what a cache may keep.
    calibration : Calibration
    """

    def __init__(self, raw: Measure, calibration: Calibration) -> None:
        self.raw = raw
        self.calibration = calibration

    @property
    def name(self) -> str:
        """The measure's name, and that it is calibrated."""
        return f"{self.raw.name} (calibrated on {self.calibration.n} pairs)"

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Calibrated P(a ≡ b) of each pair, shape (n,)."""
        p = self.calibration.apply(self.raw.score(pairs))
        p[_identical(pairs)] = 1.0
        return p

    def adjust(self, directions: Floats) -> Floats:
        """Raw P(a ⇒ b) and P(b ⇒ a) of different texts to calibrated ones, shape (n, 2); both columns alike without directions."""
        if not hasattr(self.raw, "entail_both"):
            return self.calibration.apply(directions)
        calibrated = self.calibration.apply(np.sqrt(directions[:, 0] * directions[:, 1]))
        strong = np.maximum(directions.max(axis=1), calibrated)
        weak = np.divide(calibrated**2, strong, out=np.zeros_like(strong), where=strong > 0)
        first = directions[:, 0] >= directions[:, 1]
        return np.stack([np.where(first, strong, weak), np.where(first, weak, strong)], axis=1)

    def provenance(self) -> Any:
        """The measure's own, under the calibrated name."""
        return replace(self.raw.provenance(), measure=self.name)


class _Directional(CalibratedMeasure):
    def entail_both(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Calibrated P(a ⇒ b) and P(b ⇒ a), shape (n, 2)."""
        result = self.adjust(cast(Any, self.raw).entail_both(pairs))
        result[_identical(pairs)] = 1.0
        return result

    def entail(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Calibrated P(a ⇒ b), shape (n,)."""
        return self.entail_both(pairs)[:, 0]


class _Checked(CalibratedMeasure):
    @property
    def cache_key(self) -> str:
        """The measure's key and the calibration."""
        fitted = hashlib.sha256(json.dumps(self.calibration.to_dict(), sort_keys=True).encode()).hexdigest()[:16]
        return f"{cast(Any, self.raw).cache_key}+calibration:{fitted}"

    def entail_checked(
        self, pairs: Sequence[tuple[str, str]], *, progress: Progress | None = None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Calibrated directions, shape (n, 2), and which are sound."""
        values, valid = cast(Any, self.raw).entail_checked(pairs, progress=progress)
        result = self.adjust(values)
        result[_identical(pairs)] = 1.0
        return result, valid


class _Block(CalibratedMeasure):
    def block(self, rows: Sequence[str], cols: Sequence[str]) -> NDArray[np.float32]:
        """Calibrated P of all rows with all columns, shape (len(rows), len(cols))."""
        raw = cast(Any, self.raw).block(rows, cols)
        number: dict[str, int] = {}
        row, col = (
            np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.int64) for texts in (rows, cols)
        )
        return _with_ones(self.calibration.apply(raw), row[:, None] == col[None, :]).astype(np.float32)


class _Indexed(_Block):
    def index(self, texts: Sequence[str]) -> Any:
        """The texts, made ready once."""
        number: dict[str, int] = {}
        same = np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.int64)
        return _CalibratedIndex(cast(Any, self.raw).index(texts), self.calibration, same)


@dataclass(frozen=True, eq=False)
class _CalibratedIndex:
    raw: Any
    calibration: Calibration
    same: NDArray[np.int64]

    def pairs(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Floats:
        return _with_ones(self.calibration.apply(self.raw.pairs(left, right)), self.same[left] == self.same[right])

    def block(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float32]:
        p = self.calibration.apply(self.raw.block(rows, cols))
        return _with_ones(p, self.same[rows][:, None] == self.same[cols][None, :]).astype(np.float32)


def _with_ones(p: Floats, where: NDArray[np.bool_]) -> Floats:
    p[where] = 1.0
    return p


def _identical(pairs: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    return np.fromiter((normalise(a) == normalise(b) for a, b in pairs), dtype=bool, count=len(pairs))


def calibrated(measure: Measure, calibration: Calibration) -> CalibratedMeasure:
    """The measure with its P calibrated; it keeps what the measure can do (blocks, directions, caching).

    Raises
    ------
    InputError
        If the calibration was fitted to another measure.
    """
    if calibration.measure and calibration.measure != measure.name:
        raise InputError(f"The calibration was made for the measure {calibration.measure}, not for {measure.name}.")
    kinds: list[type] = []
    if hasattr(measure, "entail_both"):
        kinds.append(_Directional)
    if hasattr(measure, "entail_checked"):
        kinds.append(_Checked)
    if hasattr(measure, "block"):
        kinds.append(_Indexed if hasattr(measure, "index") else _Block)
    make: Callable[[Measure, Calibration], CalibratedMeasure] = (
        kinds[0] if len(kinds) == 1 else type("CalibratedMeasure", (*kinds, CalibratedMeasure), {})
    )
    return make(measure, calibration)
