"""Every coefficient from all evidence: its value, and an interval from draws.

The equivalence of two answers is a sum over their pairs of texts. Whether two texts mean the same is known of identical
texts, of pairs that a terminology knows or a reviewer decided, and of judged pairs. Of all others:

- pairs of the same item have the probability that the posterior calibration gives
  (:mod:`softirr.statistics.evidence.posterior`), corrected by the mean difference between judgments and calibration in
  each stratum (difference estimator), shrunk by n / (n + 20);
- pairs of different items have the share of their stratum of P, a beta distribution by the record, updated by
  judgments. Agreement and chance are corrected together: their errors partly cancel.

The value uses expectations and equal weights of the items. The interval comes from draws of calibration, residuals,
shares and item weights (:mod:`softirr.statistics.draws`). It does not depend on the reason for stopping. Without
judgments the value is the measure's alone, and the interval shows how far that may be off.

References
----------
Särndal, C.-E., Swensson, B. and Wretman, J. (1992). Model assisted survey sampling, chapter 6 (difference estimator).
Angelopoulos, A. N., Duchi, J. C. and Zrnic, T. (2023). PPI++: efficient prediction-powered inference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from softirr.answers.ratings import Floats, Ints
from softirr.statistics.chance.different_pairs import raised
from softirr.statistics.coefficients import registry
from softirr.statistics.coefficients.definition import Definition, Undefined
from softirr.statistics.coefficients.intervals import Coefficient, Details, Interval, coefficient_of_draws, unseen_items
from softirr.statistics.coefficients.registry import ByMeasure
from softirr.statistics.draws import CERTAIN, Draws
from softirr.statistics.evidence.design import Design
from softirr.statistics.evidence.fit import Fit
from softirr.statistics.evidence.known import Judged
from softirr.statistics.evidence.posterior_draws import Index, by_judgments, posterior_draws, posterior_value
from softirr.statistics.evidence.record import Record

COVERED = tuple(entry.key for entry in registry.DEFINITIONS if entry.audited)
"""The coefficients that judgments correct."""
_LEAST_CHANCE = 1e-9
"""Added to the measure's equivalence of answers to different items if it finds none of them equivalent."""


class Estimates:
    """Estimates coefficients of a table, of its raters and of its rater pairs from the same draws.

    Parameters
    ----------
    design : Design
        Pairs with a known truth are excluded; they are in ``known_equivalence`` of its frames.
    measured : mapping of str to Coefficient
        The coefficients by the measure alone. Their intervals cover the sampling of items only.
    by_measure : ByMeasure
        The scores and the chance that they come from.
    record : Record
        Prior knowledge of the measure, before any judgment.
    design_index : shape (P,), optional
        Index in the design of each comparison of the table; by default they are in the same order.

    Attributes
    ----------
    center : Draws
        The single draw with equal weights that all values come from.
    coefficients : dict of str to Coefficient
        The coefficients of ``COVERED`` that the measure has.
    expected : dict of str to (float or None)
        Agreement by chance: ``cohen``, ``fleiss``, ``krippendorff``.
    expected_error : float
        Its largest standard error.
    draws : dict of str to shape (K,)
        The draws of each coefficient that has a value.
    """

    def __init__(
        self,
        design: Design,
        measured: Mapping[str, Coefficient],
        by_measure: ByMeasure,
        record: Record,
        judged: Judged,
        design_index: Index = slice(None),
    ) -> None:
        of_chance = [
            float(weights @ design.by_measure) for weights in (design.pairs.cohen_weights, design.pooled_weight)
        ]
        if len(judged.keys) and by_measure.chance is not None and min(of_chance) < _LEAST_CHANCE:
            # judgments correct agreement by chance relative to the measure's, which has to be above 0
            design = replace(design, by_measure=design.by_measure + _LEAST_CHANCE)
            chance = raised(by_measure.chance, by_measure.ratings, _LEAST_CHANCE)
            by_measure = ByMeasure(by_measure.ratings, by_measure.scores, chance, by_measure.items)
        fit = Fit(design, record, judged)
        self.center = posterior_value(fit, by_measure, design_index)
        draws = posterior_draws(fit, by_measure, design_index)
        self._draws = replace(draws, is_varied=self.center.is_varied)
        self._judged = by_judgments(fit, self.center, self._draws, design_index)
        self._n_judged = len(judged.keys)
        expected, self.expected_error = self._expected()
        covered = [entry for entry in registry.DEFINITIONS if entry.audited and entry.key in measured]
        reasons = {entry.key: self._reason(entry, self.center) for entry in covered}
        defined = [entry for entry in covered if measured[entry.key].value is not None and not reasons[entry.key]]
        rows: Iterable[Floats] = self._over_each([entry.over_draws for entry in defined]) if defined else ()
        self.draws = {entry.key: row for entry, row in zip(defined, rows, strict=True)}
        self.coefficients = {
            entry.key: self._covered(entry, measured[entry.key], reasons[entry.key]) for entry in covered
        }
        self.expected = {
            chance: expected[chance] if name in self.draws else None for chance, name in registry.CHANCE_OF.items()
        }

    def _reason(self, definition: Definition, center: Draws) -> Undefined | None:
        """Reason why a coefficient is undefined after the judgments, or None."""
        if not self._n_judged:
            return None
        if float(definition.by_chance(center)[0]) >= 1 - CERTAIN:
            return Undefined.NO_VARIATION
        return Undefined.NO_PAIR_DEFINED if definition.chance == "cohen" and not center.usable.any() else None

    def _covered(self, definition: Definition, by_measure: Coefficient, reason: Undefined | None) -> Coefficient:
        if definition.key in self.draws:
            function, draws = definition.over_draws, self.draws[definition.key]
            return self._coefficient(function, draws, by_measure, definition.floor, self._alone(definition))
        is_undefined = reason is not None and by_measure.value is not None
        return Coefficient(None, undefined=str(reason)) if is_undefined else by_measure

    def over(self, function: Callable[[Draws], Floats]) -> Floats:
        """A function of the draws, for all draws: shape (..., K)."""
        return self._draws.over(function)

    def _over_each(self, functions: Sequence[Callable[[Draws], Floats]]) -> Floats:
        """Functions of the draws, shape (n, K), which share what they have in common."""
        return self.over(lambda draws: np.stack([function(draws) for function in functions]))

    def of_pairs(self, pairs: Ints, observed: Coefficient, kappa: Coefficient) -> tuple[Coefficient, Coefficient]:
        """Observed agreement and Cohen's kappa of some rater pairs, given the values by the measure."""
        comparisons = self.center.ratings.comparisons.of_pairs(pairs)
        agreement = observed
        if observed.value is not None:
            function = partial(Draws.observed_of, comparisons=comparisons)
            agreement = self._coefficient(function, self._draws.over(function, len(comparisons)), observed, 0.0)
        if kappa.value is None:
            return agreement, kappa
        if not self.center.usable[pairs].any():
            reason = Undefined.NO_VARIATION if len(pairs) == 1 else Undefined.NO_PAIR_DEFINED
            return agreement, Coefficient(None, undefined=str(reason))
        function = partial(Draws.kappa_of, pairs=pairs)
        return agreement, self._coefficient(function, self._draws.kappa_of(pairs), kappa)

    def _expected(self) -> tuple[dict[str, float], float]:
        """Agreement by chance, and its largest standard error."""
        by_chance = {name: registry.definition(key).by_chance for name, key in registry.CHANCE_OF.items()}
        values = {name: float(function(self.center)[0]) for name, function in by_chance.items()}
        if not self._n_judged:
            return values, 0.0
        return values, max(float(np.std(draws)) for draws in self._over_each(list(by_chance.values())))

    def _coefficient(
        self,
        function: Callable[[Draws], Floats],
        draws: Floats,
        by_measure: Coefficient,
        floor: float = -1.0,
        by_judgments_alone: Interval | None = None,
    ) -> Coefficient:
        """A coefficient with the interval of its draws, which contains the value."""
        value = by_measure.value
        if value is None or self._n_judged:
            value = self.center.value(function)
        details = Details(by_measure.items_only, by_judgments_alone, by_measure.value)
        if by_measure.standard_error is None:  # one item: nothing is known about other items
            return Coefficient(value, judgments=self._n_judged, details=details)
        if by_measure.standard_error <= CERTAIN:
            draws = draws + unseen_items(by_measure, len(draws), seed=0)
        coefficient = coefficient_of_draws(value, draws, floor)
        return replace(coefficient, judgments=self._n_judged, details=details)

    def _alone(self, definition: Definition) -> Interval | None:
        """The coefficient from judged pairs of the same item alone; valid if their number was fixed beforehand."""
        if self._judged is None or self._reason(definition, self._judged[0]):
            return None
        (center, means, items), function = self._judged, definition.over_draws
        of_items = items.over(function) - float(function(self.center)[0])
        draws = means.over(function) + of_items
        return coefficient_of_draws(float(function(center)[0]), draws, definition.floor).items_only
