"""Soft inter-rater reliability: how far people who annotate in free text agree in meaning.

>>> import softirr
>>> answers = [softirr.Answer("1", "ann", ("fever",)), softirr.Answer("1", "bob", ("fevers",)),
...            softirr.Answer("2", "ann", ("cough",)), softirr.Answer("2", "bob", ("dry cough",))]
>>> table = softirr.AnnotationTable.from_answers(answers)
>>> report = softirr.agreement(table, measure="indel")
>>> round(report.coefficients["cohen_kappa"].value, 2)
0.66
"""

from softirr.errors import InputError, SoftirrError
from softirr.measures import measure
from softirr.report.agreement import AgreementReport, agreement, item_agreement
from softirr.tables.files import read
from softirr.tables.table import AnnotationTable, Answer, Excluded

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
