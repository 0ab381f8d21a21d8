"""Calibration of a measure's P on judged pairs of texts.

Unlike those of the audit, judgements for calibration need not be a random sample; they improve P, and the audit corrects coefficients. The
curves are in :mod:`softirr.measures.calibration_curves`, the measure that uses them in :mod:`softirr.measures.corrected`.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from softirr.errors import InputError
from softirr.measures import Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.automatic import CacheOption, ProgressOption, cache_and_progress
from softirr.measures.calibration_curves import (
    BINS,
    ISOTONIC_FROM,
    LEAST,
    METHODS,
    Calibration,
    Method,
    ReliabilityBin,
    cross_validated,
    expected_calibration_error,
    fit,
    load_calibration,
    reliability,
)
from softirr.measures.corrected import CorrectedMeasure, corrected
from softirr.measures.pairs import PairScorer
from softirr.tables.sheets import CANT_TELL, SAME, checked, rows
from softirr.text import normalize

__all__ = [
    "ISOTONIC_FROM",
    "METHODS",
    "Calibration",
    "CalibrationReport",
    "CorrectedMeasure",
    "JudgedPairs",
    "ReliabilityBin",
    "calibrate",
    "corrected",
    "cross_validated",
    "expected_calibration_error",
    "fit",
    "load_calibration",
    "read_pairs",
    "reliability",
]

HEADER = ("text_a", "text_b", "judgement")


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
        Rows of identical texts, which are always equivalent and not used.
    """

    pairs: tuple[tuple[str, str], ...]
    judged: tuple[float, ...]
    skipped: int = 0
    identical: int = 0


def read_pairs(source: str | os.PathLike[str] | io.TextIOBase) -> JudgedPairs:
    """Read judged pairs from CSV with the columns ``text_a``, ``text_b``, ``judgement``; others are ignored, so audit sheets work.

    A judgement is ``same``, ``different`` (``first is more general`` and ``second is more general`` are too), or a number from 0 to 1; where
    it is empty or ``can't tell`` the row is skipped and counted.

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
    _, found = rows(source, HEADER, "file of judged pairs")
    pairs: list[tuple[str, str]] = []
    judged: list[float] = []
    skipped = identical = 0
    for place, (text_a, text_b, judgement) in found:
        a, b = normalize(text_a), normalize(text_b)
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
    """1 for same, 0 for different, a number in between, or None for a pair without a judgement."""
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
    """A calibration and the calibration errors with and without it.

    Attributes
    ----------
    calibration : Calibration
        Fitted on all pairs.
    pairs, skipped, identical : int
    ece_before, ece_after : float
        Calibration error without the calibration, and with it by cross-validation (each pair is calibrated by a fit without it).
    before, after : tuple of ReliabilityBin
        Reliability curves without and with the calibration.
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
        """The errors before and after, and a reliability table, as lines of text."""
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
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> CalibrationReport:
    """Calibrate a measure on judged pairs, as ``softirr calibrate`` does.

    Parameters
    ----------
    source
        A file as for :func:`read_pairs`, or its content.
    measure : str or Measure
    method : {"auto", "isotonic", "platt", "directions"}
    bins : int
        Number of bins of the calibration error.
    seed : int
        Seed of the cross-validation's folds.
    cache, progress
        As for :func:`softirr.agreement`.

    Returns
    -------
    CalibrationReport

    Raises
    ------
    InputError
        If there are too few pairs, or the file can't be used.

    Examples
    --------
    >>> pairs = tuple((f"finding {i}", f"finding {i}s") for i in range(6)) + tuple((f"rash {i}", f"cough {i}") for i in range(6))
    >>> calibrate(JudgedPairs(pairs, (1.0,) * 6 + (0.0,) * 6), "indel").pairs
    12
    """
    given = source if isinstance(source, JudgedPairs) else read_pairs(source)
    made = measure_by_name(measure) if isinstance(measure, str) else measure
    texts = sorted({text for pair in given.pairs for text in pair})
    number = {text: i for i, text in enumerate(texts)}
    left, right = (np.array([number[pair[side]] for pair in given.pairs], dtype=np.int64) for side in (0, 1))
    judged = np.array(given.judged, dtype=np.float64)
    if len(judged) < LEAST:
        raise InputError(f"{len(judged)} judged pairs are too few to calibrate: judge at least {LEAST}.")
    with cache_and_progress(made, cache, progress) as (store, told):
        scorer = PairScorer(made, texts, cache=store, progress=told)
        directions = scorer.entail(left, right)
        p = np.asarray(scorer.score(left, right), dtype=np.float64)
    scores = p if directions is None else directions
    found = fit(scores, judged, method=method, measure=made.name)
    after = cross_validated(scores, judged, method=cast(Method, found.method), seed=seed)
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
