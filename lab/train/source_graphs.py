"""Graphs of concepts from terminologies and WordNet, and the neighbors of their concepts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lab.terminologies import named_paths
from lab.terminologies.folder import find
from lab.train.graph import Graph, nearest
from lab.train.wordings import is_acronym
from lab.train.wordnet import CLINICAL_FILES, WordNet
from softirr.meaning.terminology import Terminology, read_table
from softirr.text import normalize

Embed = Callable[[Sequence[str]], np.ndarray]

_EQUIVALENT = frozenset({"EXACT", "ENTRY"})

_NARROWER = frozenset({"NARROW", "INCLUSION", "INCLUDES"})

_BROADER = frozenset({"BROAD"})

_RELATED = frozenset({"RELATED"})

_NEIGHBOURS = 8

_LONG_DEFINITION = 40
"""Words of a definition at most."""


def terminology_graph(
    terminologies: Sequence[Terminology],
    keep: Callable[[str], bool] = lambda text: True,
    definitions: Mapping[str, str] | None = None,
) -> Graph:
    """Terminologies as one graph; an id that several have is one concept with the names of all.

    RELATED synonyms count as entailing their concept, because most of them do no more. An acronym is entailed by the
    names.

    Parameters
    ----------
    keep
        Whether a text may be used.
    definitions
        By id.
    """
    position: dict[str, int] = {}
    for t in terminologies:
        for key in t.ids:
            position.setdefault(key, len(position))
    n = len(position)
    forms, narrower, broader, related = ([dict[str, str]() for _ in range(n)] for _ in range(4))
    tables: dict[str, list[dict[str, str]]] = {}
    for scopes, table in ((_EQUIVALENT, forms), (_NARROWER, narrower), (_BROADER, broader), (_RELATED, related)):
        tables.update(dict.fromkeys(scopes, table))
    parents: list[dict[int, None]] = [{} for _ in range(n)]
    origin = [-1] * n
    for number, t in enumerate(terminologies):
        where = [position[key] for key in t.ids]
        for k in where:
            origin[k] = number if origin[k] < 0 else origin[k]
        for k, names in enumerate(t.names):
            _add(forms[where[k]], names[0], keep)
            for parent in t.parents[k]:
                parents[where[k]][where[parent]] = None
        for k, text, scope in t.synonyms:
            if scope in tables:
                _add(tables[scope][where[k]], text, keep)
    one_way: list[dict[tuple[str, str], None]] = [{} for _ in range(n)]
    for k, by_fold in enumerate(forms):
        short = [text for text in by_fold.values() if is_acronym(text)]
        full = [text for text in by_fold.values() if not is_acronym(text)]
        if full:
            for text in short:
                del by_fold[text.casefold()]
            one_way[k].update(((name, text), None) for text in short for name in full[:3])
            one_way[k].update(((text, full[0]), None) for text in related[k].values() if not is_acronym(text))
    given = definitions or {}
    return Graph.build(
        ", ".join(t.name for t in terminologies),
        [tuple(f.values()) for f in forms],
        parents=[tuple(p) for p in parents],
        narrower=[tuple(x.values()) for x in narrower],
        broader=[tuple(x.values()) for x in broader],
        one_way=[tuple(pairs) for pairs in one_way],
        definitions=[given.get(key, "") for key in position],
        origin=origin,
        share=3.0,  # what the training is for; word lists and the dictionary are always added
    )


def definitions(sources: Sequence[str]) -> dict[str, str]:
    """Definitions of the terminologies that are folders with a table of them, by id.

    Long ones are cut after the first sentence.
    """
    by_id: dict[str, str] = {}
    for source in sources:
        _, path, _ = named_paths(source)
        file = find(path, "definitions") if path.is_dir() else None
        for _, row in read_table(file, ("id", "definition")) if file is not None else ():
            text = normalize(row["definition"])
            if len(text.split()) > _LONG_DEFINITION:
                text = text.partition(". ")[0]
            if len(text.split()) <= _LONG_DEFINITION:
                by_id.setdefault(row["id"].strip(), text)
    return by_id


def wordnet_graph(words: WordNet, keep: Callable[[str], bool] = lambda text: True) -> Graph:
    """WordNet as a graph.

    Capitalized lemmas of people and places are left out: they have too many neighbors, which are too easy.
    """
    names = [file.startswith(("noun.person", "noun.location", "noun.group")) for file in words.lexfiles]
    forms = [
        () if names[k] and lemmas[:1] and lemmas[0][:1].isupper() else tuple(t for t in lemmas if keep(t))
        for k, lemmas in enumerate(words.lemmas)
    ]
    parents: list[list[int]] = [[] for _ in forms]
    for child, parent in words.hypernyms:
        parents[child].append(parent)
    return Graph.build(
        "WordNet",
        forms,
        parents=parents,
        definitions=[d if keep(d) else "" for d in words.definitions],
        clinical=[file in CLINICAL_FILES for file in words.lexfiles],
        share=0.6,
    )


def with_neighbors(graphs: Sequence[Graph], embed: Embed | None) -> list[Graph]:
    """The graphs with contrasts for each clinical concept.

    The closest others by spelling, and by meaning where there are vectors.
    """
    return [graph if any(graph.contrasts) else _neighbored(graph, embed) for graph in graphs]


def _neighbored(graph: Graph, embed: Embed | None) -> Graph:
    """Neighbors of the same terminology only: two terminologies may hold one concept under different ids and names."""
    parts: defaultdict[int, list[int]] = defaultdict(list)
    for k in range(len(graph)):
        if graph.forms[k] and graph.clinical[k]:
            parts[graph.origin[k] if graph.origin else 0].append(k)
    neighbors: list[dict[int, None]] = [{} for _ in range(len(graph))]
    for usable in parts.values():
        if len(usable) >= 3:
            _find_neighbors([graph.forms[k][0] for k in usable], usable, neighbors, embed)
    return graph.with_contrasts(neighbors)


def _find_neighbors(first: list[str], usable: list[int], neighbors: list[dict[int, None]], embed: Embed | None) -> None:
    """Add to each usable concept's neighbors the concepts with the closest first texts by spelling and meaning."""
    for row, places in nearest(first, _NEIGHBOURS, None if embed is None else embed(first)):
        k = usable[row]
        neighbors[k].update((usable[place], None) for place in places if usable[place] != k)


def _add(table: dict[str, str], text: str, keep: Callable[[str], bool]) -> None:
    if keep(text):
        table.setdefault(text.casefold(), text)
