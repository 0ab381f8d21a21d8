"""Experiments: the error of each measure, on any terminology or annotated table.

They follow Wullschleger, Kreis, Walter, Foster and Pouly, "Consensus Measures for Unstructured Biomedical Text Annotations" (2026); the setting
``paper`` is theirs.

Modules: ``generate`` makes populations of simulated raters from a terminology (``softirr.terminology``), ``tables`` reads annotated tables with
gold codes, ``synthetic`` and ``real`` score them under measures (``scoring``) and keep what was scored (``store``); ``gold`` is the truth,
``estimators``, ``estimation`` and ``simulated_audit`` compare estimates of agreement, ``statistics`` tests them. ``analysis`` is what a run found,
``measure_tables`` and ``figures`` show it, ``output``, ``page`` and ``report`` write it. Where there are no gold codes, ``compare`` shows where
measures differ, and ``recommend`` says which measure judgements support. ``results`` holds what we
measured.
"""
