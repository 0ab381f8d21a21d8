"""The report of a table's agreement: frozen, and JSON by :meth:`AgreementReport.to_dict` (docs/reference/json.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from softirr.answers.table import Excluded
from softirr.defaults import SCHEMA_VERSION
from softirr.json_object import JsonObject
from softirr.numbers import in_terminal, number, plural
from softirr.provenance import Provenance, version
from softirr.report.charts import Row, forest_chart
from softirr.report.evidence import AuditSummary
from softirr.report.fields import Confusion, ConfusionMatrix
from softirr.report.key_figures import headline_key
from softirr.report.meaning_clusters import MeaningCluster
from softirr.report.output import FrameKind, report_frame, write_report
from softirr.report.reason_counts import ReasonSummary
from softirr.report.result_parts import Expected, ItemAgreement, RaterAgreement, RaterPairAgreement, TerminologyCoverage
from softirr.report.terminal_report import report_html, report_lines
from softirr.statistics.coefficients.intervals import Coefficient
from softirr.statistics.coefficients.registry import coefficient_name

_IN_PROVENANCE = ("record", "options", "seed", "input_sha256", "pairs_by_use")
"""Attributes that are in ``provenance`` of the JSON object."""
_IF_PRESENT = ("terminology", "audit", "confusions", "confusion_matrix", "meanings")
"""Attributes that the JSON object has only if they are not empty."""


@dataclass(frozen=True, repr=False)
class AgreementReport(JsonObject):
    """Everything that is known of a table's agreement under one measure.

    ``print(report)`` shows it as a table, :meth:`to_dict` gives it as JSON, :meth:`to_frame` as data frames,
    :meth:`plot` as a chart.

    Attributes
    ----------
    measure : str
        Name of the measure, as requested.
    n_items, n_raters : int
        Items and raters of the table.
    coefficients : dict of str to Coefficient
        ``observed_agreement``, ``cohen_kappa``, ``scott_pi``, ``fleiss_kappa``, ``krippendorff_alpha``, ``gwet_ac2``,
        ``sigma`` and ``ks``, each with ``value``, ``ci95`` (the 95% interval to report) and ``judgments``. Without a
        value, ``undefined`` is the reason. The interval covers the sampling of the items, the errors of the measure and
        the judgments; ``details`` has the estimates of each route.
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
    options : dict
        What :func:`softirr.agreement` was called with: chance, permutations, target_error, interval,
        assignment, marginals, casefold, and the threshold of matches. Options of a chance method that was not
        used are None.
    seed : int
        Seed of all random draws.
    input_sha256 : str or None
        Hash of the file that was read, or of the answers.
    alpha_without : tuple of (str, float)
        Raters without whom Krippendorff's alpha is defined, with its value then, the highest first.
    record : str or None
        Name of the measure with the record of errors that the intervals use.
    audit : AuditSummary or None
        The judgments that the coefficients are corrected by; None if there are none.
    terminology : TerminologyCoverage or None
        How many texts the terminologies know; None without one.
    reasons : ReasonSummary or None
        Why raters disagree, counted; None if it was not requested.
    pairs_by_use : dict of str to int
        Number of pairs of texts that the measure scored, by use; pairs from the cache do not count.
    confusions : tuple of Confusion
        Pairs of values that raters confuse, the most frequent first; only of fields with categories.
    confusion_matrix : ConfusionMatrix or None
        All categories of such a field by pairs of answers, and by rater.
    meanings : tuple of MeaningCluster
        Clusters of equivalent texts; empty unless the option ``meanings`` is set.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fevers"), ("2", "ann", "cough"), ("2", "bob", "rash")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> report = softirr.agreement(table, "indel")
    >>> report
    <AgreementReport: 2 items, 2 raters, measure indel, Krippendorff's alpha 0.39>
    >>> round(report.coefficients["krippendorff_alpha"].value, 2), report.expected_agreement.method
    (0.39, 'exact')
    >>> [(item.id, round(item.agreement, 2)) for item in report.items]
    [('1', 0.91), ('2', 0.22)]
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
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    input_sha256: str | None = None
    alpha_without: tuple[tuple[str, float], ...] = ()
    record: str | None = None
    audit: AuditSummary | None = None
    terminology: TerminologyCoverage | None = None
    reasons: ReasonSummary | None = None
    confusions: tuple[Confusion, ...] = ()
    pairs_by_use: dict[str, int] = field(default_factory=dict)
    confusion_matrix: ConfusionMatrix | None = None
    meanings: tuple[MeaningCluster, ...] = ()

    def __repr__(self) -> str:
        best = self._headline()
        value = "no coefficient is defined"
        if best:
            value = f"{coefficient_name(best['coefficient'])} {in_terminal(number(best['value']))}"
        items, raters = plural(self.n_items, "item"), plural(self.n_raters, "rater")
        return f"<AgreementReport: {items}, {raters}, measure {self.measure}, {value}>"

    def __str__(self) -> str:
        return "\n".join(report_lines(self.to_dict()))

    def _repr_html_(self) -> str:
        return report_html(self.to_dict())

    def to_folder(self, folder: Any, *, source: str | None = None) -> None:
        """Write the report into a folder: tables as CSV, one HTML page, a methods paragraph, and JSON.

        Parameters
        ----------
        folder : path
            Created if it is missing; files of the same names are replaced.
        source : str, optional
            Name of the input, for the page.

        Raises
        ------
        InputError
            If the folder can't be written.
        """
        write_report(self.to_dict(), folder, source=source)

    def to_svg(self) -> str:
        """The coefficients with their 95% intervals as a chart in SVG."""
        values = self.coefficients.items()
        rows = [Row(coefficient_name(key), coefficient.value, coefficient.ci95) for key, coefficient in values]
        return forest_chart(rows, "Coefficients").svg()

    def to_frame(self, kind: FrameKind = "coefficients") -> Any:
        """A pandas data frame of a part of the report.

        Parameters
        ----------
        kind : {"coefficients", "items", "raters", "pairs", "reasons", "matches"}
            ``coefficients``: value, standard_error, low, high and undefined by coefficient. ``items``: agreement,
            kappa, sigma, n_raters, suggestion, reasons by item. ``reasons``: text_a, text_b, equivalence, reason, also
            and words by item and its two raters, a row for each pair of texts that does not match. ``matches``: text,
            equivalence, relation and support by item, match (0: none) and rater. ``raters``: n_items, agreement, low,
            high, cohen_kappa, sigma by rater. ``pairs``: the same and expected_agreement by the two raters. low and
            high are the ends of the 95% interval; undefined values are NaN.

        Raises
        ------
        InputError
            If pandas is not installed, or the part is unknown.

        Examples
        --------
        >>> import softirr
        >>> rows = [("1", "ann", "fever"), ("1", "bob", "fever"), ("2", "ann", "cough"), ("2", "bob", "rash")]
        >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
        >>> softirr.agreement(table, "exact").to_frame("items")["agreement"].to_dict()
        {'2': 0.0, '1': 1.0}
        """
        return report_frame(self.to_dict(), kind)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that docs/reference/json.md describes."""
        values = super().to_dict()
        del values["alpha_without"]
        provenance = {"softirr": version(), **values.pop("provenance")}
        provenance |= {name: values.pop(name) for name in _IN_PROVENANCE}
        return {
            "schema_version": SCHEMA_VERSION,
            "headline": self._headline(),
            **{name: value for name, value in values.items() if value or name not in _IF_PRESENT},
            "warnings": [*self.misfits, *self.warnings],
            "provenance": provenance,
        }

    def _headline(self) -> dict[str, Any] | None:
        """Which coefficient is the table's headline, and its value without each rater in turn."""
        key = headline_key({name: coefficient.value for name, coefficient in self.coefficients.items()})
        if key is None:
            return None
        values = self.alpha_without if key == "krippendorff_alpha" else ()
        without = [{"rater": rater, "value": value} for rater, value in values]
        return {"coefficient": key, "value": self.coefficients[key].value, "without": without}
