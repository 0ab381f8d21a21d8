"""What a paper says of an agreement report, before it has a format: from the object of docs/reference/json.md.

Running text cites as ``[@key]``; writers turn that into what their format has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from softirr.meaning.policy.rules import Policy
from softirr.numbers import interval, number
from softirr.plural import plural
from softirr.report.evidence import MOST_CORRECTED
from softirr.report.forest import Row
from softirr.report.headline import headline, references
from softirr.report.terminal_report import printable
from softirr.statistics.coefficients.registry import coefficient_keys, coefficient_name, definition

__all__ = ["CITED", "Document", "Table", "document"]

CITED = re.compile(r"\[@(\w+)\]")
_TOLD = {"landis1977": "Landis and Koch (1977)", "krippendorff2004": "Krippendorff (2004)"}
"""Works that a sentence of the report names itself."""
_MOST_ROWS = 30


@dataclass(frozen=True)
class Table:
    """A table of a paper.

    Attributes
    ----------
    caption : str
    head : tuple of str
    rows : tuple of tuple of str
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Document:
    """Methods, results and limitations.

    Attributes
    ----------
    title : str
    methods, results, limitations : tuple of str
        Paragraphs, or points of a list for limitations.
    tables : tuple of Table
    figure : tuple of Row
        Coefficients with their intervals.
    caption : str
        Of the figure.
    """

    title: str
    methods: tuple[str, ...]
    results: tuple[str, ...]
    limitations: tuple[str, ...]
    tables: tuple[Table, ...]
    figure: tuple[Row, ...]
    caption: str

    @property
    def cited(self) -> tuple[str, ...]:
        """Keys of the works that are cited, in alphabetical order."""
        text = " ".join((*self.methods, *self.results, *self.limitations))
        cited_keys = {key for key, words in _TOLD.items() if words in text}
        return tuple(sorted(cited_keys | set(CITED.findall(text))))


def document(report: Mapping[str, Any], *, sentence: str | None = None) -> Document:
    """What a paper says of a report.

    Parameters
    ----------
    report : mapping
        What ``AgreementReport.to_dict()`` or ``AuditReport.to_dict()`` gives.
    sentence : str, optional
        A plan in one sentence, for the results.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fever"), ("2", "ann", "cough"), ("2", "bob", "rash")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> made = document(softirr.agreement(table, "exact").to_dict())
    >>> made.methods[0][:60]
    '2 items were annotated in free text by 2 raters; 2 items wit'
    """
    coefficient = headline(report)
    name = coefficient[0] if coefficient else "observed_agreement"
    shown = _shown(report, name)
    return Document(
        "Inter-rater reliability of free-text annotations",
        tuple(_methods(report, name, shown)),
        tuple(_results(report, coefficient, sentence)),
        tuple(_limitations(report)),
        tuple(_tables(report, shown)),
        tuple(
            Row(coefficient_name(key), value["value"], _interval(value))
            for key, value in ((key, report["coefficients"][key]) for key in shown)
            if value["value"] is not None
        ),
        f"Coefficients with their 95% intervals ({_status(report)}).",
    )


def _shown(report: Mapping[str, Any], name: str) -> list[str]:
    """Coefficients with a value, the headline first."""
    defined = [key for key, value in report["coefficients"].items() if value["value"] is not None]
    return sorted(defined, key=lambda key: key != name)


def _interval(coefficient: Mapping[str, Any]) -> tuple[float, float] | None:
    interval = coefficient["ci95"]
    return None if interval is None else (float(interval[0]), float(interval[1]))


def _status(report: Mapping[str, Any]) -> str:
    return "audited" if "audit" in report else "not audited"


def _methods(report: Mapping[str, Any], name: str, shown: Sequence[str]) -> Sequence[str]:
    provenance, expected = report["provenance"], report["expected_agreement"]
    options = provenance["options"]
    used = sum(item["agreement"] is not None for item in report["items"])
    policy = Policy.from_dict(provenance.get("policy") or {})
    first = [
        _material(report, used, options.get("overlap")),
        _measure(provenance),
        "Texts were compared as they were written."
        if policy.is_default
        else f"What counted as the same: {policy.describe()}.",
        f"Two answers of several texts agree to the degree of their {options.get('assignment', 'optimal')} matching: "
        "twice the sum of the equivalence of matched texts, divided by the number of texts in both answers "
        "[@wullschleger2026].",
    ]
    if report["excluded"]:
        first.append(f"{plural(len(report['excluded']), 'answer was', 'answers were')} excluded (Limitations).")
    which = [_cited(key) for key in shown]
    second = [
        f"Agreement is reported as {_cited(name)}: {definition(name).formula}.",
        f"Also reported: {_and(which[1:])}." if len(which) > 1 else "",
        _chance(expected, options),
        _intervals(report),
    ]
    if "audit" in report:
        second.append(_audit(report["audit"]))
    third = _software(provenance)
    return [" ".join(part for part in block if part) for block in (first, second)] + [third]


def _material(report: Mapping[str, Any], used: int, overlap: float | None) -> str:
    """What was annotated by whom: items, or coded passages with at least this share of their characters in common."""
    if overlap is None:
        return (
            f"{plural(report['n_items'], 'item was', 'items were')} annotated in free text by "
            f"{plural(report['n_raters'], 'rater')}; "
            f"{plural(used, 'item')} with the answers of two raters or more {'enters' if used == 1 else 'enter'} "
            "the analysis."
        )
    same = "the same words" if overlap == 1 else f"at least {overlap:.0%} of their characters in common"
    return (
        f"{plural(report['n_items'], 'passage was', 'passages were')} coded by {plural(report['n_raters'], 'coder')}; "
        f"{plural(used, 'passage')} that two coders or more coded {'enters' if used == 1 else 'enter'} the "
        f"analysis. Passages of two coders are one item if they have {same}. Agreement is "
        "about the names of the codes of these passages, not about which passages were coded."
    )


def _measure(provenance: Mapping[str, Any]) -> str:
    model = provenance.get("model")
    sentence = (
        f"The equivalence of two texts, from 0 to 1, was scored by the measure {printable(provenance['measure'])}"
    )
    if model:
        sentence += f" with the model {printable(str(model))}"
        if provenance.get("model_sha256"):
            sentence += f" (SHA-256 {provenance['model_sha256']})"
        if provenance.get("precision"):
            sentence += f" in {provenance['precision']}"
    return f"{sentence}; identical texts have equivalence 1."


def _cited(key: str) -> str:
    """A coefficient with the works that define it."""
    if key not in coefficient_keys():
        return key
    known = definition(key)
    return known.short + "".join(f" [@{work.key}]" for work in known.references)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _chance(expected: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    error = f" (standard error {number(expected['standard_error'], 4)})" if expected.get("standard_error") else ""
    method = expected["method"]
    if method == "exact":
        return "Agreement by chance was computed exactly, from all pairs of answers."
    if method == "permutation":
        return (
            f"Agreement by chance was estimated by {plural(options['permutations'], 'permutation')}{error} "
            "[@wullschleger2026]."
        )
    if method == "audit":
        return (
            "Agreement by chance was estimated from the share of equivalent pairs of different items by strata of "
            f"the measure, updated by judgments{error}."
        )
    return (
        f"Agreement by chance was estimated from a stratified sample of {plural(expected['pairs_scored'], 'pair')} "
        f"of answers{error}."
    )


def _intervals(report: Mapping[str, Any]) -> str:
    judged = ", updated by the judgments" if "audit" in report else ""
    sentence = (
        "95% intervals, including the intervals of single raters, cover the sampling of items, the errors that the "
        f"measure had on benchmark populations{judged}, and the uncertainty of agreement by chance; raters are taken "
        "as fixed."
    )
    if report["n_raters"] <= MOST_CORRECTED:
        return sentence
    return (
        f"{sentence} With so many raters, single ones have intervals for the sampling of items only, "
        "computed from influence functions, with Student's t and a correction for skewness [@johnson1978]."
    )


def _audit(audit: Mapping[str, Any]) -> str:
    judges, judged = "one judge" if audit["judges"] == 1 else f"{audit['judges']} judges", audit["judgements"]
    sentence = (
        f"The coefficients were audited: {plural(judged, 'pair')} of texts, drawn at random with known probabilities, "
        f"{'was' if judged == 1 else 'were'} judged by {judges} as the same in meaning or different. A logistic "
        "calibration of the measure with a prior from benchmark populations was fitted to the judgments, and the "
        "coefficients were corrected by the difference estimator, shrunk towards it [@sarndal1992] [@angelopoulos2023]."
    )
    own = audit.get("judges_agreement")
    if own:
        alpha = (
            "" if own["krippendorff_alpha"] is None else f", Krippendorff's alpha {number(own['krippendorff_alpha'])}"
        )
        sentence += f" The judges agree on {own['observed_agreement']:.0%} of {plural(own['pairs'], 'pair')}{alpha}."
    return sentence


def _software(provenance: Mapping[str, Any]) -> str:
    sentence = f"All numbers were computed by softirr {provenance['softirr']} with the seed {provenance['seed']}"
    if provenance.get("input_sha256"):
        sentence += f" from data with the SHA-256 {provenance['input_sha256']}"
    return f"{sentence}."


def _results(
    report: Mapping[str, Any], coefficient: tuple[str, Mapping[str, Any]] | None, sentence: str | None
) -> Sequence[str]:
    if coefficient is None:
        return ["No coefficient is defined."]
    name, value = coefficient
    ci95 = _interval(value)
    clause = f"{coefficient_name(name)} is {number(value['value'])}"
    if ci95:
        clause += f" (95% interval {interval(ci95)}, {_status(report)})"
    parts = [f"{clause}."]
    if "audit" in report and report["audit"]["plain"].get(name) is not None:
        parts.append(f"By the measure alone it would be {number(report['audit']['plain'][name])}.")
    observed = report["coefficients"]["observed_agreement"]["value"]
    if name != "observed_agreement" and observed is not None:
        parts.append(f"Observed agreement is {number(observed)}.")
    if name != "observed_agreement":
        parts.append(references(value["value"]))
    if sentence:
        parts.append(sentence)
    return [" ".join(parts)]


def _limitations(report: Mapping[str, Any]) -> Sequence[str]:
    sentences = ["The intervals hold for other items of this kind and the same raters, not for other raters."]
    if "audit" not in report:
        sentences.insert(
            0,
            "The coefficients are not audited. They depend on the measure, and what the measure gets wrong on these "
            "texts is not known.",
        )
    if reasons := Counter(entry["reason"] for entry in report["excluded"]):
        sentences.append("Left out: " + ", ".join(f"{plural(n, 'answer')} ({why})" for why, n in reasons.items()) + ".")
    truncated = report["provenance"].get("truncated_texts")
    if truncated:
        sentences.append(f"{plural(truncated, 'text was', 'texts were')} too long for the measure and cut.")
    # the methods say which passages are one item
    sentences += [printable(warning) for warning in report.get("warnings", ())]
    return list(dict.fromkeys(sentences))


def _tables(report: Mapping[str, Any], shown: Sequence[str]) -> Sequence[Table]:
    rows = [
        (coefficient_name(key), number(c["value"], 3), interval(_interval(c), 3), number(c["standard_error"], 3))
        for key, c in ((key, report["coefficients"][key]) for key in shown)
    ]
    tables = [
        Table(
            f"Coefficients of agreement ({_status(report)}).",
            (
                "Coefficient",
                "Value",
                "95% interval",
                "Standard error",
            ),
            tuple(rows),
        )
    ]
    raters = sorted(report["raters"], key=lambda rater: (rater["agreement"] is None, rater["agreement"] or 0.0))
    tables.append(
        Table(
            "Raters, by their agreement with the others"
            + (f"; the lowest {_MOST_ROWS} of {len(raters):,}." if len(raters) > _MOST_ROWS else "."),
            ("Rater", "Items", "Agreement", "95% interval", "Cohen's kappa"),
            tuple(
                (
                    printable(r["id"]),
                    f"{r['n_items']:,}",
                    number(r["agreement"], 3),
                    interval(r["agreement_ci95"], 3),
                    number(r["cohen_kappa"]["value"], 3),
                )
                for r in raters[:_MOST_ROWS]
            ),
        )
    )
    return tables
