"""An agreement report for a paper: methods, tables, figure, limitations and references, and an evidence bundle to check it."""
