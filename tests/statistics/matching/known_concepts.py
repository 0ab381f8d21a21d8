"""Texts with known concepts."""

from __future__ import annotations

import numpy as np

CONCEPT = {
    "fever": "F", "pyrexia": "F", "raised temperature": "F", "cough": "C", "tussis": "C", "rash": "R", "exanthem": "R",
    "dermatitis": "D", "atopic dermatitis": "DA", "atopic eczema": "DA",
}  # fmt: skip


def known(pairs):
    return np.array([1.0 if CONCEPT[a] == CONCEPT[b] else 0.1 for a, b in pairs])


def entails(pairs):
    """Atopic dermatitis is a dermatitis, not the other way round."""
    return np.array([1.0 if CONCEPT[a].startswith(CONCEPT[b]) else 0.05 for a, b in pairs])
