"""Annotated tables of texts with codes for their meaning; see :func:`load_table`."""

from lab.experiments.tables.annotated_table import Coded, GoldTable
from lab.experiments.tables.choose_reader import KINDS, load_table

__all__ = ["KINDS", "Coded", "GoldTable", "load_table"]
