"""Calibration curves fitted to judged scores, with expected calibration error and reliability curve.

Where a measure gives both directions, a logistic function of the weaker and of the stronger one, shrunk towards their geometric mean. Else isotonic
regression (Zadrozny and Elkan 2002) where there are many pairs, and Platt's sigmoid with smoothed targets (Platt 1999) where there are few. The
expected calibration error and the reliability curve are those of Guo et al. (2017).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softirr.errors import InputError
from softirr.tables.source import contents

__all__ = [
    "BINS",
    "ISOTONIC_FROM",
    "LEAST",
    "METHODS",
    "Calibration",
    "Method",
    "ReliabilityBin",
    "cross_validated",
    "expected_calibration_error",
    "fit",
    "fit_near_identity",
    "load_calibration",
    "reliability",
]

Floats = NDArray[np.float64]
Method = Literal["auto", "isotonic", "platt", "directions"]
METHODS: tuple[str, ...] = ("auto", "isotonic", "platt", "directions")
ISOTONIC_FROM = 500
"""Fewest pairs for which ``auto`` uses isotonic regression: with fewer it overfits (Niculescu-Mizil and Caruana 2005)."""
LEAST = 10
"""Fewest judged pairs for a calibration; at least ``LEAST_OF_EACH`` of them same and as many different."""
LEAST_OF_EACH = 2
BINS = 10
FOLDS = 5
_LEAST_PRIOR = 1e-4
_SHRINKAGE = (5.0, 5.0, 0.5)
"""Precision of the prior of ``directions``: of both slopes around one half, and of the intercept around 0. About as much as 20 judged pairs say."""
_NEAR_IDENTITY = (5.0, 5.0, 1.0)
"""The same for :func:`fit_near_identity`: the share of equivalent pairs is expected to be another one, but not far off."""
_LEAST_LOGIT = 1e-3
_EM_STEPS = 500


@dataclass(frozen=True)
class Calibration:
    """A non-decreasing function from the measure's P to a calibrated P.

    Attributes
    ----------
    method : {"isotonic", "platt", "directions"}
    measure : str
        Name of the measure it was fitted to.
    n : int
        Pairs it was fitted on.
    knots, values : tuple of float
        Isotonic: the function at its knots, linear between them, constant beyond.
    slope, intercept : float
        Platt: ``1 / (1 + exp(-(slope × P + intercept)))``.
    weaker, stronger : float
        Directions: ``1 / (1 + exp(-(weaker × logit(smaller direction) + stronger × logit(larger direction) + intercept)))``.
    prior : float
        Share of the pairs, as they were judged, that mean the same: the prevalence at which the calibrated P is right.
    """

    method: str
    measure: str
    n: int
    knots: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    slope: float = 0.0
    intercept: float = 0.0
    weaker: float = 0.0
    stronger: float = 0.0
    prior: float = 0.5

    def at(self, prior: float) -> Calibration:
        """The calibration adjusted to another prior share of equivalent pairs (Saerens, Latinne and Decaestecker 2002)."""
        step = _logit(prior) - _logit(self.prior)
        if self.method != "isotonic":
            return replace(self, intercept=self.intercept + step, prior=prior)
        odds = np.array([y / max(1 - y, 1e-12) for y in self.values]) * math.exp(step)
        return replace(self, values=tuple((odds / (1 + odds)).tolist()), prior=prior)

    def prior_of(self, p: ArrayLike) -> float:
        """Share of equivalent pairs among other pairs, estimated from their P alone by the EM algorithm.

        It is at most the prior for which the mean calibrated P equals the mean raw P. This bound matters where the curve is too steep, or
        the P too similar, for the EM algorithm to identify the share.
        """
        scores = np.asarray(p, dtype=np.float64)
        if not len(scores):
            return self.prior
        given = _equivalence(scores)
        calibrated = np.clip(self.of_pairs(scores), 1e-6, 1 - 1e-6)
        odds = calibrated / (1 - calibrated) / math.exp(_logit(self.prior))

        def mean(prior: float) -> float:
            moved = odds * math.exp(_logit(prior))
            return float(np.mean(moved / (1 + moved)))

        found = self.prior
        for _ in range(_EM_STEPS):
            before, found = found, min(max(mean(found), _LEAST_PRIOR), 1 - _LEAST_PRIOR)
            if abs(found - before) < 1e-9:
                break
        if mean(found) <= float(given.mean()):
            return found
        low, high = _logit(_LEAST_PRIOR), _logit(found)
        for _ in range(60):
            middle = (low + high) / 2
            prior = 1 / (1 + math.exp(-middle))
            low, high = (low, middle) if mean(prior) > float(given.mean()) else (middle, high)
        return 1 / (1 + math.exp(-low))

    def apply(self, p: ArrayLike) -> Floats:
        """Calibrated P, with the shape of `p`."""
        given = np.asarray(p, dtype=np.float64)
        if self.method == "isotonic":
            return np.asarray(np.interp(given, self.knots, self.values))
        from scipy.special import expit

        if self.method == "directions":
            return np.asarray(expit((self.weaker + self.stronger) * _logits(given) + self.intercept))
        return np.asarray(expit(self.slope * given + self.intercept))

    def of_pairs(self, scores: ArrayLike) -> Floats:
        """Calibrated P of pairs.

        Parameters
        ----------
        scores : array_like, shape (n,) or (n, 2)
            P of each pair, or both of its directions.

        Returns
        -------
        shape (n,)
        """
        given = np.asarray(scores, dtype=np.float64)
        if given.ndim == 1 or self.method != "directions":
            return self.apply(_equivalence(given))
        from scipy.special import expit

        weights = np.array([self.weaker, self.stronger, self.intercept])
        return np.asarray(expit(_features(given) @ weights))

    def to_dict(self) -> dict[str, Any]:
        """As JSON, for a file."""
        return {
            "softirr_calibration": 1,
            "method": self.method,
            "measure": self.measure,
            "n": self.n,
            "prior": self.prior,
            **{name: list(value) if isinstance(value, tuple) else value for name, value in self._curve().items()},
        }

    def _curve(self) -> dict[str, Any]:
        names = {
            "isotonic": ("knots", "values"),
            "platt": ("slope", "intercept"),
            "directions": ("weaker", "stronger", "intercept"),
        }
        return {name: getattr(self, name) for name in names[self.method]}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Calibration:
        """The calibration that :meth:`to_dict` wrote.

        Raises
        ------
        InputError
            If `given` is not a calibration.
        """
        wrong = InputError("This is no calibration: make one with softirr calibrate PAIRS.csv --output FILE.")
        if not isinstance(given, Mapping) or given.get("softirr_calibration") != 1:
            raise wrong
        try:
            method, measure, n = str(given["method"]), str(given["measure"]), int(given["n"])
            if "prior" not in given:
                raise InputError("This calibration was made by an earlier release: calibrate again.")
            prior = float(given["prior"])
            if not 0 < prior < 1:
                raise wrong
            if method == "isotonic":
                knots = tuple(float(x) for x in given["knots"])
                values = tuple(float(y) for y in given["values"])
                rising = all(a < b for a, b in pairwise(knots)) and sorted(values) == list(values)
                if not knots or len(knots) != len(values) or not rising or values[0] < 0 or values[-1] > 1:
                    raise wrong
                return cls(method, measure, n, knots, values, prior=prior)
            if method not in ("platt", "directions"):
                raise wrong
            names = ("slope",) if method == "platt" else ("weaker", "stronger")
            slopes = {name: float(given[name]) for name in names}
            intercept = float(given["intercept"])
        except (KeyError, TypeError, ValueError):
            raise wrong from None
        if not all(map(math.isfinite, (*slopes.values(), intercept))) or min(slopes.values()) < 0:
            raise wrong
        return replace(cls(method, measure, n, intercept=intercept, prior=prior), **cast(Any, slopes))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the calibration to a JSON file."""
        try:
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self.to_dict(), file, allow_nan=False, indent=1)
                file.write("\n")
        except OSError as error:
            raise InputError(f"{os.fspath(path)} can't be written: {error.strerror or error}.") from None


def load_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Read a calibration from the JSON file that :meth:`Calibration.save` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If the file can't be read or is no calibration.

    Examples
    --------
    >>> import tempfile
    >>> made = fit([0.1, 0.2, 0.8, 0.9] * 5, [0, 0, 1, 1] * 5, measure="indel")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made.save(f"{folder}/calibration.json")
    ...     load_calibration(f"{folder}/calibration.json") == made
    True
    """
    name, text = contents(path)
    try:
        return Calibration.from_dict(json.loads(text))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{name} is not valid JSON, so it is not a calibration.") from None


def fit(p: ArrayLike, judged: ArrayLike, *, method: Method = "auto", measure: str = "") -> Calibration:
    """Fit a calibration.

    Parameters
    ----------
    p : array_like, shape (n,) or (n, 2)
        The measure's equivalence of each pair, or both of its directions.
    judged : array_like, shape (n,)
        1 for same, 0 for different, or in between where judges differ.
    method : {"auto", "isotonic", "platt", "directions"}
        ``auto``: directions where they are given, else isotonic from ``ISOTONIC_FROM`` pairs on, and Platt below.
    measure : str
        The measure's name, kept with the calibration.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If there are too few pairs, or all have the same judgement.
    """
    x, y = np.asarray(p, dtype=np.float64), np.asarray(judged, dtype=np.float64).ravel()
    if method not in METHODS:
        raise InputError(f"The method is {method!r}, but can be {', '.join(METHODS)}.")
    _check(x, y)
    if method == "auto":
        method = "directions" if x.ndim == 2 else "isotonic" if len(x) >= ISOTONIC_FROM else "platt"
    if method == "directions":
        if x.ndim != 2:
            raise InputError(f"The method directions needs both directions, but {measure or 'the measure'} has none.")
        made = _directions(x, y, measure, _targets(y), _SHRINKAGE)
    else:
        made = (_isotonic if method == "isotonic" else _platt)(_equivalence(x), y, measure)
    return replace(made, prior=float(y.mean()))


def fit_near_identity(directions: ArrayLike, same: ArrayLike, *, measure: str = "") -> Calibration:
    """Fit the method ``directions`` to pairs that stand for others: even one judgement for all of them is taken, and moves P less.

    Parameters
    ----------
    directions : array_like, shape (n, 2)
        Both directions of each pair; equal columns where the measure has none.
    same : array_like, shape (n,)
        1 for same, 0 for different.
    measure : str
        The measure's name, kept with the calibration.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> made = fit_near_identity([[0.6, 0.6]] * 20, [0] * 20)
    >>> made.of_pairs([[0.6, 0.6], [0.2, 0.2]]).round(2).tolist()
    [0.11, 0.04]
    """
    x, y = np.asarray(directions, dtype=np.float64), np.asarray(same, dtype=np.float64)
    made = _directions(x, y, measure, y, _NEAR_IDENTITY)
    return replace(made, prior=float((y.sum() + 0.5) / (len(y) + 1)))


def _logit(p: float) -> float:
    p = min(max(p, _LEAST_PRIOR), 1 - _LEAST_PRIOR)
    return math.log(p / (1 - p))


def _equivalence(scores: Floats) -> Floats:
    """P of pairs, shape (n,), where both directions may be given, shape (n, 2)."""
    return scores if scores.ndim == 1 else np.sqrt(scores[:, 0] * scores[:, 1])


def _logits(p: Floats) -> Floats:
    p = np.clip(p, _LEAST_LOGIT, 1 - _LEAST_LOGIT)
    return np.asarray(np.log(p / (1 - p)))


def _features(directions: Floats) -> Floats:
    """Logits of the smaller and of the larger direction, and 1, shape (n, 3)."""
    both = _logits(np.sort(directions, axis=1))
    return np.column_stack([both, np.ones(len(both))])


def _check(x: Floats, y: Floats) -> None:
    if x.ndim > 2 or (x.ndim == 2 and x.shape[1] != 2) or len(x) != len(y):
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
    """Pool adjacent violators, after averaging pairs of the same P; only the ends of constant parts are kept."""
    from scipy.optimize import isotonic_regression

    knots, place, count = np.unique(x, return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=y) / count
    level = np.clip(isotonic_regression(mean, weights=count).x, 0.0, 1.0)
    inner = np.ones(len(knots), dtype=bool)
    inner[1:-1] = (level[1:-1] != level[:-2]) | (level[1:-1] != level[2:])
    return Calibration("isotonic", measure, len(x), tuple(knots[inner].tolist()), tuple(level[inner].tolist()))


def _directions(
    x: Floats, y: Floats, measure: str, target: Floats, shrinkage: tuple[float, float, float]
) -> Calibration:
    """Logistic regression on the logits of both directions, and a normal prior around their mean."""
    from scipy.optimize import minimize
    from scipy.special import expit

    features = _features(x)
    center, precision = np.array([0.5, 0.5, 0.0]), np.array(shrinkage)

    def loss(weights: Floats) -> tuple[float, Floats]:
        z, away = features @ weights, weights - center
        value = np.sum(np.logaddexp(0, z) - target * z) + 0.5 * np.sum(precision * away**2)
        return float(value), features.T @ (expit(z) - target) + precision * away

    bounds = [(0.0, None), (0.0, None), (None, None)]
    found = minimize(loss, center, jac=True, method="L-BFGS-B", bounds=bounds).x
    weaker, stronger, intercept = (float(weight) for weight in found)
    return Calibration("directions", measure, len(x), intercept=intercept, weaker=weaker, stronger=stronger)


def _targets(y: Floats) -> Floats:
    """Platt's targets: (N₊ + 1) / (N₊ + 2) for 1 and 1 / (N₋ + 2) for 0."""
    same = float(y.sum())
    high, low = (same + 1) / (same + 2), 1 / (len(y) - same + 2)
    return np.asarray(y * high + (1 - y) * low)


def _platt(x: Floats, y: Floats, measure: str) -> Calibration:
    """Logistic regression on P with Platt's targets (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2) for 1 and 0; non-decreasing."""
    from scipy.optimize import minimize
    from scipy.special import expit

    target = _targets(y)

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
    """Calibrated P of each pair by a calibration fitted without it, in five stratified folds.

    Where the rest of a fold has too few pairs of one judgement, its pairs use the calibration of all pairs.

    Parameters
    ----------
    p : array_like, shape (n,) or (n, 2)
        The measure's equivalence of each pair, or both of its directions.
    judged : array_like, shape (n,)
        1 for same, 0 for different, or in between where judges differ.
    method : {"auto", "isotonic", "platt", "directions"}
    seed : int
        Seed of the folds.

    Returns
    -------
    shape (n,)

    Raises
    ------
    InputError
        As for :func:`fit`.
    """
    x, y = np.asarray(p, dtype=np.float64), np.asarray(judged, dtype=np.float64).ravel()
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
        result[out] = made.of_pairs(x[out])
    return result


@dataclass(frozen=True)
class ReliabilityBin:
    """Pairs whose P lies in (low, high] (the first bin includes 0): their number, their mean P, and the share judged the same."""

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
        The measure's equivalence of each pair, and the judgements from 0 to 1.
    bins : int

    Returns
    -------
    tuple of ReliabilityBin
        From the lowest P to the highest.

    Raises
    ------
    InputError
        If there is no bin.
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
    """ECE: mean over pairs of |mean P - share judged the same| of their bin (Guo et al. 2017, Eq. 3).

    Parameters
    ----------
    p, judged : array_like, shape (n,)
        The measure's equivalence of each pair, and the judgements from 0 to 1.
    bins : int
        Number of bins of equal width.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    InputError
        If there are no pairs.
    """
    curve = reliability(p, judged, bins=bins)
    total = sum(one.n for one in curve)
    if not total:
        raise InputError("There are no pairs to compute a calibration error from.")
    return sum(one.n * abs((one.mean_p or 0.0) - (one.share_same or 0.0)) for one in curve) / total
