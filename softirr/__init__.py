"""Soft inter-rater reliability: do people who annotate in free text agree in meaning?"""

from softirr.annotations import AnnotationTable, Answer, Excluded, read
from softirr.errors import InputError, SoftirrError

__all__ = ["AnnotationTable", "Answer", "Excluded", "InputError", "SoftirrError", "read"]
