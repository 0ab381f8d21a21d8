"""Experiments: the error of each measure, on any terminology or annotated table.

They follow Wullschleger, Kreis, Walter, Foster and Pouly, "Consensus Measures for Unstructured Biomedical Text
Annotations" (2026); the setting ``paper`` is theirs.

Modules: ``generate`` makes populations of simulated raters from a terminology, ``tables`` reads annotated tables with
gold codes, and ``run`` scores both (``scoring``). ``analysis`` collects the results, ``statistics`` tests them,
``measure_tables`` shows them, and ``report`` writes them. ``results`` has what we measured.
"""
