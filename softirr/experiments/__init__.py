"""The paper's experiments, on any terminology or annotated table: which measure to trust, for which kind of text.

Rooms: ``terminology`` reads vocabularies, ``generate`` makes populations of pretended raters from them, ``tables`` reads annotated tables with
gold codes, ``scoring`` scores either under a measure and keeps what it scored (``store``), ``estimators`` and ``statistics`` judge the
scores, ``analysis`` makes the tables, ``figures`` and ``page`` show them, ``recommend`` helps where there are no gold codes.
"""
