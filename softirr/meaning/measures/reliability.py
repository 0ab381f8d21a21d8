"""How reliable a measure's P is on judged pairs of texts: reliability curve and expected calibration error.

A report only: no value and no interval of agreement depends on it. Judgments enter those through
:mod:`softirr.statistics.evidence`, as a random sample.

References
----------
Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern neural networks.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from softirr.answers.sheets import CANT_TELL, SAME, checked, rows
from softirr.errors import InputError
from softirr.json_object import JsonObject
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.pairs import score_pairs
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption, cache_and_progress
from softirr.plural import plural
from softirr.text import normalize, plain_number

__all__ = [
    "CalibrationReport",
    "JudgedPairs",
    "ReliabilityBin",
    "calibrate",
    "expected_calibration_error",
    "read_pairs",
    "reliability",
]

HEADER = ("text_a", "text_b", "judgment")
BINS = 10


@dataclass(frozen=True)
class JudgedPairs:
    """Judged pairs of texts.

    Attributes
    ----------
    pairs : tuple of (str, str)
    judged : tuple of float
        1 same, 0 different.
    skipped : int
        Rows without a judgment.
    identical : int
        Rows of identical texts, which are always equivalent and not used.
    """

    pairs: tuple[tuple[str, str], ...]
    judged: tuple[float, ...]
    skipped: int = 0
    identical: int = 0


def read_pairs(source: str | os.PathLike[str] | io.TextIOBase) -> JudgedPairs:
    """Read judged pairs from CSV with the columns ``text_a``, ``text_b``, ``judgment``.

    Others are ignored, so audit sheets work.

    A judgment is ``same``, ``different`` (``first is more general`` and ``second is more general`` are too), or a
    number from 0 to 1; where it is empty or ``can't tell`` the row is skipped and counted.

    Parameters
    ----------
    source : path, "-" for standard input, or open text stream

    Returns
    -------
    JudgedPairs

    Raises
    ------
    InputError
        If a row is unusable; the message names the file and the line.
    """
    _, judged_rows = rows(source, HEADER, "file of judged pairs")
    pairs: list[tuple[str, str]] = []
    judged: list[float] = []
    skipped = identical = 0
    for place, (text_a, text_b, judgment) in judged_rows:
        a, b = normalize(text_a), normalize(text_b)
        value = _judgment(judgment, place)
        if value is None:
            skipped += 1
        elif a == b:
            identical += 1
        else:
            pairs.append((a, b))
            judged.append(value)
    return JudgedPairs(tuple(pairs), tuple(judged), skipped, identical)


def _judgment(cell: str, place: str) -> float | None:
    """1 for same, 0 for different, a number in between, or None for a pair without a judgment."""
    value = plain_number(cell)
    if value is None:
        word = checked(cell, place)
        return None if word in ("", CANT_TELL) else float(word == SAME)
    if not 0 <= value <= 1:
        raise InputError(f"{place}: the judgment is {cell.strip()!r}, but a number must be from 0 to 1.")
    return value


@dataclass(frozen=True)
class CalibrationReport:
    """How well a measure's P matches judged pairs.

    Attributes
    ----------
    measure : str
    pairs, skipped, identical : int
        Pairs used, rows without a judgment, and rows of identical texts.
    error : float
        Expected calibration error.
    bins : tuple of ReliabilityBin
    """

    measure: str
    pairs: int
    skipped: int
    identical: int
    error: float
    bins: tuple[ReliabilityBin, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "measure": self.measure,
            "pairs": self.pairs,
            "skipped": self.skipped,
            "identical": self.identical,
            "expected_calibration_error": self.error,
            "reliability": [one.to_dict() for one in self.bins],
        }

    def lines(self) -> list[str]:
        """The error and a reliability table, as lines of text."""
        unused = "".join(
            f", {count} {what} not used"
            for count, what in ((self.skipped, "without a judgment"), (self.identical, "of identical texts"))
            if count
        )
        head = f"{self.measure}: {plural(self.pairs, 'judged pair')}{unused}."
        error = f"Expected calibration error ({len(self.bins)} bins of equal width): {self.error:.3f}."
        table = [f"{'P':>12}  {'pairs':>6} {'mean P':>7} {'same':>6}"]
        for one in self.bins:
            table.append(
                f"{one.low:>5.2f} - {one.high:.2f}  {one.n:>6} {_cell(one.mean_p):>7} {_cell(one.share_same):>6}"
            )
        return [head, error, "", *table]


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def calibrate(
    source: str | os.PathLike[str] | io.TextIOBase | JudgedPairs,
    measure: str | Measure,
    *,
    bins: int = BINS,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> CalibrationReport:
    """Compare a measure's P with judged pairs, as ``softirr calibrate`` does.

    Parameters
    ----------
    source
        A file as for :func:`read_pairs`, or its content.
    measure : str or Measure
    bins : int
        Number of bins of the calibration error.
    cache, progress
        As for :func:`softirr.agreement`.

    Returns
    -------
    CalibrationReport

    Raises
    ------
    InputError
        If there is no judged pair, or the file can't be used.

    Examples
    --------
    >>> pairs = tuple((f"finding {i}", f"finding {i}s") for i in range(6))
    >>> calibrate(JudgedPairs(pairs, (1.0,) * 6), "exact").error
    1.0
    """
    given = source if isinstance(source, JudgedPairs) else read_pairs(source)
    scorer = measure_by_name(measure) if isinstance(measure, str) else measure
    if not given.pairs:
        raise InputError("No pair is judged, so the measure can't be compared with judgments.")
    with cache_and_progress(scorer, cache, progress) as (store, reporter):
        p = score_pairs(scorer, given.pairs, cache=store, progress=reporter)
    judged = np.array(given.judged, dtype=np.float64)
    return CalibrationReport(
        scorer.name,
        len(judged),
        given.skipped,
        given.identical,
        expected_calibration_error(p, judged, bins=bins),
        reliability(p, judged, bins=bins),
    )


@dataclass(frozen=True)
class ReliabilityBin(JsonObject):
    """Pairs whose P lies in (low, high]; the first bin includes 0.

    Attributes
    ----------
    low, high : float
    n : int
        Number of pairs.
    mean_p : float or None
        Their mean P.
    share_same : float or None
        The share judged the same.
    """

    low: float
    high: float
    n: int
    mean_p: float | None
    share_same: float | None


def reliability(p: ArrayLike, judged: ArrayLike, *, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """Reliability curve over bins of equal width (Guo et al. 2017, Fig. 1).

    Parameters
    ----------
    p, judged : array_like, shape (n,)
        The measure's equivalence of each pair, and the judgments from 0 to 1.
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
        raise InputError(f"The number of bins is {bins}, but must be at least 1.")
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
        The measure's equivalence of each pair, and the judgments from 0 to 1.
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
