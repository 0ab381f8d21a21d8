"""The report of a table's agreement: frozen, and JSON by :meth:`AgreementReport.to_dict` (docs/reference/json.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

from softirr.coefficients.intervals import Coefficient
from softirr.matching.consensus import Match
from softirr.provenance import Provenance, version
from softirr.report.code_agreement import CodeAgreement
from softirr.report.frames import FrameKind, report_frame
from softirr.report.headline import headline
from softirr.report.html import report_html
from softirr.report.reasons import ItemReason, ReasonSummary
from softirr.report.text import report_lines
from softirr.report.unaudited import record_of
from softirr.tables.table import Excluded
from softirr.terminology.coder import Code

__all__ = ["AgreementReport", "Distributions", "Expected", "ItemAgreement", "RaterAgreement", "RaterPairAgreement"]


@dataclass(frozen=True)
class RaterPairAgreement:
    """Agreement of two raters over the items both answered.

    Attributes
    ----------
    raters : (str, str)
    n_items : int
        Items that both answered.
    observed_agreement : Coefficient
        Mean equivalence of their answers.
    expected_agreement : float
        Their agreement by chance.
    cohen_kappa, sigma : Coefficient
        Of these two raters.
    """

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
    """Agreement of one rater with all others.

    Attributes
    ----------
    id : str
        The rater.
    n_items : int
        Items that this rater answered.
    agreement : Coefficient
        Mean equivalence with the other raters' answers.
    cohen_kappa : Coefficient
        Mean of Cohen's kappa over this rater's pairs.
    sigma : Coefficient
        Of this rater's pairs of answers.
    """

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
    suggestion_parts : tuple of str
        The texts that a suggestion for one box was joined from, where answers were split.
    written : dict of str to tuple of str
        Raters whose answer was split (:func:`softirr.policy.splitting.split_table`), and their texts as they wrote them.
    suggestion_codes : tuple of tuple of Code, optional
        With terminologies: the concepts of each text of the suggestion.
    reasons : tuple of ItemReason
        The pairs of texts that do not match, and why.
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
    written: dict[str, tuple[str, ...]] = field(default_factory=dict)
    suggestion_parts: tuple[str, ...] = ()
    suggestion_codes: tuple[tuple[Code, ...], ...] | None = None
    reasons: tuple[ItemReason, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """An entry of ``items``."""
        coded = zip(self.suggestion, self.suggestion_codes or (), strict=False)
        codes = [{"text": text, "codes": [code.to_dict() for code in own]} for text, own in coded]
        kinds = {
            (rater, text, other, its): one.reason.kind
            for one in self.reasons
            for (rater, other), (text, its) in ((one.raters, one.texts), (one.raters[::-1], one.texts[::-1]))
        }
        return {
            "id": self.id,
            "agreement": self.agreement,
            "kappa": self.kappa,
            "sigma": self.sigma,
            "n_raters": self.n_raters,
            "pairs": [{"raters": [a, b], "equivalence": value} for a, b, value in self.pairs],
            "matches": [match.to_dict() | {"reason": _match_reason(match, kinds)} for match in self.matches],
            "unmatched": {rater: list(texts) for rater, texts in self.unmatched.items()},
            "suggestion": list(self.suggestion),
            "written": {rater: list(texts) for rater, texts in self.written.items()},
            **({} if self.suggestion_codes is None else {"suggestion_codes": codes}),
            "reasons": [one.to_dict() for one in self.reasons],
        }


def _match_reason(match: Match, kinds: Mapping[tuple[str, str | None, str, str | None], str]) -> str | None:
    """The reason that most pairs of texts of a match have; None where they match."""
    if not kinds or len(match.texts) < 2:
        return None
    found: dict[str, int] = {}
    for one, other in combinations(match.texts.items(), 2):
        kind = kinds.get((*one, *other))
        if kind is not None:
            found[kind] = found.get(kind, 0) + 1
    return max(found, key=found.__getitem__) if found else None


@dataclass(frozen=True)
class Expected:
    """Agreement by chance; the values are None where the coefficient is not defined.

    Attributes
    ----------
    cohen : float or None
        Mean over the rater pairs.
    fleiss, krippendorff : float or None
        Of pooled answers, drawn with and without replacement.
    method : str
        ``exact``, ``permutation``, ``stratified`` or ``audit``.
    standard_error : float
        What sampling pairs for chance adds; 0 for ``exact``.
    pairs_scored : int
        Pairs of different answers that were scored for it.
    """

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
    """Everything that is known of a table's agreement under one measure.

    ``print(report)`` shows it as a table, :meth:`to_dict` gives it as JSON, :meth:`to_frame` as data frames.

    Attributes
    ----------
    measure : str
        The measure, as it was asked for.
    n_items, n_raters : int
        Items and raters of the table.
    coefficients : dict of str to Coefficient
        ``observed_agreement``, ``cohen_kappa``, ``scott_pi``, ``fleiss_kappa``, ``krippendorff_alpha``, ``gwet_ac2``, ``sigma`` and ``ks``, each with
        ``value``, ``standard_error``, ``ci95`` (95% interval) and, where there is no value, the reason in ``undefined``.
    expected_agreement : Expected
        Agreement by chance, and how it was computed.
    raters : tuple of RaterAgreement
        Each rater with all others.
    rater_pairs : tuple of RaterPairAgreement
        Each two raters who share an item.
    items : tuple of ItemAgreement
        Each item: agreement, matching texts, unmatched texts, suggestion.
    excluded : tuple of Excluded
        Answers that don't count, with the reason.
    provenance : Provenance
        Measure, model and device.
    warnings : tuple of str
        Sentences that a reader of the numbers should know.
    misfits : tuple of str
        Why the measure does not fit these texts, with the measure to use instead: a reader has to know these first.
    distributions : Distributions or None
        Equivalence of answers to the same item and to different items.
    options : dict
        What :func:`softirr.agreement` was called with: chance, permutations, target_error, sorting, interval, assignment, marginals, compat, casefold,
        and the threshold of matches. Options of a chance method that was not used are None.
    seed : int
        Of everything that was drawn at random.
    input_sha256 : str or None
        Hash of the file that was read, or of the answers.
    alpha_without : tuple of (str, float)
        Raters without whom Krippendorff's alpha is defined, with its value then, the highest first.
    unaudited : dict of str to (float, float)
        95% intervals that include the measure's error as well as the sampling of the items, by coefficient; empty in an audited report.
    codes : CodeAgreement or None
        With terminologies: how many texts they know, and agreement on the concepts.
    reasons : ReasonSummary or None
        Why raters disagree, counted; None where it was not asked for.
    """

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
    misfits: tuple[str, ...] = ()
    distributions: Distributions | None = None
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    input_sha256: str | None = None
    alpha_without: tuple[tuple[str, float], ...] = ()
    unaudited: dict[str, tuple[float, float]] = field(default_factory=dict)
    codes: CodeAgreement | None = None
    reasons: ReasonSummary | None = None

    def __repr__(self) -> str:
        kappa = self.coefficients["cohen_kappa"].value
        shown = "undefined" if kappa is None else f"{kappa:.3f}"
        return f"<AgreementReport: {self.n_items:,} items, {self.n_raters:,} raters, measure {self.measure}, Cohen's kappa {shown}>"

    def __str__(self) -> str:
        return "\n".join(report_lines(self.to_dict()))

    def _repr_html_(self) -> str:
        return report_html(self.to_dict())

    def to_folder(self, folder: Any, *, source: str | None = None) -> tuple[str, ...]:
        """Write the report into a folder: tables as CSV, XLSX and Parquet, one HTML page, and JSON.

        Parameters
        ----------
        folder : path
            Made where it is missing; files of the same names are replaced.
        source : str, optional
            Name of the input, for the page.

        Returns
        -------
        tuple of str
            What could not be written because a library is not installed, one sentence each.

        Raises
        ------
        InputError
            If the folder can't be written.
        """
        from softirr.report.output import write_report

        return write_report(self.to_dict(), folder, source=source)

    def to_frame(self, kind: FrameKind = "coefficients") -> Any:
        """A pandas data frame of a part of the report.

        Parameters
        ----------
        kind : {"coefficients", "items", "raters", "pairs", "reasons", "matches"}
            ``coefficients``: value, standard_error, low, high and undefined by coefficient. ``items``: agreement, kappa, sigma, n_raters, suggestion,
            reasons by item. ``reasons``: text_a, text_b, equivalence, reason, also and words by item and its two raters, a row for each pair of texts
            that does not match. ``matches``: text, equivalence, relation and support by item, match (0: none) and rater. ``raters``: n_items, agreement, low, high, cohen_kappa, sigma by rater. ``pairs``: the same and expected_agreement
            by the two raters. low and high are the ends of the 95% interval; what is not defined is NaN.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            If pandas is not installed, or there is no such part.

        Examples
        --------
        >>> import softirr
        >>> rows = [("1", "ann", "fever"), ("1", "bob", "fever"), ("2", "ann", "cough"), ("2", "bob", "rash")]
        >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
        >>> softirr.agreement(table, "exact").to_frame("items")["agreement"].to_dict()
        {'1': 1.0, '2': 0.0}
        """
        return report_frame(self.to_dict(), kind)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        return {
            "schema_version": 1,
            "measure": self.measure,
            "n_items": self.n_items,
            "n_raters": self.n_raters,
            "headline": self._headline(),
            "coefficients": {
                name: value.to_dict() | {"ci95_unaudited": _listed(self.unaudited.get(name)), "audited": False}
                for name, value in self.coefficients.items()
            },
            "expected_agreement": self.expected_agreement.to_dict(),
            "raters": [rater.to_dict() for rater in self.raters],
            "rater_pairs": [pair.to_dict() for pair in self.rater_pairs],
            "items": [item.to_dict() for item in self.items],
            "reasons": None if self.reasons is None else self.reasons.to_dict(),
            "distributions": None if self.distributions is None else self.distributions.to_dict(),
            "excluded": [{"item": e.item, "rater": e.rater, "reason": e.reason} for e in self.excluded],
            "warnings": [*self.misfits, *self.warnings],
            "misfits": list(self.misfits),
            **({} if self.codes is None else {"codes": self.codes.to_dict()}),
            "provenance": {
                "softirr": version(),
                **asdict(self.provenance),
                "known_error": record_of(self.provenance),
                "terminologies": [asdict(one) for one in self.provenance.terminologies],
                "options": dict(self.options),
                "seed": self.seed,
                "input_sha256": self.input_sha256,
            },
        }

    def _headline(self) -> dict[str, Any] | None:
        """Which coefficient stands for the table, and its value without each rater in turn."""
        found = headline({"coefficients": {name: {"value": one.value} for name, one in self.coefficients.items()}})
        if found is None:
            return None
        stands = self.alpha_without if found[0] == "krippendorff_alpha" else ()
        without = [{"rater": rater, "value": value} for rater, value in stands]
        return {"coefficient": found[0], **found[1], "without": without}


def _listed(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)
