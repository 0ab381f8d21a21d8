"""The definition of a coefficient, from which the command line, JSON, screens, papers and documentation derive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from softirr.answers.ratings import Floats, Ratings
from softirr.statistics.chance.expected import Chance
from softirr.statistics.chance.permutation import EXPECTATIONS
from softirr.statistics.coefficients.estimate import Undefined, no_variation
from softirr.statistics.draws import Draws


def no_chance(draws: Draws) -> Floats:
    """Agreement by chance of a coefficient that is not corrected for it: 0 in each draw."""
    return np.zeros(len(draws.sampling))


_EXPECTATION = {"cohen": "cohen", "fleiss": "pooled", "krippendorff": "pooled"}


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A work of the literature.

    Attributes
    ----------
    key : str
        By which texts cite it.
    authors : str
        As BibTeX has them.
    short : str
        As running text has them.
    year : int
        Year of publication.
    where : str
        Journal or publisher.
    """

    key: str
    authors: str
    short: str
    year: int
    title: str
    where: str = ""

    def entry(self) -> str:
        """The entry of a reference list."""
        where = f" {self.where}." if self.where else ""
        return f"{self.authors.replace(' and ', '; ')} ({self.year}). {self.title}.{where}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Definition:
    """A coefficient of agreement.

    Attributes
    ----------
    key : str
        In JSON, CSV and options.
    name : str
        For tables.
    short : str
        For running text.
    meaning : str
        One sentence for screens; ``{item}`` and ``{rater}`` are replaced by the screen's terms.
    formula : str
        In words that continue "which is …", for the methods of a paper.
    observed, expected : str
        Formulas of its two terms in Markdown, for the table of the documentation; empty if it lacks the term.
    references : tuple of Reference
        Works that define the coefficient, which reports and the documentation cite.
    over_draws : callable
        Returns the coefficient in each draw of equivalences, chance and item weights. Its value comes from a draw with
        equal weights.
    by_chance : callable
        Returns the agreement expected by chance in each draw.
    reason : callable
        Returns why the coefficient of a table is undefined, or None.
    floor : float
        Lowest value; the highest is 1.
    chance : {"cohen", "fleiss", "krippendorff"} or None
        The key of ``expected_agreement`` in reports for its agreement by chance.
    marginals : {"answers", "chosen"}
        Whether chance always pools all answers that count, or those that the option ``marginals`` chooses.
    audited : bool
        Whether judgments correct it.
    """

    key: str
    name: str
    short: str
    meaning: str
    formula: str
    observed: str
    expected: str
    references: tuple[Reference, ...]
    over_draws: Callable[[Draws], Floats]
    by_chance: Callable[[Draws], Floats] = no_chance
    reason: Callable[[Ratings, Chance], Undefined | None] = no_variation
    floor: float = -1.0
    chance: Literal["cohen", "fleiss", "krippendorff"] | None = None
    marginals: Literal["answers", "chosen"] = "answers"
    audited: bool = False

    @property
    def expectations(self) -> tuple[str, ...]:
        """What its agreement by chance is made of, as `softirr.statistics.chance.permutation.EXPECTATIONS` names it."""
        return EXPECTATIONS if self.chance is None else (_EXPECTATION[self.chance],)

    @property
    def title(self) -> str:
        """The name on screens: a capital first, typographic apostrophes."""
        return (self.short[0].upper() + self.short[1:]).replace("'", "’")


WULLSCHLEGER_2026 = Reference(
    key="wullschleger2026",
    authors="Wullschleger, P. and Kreis, C. and Walter, M. A. and Foster, J. and Pouly, M.",
    short="Wullschleger et al.",
    year=2026,
    title="Consensus measures for unstructured biomedical text annotations",
)
BRAYLAN_2022 = Reference(
    key="braylan2022",
    authors="Braylan, A. and Alonso, O. and Lease, M.",
    short="Braylan et al.",
    year=2022,
    title=(
        "Measuring annotator agreement generally across complex structured, multi-object, and free-text annotation "
        "tasks"
    ),
    where="Proceedings of the ACM Web Conference 2022",
)
