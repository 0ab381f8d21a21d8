"""Soft inter-rater reliability: how far people who annotate in free text agree in meaning.

Importing this package loads nothing else: each name below is loaded when it is first used, and models when a measure
needs them.

>>> import softirr
>>> kappa = softirr.cohen_kappa(["fever", "cough"], ["fevers", "dry cough"], measure="indel")
>>> round(kappa.value, 2)
0.66
>>> answers = [softirr.Answer("1", "ann", "fever"), softirr.Answer("1", "bob", "fevers"),
...            softirr.Answer("2", "ann", "cough"), softirr.Answer("2", "bob", "dry cough")]
>>> report = softirr.agreement(softirr.AnnotationTable.from_answers(answers), measure="indel")
>>> round(report.coefficients["cohen_kappa"].value, 2)
0.66
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softirr import audit
    from softirr.answers.files import read, read_texts
    from softirr.answers.inspection import Inspection, inspect
    from softirr.answers.read_options import ReadOptions
    from softirr.answers.table import AnnotationTable, Answer, Excluded
    from softirr.audit.proposal import PolicyProposal, propose_policy
    from softirr.errors import InputError, SoftirrError
    from softirr.meaning.measures.corrected import corrected
    from softirr.meaning.measures.reliability import CalibrationReport, calibrate
    from softirr.meaning.policy.attributes import attributes
    from softirr.meaning.policy.build_measure import measure
    from softirr.meaning.policy.measure import under_policy
    from softirr.meaning.policy.rules import Policy, find_policy
    from softirr.planning.compare import compare, compare_groups
    from softirr.planning.compare_raters import compare_raters
    from softirr.planning.compare_time import compare_time
    from softirr.planning.comparison import Comparison
    from softirr.planning.plan import plan
    from softirr.planning.plan_result import Plan
    from softirr.planning.raters import Raters, raters
    from softirr.report.agreement import agreement, item_agreement
    from softirr.report.codebook import codebook
    from softirr.report.codebook_entries import Codebook
    from softirr.report.integrations import Metric, enterprise_metric, metric, scorer
    from softirr.report.labels_and_texts import LabelsAndTexts, labels_and_texts
    from softirr.report.one_coefficient import cohen_kappa, fleiss_kappa, krippendorff_alpha
    from softirr.report.options import AgreementOptions
    from softirr.report.results import AgreementReport
    from softirr.statistics.coefficients.intervals import Coefficient
    from softirr.statistics.coefficients.matrix import MatrixAgreement, matrix_agreement

    __version__: str

__all__ = [
    "AgreementOptions",
    "AgreementReport",
    "AnnotationTable",
    "Answer",
    "CalibrationReport",
    "Codebook",
    "Coefficient",
    "Comparison",
    "Excluded",
    "InputError",
    "Inspection",
    "LabelsAndTexts",
    "MatrixAgreement",
    "Metric",
    "Plan",
    "Policy",
    "PolicyProposal",
    "Raters",
    "ReadOptions",
    "SoftirrError",
    "__version__",
    "agreement",
    "attributes",
    "audit",
    "calibrate",
    "codebook",
    "cohen_kappa",
    "compare",
    "compare_groups",
    "compare_raters",
    "compare_time",
    "corrected",
    "enterprise_metric",
    "find_policy",
    "fleiss_kappa",
    "inspect",
    "item_agreement",
    "krippendorff_alpha",
    "labels_and_texts",
    "matrix_agreement",
    "measure",
    "metric",
    "plan",
    "propose_policy",
    "raters",
    "read",
    "read_texts",
    "scorer",
    "under_policy",
]

_HOME = {
    "AgreementOptions": "report.options",
    "AgreementReport": "report.results",
    "AnnotationTable": "answers.table",
    "Answer": "answers.table",
    "CalibrationReport": "meaning.measures.reliability",
    "Codebook": "report.codebook_entries",
    "Coefficient": "statistics.coefficients.intervals",
    "Comparison": "planning.comparison",
    "Excluded": "answers.table",
    "InputError": "errors",
    "Inspection": "answers.inspection",
    "LabelsAndTexts": "report.labels_and_texts",
    "MatrixAgreement": "statistics.coefficients.matrix",
    "Plan": "planning.plan_result",
    "Policy": "meaning.policy.rules",
    "Raters": "planning.raters",
    "ReadOptions": "answers.read_options",
    "PolicyProposal": "audit.proposal",
    "SoftirrError": "errors",
    "agreement": "report.agreement",
    "attributes": "meaning.policy.attributes",
    "calibrate": "meaning.measures.reliability",
    "codebook": "report.codebook",
    "cohen_kappa": "report.one_coefficient",
    "fleiss_kappa": "report.one_coefficient",
    "krippendorff_alpha": "report.one_coefficient",
    "compare": "planning.compare",
    "compare_groups": "planning.compare",
    "compare_raters": "planning.compare_raters",
    "compare_time": "planning.compare_time",
    "corrected": "meaning.measures.corrected",
    "find_policy": "meaning.policy.rules",
    "inspect": "answers.inspection",
    "item_agreement": "report.agreement",
    "labels_and_texts": "report.labels_and_texts",
    "matrix_agreement": "statistics.coefficients.matrix",
    "measure": "meaning.policy.build_measure",
    "plan": "planning.plan",
    "raters": "planning.raters",
    "propose_policy": "audit.proposal",
    "enterprise_metric": "report.integrations",
    "metric": "report.integrations",
    "Metric": "report.integrations",
    "scorer": "report.integrations",
    "read": "answers.files",
    "read_texts": "answers.files",
    "under_policy": "meaning.policy.measure",
}
"""The module below this package that each name is loaded from."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from softirr.provenance import version

        value: Any = version()
    elif name == "audit":
        return importlib.import_module("softirr.audit")  # which sets the attribute
    elif name in _HOME:
        value = getattr(importlib.import_module(f"softirr.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'softirr' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
