"""One view of a report: every sentence, number, order and link that a surface shows."""

from softirr.report.view.build import view
from softirr.report.view.parts import Links, Names, View

__all__ = ["Links", "Names", "View", "view"]
