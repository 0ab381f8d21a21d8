"""The paper's experiments, on any terminology or annotated table: which measure to trust, for which kind of text.

Rooms: ``generate`` makes populations of pretended raters from a terminology (``softirr.terminology``), ``tables`` reads annotated tables with
gold codes, ``synthetic`` and ``real`` score them under measures (``scoring``) and keep what was scored (``store``); ``gold`` is the truth,
``estimators``, ``estimation`` and ``simulated_audit`` compare estimates of agreement, ``statistics`` tests them; ``analysis`` makes the tables,
``figures``, ``output``, ``page`` and ``report`` write them; ``recommend`` helps where there are no gold codes. ``results`` holds what we measured.
"""
