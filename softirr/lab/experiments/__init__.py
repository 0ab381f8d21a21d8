"""The paper's experiments, on any terminology or annotated table: which measure to trust, for which kind of text.

Rooms: ``generate`` makes populations of pretended raters from a terminology (``softirr.terminology``), ``tables`` reads annotated tables with
gold codes, ``synthetic`` and ``real`` score them under measures (``scoring``) and keep what was scored (``store``); ``gold`` is the truth,
``estimators``, ``estimation`` and ``simulated_audit`` compare estimates of agreement, ``statistics`` tests them. ``analysis`` is what a run found,
``measure_tables`` and ``figures`` show it, ``output``, ``page`` and ``report`` write it. Where there are no gold codes, ``compare`` shows where
measures differ, ``sheet`` draws text pairs to judge, and ``recommend`` says which measure the judgements support. ``results`` holds what we
measured.
"""
