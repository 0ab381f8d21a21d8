"""Measures by name, with terminologies and under a policy."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as raw_measure
from softirr.meaning.policy.measure import under_policy
from softirr.meaning.policy.rules import Policy, find_policy


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
        Terminologies that texts are looked up in first, see :func:`softirr.meaning.terminology.load`.
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
        from softirr.meaning.measures.terminology import with_terminology

        paths = [terminology] if isinstance(terminology, (str, os.PathLike)) else terminology
        result = with_terminology(result, paths)
    if policy is None:
        return result
    if isinstance(policy, Mapping):
        policy = Policy(**{"name": "own", **policy})
    return under_policy(result, find_policy(policy) if isinstance(policy, str) else policy)
