"""Experiments: the error of each measure, on any terminology or annotated table.

They follow Wullschleger, Kreis, Walter, Foster and Pouly, "Consensus Measures for Unstructured Biomedical Text
Annotations" (2026); the setting ``paper`` is theirs.

Modules: ``generate`` makes populations of simulated raters from a terminology (``softirr.terminology``), ``tables``
reads annotated tables with gold codes, ``synthetic`` and ``real`` score them under measures (``scoring``) and keep what
was scored (``store``); ``gold`` is the truth, ``statistics`` tests them. ``analysis`` collects the results,
``measure_tables`` and ``figures`` show them, ``output``, ``page`` and ``report`` write them. ``results`` has what we
measured.
"""
