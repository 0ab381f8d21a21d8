"""Soft inter-rater reliability: how far people who annotate in free text agree in meaning.

Importing this package loads nothing else. Each name below is loaded at its first use, and a model when a measure needs
it.

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
    from softirr import audit as audit
    from softirr.answers.files import read as read
    from softirr.answers.files import read_texts as read_texts
    from softirr.answers.inspection import inspect as inspect
    from softirr.answers.read_options import ReadOptions as ReadOptions
    from softirr.answers.table import AnnotationTable as AnnotationTable
    from softirr.answers.table import Answer as Answer
    from softirr.answers.table import Excluded as Excluded
    from softirr.errors import InputError as InputError
    from softirr.errors import SoftirrError as SoftirrError
    from softirr.meaning.policy.measure import measure as measure
    from softirr.meaning.policy.rules import Policy as Policy
    from softirr.report.agreement import agreement as agreement
    from softirr.report.compare import compare as compare
    from softirr.report.compare_models import compare_models as compare_models
    from softirr.report.comparison import Comparison as Comparison
    from softirr.report.inputs import AgreementOptions as AgreementOptions
    from softirr.report.items import item_agreement as item_agreement
    from softirr.report.one_coefficient import cohen_kappa as cohen_kappa
    from softirr.report.one_coefficient import fleiss_kappa as fleiss_kappa
    from softirr.report.one_coefficient import krippendorff_alpha as krippendorff_alpha
    from softirr.report.results import AgreementReport as AgreementReport
    from softirr.statistics.coefficients.intervals import Coefficient as Coefficient
    from softirr.statistics.coefficients.matrix import matrix_agreement as matrix_agreement

    __version__: str

_NAMES = {
    "answers.files": ("read", "read_texts"),
    "answers.inspection": ("inspect",),
    "answers.read_options": ("ReadOptions",),
    "answers.table": ("AnnotationTable", "Answer", "Excluded"),
    "errors": ("InputError", "SoftirrError"),
    "meaning.policy.measure": ("measure",),
    "meaning.policy.rules": ("Policy",),
    "report.agreement": ("agreement",),
    "report.compare": ("compare",),
    "report.compare_models": ("compare_models",),
    "report.comparison": ("Comparison",),
    "report.inputs": ("AgreementOptions",),
    "report.items": ("item_agreement",),
    "report.one_coefficient": ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha"),
    "report.results": ("AgreementReport",),
    "statistics.coefficients.intervals": ("Coefficient",),
    "statistics.coefficients.matrix": ("matrix_agreement",),
}
"""The names of each module below this package."""

_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = tuple(sorted({"__version__", "audit", *_MODULES}))


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from softirr.provenance import version

        value: Any = version()
    elif name == "audit":
        return importlib.import_module("softirr.audit")  # which sets the attribute
    elif name in _MODULES:
        value = getattr(importlib.import_module(f"softirr.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module 'softirr' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
