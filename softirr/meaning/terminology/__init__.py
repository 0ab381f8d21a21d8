"""Controlled vocabularies in the formats of their publishers: concepts, their names, and their is-a relations.

See :func:`load`. Experiments draw populations of answers from them, and training draws pairs.
"""

from softirr.meaning.terminology.concepts import SAME_MEANING, SCOPES, Terminology
from softirr.meaning.terminology.load import FORMATS, load
from softirr.meaning.terminology.table_lines import read_table, read_text

__all__ = ["FORMATS", "SAME_MEANING", "SCOPES", "Terminology", "load", "read_table", "read_text"]
