"""Scores of pairs, same-item and chance, kept edge by edge, for reliability curves."""

from __future__ import annotations

import io
from dataclasses import dataclass, fields

import numpy as np

from softirr.tables.ratings import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pool:
    """Pairs of answers, each with its matched texts (edges); one edge where answers are single texts.

    The equivalence of pair p is ``base[p] + Σ weight × score`` over its edges (Wullschleger et al. 2026).

    Attributes
    ----------
    pair : shape (E,)
        Pair that each edge belongs to.
    score, gold : shape (E,)
        P(a ≡ b) of the edge, and whether both texts stand for the same concept (1 or 0).
    weight : shape (E,)
    base : shape (n,)
        Equivalence of each pair that comes from no edge: 1 for two empty answers, else 0.
    truth : shape (n,)
        Equivalence of each pair by its codes.
    share : shape (n,)
        How much each pair counts; sums to 1.
    """

    pair: Ints
    score: Floats
    gold: Floats
    weight: Floats
    base: Floats
    truth: Floats
    share: Floats

    def answers(self, score: Floats | None = None) -> Floats:
        """Equivalence of each pair of answers, from these scores of the edges (by default the measure's), shape (n,)."""
        edges = self.weight * (self.score if score is None else score)
        return self.base + np.bincount(self.pair, weights=edges, minlength=len(self.base))

    def mean(self, score: Floats | None = None) -> float:
        """Mean equivalence, from these scores of the edges (by default the measure's)."""
        return float(np.sum(self.share * self.answers(score)))


def pack(same: Pool, chance: Pool) -> bytes:
    """Both pools of a population, as bytes."""
    arrays = {f"{name}_{f.name}": getattr(pool, f.name) for name, pool in _named(same, chance) for f in fields(Pool)}
    small = {k: v.astype(np.int32 if v.dtype.kind == "i" else np.float64) for k, v in arrays.items()}
    out = io.BytesIO()
    np.savez_compressed(out, **small)
    return out.getvalue()


def unpack(data: bytes) -> tuple[Pool, Pool]:
    """What :func:`pack` packed: same-item pairs and chance pairs."""
    with np.load(io.BytesIO(data), allow_pickle=False) as kept:
        read = {
            name: Pool(
                **{
                    f.name: kept[f"{name}_{f.name}"].astype(np.int64 if f.name == "pair" else np.float64)
                    for f in fields(Pool)
                }
            )
            for name in ("same", "chance")
        }
    return read["same"], read["chance"]


def _named(same: Pool, chance: Pool) -> tuple[tuple[str, Pool], tuple[str, Pool]]:
    return ("same", same), ("chance", chance)
