"""Pairs of texts with a truth known without a measure, and the measure that scores the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from softirr.answers.ratings import Floats, Ints
from softirr.meaning.measures import Measure
from softirr.meaning.measures.decisions import decisions_of
from softirr.meaning.measures.terminology import sources_of, terminologies_of
from softirr.meaning.policy.measure import policy_of
from softirr.provenance import Provenance
from softirr.text import normalize


def known_pairs(measure: Measure, texts: tuple[str, ...]) -> Callable[[Ints, Ints], Floats] | None:
    """The truth of pairs of texts, from terminologies and reviewers' decisions.

    Returns
    -------
    callable or None
        Takes two arrays of text numbers and returns, for each pair, 1 if the texts are known to mean the same, 0 if
        they are known to differ, and nan if unknown. None if the measure has neither terminologies nor decisions.
    """
    decided = {pair: float(is_same) for pair, is_same in decisions_of(measure).items()}
    terms = terminologies_of(measure)
    if not decided and terms is None:
        return None
    normalized = [normalize(text) for text in texts]

    def truth(left_texts: Ints, right_texts: Ints) -> Floats:
        low, high = np.minimum(left_texts, right_texts), np.maximum(left_texts, right_texts)
        keys, inverse = np.unique(low * np.int64(len(texts)) + high, return_inverse=True)
        pairs = [divmod(key, len(texts)) for key in keys.tolist()]
        values = np.full(len(keys), np.nan)
        if terms is not None and pairs:
            text_pairs = [(normalized[i], normalized[j]) for i, j in pairs]
            in_terminology = [
                index for index, source in enumerate(sources_of(measure, text_pairs)) if source == "terminology"
            ]
            if in_terminology:
                values[in_terminology] = measure.score([text_pairs[index] for index in in_terminology]) > 0.5
        for index, (i, j) in enumerate(pairs if decided else ()):
            first, second = sorted((normalized[i], normalized[j]))
            values[index] = decided.get((first, second), values[index])
        return np.asarray(values[inverse])

    return truth


def recorded_provenance(measure: Measure) -> Provenance:
    """The provenance that identifies the record of a measure.

    It is the provenance of the measure below decisions and terminologies, under the policy.
    """
    return replace(measure.raw.provenance(), policy=policy_of(measure).to_dict())
