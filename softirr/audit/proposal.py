"""Learning a policy from judgments: which attributes the judges ignore, and what more general texts count for them.

An attribute is judged by the pairs whose verdict hangs on it: the measure calls the two texts different as they are,
and the same without the attribute. Where the judges call most of these pairs the same, the attribute
does not count in the project. The reverse finds an attribute that decides: the measure calls texts the same that say
different things of it, and the judges call most of them different. Nothing is switched by this: it is a proposal with
its support, and the fit and the coefficient under each candidate.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from softirr.answers.table import AnnotationTable
from softirr.defaults import THRESHOLD
from softirr.errors import InputError
from softirr.json_object import JsonObject
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.pairs import score_pairs
from softirr.meaning.measures.protocols import DirectionalMeasure
from softirr.meaning.measures.reliability import JudgedPairs, read_pairs
from softirr.meaning.measures.scoring_defaults import CacheOption, ProgressOption, cache_and_progress
from softirr.meaning.policy.attributes import KIND_NAMES, KINDS
from softirr.meaning.policy.measure import policy_of, under_policy
from softirr.meaning.policy.rules import AS_WRITTEN, PRESETS, MoreGeneral, Policy
from softirr.plural import plural
from softirr.provenance import Progress
from softirr.report.agreement import agreement
from softirr.report.headline import headline
from softirr.statistics.coefficients.registry import coefficient_name

__all__ = ["Candidate", "PolicyProposal", "Support", "propose_policy"]

Verdict = Literal["does not count", "counts", "decides", "undecided"]
SURE = 0.9
"""Posterior probability from which on an attribute counts, or does not."""
GENERAL = "more general"
"""Name of the support for what more general texts count."""


@dataclass(frozen=True)
class Support(JsonObject):
    """What the judgments say about one attribute, or about more general texts.

    Attributes
    ----------
    what : str
        The attribute, or ``more general``.
    same, judged : float
        Judged pairs whose verdict hangs on it, and how many of them the judges call the same.
    probability : float
        Probability that the judges call most such pairs the same: posterior of a share with a uniform prior.
    verdict : {"does not count", "counts", "decides", "undecided"}
    deciding : bool
        Whether the pairs are those that the measure calls the same though they say different things of the attribute.
    """

    what: str
    same: float
    judged: int
    probability: float
    verdict: Verdict
    deciding: bool

    def describe(self) -> str:
        """The support in a sentence."""
        if self.what == GENERAL:
            start = (
                f"More general texts: {self.same:g} of {self.judged} such "
                f"{'pair was' if self.judged == 1 else 'pairs were'} judged the same"
            )
            return f"{start}: {_GENERAL_VERDICTS[self.verdict]}."
        name = KIND_NAMES[self.what].capitalize()
        if not self.judged:
            return f"{name}: no judgment is about it."
        if self.deciding:
            return (
                f"{name}: {self.same:g} of {plural(self.judged, 'pair')} with this difference and a high P "
                f"{'was' if self.same == 1 else 'were'} judged the same: {self.verdict}."
            )
        return (
            f"{name}: {self.same:g} of {plural(self.judged, 'judgment')} ignore{'s' if self.same == 1 else ''} it: "
            f"{self.verdict}."
        )


_GENERAL_VERDICTS: Mapping[str, str] = {
    "does not count": "lenient",
    "counts": "strict",
    "undecided": "undecided",
}


@dataclass(frozen=True)
class Candidate(JsonObject):
    """How well a policy explains the judgments.

    Attributes
    ----------
    policy : Policy
    right : float
        Share of the judged pairs whose verdict the measure has under this policy.
    brier : float
        Mean squared distance of P from the judgments.
    coefficient : str or None
        The headline coefficient of the table, where a table was given.
    value : float or None
        Its value under this policy.
    """

    policy: Policy
    right: float
    brier: float
    coefficient: str | None = None
    value: float | None = None


@dataclass(frozen=True)
class PolicyProposal(JsonObject):
    """A proposed policy, what supports it, and the other candidates.

    Attributes
    ----------
    policy : Policy
        The proposal; :data:`softirr.meaning.policy.rules.AS_WRITTEN` where the judgments support nothing else.
    measure : str
    judged : int
        Judged pairs that were used.
    supports : tuple of Support
        For each attribute that a judgment hangs on, and for more general texts.
    candidates : tuple of Candidate
        Texts as written first, then the proposal, then the presets.
    """

    policy: Policy
    measure: str
    judged: int
    supports: tuple[Support, ...]
    candidates: tuple[Candidate, ...]

    def lines(self) -> list[str]:
        """The proposal, its support and the candidates, as lines of text."""
        lines = [f"{self.measure}, {plural(self.judged, 'judged pair')}. Proposed: {self.policy.describe()}."]
        lines += [support.describe() for support in self.supports]
        lines += ["", f"{'right':>6} {'Brier':>6} {'value':>6}  policy"]
        for one in self.candidates:
            value = "-" if one.value is None else f"{one.value:.3f}"
            lines.append(f"{one.right:>6.0%} {one.brier:>6.3f} {value:>6}  {one.policy.describe()}")
        name = next((one.coefficient for one in self.candidates if one.coefficient), None)
        lines += [f"Value: {coefficient_name(name)}."] if name else []
        return [*lines, "Nothing was changed: pass the policy with --policy to use it."]


def propose_policy(
    source: str | os.PathLike[str] | JudgedPairs,
    measure: str | Measure,
    *,
    table: AnnotationTable | None = None,
    threshold: float = THRESHOLD,
    cache: CacheOption = "auto",
    progress: ProgressOption = "auto",
) -> PolicyProposal:
    """Propose the policy that explains judgments best, as ``softirr calibrate PAIRS --propose`` does.

    Parameters
    ----------
    source : str, path or JudgedPairs
        A file of judged pairs, such as a judged audit sheet; see :func:`softirr.meaning.measures.reliability.read_pairs`.
    measure : str or Measure
        Under no policy.
    table : AnnotationTable, optional
        Answers, for the coefficient under each candidate.
    threshold : float
        Equivalence from which the measure calls two texts the same.
    cache, progress
        As for :func:`softirr.agreement`.

    Returns
    -------
    PolicyProposal

    Raises
    ------
    InputError
        If there is no judged pair, the file can't be used, or the measure is under a policy already.

    Examples
    --------
    >>> pairs = tuple((f"severe {x}", f"mild {x}") for x in ("pain", "rash", "cough", "fever", "nausea"))
    >>> found = propose_policy(JudgedPairs(pairs, (1.0,) * 5), "exact")
    >>> found.policy.kinds
    ('severity',)
    >>> found.supports[0].describe()
    'Severity: 5 of 5 judgments ignore it: does not count.'
    """
    given = source if isinstance(source, JudgedPairs) else read_pairs(source)
    if not given.pairs:
        raise InputError("There is no judged pair to learn a policy from.")
    raw = measure_by_name(measure) if isinstance(measure, str) else measure
    if policy_of(raw).changes_scores:
        raise InputError(f"The measure {raw.name} already has a policy: name the measure without one.")
    with cache_and_progress(raw, cache, progress) as (store, counted):
        pairs = _Pairs(given, raw, threshold, store, counted)
        policy, supports = _proposal(pairs)
        candidates = list(dict.fromkeys([AS_WRITTEN, policy, *PRESETS.values()]))
        values = {} if table is None else _coefficients(table, raw, candidates, store, counted)
    return PolicyProposal(
        policy,
        raw.name,
        len(given.pairs),
        supports,
        tuple(Candidate(one, *pairs.fit(one), *values.get(one, (None, None))) for one in candidates),
    )


class _Pairs:
    """Judged pairs, and their P under any policy."""

    def __init__(
        self, given: JudgedPairs, measure: Measure, threshold: float, cache: PairCache | None, progress: Progress | None
    ) -> None:
        self.judged = np.array(given.judged, dtype=np.float64)
        self.directional = isinstance(measure, DirectionalMeasure)
        self._pairs, self._measure, self._threshold = given.pairs, measure, threshold
        self._cache, self._progress = cache, progress
        self._known: dict[tuple[frozenset[str], frozenset[str], str], NDArray[np.float64]] = {}

    def p(self, policy: Policy) -> NDArray[np.float64]:
        """P of each pair under a policy, shape (n,)."""
        key = policy.ignore, policy.count, policy.more_general
        if key not in self._known:
            under = under_policy(self._measure, policy)
            self._known[key] = score_pairs(under, self._pairs, cache=self._cache, progress=self._progress)
        return self._known[key]

    def same(self, policy: Policy) -> NDArray[np.bool_]:
        """Which pairs the measure calls the same under a policy, shape (n,)."""
        return self.p(policy) >= self._threshold

    def fit(self, policy: Policy) -> tuple[float, float]:
        """Share of the judgments that the measure has under a policy, and its Brier score."""
        right = np.where(self.same(policy), self.judged, 1 - self.judged)
        return float(right.mean()), float(((self.p(policy) - self.judged) ** 2).mean())

    def support(self, what: str, stricter: Policy, looser: Policy, *, deciding: bool = False) -> Support:
        """The judgments of the pairs that are different under one policy and the same under the other."""
        from scipy.stats import beta

        hang = ~self.same(stricter) & self.same(looser)
        n, same = int(hang.sum()), float(self.judged[hang].sum())
        probability = float(beta.sf(0.5, 1 + same, 1 + n - same))
        verdict: Verdict = "undecided"
        if probability >= SURE:
            verdict = "does not count"
        elif probability <= 1 - SURE:
            verdict = "decides" if deciding else "counts"
        return Support(what, same, n, probability, verdict, deciding)


def _proposal(pairs: _Pairs) -> tuple[Policy, tuple[Support, ...]]:
    """The policy that the judgments support, and their verdict on each attribute."""
    policy, ignored = _learned(pairs, AS_WRITTEN, "ignore")
    policy, deciding = _learned(pairs, policy, "count")
    evidence = [one for kind in KINDS for of in (ignored, deciding) if (one := of.get(kind)) and one.judged]
    if pairs.directional:
        strict, lenient = (policy.changed(more_general=choice) for choice in ("strict", "lenient"))
        general = pairs.support(GENERAL, strict, lenient)
        choice: MoreGeneral = "graded"
        if general.verdict != "undecided":
            choice = "lenient" if general.verdict == "does not count" else "strict"
        policy = policy.changed(more_general=choice)
        evidence += [general] if general.judged else []
    return policy, tuple(evidence)


def _learned(pairs: _Pairs, policy: Policy, option: Literal["ignore", "count"]) -> tuple[Policy, dict[str, Support]]:
    """Leave out attributes, or let them decide, one after the other.

    The best supported comes first, as long as one is supported. An attribute decides only where no fewer judgments are
    explained.
    """
    deciding = option == "count"
    wanted, sign = ("decides", 1) if deciding else ("does not count", -1)
    supports: dict[str, Support] = {}
    while True:
        candidates = {
            kind: policy.changed(**{option: getattr(policy, option) | {kind}})
            for kind in KINDS
            if kind not in policy.ignore | policy.count
        }
        for kind, candidate in candidates.items():
            stricter, looser = (candidate, policy) if deciding else (policy, candidate)
            supports[kind] = pairs.support(kind, stricter, looser, deciding=deciding)
        right = pairs.fit(policy)[0]
        supported = [
            kind
            for kind, candidate in candidates.items()
            if supports[kind].verdict == wanted and (not deciding or pairs.fit(candidate)[0] >= right)
        ]
        if not supported:
            return policy, supports
        policy = candidates[min(supported, key=lambda kind: sign * supports[kind].probability)]


def _coefficients(
    table: AnnotationTable,
    measure: Measure,
    candidates: Sequence[Policy],
    cache: PairCache | None,
    progress: Progress | None,
) -> dict[Policy, tuple[str, float]]:
    """The headline coefficient of the table, and its value under each candidate."""
    values: dict[Policy, tuple[str, float]] = {}
    for policy in candidates:
        report = agreement(table, measure, policy=policy, reasons=False, cache=cache, progress=progress)
        best = headline({"coefficients": {name: {"value": one.value} for name, one in report.coefficients.items()}})
        if best is not None:
            values[policy] = best[0], best[1]["value"]
    return values
