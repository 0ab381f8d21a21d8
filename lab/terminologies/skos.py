"""SKOS thesauri, in Turtle, N-Triples or RDF/XML (the extra ``skos``).

Preferred, alternative and hidden labels of every language are names; the preferred name is the English one, else one
without a language, else the first. Parents are the concepts that ``broader`` names, or that name the concept as
``narrower``.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder
from softirr.meaning.terminology.readers import opened

SUFFIXES = {".ttl": "turtle", ".nt": "nt", ".rdf": "xml", ".xml": "xml"}
"""Formats by the end of the file's name."""
ROOT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}RDF"


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from a SKOS file.

    Raises
    ------
    InputError
        If rdflib is not installed, or the file can't be read.
    """
    try:
        from lxml import etree
        from rdflib import Graph
        from rdflib.namespace import RDF, SKOS
    except ImportError:
        raise InputError(f"{path}: reading SKOS needs rdflib; pip install 'softirr[lab]'.") from None
    with opened(path) as file:
        data = file.read()
    graph = Graph()
    # literals that do not fit their data type are warned about with their text
    logging.getLogger("rdflib.term").setLevel(logging.ERROR)
    format = SUFFIXES[Path(path.name.removesuffix(".gz")).suffix.casefold()]
    try:
        if format == "xml":
            etree.fromstring(
                data, etree.XMLParser(no_network=True)
            )  # rdflib's parser has no limit for entities of entities
        graph.parse(data=data, format=format)
    except Exception as error:  # noqa: BLE001 - each of rdflib's parsers raises other errors
        message = " ".join(str(error).split())[:120]
        raise InputError(f"{path} can't be read as RDF ({type(error).__name__}: {message}).") from None
    concepts = sorted({*graph.subjects(RDF.type, SKOS.Concept), *graph.subjects(SKOS.prefLabel, None)}, key=str)
    for number, concept in enumerate(concepts, start=1):
        labels = sorted(graph.objects(concept, SKOS.prefLabel), key=_order)
        if not labels:
            continue  # a concept of another thesaurus, named without its label
        builder.concept(str(concept), str(labels[0]), number)
        for kind in (SKOS.prefLabel, SKOS.altLabel, SKOS.hiddenLabel):
            for label in sorted(graph.objects(concept, kind), key=_order):
                builder.synonym(str(concept), str(label))
    for kind in (SKOS.broader, SKOS.broaderTransitive):
        for child, parent in sorted(graph.subject_objects(kind), key=str):
            builder.parent(str(child), str(parent))
    for parent, child in sorted(graph.subject_objects(SKOS.narrower), key=str):
        builder.parent(str(child), str(parent))


def _order(label: Any) -> tuple[int, str]:
    """English first, then labels without a language."""
    language = getattr(label, "language", None)
    return (0 if (language or "").startswith("en") else 1 if language is None else 2, str(label))
