"""Sources of pairs in other languages than English: one for each language, and one of translations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lab.experiments.wording import CodedText, is_aside
from lab.terminologies import load
from lab.terminologies.relations import texts_of
from lab.terminologies.source import SourceTerminology
from lab.train.coded import graph_of_rows
from lab.train.graph import Graph
from lab.train.labeled import LabeledPairs
from lab.train.language import language, listed_languages
from lab.train.recipe import LanguageFiles, files_of
from lab.train.source_graphs import terminology_graph, with_neighbors
from lab.train.sources import ENGLISH, Say, Sources, fingerprint, held_out
from lab.train.words import read_medical
from softirr.meaning.terminology.readers import read_table
from softirr.text import normalize

TRANSLATIONS = "translations"
"""Language code of the concepts with names in several languages."""
_LONGEST = 120
"""Characters of a name at most."""
_LONGEST_PAIR = 480
_FEWEST = 150
"""Concepts that a language needs."""
_ENOUGH = 2000
"""Concepts from which a language has its full weight."""
_COMPARED = 7000
"""Concepts of one language that are compared by letters at most."""
_SHARE_OF_TRANSLATIONS = 0.07
_DEVELOPMENT = 0.06
_LABELS = {
    "same": (1, 1), "entailment": (1, None), "contradiction": (0, 0), "neutral": (0, None), "different": (0, 0),
}  # fmt: skip
"""Whether the first text entails the second, and the reverse; None if that is unknown."""

Names = dict[str, dict[str, dict[str, str]]]
"""Language -> concept -> text -> scope."""


def gather_languages(files: LanguageFiles, root: Path, say: Say = lambda sentence: None) -> list[Sources]:
    """Read all sources of other languages; their weights add up to 1.

    A third of the concepts of each source is set aside, as by :func:`lab.experiments.wording.is_aside`.
    """
    tables = _Tables(files, root)
    sources = [tables.sources(code) for code in tables.codes()]
    total = sum(source.weight for source in sources) / (1 - _SHARE_OF_TRANSLATIONS)
    say(f"{len(sources)} languages, {sum(len(graph) for s in sources for graph in s.graphs):,} concepts.")
    translations = _translations(tables.names, tables.parents, read_medical())
    return [
        *(replace(source, weight=source.weight / total) for source in sources),
        Sources((translations,), language=TRANSLATIONS, weight=_SHARE_OF_TRANSLATIONS),
    ]


class _Tables:
    """The tables of all languages, without the texts of benchmarks."""

    def __init__(self, files: LanguageFiles, root: Path) -> None:
        self._banned = {text.casefold() for path in files_of(root, files.leave_out) for text in texts_of(load(path))}
        concept_tables = files_of(root, files.concepts)
        self.names = _read_names(concept_tables, self._keep)
        self.parents = _read_parents(concept_tables)
        self._antonyms: list[tuple[str, str]] = []
        if files.princeton:
            english, self._antonyms = read_princeton(root / files.princeton)
            for concept, lemmas in english.items():
                if not is_aside(concept):
                    self.names[ENGLISH][concept] = {text: "EXACT" for text in lemmas if self._keep(text)}
        self._labeled = _read_labeled(files_of(root, files.labeled), files.one_direction)
        self._coded = _read_coded(files_of(root, files.wording))

    def _keep(self, text: str) -> bool:
        return bool(text) and text.casefold() not in self._banned

    def codes(self) -> list[str]:
        """Languages with wordings or with enough concepts, except English."""
        listed = set(listed_languages())
        return sorted(listed | {code for code, names in self.names.items() if len(names) >= _FEWEST} - {ENGLISH})

    def sources(self, code: str) -> Sources:
        """The sources of one language."""
        names = self.names.get(code, {})
        coded = [
            graph_of_rows(f"{name} {code}", rows, self._keep, {}, self.parents)
            for name, rows in self._coded.get(code, ())
        ]
        words = [tuple(filter(self._keep, row.get(code, ()))) for row in read_medical()]
        graphs = [_named(code, names, self.parents), *coded, Graph("medical words", words, share=3.0)]
        graphs = [held_out(graph, _DEVELOPMENT) for graph in graphs if len(graph)]
        # a language that only has wordings and medical words counts little
        n_concepts = max(len(names), _ENOUGH // 20)
        return Sources(
            tuple(with_neighbors(graphs, _COMPARED)),
            tuple(self._labeled.get(code, ())),
            antonyms=tuple(_names_of_pairs(self._antonyms, names)),
            banned=frozenset(map(fingerprint, self._banned)),
            language=code,
            weight=language(code).weight * min(1.0, n_concepts / _ENOUGH) ** 0.5,
        )


def _read_names(tables: Iterable[str], keep: Callable[[str], bool]) -> Names:
    names: Names = defaultdict(lambda: defaultdict(dict))
    for table in tables:
        if table.endswith(".is_a.tsv.gz"):
            continue
        for _, row in read_table(Path(table), ("lang", "concept", "text", "scope")):
            text = normalize(row["text"])
            if keep(text) and len(text) <= _LONGEST and not is_aside(row["concept"]):
                scopes = names[row["lang"]][row["concept"]]
                if scopes.get(text) != "EXACT":
                    scopes[text] = row["scope"]
    return names


def _read_parents(tables: Iterable[str]) -> dict[str, list[str]]:
    parents: defaultdict[str, list[str]] = defaultdict(list)
    for table in tables:
        if table.endswith(".is_a.tsv.gz"):
            for _, row in read_table(Path(table), ("child", "parent")):
                parents[row["child"]].append(row["parent"])
    return dict(parents)


def read_princeton(folder: Path) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """Lemmas of WordNet 3.0 by the id of Open Multilingual Wordnet, and pairs of ids with opposite meanings.

    The ids number the synsets of adjectives, adverbs, verbs and nouns in the order of the files.
    """
    lemmas: dict[str, list[str]] = {}
    keys: dict[tuple[str, str], str] = {}
    links: list[tuple[tuple[str, str], tuple[str, str]]] = []
    for letter, name in (("a", "adj"), ("r", "adv"), ("v", "verb"), ("n", "noun")):
        for line in (folder / f"data.{name}").read_text(encoding="latin-1").splitlines():
            if line.startswith("  "):
                continue
            cells = line.partition("|")[0].split()
            n_words = int(cells[3], 16)
            key = keys[letter, cells[0]] = f"i{len(keys) + 1}"
            words = cells[4 : 4 + 2 * n_words : 2]
            lemmas[key] = [re.sub(r"\((?:a|p|ip)\)$", "", word).replace("_", " ") for word in words]
            start = 5 + 2 * n_words
            for k in range(start, start + 4 * int(cells[start - 1]), 4):
                if cells[k] == "!":
                    links.append(((letter, cells[0]), ("a" if cells[k + 2] == "s" else cells[k + 2], cells[k + 1])))
    return lemmas, sorted({(keys[first], keys[second]) for first, second in links})


def _names_of_pairs(pairs: Iterable[tuple[str, str]], names: dict[str, dict[str, str]]) -> Iterator[tuple[str, str]]:
    """The names of each pair of opposite concepts, the first exact name of both."""
    for concepts in pairs:
        first, second = (
            next((text for text, scope in names.get(concept, {}).items() if scope == "EXACT"), None)
            for concept in concepts
        )
        if first and second and first.casefold() != second.casefold():
            yield first, second


def _read_labeled(tables: Iterable[str], one_direction: Iterable[str]) -> dict[str, list[LabeledPairs]]:
    """Labeled pairs by language, one entry for each table."""
    result: defaultdict[str, list[LabeledPairs]] = defaultdict(list)
    for table in tables:
        name = Path(table).name.removesuffix(".tsv.gz")
        pairs: defaultdict[str, list[tuple[str, str, int]]] = defaultdict(list)
        for _, row in read_table(Path(table), ("lang", "text_a", "text_b", "label")):
            a, b = normalize(row["text_a"]), normalize(row["text_b"])
            forward, backward = _LABELS.get(row["label"], (None, None))
            if forward is None or not a or not b or len(a) + len(b) > _LONGEST_PAIR or a.casefold() == b.casefold():
                continue
            pairs[row["lang"]].append((a, b, forward))
            if backward is not None and name not in one_direction:
                pairs[row["lang"]].append((b, a, backward))
        for code, labeled in pairs.items():
            result[code].append(LabeledPairs(name, tuple(labeled)))
    return result


def _read_coded(tables: Iterable[str]) -> dict[str, list[tuple[str, list[CodedText]]]]:
    """Coded texts by language, one entry for each table."""
    result: defaultdict[str, list[tuple[str, list[CodedText]]]] = defaultdict(list)
    for table in tables:
        rows: defaultdict[str, list[CodedText]] = defaultdict(list)
        for _, row in read_table(Path(table), ("text", "concept", "source_id")):
            code = row.get("lang") or row["source_id"]
            rows[code].append(CodedText("", row["concept"], normalize(row["text"]), ""))
        for code, texts in rows.items():
            result[code].append((Path(table).name.removesuffix(".tsv.gz"), texts))
    return result


def _named(name: str, names: dict[str, dict[str, str]], parents: dict[str, list[str]]) -> Graph:
    """The concepts of one language that have an exact name."""
    exact = {c: [t for t, scope in texts.items() if scope == "EXACT"] for c, texts in names.items()}
    ids = [concept for concept, texts in exact.items() if texts]
    position = {concept: k for k, concept in enumerate(ids)}
    return terminology_graph(
        [
            SourceTerminology(
                name,
                tuple(ids),
                tuple(tuple(exact[c]) for c in ids),
                tuple(tuple(position[p] for p in parents.get(c, ()) if p in position) for c in ids),
                synonyms=tuple((k, text, scope) for k, c in enumerate(ids) for text, scope in names[c].items()),
            )
        ]
    )


def _translations(names: Names, parents: dict[str, list[str]], medical: list[dict[str, tuple[str, ...]]]) -> Graph:
    """Concepts with the first name of each language that has one; names of one concept mean the same."""
    shared: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for concepts in names.values():
        for concept, texts in concepts.items():
            first = next((text for text, scope in texts.items() if scope == "EXACT"), None)
            if first is not None:
                shared[concept].setdefault(first, "EXACT")
    for number, row in enumerate(medical):
        shared[f"medical {number}"] = {text: "EXACT" for forms in row.values() for text in forms}
    return _named(TRANSLATIONS, {c: texts for c, texts in shared.items() if len(texts) > 1}, parents)
