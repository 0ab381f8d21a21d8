"""OBO Graphs: the JSON form of OBO and OWL ontologies (``hp.json``, ``mondo.json``).

Deprecated classes and links other than ``is_a`` are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.terminologies.source import SourceBuilder
from softirr.errors import InputError
from softirr.meaning.terminology.readers import opened

_PURL = "http://purl.obolibrary.org/obo/"
_SCOPES = {
    "hasExactSynonym": "EXACT",
    "hasNarrowSynonym": "NARROW",
    "hasBroadSynonym": "BROAD",
    "hasRelatedSynonym": "RELATED",
}


def read(path: Path, builder: SourceBuilder) -> None:
    """Fill the builder from an OBO Graphs file.

    Raises
    ------
    InputError
        If the file is no OBO Graphs.
    """
    for graph in _graphs(path):
        for number, node in enumerate(_objects(graph, "nodes", path), start=1):
            meta = node.get("meta") or {}
            if not isinstance(meta, dict):
                raise InputError(f"{path}, node {number}: its meta is not an object.")
            if meta.get("deprecated") or node.get("type", "CLASS") != "CLASS" or not node.get("lbl"):
                continue
            id = short_id(str(node.get("id", "")))
            if id in builder:
                continue  # the same class in a second graph
            builder.concept(id, str(node["lbl"]), number)
            for synonym in _objects(meta, "synonyms", path):
                scope = _SCOPES.get(str(synonym.get("pred")), "RELATED")
                builder.synonym(id, str(synonym.get("val", "")), scope)
        for edge in _objects(graph, "edges", path):
            if edge.get("pred") in ("is_a", "subClassOf"):
                builder.parent(short_id(str(edge.get("sub", ""))), short_id(str(edge.get("obj", ""))))


def short_id(uri: str) -> str:
    """An OBO class by its short identifier.

    Examples
    --------
    >>> short_id("http://purl.obolibrary.org/obo/HP_0000118")
    'HP:0000118'
    """
    return uri.removeprefix(_PURL).replace("_", ":", 1) if uri.startswith(_PURL) else uri


def parsed_json(path: Path, data: bytes) -> Any:
    """The content of a JSON file; InputError if it is not valid JSON."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}).") from None
    except (UnicodeDecodeError, RecursionError):
        raise InputError(f"{path}, line 1: not valid JSON.") from None


def _graphs(path: Path) -> Iterator[dict[str, Any]]:
    with opened(path) as file:
        content = parsed_json(path, file.read())
    if not isinstance(content, dict) or "graphs" not in content:
        raise InputError(f"{path}, line 1: no OBO Graphs file, it has no graphs.")
    yield from _objects(content, "graphs", path)


def _objects(of: dict[str, Any], key: str, path: Path) -> Iterator[dict[str, Any]]:
    values = of.get(key) or []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise InputError(f"{path}: its {key} are not a list of objects.")
    yield from values
