"""Results of a run for tables and figures.

Scores by setting, errors of measures on the same populations, and calibration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.experiments.run import Record
from lab.experiments.statistics import PERMUTATIONS, ReliabilityBin, expected_calibration_error, reliability, ties
from softirr.answers.ratings import Floats

KAPPA = "cohen_kappa"
SIGNS = {
    "observed_agreement": "Observed",
    "cohen_kappa": "κ",
    "scott_pi": "π",
    "fleiss_kappa": "κ_F",
    "krippendorff_alpha": "α",
    "brennan_prediger": "BP",
    "gwet_ac2": "AC2",
    "sigma": "σ",
    "ks": "KS",
}
TITLES = {
    "paper": "one label per rater",
    "hard": "one label per rater, concepts with three names or more",
    "sets": "label sets",
}

Key = tuple[str, str, int]
"""Source, kind of negatives, number: what pairs the populations of two measures."""


@dataclass(frozen=True, eq=False)
class Results:
    """All scores of a run.

    Attributes
    ----------
    records : tuple of Record
        One per project and measure, ordered by project, then measure.
    """

    records: tuple[Record, ...]

    @classmethod
    def of(cls, records: Iterable[Record]) -> Results:
        """The records in order."""

        def order(record: Record) -> tuple[str, str, str, int, str]:
            project = record.project
            return project.setting, project.source, project.negatives, project.number, record.label

        return cls(tuple(sorted(records, key=order)))

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Synthetic settings that were scored, in the order of Wullschleger et al. (2026)."""
        distinct = {r.project.setting for r in self.records}
        return tuple(s for s in ("paper", "hard", "sets") if s in distinct)

    def select(self, setting: str, negatives: str | None = None, source: str | None = None) -> tuple[Record, ...]:
        """Records of a setting."""
        return tuple(
            r
            for r in self.records
            if r.project.setting == setting
            and negatives in (None, r.project.negatives)
            and source in (None, r.project.source)
        )

    def sources(self, setting: str) -> tuple[str, ...]:
        """Names of terminologies or tables of a setting."""
        return tuple(sorted({r.project.source for r in self.select(setting)}))


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of every measure on the same populations.

    Attributes
    ----------
    by_label : dict
        Arrays in the order of the keys.
    left_out : int
        Populations that some measure lacks, or on which a coefficient is not defined.
    """

    keys: tuple[Key, ...]
    by_label: dict[str, Floats]
    left_out: int

    @classmethod
    def of(cls, records: Iterable[Record], value: Callable[[Record], float | None]) -> Errors:
        """Errors by a function of the record."""
        values: dict[str, dict[Key, float]] = {}
        all_keys: set[Key] = set()
        for record in records:
            p = record.project
            key = (p.source, p.negatives, p.number)
            all_keys.add(key)
            error = value(record)
            errors = values.setdefault(record.label, {})
            if error is not None:
                errors[key] = error
        shared = sorted(set.intersection(*map(set, values.values()))) if values else []
        return cls(
            tuple(shared),
            {label: np.array([errors[k] for k in shared]) for label, errors in values.items()},
            len(all_keys) - len(shared),
        )

    def where(self, source: str | None = None, negatives: str | None = None) -> Errors:
        """Errors on the populations of one source, one kind of negatives, or both."""
        indices = [i for i, (s, n, _) in enumerate(self.keys) if source in (None, s) and negatives in (None, n)]
        return Errors(
            tuple(self.keys[i] for i in indices),
            {label: e[indices] for label, e in self.by_label.items()},
            self.left_out,
        )

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Labels from the lowest mean error to the highest."""
        return tuple(sorted(self.by_label, key=lambda label: (self.mean(label) or 0.0, label)))

    def mean(self, label: str) -> float | None:
        """Mean error of a measure; None without populations."""
        return float(self.by_label[label].mean()) if self.keys else None

    def ties(self, permutations: int = PERMUTATIONS) -> frozenset[str]:
        """The best measure and all that are not significantly different from it."""
        return ties(self.by_label, permutations=permutations) if self.keys else frozenset()


def errors_of(results: Results, setting: str, coefficient: str = KAPPA, negatives: str | None = None) -> Errors:
    """|estimate - truth| of a coefficient."""
    return Errors.of(results.select(setting, negatives), lambda r: r.error(coefficient))


def calibration_error(results: Results, setting: str, label: str, negatives: str | None = None) -> float | None:
    """Expected calibration error of P of same-item pairs against the overlap of their codes.

    None if the measure scored no population of this kind.
    """
    scores, truth = _same_item_pairs(results, setting, label, negatives)
    return expected_calibration_error(scores, truth) if len(scores) else None


def calibration_curve(
    results: Results, setting: str, label: str, negatives: str | None = None
) -> tuple[ReliabilityBin, ...]:
    """Reliability curve of P of same-item pairs against the overlap of their codes."""
    return reliability(*_same_item_pairs(results, setting, label, negatives))


def _same_item_pairs(results: Results, setting: str, label: str, negatives: str | None) -> tuple[Floats, Floats]:
    """P and truth of the same-item pairs of a measure, each of shape (n,)."""
    records = [r for r in results.select(setting, negatives) if r.label == label]
    if not records:
        return np.zeros(0), np.zeros(0)
    scores = np.concatenate([r.scored.same for r in records])
    truth = np.concatenate([r.project.by_codes.same for r in records])
    return scores, truth
