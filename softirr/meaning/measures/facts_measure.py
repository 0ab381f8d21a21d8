"""The layer that reads facts before a measure that uses a model compares texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from softirr.meaning.measures.fact_comparisons import any_differ, comparisons
from softirr.meaning.measures.facts import VERSION, facts_of
from softirr.meaning.measures.layers import Stage, TextLayerMeasure, layered
from softirr.meaning.measures.protocols import Measure
from softirr.provenance import Provenance

__all__ = ["FactsMeasure", "with_facts"]


class FactsMeasure(TextLayerMeasure):
    """A measure whose texts are read for facts first; see :func:`with_facts`."""

    @property
    def layer_key(self) -> str:
        """What is read."""
        return f"facts:{VERSION}"

    def stage(self, texts: Sequence[str]) -> Stage:
        """The texts with their values in one form, and which pairs have different facts."""
        facts = [facts_of(text) for text in texts]
        compared = comparisons(facts)
        return Stage([{0: one.written} for one in facts], (), partial(any_differ, compared) if compared else None)

    def provenance(self) -> Provenance:
        """The raw measure's provenance, with the version of the facts."""
        return replace(self.raw.provenance(), facts=VERSION)


def with_facts(measure: Measure) -> Measure:
    """Read facts before a measure that uses a model compares texts.

    Parameters
    ----------
    measure : Measure

    Returns
    -------
    Measure
        With the capabilities of the given one.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> reads_facts = with_facts(measure("exact"))
    >>> reads_facts.score([("5 mg", "0.005 g"), ("seen 5 January 2026", "seen 2026-01-05")]).tolist()
    [1.0, 1.0]
    """
    return layered(FactsMeasure, measure)
