"""Answers with known meanings, and a direct estimate."""

from __future__ import annotations

from tests.statistics.evidence.concepts import answers, concept


def rows(n, *, concepts=12, **options):
    return answers(n, concepts=concepts, **options)


def direct(answers, weights=None):
    """Observed agreement and Krippendorff's alpha of single concepts in plain Python."""
    by_item: dict[str, list[str]] = {}
    for answer in answers:
        by_item.setdefault(answer.item, []).append(concept(answer.texts[0]))
    texts_of_item = {item: texts for item, texts in by_item.items() if len(texts) > 1}
    weight = {item: (weights or {}).get(item, 1.0) for item in texts_of_item}
    observed = disagreement = mass = 0.0
    totals: dict[str, float] = {}
    for item, texts in texts_of_item.items():
        pairs = [(a, b) for i, a in enumerate(texts) for b in texts[i + 1 :]]
        share = sum(a == b for a, b in pairs) / len(pairs)
        observed += weight[item] * share
        disagreement += weight[item] * len(texts) * (1 - share)
        mass += weight[item] * len(texts)
        for text in texts:
            totals[text] = totals.get(text, 0.0) + weight[item]
    by_chance = 1 - sum(value**2 for value in totals.values()) / mass**2
    alpha = 1 - disagreement / mass / (by_chance * mass / (mass - 1))
    return observed / sum(weight.values()), alpha
