"""Terminologies: concepts, their names, and their is-a relations, read from a table or an OBO file."""

from softirr.meaning.terminology.concepts import SAME_MEANING, SCOPES, Terminology
from softirr.meaning.terminology.load import load
from softirr.meaning.terminology.text_files import read_table, read_text

__all__ = ["SAME_MEANING", "SCOPES", "Terminology", "load", "read_table", "read_text"]
