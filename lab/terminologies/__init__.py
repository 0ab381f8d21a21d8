"""Controlled vocabularies in the formats of their publishers, for experiments and training.

softirr itself reads a table of concepts and OBO; this package adds ICD-10-CM, ICD-11, MeSH, MedDRA, SNOMED CT, SKOS,
OBO Graphs and folders of tables.
"""

from lab.terminologies.load import load, named_paths

__all__ = ["load", "named_paths"]
