"""Reading WordNet as a terminology of everyday words.

Lemmas are synonyms, hypernyms parents, and the definition is a synonym in lay words.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from lab.terminologies.folder import find
from softirr.errors import InputError
from softirr.meaning.terminology import read_table
from softirr.text import normalize

CLINICAL_FILES = frozenset(
    {
        "noun.state",
        "noun.body",
        "noun.substance",
        "noun.process",
        "noun.phenomenon",
        "noun.attribute",
        "noun.feeling",
        "verb.body",
        "adj.pert",
        "noun.quantity",
        "noun.shape",
        "noun.event",
    }
)
"""WordNet's own division into files: those nearest to what annotators of clinical text write about."""


@dataclass(frozen=True)
class WordNet:
    """Synsets by position.

    Attributes
    ----------
    ids, lemmas, definitions, lexfiles
        Of each synset. Definitions end at the first semicolon and have no remarks in brackets.
    hypernyms
        (synset, its hypernym).
    antonyms
        Pairs of lemmas with opposite meanings.
    """

    ids: tuple[str, ...]
    lemmas: tuple[tuple[str, ...], ...]
    definitions: tuple[str, ...]
    lexfiles: tuple[str, ...]
    hypernyms: tuple[tuple[int, int], ...]
    antonyms: tuple[tuple[str, str], ...]


def read_wordnet(folder: str | os.PathLike[str]) -> WordNet:
    """Read ``synsets.tsv.gz`` (synset, lexfile, lemmas, hypernyms, definition) and ``antonyms.tsv.gz``.

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
    definitions: list[str] = []
    lexfiles: list[str] = []
    links: list[str] = []
    for line, row in read_table(path):
        if not {"synset", "lemmas", "hypernyms", "definition", "lexfile"} <= row.keys():
            raise InputError(
                f"{path}, line {line}: the columns synset, lexfile, lemmas, hypernyms, definition are needed."
            )
        position[row["synset"]] = len(lemmas)
        lemmas.append(
            tuple(dict.fromkeys(normalize(x.replace("_", " ")) for x in row["lemmas"].split("|") if x.strip()))
        )
        definitions.append(normalize(re.sub(r"\([^)]*\)", " ", row["definition"]).split(";")[0]))
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
    return WordNet(
        tuple(position), tuple(lemmas), tuple(definitions), tuple(lexfiles), hypernyms, tuple(sorted(antonyms))
    )
