"""Texts with known concepts."""

from __future__ import annotations

import numpy as np

from softirr.statistics.matching.consensus import distinct_texts

CONCEPT = {
    "fever": "F", "pyrexia": "F", "raised temperature": "F", "cough": "C", "tussis": "C", "rash": "R", "exanthem": "R",
    "dermatitis": "D", "atopic dermatitis": "DA", "atopic eczema": "DA",
}  # fmt: skip


def known(pairs):
    return np.array([1.0 if CONCEPT[a] == CONCEPT[b] else 0.1 for a, b in pairs])


def entails(pairs):
    """Atopic dermatitis is a dermatitis, not the other way round."""
    return np.array([1.0 if CONCEPT[a].startswith(CONCEPT[b]) else 0.05 for a, b in pairs])


def scores_in(matrix, answers):
    """Scores of pairs of texts from a matrix over the distinct texts of the answers."""
    number = {text: k for k, text in enumerate(distinct_texts(answers))}
    return lambda pairs: np.array([matrix[number[a], number[b]] for a, b in pairs])
