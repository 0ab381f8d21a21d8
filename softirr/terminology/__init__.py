"""Controlled vocabularies in the formats that their publishers hand out: concepts, their names, and what is a kind of what.

See :func:`load`. The experiments draw their populations from them, training its pairs.
"""

from softirr.terminology.base import SAME_MEANING, SCOPES, Terminology
from softirr.terminology.load import FORMATS, load
from softirr.terminology.tables import read_table, read_text

__all__ = ["FORMATS", "SAME_MEANING", "SCOPES", "Terminology", "load", "read_table", "read_text"]
