"""What is known of pairs of texts without a measure, and which measure scores the others."""

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

__all__ = ["known_pairs", "recorded_provenance"]


def known_pairs(measure: Measure, texts: tuple[str, ...]) -> Callable[[Ints, Ints], Floats] | None:
    """What terminologies and reviewers' decisions say of pairs of texts.

    Returns
    -------
    callable or None
        Of texts left[i] and right[i], by number: 1 where they are known to mean the same, 0 where not, nan where it is
        not known. None where the measure has neither terminologies nor decisions.
    """
    decided = {pair: float(is_same) for pair, is_same in decisions_of(measure).items()}
    terms = terminologies_of(measure)
    if not decided and terms is None:
        return None
    written = [normalize(text) for text in texts]

    def truth(left: Ints, right: Ints) -> Floats:
        low, high = np.minimum(left, right), np.maximum(left, right)
        keys, inverse = np.unique(low * np.int64(len(texts)) + high, return_inverse=True)
        pairs = [divmod(key, len(texts)) for key in keys.tolist()]
        values = np.full(len(keys), np.nan)
        if terms is not None and pairs:
            named = [(written[i], written[j]) for i, j in pairs]
            known = [place for place, source in enumerate(sources_of(measure, named)) if source == "terminology"]
            if known:
                values[known] = measure.score([named[place] for place in known]) > 0.5
        for place, (i, j) in enumerate(pairs if decided else ()):
            first, second = sorted((written[i], written[j]))
            values[place] = decided.get((first, second), values[place])
        return np.asarray(values[inverse])

    return truth


def recorded_provenance(measure: Measure) -> Provenance:
    """The provenance by which the record of a measure is found.

    Of the measure below decisions and terminologies, under the policy.
    """
    return replace(measure.raw.provenance(), policy=policy_of(measure).to_dict())
