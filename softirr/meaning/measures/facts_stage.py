"""The stage that reads facts before a measure with a model compares texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from softirr.meaning.measures.fact_comparisons import any_differ, comparisons
from softirr.meaning.measures.facts import VERSION, facts_of
from softirr.meaning.measures.stages import RewrittenTexts, Stage
from softirr.provenance import Provenance

__all__ = ["Facts"]


class Facts(Stage):
    """Amounts are rewritten to one form, and texts whose facts exclude each other are different.

    Examples
    --------
    >>> from softirr.meaning.measures import measure
    >>> reads_facts = measure("exact").with_stage(Facts())
    >>> reads_facts.score([("5 mg", "0.005 g"), ("no fever", "No  fever")]).tolist()
    [1.0, 0.0]
    """

    rank = 3

    def prepare(self, texts: Sequence[str], different: Callable[[], float]) -> RewrittenTexts:
        """The texts with their amounts in one form."""
        facts = [facts_of(text) for text in texts]
        compared = comparisons(facts)
        return RewrittenTexts(
            [{0: text_facts.written} for text_facts in facts],
            is_different=partial(any_differ, compared) if compared else None,
            different=different,
        )

    def provenance(self, provenance: Provenance) -> Provenance:
        """The provenance with the version of the rules."""
        return replace(provenance, facts=VERSION)
