"""The report of a table's agreement: frozen, and JSON by :meth:`AgreementReport.to_dict` (docs/reference/json.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

from softirr.coefficients.intervals import Coefficient
from softirr.matching.consensus import Match
from softirr.provenance import Provenance
from softirr.report.headline import headline, without_each_rater
from softirr.tables.table import Excluded


@dataclass(frozen=True)
class RaterPairAgreement:
    """Agreement of two raters over the items both answered."""

    raters: tuple[str, str]
    n_items: int
    observed_agreement: Coefficient
    expected_agreement: float
    cohen_kappa: Coefficient
    sigma: Coefficient

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``rater_pairs``."""
        return {
            "raters": list(self.raters),
            "n_items": self.n_items,
            "observed_agreement": self.observed_agreement.value,
            "observed_agreement_ci95": _listed(self.observed_agreement.ci95),
            "expected_agreement": self.expected_agreement,
            "cohen_kappa": self.cohen_kappa.to_dict(),
            "sigma": self.sigma.to_dict(),
        }


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement of one rater with all others."""

    id: str
    n_items: int
    agreement: Coefficient
    cohen_kappa: Coefficient
    sigma: Coefficient

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``raters``."""
        return {
            "id": self.id,
            "n_items": self.n_items,
            "agreement": self.agreement.value,
            "agreement_ci95": _listed(self.agreement.ci95),
            "cohen_kappa": self.cohen_kappa.to_dict(),
            "sigma": self.sigma.to_dict(),
        }


@dataclass(frozen=True)
class ItemAgreement:
    """Agreement on one item.

    Attributes
    ----------
    id : str
    agreement : float or None
        Mean equivalence of its pairs of answers; None with fewer than two answers.
    n_raters : int
        How many raters answered it.
    pairs : tuple of (str, str, float)
        Two raters and the equivalence of their answers.
    matches, unmatched, suggestion
        See :func:`softirr.matching.consensus.consensus`.
    kappa : float or None
        Agreement beyond the chance of the whole project, (P_i - Pe) / (1 - Pe) with the Pe of Fleiss; their mean is Fleiss' kappa. None where
        it was not asked for or is not defined.
    sigma : float or None
        Share of its pairs of answers that fewer than 5% of the pairs of answers to different items beat; None likewise. At 0 the answers are
        as far apart as if they were to different items.
    """

    id: str
    agreement: float | None
    n_raters: int
    pairs: tuple[tuple[str, str, float], ...]
    matches: tuple[Match, ...]
    unmatched: dict[str, tuple[str, ...]]
    suggestion: tuple[str, ...]
    kappa: float | None = None
    sigma: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``items``."""
        return {
            "id": self.id,
            "agreement": self.agreement,
            "kappa": self.kappa,
            "sigma": self.sigma,
            "n_raters": self.n_raters,
            "pairs": [{"raters": [a, b], "equivalence": value} for a, b, value in self.pairs],
            "matches": [match.to_dict() for match in self.matches],
            "unmatched": {rater: list(texts) for rater, texts in self.unmatched.items()},
            "suggestion": list(self.suggestion),
        }


@dataclass(frozen=True)
class Expected:
    """Agreement by chance; the values are None where the coefficient is not defined."""

    cohen: float | None
    fleiss: float | None
    krippendorff: float | None
    method: str
    standard_error: float
    pairs_scored: int

    def to_dict(self) -> dict[str, Any]:
        """The object ``expected_agreement``."""
        return {
            "cohen": self.cohen,
            "fleiss": self.fleiss,
            "krippendorff": self.krippendorff,
            "method": self.method,
            "standard_error": self.standard_error,
            "pairs_scored": self.pairs_scored,
        }


@dataclass(frozen=True)
class Distributions:
    """Shares of pairs of answers by equivalence, in equal bins of [0, 1]: the picture behind sigma and KS.

    Attributes
    ----------
    same_item : tuple of float
        Pairs of answers to the same item; sums to 1.
    different_items : tuple of float
        Pairs of answers to different items: agreement by chance.
    """

    same_item: tuple[float, ...]
    different_items: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Both, as lists."""
        return {"same_item": list(self.same_item), "different_items": list(self.different_items)}


@dataclass(frozen=True, repr=False)
class AgreementReport:
    """Everything that is known of a table's agreement under one measure; :meth:`to_dict` is the contract."""

    measure: str
    n_items: int
    n_raters: int
    coefficients: dict[str, Coefficient]
    expected_agreement: Expected
    raters: tuple[RaterAgreement, ...]
    rater_pairs: tuple[RaterPairAgreement, ...]
    items: tuple[ItemAgreement, ...]
    excluded: tuple[Excluded, ...]
    provenance: Provenance
    warnings: tuple[str, ...] = ()
    distributions: Distributions | None = None

    def __repr__(self) -> str:
        kappa = self.coefficients["cohen_kappa"].value
        shown = "undefined" if kappa is None else f"{kappa:.3f}"
        return f"<AgreementReport: {self.n_items:,} items, {self.n_raters:,} raters, measure {self.measure}, Cohen's kappa {shown}>"

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        return {
            "schema_version": 1,
            "measure": self.measure,
            "n_items": self.n_items,
            "n_raters": self.n_raters,
            "headline": self._headline(),
            "coefficients": {name: value.to_dict() for name, value in self.coefficients.items()},
            "expected_agreement": self.expected_agreement.to_dict(),
            "raters": [rater.to_dict() for rater in self.raters],
            "rater_pairs": [pair.to_dict() for pair in self.rater_pairs],
            "items": [item.to_dict() for item in self.items],
            "excluded": [{"item": e.item, "rater": e.rater, "reason": e.reason} for e in self.excluded],
            "warnings": list(self.warnings),
            "provenance": _provenance(self.provenance),
        }

    def _headline(self) -> dict[str, Any] | None:
        """Which coefficient stands for the table, and its value without each rater in turn."""
        found = headline({"coefficients": {name: {"value": one.value} for name, one in self.coefficients.items()}})
        if found is None:
            return None
        without = []
        if found[0] == "krippendorff_alpha":
            pairs = (item.pairs for item in self.items)
            without = without_each_rater(pairs, self.expected_agreement.krippendorff)
        return {"coefficient": found[0], **found[1], "without": without}


def _listed(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _provenance(provenance: Provenance) -> dict[str, Any]:
    return {"softirr": _version(), **asdict(provenance)}


def _version() -> str:
    try:
        return metadata.version("softirr")
    except metadata.PackageNotFoundError:
        return "unknown"
