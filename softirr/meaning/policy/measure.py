"""A measure under a policy, and measures by name with terminologies and a policy.

Texts lose what does not count before they are scored, and the policy determines how both directions are combined.
The raw measure and the cache of scored pairs see the rewritten pair, so two policies that rewrite a pair alike share
its score.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from softirr.errors import InputError
from softirr.meaning.measures import measure as raw_measure
from softirr.meaning.measures.arrays import Floats, with_equivalence
from softirr.meaning.measures.fact_comparisons import VALUE, FactComparison, any_differ, comparisons, numbered, unequal
from softirr.meaning.measures.facts import facts_of
from softirr.meaning.measures.protocols import Measure
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.meaning.measures.stages import RewrittenTexts, Stage
from softirr.meaning.policy.attribute_values import AttributeValue, value
from softirr.meaning.policy.rules import AS_WRITTEN, MoreGeneral, Policy, find_policy
from softirr.provenance import Provenance


def combine_directions(directions: Floats, more_general: MoreGeneral) -> Floats:
    """Directions with the geometric mean of the policy: unchanged, the smaller or the larger direction.

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
    return with_equivalence(directions, directions.min(axis=1) if more_general == "strict" else directions.max(axis=1))


class PolicyStage(Stage):
    """Texts lose what does not count, and the policy determines how both directions are combined."""

    rank = 1

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def provenance(self, provenance: Provenance) -> Provenance:
        """The provenance with the policy, and its changes of scores in the measure's name."""
        name = f"{provenance.measure} ({self.policy.mark()})"
        return replace(provenance, measure=name, policy=self.policy.to_dict())

    def prepare(self, texts: Sequence[str], different: Callable[[], float]) -> RewrittenTexts:
        """The texts without what does not count, and which pairs differ in what counts.

        An attribute that counts is left out if both texts have the same value of it. If only one text has the
        attribute, or it is not understood, the measure reads it. Under ``lenient`` the text without the attribute is
        the more general one, which counts as the same.
        """
        adjust = partial(combine_directions, more_general=self.policy.more_general)
        if not self.policy.count:
            return RewrittenTexts([{0: self.policy.rewrite(text)} for text in texts], adjust=adjust)
        every_value = [[value(text, kind) for text in texts] for kind in self.policy.deciding]
        forms = [self._forms(text, values) for text, values in zip(texts, zip(*every_value, strict=True), strict=True)]
        facts = [facts_of(self.policy.rewrite(text)) for text in texts]
        compared = [*_attribute_values(every_value), *comparisons(facts, (*self.policy.count, VALUE))]
        return RewrittenTexts(
            forms,
            # -1: not understood
            [np.where([attribute is None for attribute in values], -1, numbered(values)) for values in every_value],
            is_different=partial(any_differ, compared),
            different=different,
            adjust=adjust,
            one_sided=self.policy.more_general == "lenient",
        )

    def _forms(self, text: str, values: Sequence[AttributeValue | None]) -> dict[int, str]:
        """The text without each set of the attributes that another text may share, by the set's bits."""
        deciding = self.policy.deciding
        present = sum(1 << bit for bit, attribute in enumerate(values) if attribute)
        return {
            bits: self.policy.rewrite(text, [kind for bit, kind in enumerate(deciding) if bits >> bit & 1])
            for bits in range(present + 1)
            if bits & present == bits
        }


def _attribute_values(every_value: Sequence[Sequence[AttributeValue | None]]) -> Iterator[FactComparison]:
    """The dimensions of attributes: two texts with different values of one exclude each other."""
    for values in every_value:
        for dimension in sorted({name for attribute in values if attribute for name, _ in attribute}):
            numbers = numbered(dict(attribute).get(dimension) if attribute else None for attribute in values)
            yield unequal(dimension, np.minimum(numbers, 1), numbers)


def under_policy(measure: Measure, policy: Policy) -> Measure:
    """The measure that compares texts under a policy.

    A policy that does not split answers (``split="none"``) switches off the comparison by sentence. Other splitting is
    not the measure's part: see :func:`softirr.agreement`.

    Returns
    -------
    Measure
        `measure` itself if the policy changes no score.

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
    if policy.split == "none":
        measure = measure.without(Sentences)
    present = policy_of(measure)
    if policy.mark() in ("", present.mark()):
        return measure
    if present.changes_scores:
        raise InputError(f"The measure {measure.name} already has another policy.")
    return measure.with_stage(PolicyStage(policy))


def policy_of(measure: Measure) -> Policy:
    """The policy of a measure; :data:`softirr.meaning.policy.rules.AS_WRITTEN` if it has none."""
    stage = measure.stage(PolicyStage)
    return AS_WRITTEN if stage is None else stage.policy


def measure(
    name: str,
    *,
    terminology: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    policy: str | Mapping[str, Any] | Policy | None = None,
    **options: Any,
) -> Measure:
    """An equivalence measure by name, with terminologies and under a policy.

    Parameters
    ----------
    name : str
        ``exact``, ``jaccard``, ``masi``, ``levenshtein``, ``indel``, ``lcs``, or a name with a model after a colon:
        ``embedding:MODEL``, ``nli:MODEL``, ``llm-logprob:MODEL``, ``llm-verbalised:MODEL``, where MODEL is a folder, a
        name on the model hub, a short name or (language models only) the URL of an OpenAI-compatible server;
        ``terminology:PATH`` is a terminology alone.
    terminology : path or sequence of path
        Terminologies that texts are looked up in first, see :func:`softirr.meaning.terminology`.
    policy : str, mapping or Policy, optional
        A policy, its name, its file, or the options of :class:`softirr.Policy`.
    **options
        Keyword options of the measure's family, such as ``device="cuda"``.

    Raises
    ------
    InputError
        If a name or an option is not known, or a model or a terminology can't be used.

    Examples
    --------
    >>> pairs = [("severe pain", "pain"), ("fever", "fevers")]
    >>> measure("indel", policy={"ignore": {"severity"}}).score(pairs).round(2).tolist()
    [1.0, 0.91]
    """
    result = raw_measure(name, **options)
    if terminology:
        from softirr.meaning.measures.known_pairs import with_terminology
        from softirr.meaning.terminology import opened_terminology

        paths = [terminology] if isinstance(terminology, (str, os.PathLike)) else terminology
        result = with_terminology(result, [opened_terminology(os.fspath(path)) for path in paths])
    if policy is None:
        return result
    if isinstance(policy, Mapping):
        policy = Policy(**{"name": "own", **policy})
    return under_policy(result, find_policy(policy) if isinstance(policy, str) else policy)
