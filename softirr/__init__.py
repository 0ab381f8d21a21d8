"""Soft inter-rater reliability: do people who annotate in free text agree in meaning?

>>> import softirr
>>> table = softirr.read("answers.csv")                    # doctest: +SKIP
>>> report = softirr.agreement(table, measure="indel")     # doctest: +SKIP
>>> report.coefficients["krippendorff_alpha"].value        # doctest: +SKIP
"""

from softirr.agreement import AgreementReport, agreement, item_agreement
from softirr.annotations import AnnotationTable, Answer, Excluded, read
from softirr.equivalence import measure
from softirr.errors import InputError, SoftirrError

__all__ = [
    "AgreementReport",
    "AnnotationTable",
    "Answer",
    "Excluded",
    "InputError",
    "SoftirrError",
    "agreement",
    "item_agreement",
    "measure",
    "read",
]
