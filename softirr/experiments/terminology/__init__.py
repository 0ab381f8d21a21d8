"""Controlled vocabularies in the formats that their publishers hand out; see :func:`load`."""

from softirr.experiments.terminology.base import Terminology
from softirr.experiments.terminology.load import FORMATS, load

__all__ = ["FORMATS", "Terminology", "load"]
