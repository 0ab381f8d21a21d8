"""One view of a report: every sentence, number, order and link that a surface shows."""

from softirr.report.view.build import view
from softirr.report.view.names import Links, Names, adapted
from softirr.report.view.parts import View
from softirr.report.view.verdict import verdict_of

__all__ = ["Links", "Names", "View", "adapted", "verdict_of", "view"]
