"""An agreement report for a paper.

Methods, tables, figure, limitations and references, and an evidence bundle to check it.
"""
