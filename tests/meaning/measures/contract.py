"""The contract of every measure, with any stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from softirr.meaning.measures.arrays import Floats, mutual
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.sentences_stage import Sentences
from softirr.text import normalize


def check(scored: Any, texts: Sequence[str], atol: float = 1e-6) -> Floats:
    """P is symmetric, a probability, 1 for the same text, and equal in all methods that return it.

    Returns P of each text (rows) and each text. With single precision, values differ by 1e-6.
    """
    indices = np.arange(len(texts))
    left_texts, right_texts = (side.ravel() for side in np.mgrid[: len(texts), : len(texts)])
    pairs = [(texts[i], texts[j]) for i, j in zip(left_texts, right_texts, strict=True)]
    scorer = PairScorer(scored, texts)
    p = scorer.score(left_texts, right_texts)
    table = p.reshape(len(texts), -1)
    assert np.all((p >= 0) & (p <= 1)) and np.array_equal(table, table.T)
    assert all(p[k] == 1 for k, (a, b) in enumerate(pairs) if normalize(a) == normalize(b))
    np.testing.assert_allclose(scored.score(pairs), p, atol=atol)
    np.testing.assert_allclose(mutual(scored.both(pairs)), p, atol=atol)
    if not any(isinstance(stage, Sentences) for stage in scored.stages) or not scored.has_blocks:
        np.testing.assert_allclose(scorer.block(indices, indices), table, atol=atol)
    directions = scorer.directions(left_texts, right_texts)
    np.testing.assert_allclose(directions, scored.both(pairs), atol=atol)
    swapped = directions.reshape(len(texts), -1, 2).transpose(1, 0, 2)[..., ::-1]
    assert np.array_equal(directions.reshape(swapped.shape), swapped)
    assert scored.directional or np.allclose(directions[:, 0], directions[:, 1])
    assert scored.provenance().measure == scored.name
    return np.asarray(table)
