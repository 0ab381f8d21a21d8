"""One methods paragraph of a report in Markdown: the numbers, the policy and the references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from softirr.meaning.policy.rules import Policy
from softirr.numbers import interval, number, plural
from softirr.report.key_figures import headline, is_exact
from softirr.statistics.coefficients.definition import WULLSCHLEGER_2026, Reference
from softirr.statistics.coefficients.registry import definition
from softirr.text import printable

_SARNDAL_1992 = Reference(
    "Särndal, C.-E. and Swensson, B. and Wretman, J.", 1992, "Model assisted survey sampling", "Springer"
)
_CHANCE = {
    "exact": "computed exactly, from all pairs of answers",
    "permutation": "estimated by permutation",
    "sample": "estimated from a sample of pairs of answers to different items",
    "audit": "corrected by the judgments",
}
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|$~])")


def methods_paragraph(report: Mapping[str, Any]) -> str:
    """The methods and the result of a report as one paragraph of Markdown, followed by its references.

    Parameters
    ----------
    report : mapping
        The result of ``AgreementReport.to_dict()``.

    Examples
    --------
    >>> import softirr
    >>> rows = [("1", "ann", "fever"), ("1", "bob", "fever"), ("2", "ann", "cough"), ("2", "bob", "rash")]
    >>> table = softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows)
    >>> methods_paragraph(softirr.agreement(table, "exact").to_dict())[:42]
    '2 raters annotated 2 items; 2 of them have'
    """
    provenance, best = report["provenance"], headline(report)
    sentences, works = [_material(report)], list[Reference]()
    if not is_exact(report):
        sentences += _comparison(provenance)
        works.append(WULLSCHLEGER_2026)
    if best is None:
        sentences.append("No coefficient is defined.")
    else:
        works += definition(best[0]).references
        sentences += [_result(report, best), _chance(report), _interval_basis(report)]
        if best[1].get("judgments"):
            works.append(_SARNDAL_1992)
    data = f", from data with the SHA-256 {provenance['input_sha256']}" if provenance.get("input_sha256") else ""
    sentences.append(f"Computed by softirr {provenance['softirr']} with seed {provenance['seed']}{data}.")
    cited = sorted(set(works), key=lambda work: work.authors)
    entries = "".join(f"- {_escaped(work.entry())}\n" for work in cited)
    return f"{' '.join(sentences)}\n\n{entries}"


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", printable(text))


def _cited(works: tuple[Reference, ...]) -> str:
    return f" ({'; '.join(f'{work.short} {work.year}' for work in works)})" if works else ""


def _material(report: Mapping[str, Any]) -> str:
    compared = sum(item["agreement"] is not None for item in report["items"])
    sentence = (
        f"{plural(report['n_raters'], 'rater')} annotated {plural(report['n_items'], 'item')}; {compared:,} of them "
        f"{'has' if compared == 1 else 'have'} answers of two raters or more and "
        f"{'was' if compared == 1 else 'were'} compared."
    )
    excluded = len(report["excluded"])
    return f"{sentence} {plural(excluded, 'answer was', 'answers were')} left out." if excluded else sentence


def _comparison(provenance: Mapping[str, Any]) -> list[str]:
    model = ""
    if provenance.get("model"):
        checksum = f", SHA-256 {provenance['model_sha256']}" if provenance.get("model_sha256") else ""
        model = f" (model {_escaped(str(provenance['model']))}{checksum})"
    policy = Policy.from_dict(provenance.get("policy") or {})
    assignment = (provenance.get("options") or {}).get("assignment", "optimal")
    return [
        f"The measure {_escaped(provenance['measure'])}{model} scored the equivalence of two texts from 0 to 1; "
        "identical texts have equivalence 1.",
        "Texts were compared as written."
        if policy.is_default
        else f"What counted as the same: {_escaped(policy.describe())}.",
        f"Answers with several texts were compared by {assignment} matching{_cited((WULLSCHLEGER_2026,))}.",
    ]


def _result(report: Mapping[str, Any], best: tuple[str, Mapping[str, Any]]) -> str:
    name, coefficient = best
    formula = definition(name)
    ci95 = f", 95% interval {interval(coefficient['ci95'])}" if coefficient.get("ci95") else ""
    judgments = coefficient.get("judgments") or 0
    judged = "" if is_exact(report) else f", {plural(judgments, 'judgment')}"
    sentence = (
        f"Agreement was {number(coefficient['value'])} ({formula.short}{_cited(formula.references)}, {formula.formula}"
        f"{ci95}{judged})."
    )
    observed = report["coefficients"]["observed_agreement"]["value"]
    if name == "observed_agreement" or observed is None:
        return sentence
    return f"{sentence} Observed agreement was {number(observed)}."


def _chance(report: Mapping[str, Any]) -> str:
    expected = report["expected_agreement"]
    error = f" (standard error {number(expected['standard_error'], 4)})" if expected.get("standard_error") else ""
    works = (WULLSCHLEGER_2026,) if expected["method"] == "permutation" else ()
    return f"Agreement by chance was {_CHANCE[expected['method']]}{error}{_cited(works)}."


def _interval_basis(report: Mapping[str, Any]) -> str:
    if is_exact(report):
        return "The interval covers the sampling of the items; raters are taken as fixed."
    judged = (report.get("audit") or {}).get("judgments") or 0
    source = (
        f"corrected by judgments of {plural(judged, 'randomly drawn pair')} of texts{_cited((_SARNDAL_1992,))}"
        if judged
        else "estimated from benchmark populations, because no pair of these texts was judged"
    )
    return (
        f"The interval covers the sampling of the items and the errors of the measure, {source}; raters are taken as "
        "fixed."
    )
