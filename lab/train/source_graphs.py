"""Graphs of concepts from terminologies and WordNet, and the neighbors of their concepts."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from lab.terminologies.folder import find
from lab.terminologies.source import SourceTerminology
from lab.train.graph import Graph, nearest
from lab.train.wordings import is_acronym
from lab.train.words import small_table
from softirr.errors import InputError
from softirr.meaning.terminology.readers import read_table
from softirr.text import normalize


@dataclass(frozen=True)
class WordNet:
    """Synsets by position.

    Attributes
    ----------
    ids, lemmas, lexfiles
        For each synset.
    hypernyms
        (synset, its hypernym).
    antonyms
        Pairs of lemmas with opposite meanings.
    """

    ids: tuple[str, ...]
    lemmas: tuple[tuple[str, ...], ...]
    lexfiles: tuple[str, ...]
    hypernyms: tuple[tuple[int, int], ...]
    antonyms: tuple[tuple[str, str], ...]


def read_wordnet(folder: str | os.PathLike[str]) -> WordNet:
    """Read ``synsets.tsv.gz`` (synset, lexfile, lemmas, hypernyms) and ``antonyms.tsv.gz``.

    Raises
    ------
    InputError
        If ``synsets`` is missing, damaged, or without these columns.
    """
    root = Path(folder)
    path = find(root, "synsets")
    if path is None:
        raise InputError(f"{root} has no synsets.tsv.gz, so it is not a WordNet folder.")
    position: dict[str, int] = {}
    lemmas: list[tuple[str, ...]] = []
    lexfiles: list[str] = []
    links: list[str] = []
    for _, row in read_table(path, ("synset", "lemmas", "hypernyms", "lexfile")):
        position[row["synset"]] = len(lemmas)
        lemmas.append(
            tuple(dict.fromkeys(normalize(x.replace("_", " ")) for x in row["lemmas"].split("|") if x.strip()))
        )
        lexfiles.append(row["lexfile"])
        links.append(row["hypernyms"])
    if not lemmas:
        raise InputError(f"{path} contains no synset.")
    hypernyms = tuple(
        (k, position[parent]) for k, line in enumerate(links) for parent in line.split("|") if parent in position
    )
    path = find(root, "antonyms")
    antonyms = set()
    if path is not None:
        for _, row in read_table(path):
            lemma = normalize(row.get("lemma", "").replace("_", " "))
            antonym = normalize(row.get("antonym_sense", "").partition("%")[0].replace("_", " "))
            if lemma and antonym and lemma != antonym:
                antonyms.add((min(lemma, antonym), max(lemma, antonym)))
    return WordNet(tuple(position), tuple(lemmas), tuple(lexfiles), hypernyms, tuple(sorted(antonyms)))


_FORM, _NARROWER, _BROADER, _RELATED = range(4)
_TABLE_OF_SCOPE = {
    **dict.fromkeys(("EXACT", "ENTRY"), _FORM),
    **dict.fromkeys(("NARROW", "INCLUSION", "INCLUDES"), _NARROWER),
    "BROAD": _BROADER,
    "RELATED": _RELATED,
}
_NEIGHBORS = 8


def terminology_graph(
    terminologies: Sequence[SourceTerminology],
    keep: Callable[[str], bool] = lambda text: True,
) -> Graph:
    """Terminologies as one graph; an id that several have is one concept with the names of all.

    RELATED synonyms count as entailing their concept, because most of them do no more. An acronym is entailed by the
    names.

    Parameters
    ----------
    keep
        Whether a text may be used.
    """
    position: dict[str, int] = {}
    for t in terminologies:
        for key in t.ids:
            position.setdefault(key, len(position))
    n = len(position)
    forms, narrower, broader, related = tables = [[dict[str, str]() for _ in range(n)] for _ in range(4)]
    parents: list[dict[int, None]] = [{} for _ in range(n)]
    origin = [-1] * n
    for number, t in enumerate(terminologies):
        concepts = [position[key] for key in t.ids]
        for k, names in zip(concepts, t.names, strict=True):
            origin[k] = number if origin[k] < 0 else origin[k]
            _add(forms[k], names[0], keep)
        for child, above in enumerate(t.parents):
            parents[concepts[child]].update((concepts[parent], None) for parent in above)
        for k, text, scope in t.synonyms:
            if scope in _TABLE_OF_SCOPE:
                _add(tables[_TABLE_OF_SCOPE[scope]][concepts[k]], text, keep)
    one_way = [_take_acronyms(forms[k], related[k]) for k in range(n)]
    return Graph(
        ", ".join(t.name for t in terminologies),
        [tuple(f.values()) for f in forms],
        [tuple(p) for p in parents],
        narrower=[tuple(x.values()) for x in narrower],
        broader=[tuple(x.values()) for x in broader],
        one_way=one_way,
        origin=origin,
        share=3.0,  # the purpose of the training; word lists and the dictionary are always added
    )


def _take_acronyms(names: dict[str, str], related: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Remove the acronyms of a concept with other names; return pairs in which the first text entails the second."""
    full = [text for text in names.values() if not is_acronym(text)]
    if not full:
        return ()
    short = [text for text in names.values() if is_acronym(text)]
    for text in short:
        del names[text.casefold()]
    pairs = [(name, text) for text in short for name in full[:3]]
    return (*pairs, *((text, full[0]) for text in related.values() if not is_acronym(text)))


def wordnet_graph(words: WordNet, keep: Callable[[str], bool] = lambda text: True) -> Graph:
    """WordNet as a graph.

    Capitalized lemmas of people and places are left out: they have too many neighbors, which are too easy.
    """
    clinical_files = small_table("clinical_files")
    names = [file.startswith(("noun.person", "noun.location", "noun.group")) for file in words.lexfiles]
    forms = [
        () if names[k] and lemmas[:1] and lemmas[0][:1].isupper() else tuple(t for t in lemmas if keep(t))
        for k, lemmas in enumerate(words.lemmas)
    ]
    parents: list[list[int]] = [[] for _ in forms]
    for child, parent in words.hypernyms:
        parents[child].append(parent)
    return Graph(
        "WordNet",
        forms,
        parents=parents,
        clinical=[file in clinical_files for file in words.lexfiles],
        share=0.6,
    )


def with_neighbors(graphs: Sequence[Graph], limit: int | None = None) -> list[Graph]:
    """The graphs with contrasts for each clinical concept: those with the most similar first names.

    Parameters
    ----------
    limit
        Number of concepts of a terminology that are compared; a larger terminology is sampled.
    """
    return [graph if any(graph.contrasts) else _neighbored(graph, limit) for graph in graphs]


def _neighbored(graph: Graph, limit: int | None) -> Graph:
    """Neighbors of the same terminology only: two terminologies may hold one concept under different ids and names."""
    concepts_by_origin: defaultdict[int, list[int]] = defaultdict(list)
    for k in range(len(graph)):
        if graph.forms[k] and graph.clinical[k]:
            concepts_by_origin[graph.origin[k]].append(k)
    neighbors: list[dict[int, None]] = [{} for _ in range(len(graph))]
    for concepts in concepts_by_origin.values():
        members = concepts if limit is None or len(concepts) <= limit else sorted(Random(0).sample(concepts, limit))
        for row, columns in nearest([graph.forms[k][0] for k in members], _NEIGHBORS if len(members) > 2 else 0):
            k = members[row]
            neighbors[k].update((members[column], None) for column in columns if members[column] != k)
    return replace(graph, contrasts=[tuple(concepts) for concepts in neighbors])


def _add(table: dict[str, str], text: str, keep: Callable[[str], bool]) -> None:
    if keep(text):
        table.setdefault(text.casefold(), text)
