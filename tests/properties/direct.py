"""Agreement from concept ids, written down a second time from docs/explanation/definitions.md.

It imports nothing of the project.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

COEFFICIENTS = ("observed_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha", "gwet_ac2")


class Truth(NamedTuple):
    """An answer: its distinct texts, and the concepts that these texts mean."""

    texts: frozenset[str]
    concepts: frozenset[str]


def same(a: Truth, b: Truth) -> float:
    size = len(a.concepts) + len(b.concepts)
    return 2 * len(a.concepts & b.concepts) / size if size else 1.0


def mean(pairs):
    """Weighted mean of (weight, value)."""
    pairs = list(pairs)
    return sum(w * x for w, x in pairs) / sum(w for w, _ in pairs)


def met_by_chance(rated, others_rated):
    """Mean agreement of every rated answer with every answer of the others, both with weights."""
    return mean((w * v, same(a, b)) for w, a in rated for v, b in others_rated)


def corrected(observed, expected):
    return None if expected is None or 1 - expected < 1e-9 else (observed - expected) / (1 - expected)


def pair_values(items: dict[str, dict[str, Truth]], w: dict[str, float], raters: list[str]) -> dict:
    """Agreement and Cohen's kappa of each rater pair with a shared item."""
    pairs = {}
    for r, s in combinations(raters, 2):
        shared = [
            (w[i], answers_of_item[r], answers_of_item[s])
            for i, answers_of_item in items.items()
            if r in answers_of_item and s in answers_of_item
        ]
        if shared:
            chance = met_by_chance([(v, a) for v, a, _ in shared], [(v, b) for v, _, b in shared])
            agreement = mean((v, same(a, b)) for v, a, b in shared)
            pairs[r, s] = agreement, corrected(agreement, chance) if len(shared) >= 2 else None
    return pairs


def rater_values(items: dict[str, dict[str, Truth]], w: dict[str, float], raters: list[str]) -> dict:
    """Agreement of each rater with the others."""
    of_rater = {}
    for r in raters:
        scores_of_item = {
            i: [same(answers_of_item[r], b) for s, b in answers_of_item.items() if s != r]
            for i, answers_of_item in items.items()
            if r in answers_of_item
        }
        of_rater[r] = mean((w[i], sum(scores) / len(scores)) for i, scores in scores_of_item.items())
    return of_rater


def direct(answers: dict[tuple[str, str], Truth], weights: dict[str, float] | None = None) -> dict:
    """Every coefficient, rater pair, rater and item of ``{(item, rater): truth}``; None is not defined."""
    items: dict[str, dict[str, Truth]] = {}
    everybody = set()
    for (item, rater), answer in answers.items():
        if (weights or {}).get(item, 1) > 0:
            items.setdefault(item, {})[rater] = answer
            everybody.add(rater)
    items = {item: answers_of_item for item, answers_of_item in items.items() if len(answers_of_item) >= 2}
    w = {item: (weights or {}).get(item, 1) for item in items}
    if items and (average := sum(w.values()) / len(w)) < 1:
        w = {item: weight / average for item, weight in w.items()}
    by_item = {
        i: mean((1, same(a, b)) for a, b in combinations(answers_of_item.values(), 2))
        for i, answers_of_item in items.items()
    }
    raters = sorted({rater for answers_of_item in items.values() for rater in answers_of_item})
    pairs, of_rater = pair_values(items, w, raters), rater_values(items, w, raters)
    values = dict.fromkeys(COEFFICIENTS)
    if items:
        observed = values["observed_agreement"] = mean((w[i], x) for i, x in by_item.items())
        kappas = [kappa for _, kappa in pairs.values() if kappa is not None]
        values["cohen_kappa"] = sum(kappas) / len(kappas) if kappas else None
    if len(items) >= 2:
        pool = [(w[i], answer) for i, answers_of_item in items.items() for answer in answers_of_item.values()]
        n, chance = sum(v for v, _ in pool), met_by_chance(pool, pool)
        values["fleiss_kappa"] = corrected(observed, chance)
        values["scott_pi"] = values["fleiss_kappa"] if len(everybody) == 2 else None
        by_answers = mean((w[i] * len(items[i]), x) for i, x in by_item.items())
        values["krippendorff_alpha"] = corrected(by_answers, (n * chance - 1) / (n - 1))
        shares: dict[frozenset[str], float] = {}
        for v, answer in pool:
            shares[answer.texts] = shares.get(answer.texts, 0) + v / n
        kinds = list({answer.texts: answer for _, answer in pool}.values())
        q = len(kinds)
        if q > 1:
            similarity = mean((1, same(a, b)) for a in kinds for b in kinds)
            values["gwet_ac2"] = corrected(
                observed, similarity * (1 - sum(x * x for x in shares.values())) * q / (q - 1)
            )
    return {"coefficients": values, "pairs": pairs, "raters": of_rater, "items": by_item}
