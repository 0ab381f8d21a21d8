"""A measure under a policy.

Texts lose what does not count before they are scored, and both directions are combined as the policy says.
The raw measure and the cache of scored pairs see the rewritten pair, so two policies that rewrite a pair alike share
its score.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.meaning.measures.corrected import CorrectedMeasure, corrected
from softirr.meaning.measures.fact_comparisons import VALUE, FactComparison, any_differ, comparisons, numbered
from softirr.meaning.measures.facts import facts_of
from softirr.meaning.measures.layers import Stage, TextLayerMeasure, layered
from softirr.meaning.measures.protocols import Measure, layers_of, stronger, with_equivalence
from softirr.meaning.policy.attribute_values import AttributeValue, value
from softirr.meaning.policy.rules import AS_WRITTEN, MoreGeneral, Policy
from softirr.provenance import Provenance

__all__ = ["PolicyMeasure", "combine_directions", "policy_of", "under_policy"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def combine_directions(directions: Floats, more_general: MoreGeneral) -> Floats:
    """Directions whose geometric mean is what the policy says of them: their own, the smaller or the larger direction.

    The stronger direction stays, so that it is still known which text is more general; under ``lenient`` both become
    the stronger one.

    Parameters
    ----------
    directions : shape (n, 2)
    more_general : {"graded", "strict", "lenient"}

    Returns
    -------
    shape (n, 2)

    Examples
    --------
    >>> both = np.array([[0.9, 0.1]])
    >>> [round(float(combine_directions(both, rule).prod() ** 0.5), 3) for rule in ("strict", "graded", "lenient")]
    [0.1, 0.3, 0.9]
    """
    if more_general == "graded":
        return directions
    return with_equivalence(directions, directions.min(axis=1) if more_general == "strict" else stronger(directions))


class PolicyMeasure(TextLayerMeasure):
    """A measure under a policy; texts that are the same without what does not count score 1.

    Attributes
    ----------
    raw : Measure
        The measure that scores the rewritten texts, whose scores a cache may hold.
    policy : Policy
    """

    def __init__(self, raw: Measure, policy: Policy) -> None:
        super().__init__(raw)
        self.policy = policy

    @property
    def name(self) -> str:
        """The raw measure's name, and what the policy changes."""
        return f"{self.raw.name} ({self.policy.mark()})"

    @property
    def layer_key(self) -> str:
        """What the policy changes."""
        policy = self.policy
        changes = json.dumps([policy.kinds, policy.more_general, *([policy.deciding] if policy.count else [])])
        return f"policy:{hashlib.sha256(changes.encode()).hexdigest()[:16]}"

    def stage(self, texts: Sequence[str]) -> Stage:
        """The texts without what does not count, and which pairs differ in what counts.

        An attribute that counts is left out where both texts say the same of it: the rest is compared. Where only one
        text says something of it, or it is not understood, the measure reads it. Under ``lenient`` the text that says
        nothing is the more general one, which counts as the same.
        """
        if not self.policy.count:
            return Stage([{0: self.policy.rewrite(text)} for text in texts])
        every_value = [[value(text, kind) for text in texts] for kind in self.policy.deciding]
        forms = [self._forms(text, [one[k] for one in every_value]) for k, text in enumerate(texts)]
        codes = [_numbers(values) for values in every_value]
        facts = [facts_of(self.policy.rewrite(text)) for text in texts]
        compared = [*_attribute_values(every_value), *comparisons(facts, (*self.policy.count, VALUE))]
        one_sided = self.policy.more_general == "lenient"
        return Stage(forms, codes, partial(any_differ, compared), one_sided=one_sided)

    def adjust(self, directions: Floats) -> Floats:
        """Combine the raw measure's directions, shape (n, 2); both columns are equal without directions."""
        return combine_directions(directions, self.policy.more_general)

    def provenance(self) -> Provenance:
        """The raw measure's provenance, with the policy."""
        return replace(super().provenance(), policy=self.policy.to_dict())

    def _forms(self, text: str, values: Sequence[AttributeValue | None]) -> dict[int, str]:
        """The text without each set of the attributes that another text may share, by the set's bits."""
        kinds = [
            (1 << bit, kind) for bit, (kind, one) in enumerate(zip(self.policy.deciding, values, strict=True)) if one
        ]
        return {
            sum(bit for bit, _ in chosen): self.policy.rewrite(text, {kind for _, kind in chosen})
            for size in range(len(kinds) + 1)
            for chosen in combinations(kinds, size)
        }


def _numbers(values: Sequence[AttributeValue | None]) -> Ints:
    """What texts say of one attribute as numbers: 0 where they say nothing, -1 where it is not understood."""
    numbers: dict[AttributeValue, int] = {frozenset(): 0}
    return np.array([-1 if one is None else numbers.setdefault(one, len(numbers)) for one in values], dtype=np.int64)


def _attribute_values(every_value: Sequence[Sequence[AttributeValue | None]]) -> Iterator[FactComparison]:
    """The dimensions of attributes: two texts with different values of one exclude each other."""
    for values in every_value:
        for dimension in sorted({name for one in values if one for name, _ in one}):
            numbers = numbered(dict(one).get(dimension) if one else None for one in values)
            yield FactComparison(dimension, np.minimum(numbers, 1), partial(_have_other, numbers))


def _have_other(numbers: Ints, a: Ints, b: Ints) -> NDArray[np.bool_]:
    return np.asarray(numbers[a] != numbers[b])


def under_policy(measure: Measure, policy: Policy) -> Measure:
    """Make a measure that compares texts under a policy; it has blocks, directions and caching where the given one has.

    Parameters
    ----------
    measure : Measure
    policy : Policy
        How answers are split is not the measure's part: see :func:`softirr.agreement`.

    Returns
    -------
    Measure
        `measure` itself where the policy changes no score. Decisions of :func:`softirr.corrected` stay as they are.

    Raises
    ------
    InputError
        If the measure already has another policy.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> any_severity = under_policy(measure("indel"), Policy(ignore={"severity"}))
    >>> any_severity.score([("severe pain", "mild pain")]).tolist()
    [1.0]
    """
    known = policy_of(measure)
    if not policy.changes_scores or _of_scores(known) == _of_scores(policy):
        return measure
    if known.changes_scores:
        raise InputError(f"The measure {measure.name} already has another policy.")
    if isinstance(measure, CorrectedMeasure):
        return corrected(under_policy(measure.raw, policy), measure.decided)
    if policy.more_general == "lenient" and hasattr(measure, "lenient"):
        measure = measure.lenient()
    return layered(PolicyMeasure, measure, policy)


def _of_scores(policy: Policy) -> tuple[object, ...]:
    return policy.ignore, policy.count, policy.more_general


def policy_of(measure: Measure) -> Policy:
    """The policy that a measure is under; :data:`softirr.meaning.policy.rules.AS_WRITTEN` where it is under none.

    Parameters
    ----------
    measure : Measure

    Returns
    -------
    Policy
    """
    for layer in layers_of(measure):
        if isinstance(layer, PolicyMeasure):
            return layer.policy
    return AS_WRITTEN
