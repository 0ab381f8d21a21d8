"""The families of measures, from ``families.tsv``: what the part of a name before its colon means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from softirr.meaning.lexicon.words import rows

__all__ = ["Family", "families"]


@dataclass(frozen=True)
class Family:
    """One line of the table.

    Attributes
    ----------
    name : str
    module : str
        Of ``softirr.meaning.measures``; its ``make(name, model, **options)`` makes the measure.
    takes : str
        What follows the colon: ``model``, ``path``, or nothing.
    models : str
        The family of its known models in ``softirr/inference/known_models.tsv``; empty without a model.
    directional, cheap : bool
        As for :class:`softirr.meaning.measures.listing.CatalogueEntry`.
    speed, device, summary : str
    """

    name: str
    module: str
    takes: str
    models: str
    directional: bool
    cheap: bool
    speed: str
    device: str
    summary: str


@cache
def families() -> dict[str, Family]:
    """Every family by its name.

    Returns
    -------
    dict of str to Family
    """
    return {
        name: Family(name, module, takes, models, directional == "yes", cheap == "yes", *described)
        for name, module, takes, models, directional, cheap, *described in rows("families", "softirr.meaning.measures")
    }
