"""Calibration: from pairs of texts that people judged to a P that means what it says, and how far off P is without it.

Isotonic regression (Zadrozny and Elkan 2002) where there are many pairs, else Platt's sigmoid with smoothed targets (Platt 1999). Expected
calibration error and reliability curve as in Guo et al. 2017. Judgements for calibration can be taken anywhere; unlike those of the audit they
need not be a random sample, and they improve P, not the coefficient.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softirr.annotations import _contents as contents
from softirr.cache import PairCache
from softirr.equivalence import Measure
from softirr.equivalence import measure as measure_by_name
from softirr.equivalence.base import Progress
from softirr.errors import InputError
from softirr.pairs import PairScorer
from softirr.sheets import CANT_TELL, SAME, checked, rows
from softirr.text import normalise

Floats = NDArray[np.float64]
Method = Literal["auto", "isotonic", "platt"]
METHODS: tuple[str, ...] = ("auto", "isotonic", "platt")
ISOTONIC_FROM = 500
"""``auto`` takes isotonic regression from so many pairs on: with fewer it follows chance (Niculescu-Mizil and Caruana 2005)."""
LEAST = 10
"""Fewer judged pairs than this, or fewer than ``LEAST_OF_EACH`` of either kind, can't calibrate anything."""
LEAST_OF_EACH = 2
BINS = 10
FOLDS = 5

HEADER = ("text_a", "text_b", "judgement")


@dataclass(frozen=True)
class Calibration:
    """A rising function from the measure's P to a calibrated one.

    Attributes
    ----------
    method : {"isotonic", "platt"}
    measure : str
        Name of the measure it was fitted to.
    n : int
        Pairs it was fitted on.
    knots, values : tuple of float
        Isotonic: the function at its knots, straight between them, level beyond.
    slope, intercept : float
        Platt: ``1 / (1 + exp(-(slope × P + intercept)))``.
    """

    method: str
    measure: str
    n: int
    knots: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    slope: float = 0.0
    intercept: float = 0.0

    def apply(self, p: ArrayLike) -> Floats:
        """Calibrated P, of the same shape."""
        given = np.asarray(p, dtype=np.float64)
        if self.method == "isotonic":
            return np.asarray(np.interp(given, self.knots, self.values))
        from scipy.special import expit

        return np.asarray(expit(self.slope * given + self.intercept))

    def to_dict(self) -> dict[str, Any]:
        """As JSON, for a file."""
        return {
            "softirr_calibration": 1,
            "method": self.method,
            "measure": self.measure,
            "n": self.n,
            **(
                {"knots": list(self.knots), "values": list(self.values)}
                if self.method == "isotonic"
                else {"slope": self.slope, "intercept": self.intercept}
            ),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Calibration:
        """The calibration that :meth:`to_dict` wrote.

        Raises
        ------
        InputError
            If it is none.
        """
        wrong = InputError("This is no calibration: make one with softirr calibrate PAIRS.csv --output FILE.")
        if not isinstance(given, Mapping) or given.get("softirr_calibration") != 1:
            raise wrong
        try:
            method, measure, n = str(given["method"]), str(given["measure"]), int(given["n"])
            if method == "isotonic":
                knots = tuple(float(x) for x in given["knots"])
                values = tuple(float(y) for y in given["values"])
                rising = all(a < b for a, b in pairwise(knots)) and sorted(values) == list(values)
                if not knots or len(knots) != len(values) or not rising or values[0] < 0 or values[-1] > 1:
                    raise wrong
                return cls(method, measure, n, knots, values)
            slope, intercept = float(given["slope"]), float(given["intercept"])
        except (KeyError, TypeError, ValueError):
            raise wrong from None
        if method != "platt" or not (math.isfinite(slope) and math.isfinite(intercept)) or slope < 0:
            raise wrong
        return cls(method, measure, n, slope=slope, intercept=intercept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the calibration to a JSON file."""
        try:
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self.to_dict(), file, allow_nan=False, indent=1)
                file.write("\n")
        except OSError as error:
            raise InputError(f"{os.fspath(path)} can't be written: {error.strerror or error}.") from None


def load(path: str | os.PathLike[str]) -> Calibration:
    """Read a calibration from the JSON file that :meth:`Calibration.save` wrote."""
    name, text = contents(path)
    try:
        return Calibration.from_dict(json.loads(text))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{name} is not valid JSON, so it is no calibration.") from None


# --- fitting ----------------------------------------------------------------------------------------------------------


def fit(p: ArrayLike, judged: ArrayLike, *, method: Method = "auto", measure: str = "") -> Calibration:
    """Fit a calibration.

    Parameters
    ----------
    p : array_like, shape (n,)
        The measure's equivalence of each pair.
    judged : array_like, shape (n,)
        1 same, 0 different, or in between where judges differ.
    method : {"auto", "isotonic", "platt"}
        ``auto``: isotonic from ``ISOTONIC_FROM`` pairs on, else Platt.
    measure : str
        The measure's name, kept with the calibration.

    Raises
    ------
    InputError
        If there are too few pairs, or all are judged alike.
    """
    x, y = np.asarray(p, dtype=np.float64).ravel(), np.asarray(judged, dtype=np.float64).ravel()
    if method not in METHODS:
        raise InputError(f"The method is {method!r}, but can be {', '.join(METHODS)}.")
    _check(x, y)
    if method == "auto":
        method = "isotonic" if len(x) >= ISOTONIC_FROM else "platt"
    return _isotonic(x, y, measure) if method == "isotonic" else _platt(x, y, measure)


def _check(x: Floats, y: Floats) -> None:
    if x.shape != y.shape:
        raise InputError(f"There are {len(x)} scores but {len(y)} judgements.")
    for what, values in (("score", x), ("judgement", y)):
        if not np.all((values >= 0) & (values <= 1)):
            raise InputError(f"Each {what} has to be a number from 0 to 1.")
    if len(x) < LEAST:
        raise InputError(f"{len(x)} judged pairs are too few to calibrate: judge at least {LEAST}.")
    same = float(y.sum())
    if min(same, len(y) - same) < LEAST_OF_EACH:
        kind = "different" if same < LEAST_OF_EACH else "same"
        raise InputError(
            f"(Nearly) all pairs are judged {kind}: a calibration needs at least {LEAST_OF_EACH} of either kind."
        )


def _isotonic(x: Floats, y: Floats, measure: str) -> Calibration:
    """Pool adjacent violators, pairs of the same P first joined to their mean; only the ends of level parts are kept."""
    from scipy.optimize import isotonic_regression

    knots, place, count = np.unique(x, return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=y) / count
    level = np.clip(isotonic_regression(mean, weights=count).x, 0.0, 1.0)
    inner = np.ones(len(knots), dtype=bool)
    inner[1:-1] = (level[1:-1] != level[:-2]) | (level[1:-1] != level[2:])
    return Calibration("isotonic", measure, len(x), tuple(knots[inner].tolist()), tuple(level[inner].tolist()))


def _platt(x: Floats, y: Floats, measure: str) -> Calibration:
    """Logistic regression on P with Platt's targets (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2) for 1 and 0; never falling."""
    from scipy.optimize import minimize
    from scipy.special import expit

    same = float(y.sum())
    high, low = (same + 1) / (same + 2), 1 / (len(y) - same + 2)
    target = y * high + (1 - y) * low

    def loss(ab: Floats) -> tuple[float, Floats]:
        z = ab[0] * x + ab[1]
        off = expit(z) - target
        return float(np.sum(np.logaddexp(0, z) - target * z)), np.array([float(off @ x), float(off.sum())])

    base = math.log(float(target.sum()) / float((1 - target).sum()))
    bounds = [(0.0, None), (None, None)]
    options = {"maxiter": 1_000, "ftol": 1e-15, "gtol": 1e-10}
    found = minimize(loss, np.array([1.0, base]), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Calibration("platt", measure, len(x), slope=float(found.x[0]), intercept=float(found.x[1]))


def cross_validated(p: ArrayLike, judged: ArrayLike, *, method: Method = "auto", seed: int = 0) -> Floats:
    """Calibrated P of each pair by a calibration that was fitted without it: five folds, each kind of judgement spread evenly.

    Parameters as for :func:`fit`; where a fold leaves too little of one kind, its pairs take the calibration of all.
    """
    x, y = np.asarray(p, dtype=np.float64).ravel(), np.asarray(judged, dtype=np.float64).ravel()
    whole = fit(x, y, method=method)
    order = np.lexsort((np.random.default_rng(seed).random(len(y)), y))
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % FOLDS
    result = np.empty(len(y))
    for one in range(FOLDS):
        out, rest = fold == one, fold != one
        try:
            made = fit(x[rest], y[rest], method=cast(Method, whole.method))
        except InputError:
            made = whole
        result[out] = made.apply(x[out])
    return result


# --- how far off ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReliabilityBin:
    """Pairs whose P lies in (low, high] (the first bin holds 0 too): how many, their mean P, and the share judged the same."""

    low: float
    high: float
    n: int
    mean_p: float | None
    share_same: float | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "mean_p": self.mean_p,
            "share_same": self.share_same,
        }


def reliability(p: ArrayLike, judged: ArrayLike, *, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """Reliability curve over bins of equal width (Guo et al. 2017, Fig. 1).

    Parameters
    ----------
    p, judged : array_like, shape (n,)
    bins : int
    """
    x, y = np.asarray(p, dtype=np.float64).ravel(), np.asarray(judged, dtype=np.float64).ravel()
    if bins < 1:
        raise InputError(f"The number of bins is {bins}, but has to be at least 1.")
    # rounded first: 0.3 and 0.1 + 0.2 belong to one bin
    place = np.clip(np.ceil(np.round(x * bins, 9)).astype(np.int64) - 1, 0, bins - 1)
    n = np.bincount(place, minlength=bins)
    p_sum, y_sum = (np.bincount(place, weights=values, minlength=bins) for values in (x, y))
    return tuple(
        ReliabilityBin(
            b / bins,
            (b + 1) / bins,
            int(n[b]),
            float(p_sum[b] / n[b]) if n[b] else None,
            float(y_sum[b] / n[b]) if n[b] else None,
        )
        for b in range(bins)
    )


def expected_calibration_error(p: ArrayLike, judged: ArrayLike, *, bins: int = BINS) -> float:
    """ECE: mean over pairs of |mean P - share judged the same| of their bin (Guo et al. 2017, Eq. 3)."""
    curve = reliability(p, judged, bins=bins)
    total = sum(one.n for one in curve)
    if not total:
        raise InputError("There are no pairs to compute a calibration error from.")
    return sum(one.n * abs((one.mean_p or 0.0) - (one.share_same or 0.0)) for one in curve) / total


# --- measures ---------------------------------------------------------------------------------------------------------


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


# --- from a file of judged pairs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgedPairs:
    """Judged pairs of texts.

    Attributes
    ----------
    pairs : tuple of (str, str)
    judged : tuple of float
        1 same, 0 different.
    skipped : int
        Rows without a judgement.
    identical : int
        Rows of identical texts, which are equivalent without a judge and teach nothing.
    """

    pairs: tuple[tuple[str, str], ...]
    judged: tuple[float, ...]
    skipped: int = 0
    identical: int = 0


def read_pairs(source: str | os.PathLike[str] | io.TextIOBase) -> JudgedPairs:
    """Read judged pairs: CSV with the columns ``text_a``, ``text_b``, ``judgement`` (others are left alone: a sheet of the audit will do).

    A judgement is ``same``, ``different`` (``first is more general`` and ``second is more general`` are too), or a number from 0 to 1; where
    it is empty or ``can't tell`` the row is skipped and counted.

    Raises
    ------
    InputError
        Says the file and the line.
    """
    _, found = rows(source, HEADER, "file of judged pairs")
    pairs: list[tuple[str, str]] = []
    judged: list[float] = []
    skipped = identical = 0
    for place, (text_a, text_b, judgement) in found:
        a, b = normalise(text_a), normalise(text_b)
        value = _judgement(judgement, place)
        if value is None:
            skipped += 1
        elif a == b:
            identical += 1
        else:
            pairs.append((a, b))
            judged.append(value)
    return JudgedPairs(tuple(pairs), tuple(judged), skipped, identical)


def _judgement(cell: str, place: str) -> float | None:
    """1 same, 0 different, a number between, or None for a pair without a judgement."""
    try:
        value = float(cell)
    except ValueError:
        word = checked(cell, place)
        return None if word in ("", CANT_TELL) else float(word == SAME)
    if not 0 <= value <= 1:
        raise InputError(f"{place}: the judgement is {cell.strip()!r}, but a number has to be from 0 to 1.")
    return value


@dataclass(frozen=True)
class CalibrationReport:
    """A calibration and what it brought.

    Attributes
    ----------
    calibration : Calibration
        Fitted on all pairs.
    pairs, skipped, identical : int
    ece_before, ece_after : float
        Calibration error without it, and with it by cross-validation: each pair by a calibration fitted without it.
    before, after : tuple of ReliabilityBin
        Reliability curves of the same two.
    """

    calibration: Calibration
    pairs: int
    skipped: int
    identical: int
    ece_before: float
    ece_after: float
    before: tuple[ReliabilityBin, ...]
    after: tuple[ReliabilityBin, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "calibration": self.calibration.to_dict(),
            "pairs": self.pairs,
            "skipped": self.skipped,
            "identical": self.identical,
            "bins": len(self.before),
            "ece_before": self.ece_before,
            "ece_after": self.ece_after,
            "reliability_before": [one.to_dict() for one in self.before],
            "reliability_after": [one.to_dict() for one in self.after],
        }

    def lines(self) -> list[str]:
        """For people: errors before and after, and a reliability table."""
        left_out = "".join(
            f", {count} {what} left out"
            for count, what in ((self.skipped, "without a judgement"), (self.identical, "of identical texts"))
            if count
        )
        result = [
            f"{self.calibration.measure}: {self.pairs} judged pairs{left_out}; {self.calibration.method} calibration.",
            f"Expected calibration error ({len(self.before)} bins of equal width): {self.ece_before:.3f} before, "
            f"{self.ece_after:.3f} after (cross-validated).",
            "",
            f"{'P':>12}  {'pairs':>6} {'mean P':>7} {'same':>6}   {'pairs':>6} {'mean P':>7} {'same':>6}",
        ]
        for one, two in zip(self.before, self.after, strict=True):
            cells = [
                f"{bin.n:>6} {_cell(bin.mean_p):>7} {_cell(bin.share_same):>6}" for bin in (one, two) if bin is not None
            ]
            result.append(f"{one.low:>5.2f} - {one.high:.2f}  {'   '.join(cells)}")
        result.append("Left: as measured. Right: calibrated.")
        return result


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def calibrate(
    source: str | os.PathLike[str] | io.TextIOBase | JudgedPairs,
    measure: str | Measure,
    *,
    method: Method = "auto",
    bins: int = BINS,
    seed: int = 0,
    cache: PairCache | None = None,
    progress: Progress | None = None,
) -> CalibrationReport:
    """Calibrate a measure on judged pairs: ``softirr calibrate``.

    Parameters
    ----------
    source
        A file as for :func:`read_pairs`, or its content.
    measure : str or Measure
    method : {"auto", "isotonic", "platt"}
    bins : int
        Of the calibration error.
    seed : int
        Of the cross-validation's folds.
    cache, progress
        As for :func:`softirr.agreement.agreement`.
    """
    given = source if isinstance(source, JudgedPairs) else read_pairs(source)
    made = measure_by_name(measure) if isinstance(measure, str) else measure
    texts = sorted({text for pair in given.pairs for text in pair})
    number = {text: i for i, text in enumerate(texts)}
    left, right = (np.array([number[pair[side]] for pair in given.pairs], dtype=np.int64) for side in (0, 1))
    judged = np.array(given.judged, dtype=np.float64)
    if len(judged) < LEAST:
        raise InputError(f"{len(judged)} judged pairs are too few to calibrate: judge at least {LEAST}.")
    p = np.asarray(PairScorer(made, texts, cache=cache, progress=progress).score(left, right), dtype=np.float64)
    found = fit(p, judged, method=method, measure=made.name)
    after = cross_validated(p, judged, method=cast(Method, found.method), seed=seed)
    return CalibrationReport(
        found,
        len(judged),
        given.skipped,
        given.identical,
        expected_calibration_error(p, judged, bins=bins),
        expected_calibration_error(after, judged, bins=bins),
        reliability(p, judged, bins=bins),
        reliability(after, judged, bins=bins),
    )
