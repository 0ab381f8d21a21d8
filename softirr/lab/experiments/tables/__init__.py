"""Annotated tables: what people wrote, with codes for what they meant; see :func:`load_table`."""

from softirr.lab.experiments.tables.base import Coded, GoldTable
from softirr.lab.experiments.tables.load import KINDS, load_table

__all__ = ["KINDS", "Coded", "GoldTable", "load_table"]
