"""The sources of training pairs: terminologies, WordNet, the word lists of this project, labeled pairs.

Texts of benchmarks are left out first. Some concepts are held out for the development set.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lab.terminologies import load
from lab.terminologies.relations import texts_of
from lab.train.coded import aside_texts, coded_graph, parents_by_id
from lab.train.graph import Graph, Meanings
from lab.train.labeled import LabeledPairs, read_pairs
from lab.train.morphology import composed
from lab.train.recipe import EnglishFiles, files_of
from lab.train.source_graphs import read_wordnet, terminology_graph, with_neighbors, wordnet_graph
from lab.train.wordings import abbreviation_graph
from lab.train.words import LISTS, read_confused, read_list
from softirr.errors import InputError
from softirr.meaning.terminology.readers import read_table
from softirr.text import normalize

Say = Callable[[str], None]
ENGLISH = "en"


@dataclass(frozen=True)
class Sources:
    """The data that pairs of one language are drawn from.

    Attributes
    ----------
    graphs
        Concepts, one graph for each source. The terminologies are the first graph.
    pairs
        Labeled pairs, one entry for each file.
    antonyms
        Words of opposite meaning.
    confused
        Texts that look alike, are opposites or are often confused, and mean different things.
    kept_apart
        Pairs of texts that must not be drawn, as :func:`folded_pair` returns them.
    banned
        Fingerprints of benchmark texts. Composed texts must not equal one of them.
    notes
        Sentences about the texts that were read and left out.
    language
        Language code; ``translations`` for names of one concept in several languages.
    weight
        How often pairs are drawn from these sources, compared with other languages.
    """

    graphs: tuple[Graph, ...]
    pairs: tuple[LabeledPairs, ...] = ()
    antonyms: tuple[tuple[str, str], ...] = ()
    confused: tuple[tuple[str, str], ...] = ()
    kept_apart: frozenset[tuple[str, str]] = frozenset()
    banned: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    language: str = ENGLISH
    weight: float = 1.0

    @cached_property
    def meanings(self) -> Meanings:
        """Meanings of the texts of all graphs. Computing them takes some seconds for a large terminology."""
        return Meanings(self.graphs)


def gather(files: EnglishFiles, root: Path = Path(), say: Say = lambda sentence: None) -> Sources:
    """Read all English sources.

    Parameters
    ----------
    root
        Folder that the paths of `files` are relative to.
    say
        Is called with each note.

    Raises
    ------
    InputError
        If a source cannot be used, or there is nothing to train on.
    """
    gathering = _Gathering(files, root)
    gathering.read_graphs()
    if not any(len(forms) for graph in gathering.graphs for forms in graph.forms):
        raise InputError("There is nothing to train on: name a terminology, WordNet or the word lists.")
    sources = gathering.sources()
    for note in sources.notes:
        say(note)
    return sources


class _Gathering:
    """Reads the sources of one recipe, without the texts of benchmarks."""

    def __init__(self, files: EnglishFiles, root: Path) -> None:
        self._files, self._root = files, root
        texts, self._banned_pairs = _benchmarks(files_of(root, files.leave_out))
        self._banned = texts | aside_texts(files_of(root, files.wording))
        self._dropped: set[str] = set()
        self.graphs: list[Graph] = []
        self._notes = [f"Benchmarks: {len(texts):,} texts and {len(self._banned_pairs):,} pairs."]
        self._antonyms: tuple[tuple[str, str], ...] = ()
        self._confused: tuple[tuple[str, str], ...] = ()

    def _keep(self, text: str) -> bool:
        """Whether a text may be used, because no benchmark has it."""
        is_banned = text.casefold() in self._banned
        if is_banned:
            self._dropped.add(text.casefold())
        return not is_banned

    def _add(self, graph: Graph, share: float, among: Iterable[int] | None = None) -> None:
        self.graphs.append(held_out(graph, share, among))

    def read_graphs(self) -> None:
        """Read every source of concepts."""
        files, share = self._files, self._files.development
        if terminologies := [load(source) for source in files_of(self._root, files.terminology)]:
            self._add(terminology_graph(terminologies, self._keep), share)
            self._notes += [f"{t.name}: {len(t):,} concepts, {len(t.synonyms):,} synonyms." for t in terminologies]
        if files.abbreviations:
            tables = files_of(self._root, files.abbreviations)
            self._add(abbreviation_graph(tables, self._keep, share=3.0), share)
            self._notes.append(f"Abbreviations: {len(self.graphs[-1]):,} long forms.")
        parents = parents_by_id(load(source) for source in files_of(self._root, files.hierarchy))
        for file in files_of(self._root, files.wording):
            self._add(coded_graph(file, self._keep, parents=parents), share)
            self._notes.append(f"{self.graphs[-1].name}: {len(self.graphs[-1]):,} concepts as people word them.")
        if files.wordnet:
            self._add_wordnet()
        if files.word_lists:
            self._add_word_lists()

    def _add_wordnet(self) -> None:
        words = read_wordnet(self._root / self._files.wordnet)
        self._antonyms = words.antonyms
        graph = wordnet_graph(words, self._keep)
        self._add(graph, self._files.development / 2, [k for k in range(len(graph)) if graph.clinical[k]])
        self._notes.append(f"WordNet: {len(words.ids):,} synsets.")

    def _add_word_lists(self) -> None:
        for name in LISTS:
            word_list = read_list(name)
            forms = [[text for text in dict.fromkeys(group) if self._keep(text)] for group in word_list.groups]
            parents = [() if heading is None else (heading,) for heading in word_list.above]
            self.graphs.append(Graph(name, forms, parents=parents, share=self._files.word_lists))
        terms = composed()
        kept_forms = tuple(tuple(text for text in forms if self._keep(text)) for forms in terms.forms)
        self._add(replace(terms, forms=kept_forms), self._files.development / 2)
        self._notes.append(f"Word lists: {sum(len(g) for g in self.graphs[-len(LISTS) - 1 :]):,} concepts.")
        self._confused = tuple(pair for pair in read_confused() if all(map(self._keep, pair)))

    def sources(self) -> Sources:
        """The sources with the contrasts of all concepts, the labeled pairs, and the notes."""
        files, root = self._files, self._root
        pairs = tuple(self._labeled(file) for file in files_of(root, files.labeled))
        graphs = tuple(with_neighbors(_spread(self.graphs)))
        return Sources(
            graphs=graphs,
            pairs=pairs,
            antonyms=self._antonyms,
            confused=self._confused,
            kept_apart=frozenset(pair for file in files_of(root, files.keep_apart) for pair in _folded_pairs(file)),
            banned=frozenset(map(fingerprint, self._banned)),
            notes=(*self._notes, f"{len(self._dropped):,} texts are left out because a benchmark has them."),
            weight=files.share,
        )

    def _labeled(self, file: str) -> LabeledPairs:
        data = read_pairs(file)
        remaining = _without(data, self._banned_pairs)
        n_removed = len(data.pairs) - len(remaining.pairs)
        self._notes.append(
            f"{data.name}: {len(remaining.pairs):,} labeled pairs; {n_removed:,} benchmark pairs left out."
        )
        return remaining


def held_out(graph: Graph, share: float, among: Iterable[int] | None = None) -> Graph:
    """The graph with a share of the concepts held out for development.

    A hash of the first text decides, so that the choice does not depend on other sources.
    """
    is_held_out = [False] * len(graph)
    for k in range(len(graph)) if among is None else among:
        if graph.forms[k]:
            digest = hashlib.sha256(graph.forms[k][0].casefold().encode()).digest()
            is_held_out[k] = int.from_bytes(digest[:4], "big") < share * 2**32
    return replace(graph, held_out=tuple(is_held_out))


def _spread(graphs: Sequence[Graph]) -> list[Graph]:
    """A concept of one graph that has two texts of a held-out concept of another is held out too.

    Else its synonyms would be learned.
    """
    holders: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for g, graph in enumerate(graphs):
        for k in range(len(graph)):
            if graph.held_out[k]:
                for text in graph.forms[k]:
                    holders[text.casefold()].add((g, k))
    spread = []
    for graph in graphs:
        flags = list(graph.held_out)
        for k, forms in enumerate(graph.forms):
            met: dict[tuple[int, int], int] = {}
            for text in {t.casefold() for t in forms}:
                for holder in holders.get(text, ()):
                    met[holder] = met.get(holder, 0) + 1
            flags[k] = flags[k] or any(count > 1 for count in met.values())
        spread.append(replace(graph, held_out=tuple(flags)))
    return spread


def _benchmarks(sources: Sequence[str]) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """Case-folded texts of terminologies (folders) and of mentions, and case-folded pairs of labeled files."""
    texts: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    for source in sources:
        path = Path(source)
        if path.is_dir():
            texts.update(text.casefold() for text in texts_of(load(source)))
        elif (mentions := _mentions(path)) is not None:
            texts.update(mentions)
        else:
            pairs.update(_folded_pairs(source))
    return frozenset(texts), frozenset(pairs)


def _mentions(path: Path) -> set[str] | None:
    """Case-folded texts of a table with a column ``mention``; None for a table without it."""
    rows = read_table(path)
    first = next(rows, None)
    if first is None or "mention" not in first[1]:
        return None
    return {normalize(row["mention"]).casefold() for _, row in (first, *rows)}


def _folded_pairs(file: str) -> Iterable[tuple[str, str]]:
    for premise, hypothesis, _ in read_pairs(file).pairs:
        yield folded_pair(premise, hypothesis)


def folded_pair(text_a: str, text_b: str) -> tuple[str, str]:
    """Letters and digits of both texts, case-folded, the smaller first: data sets differ in spaces and punctuation."""
    a, b = ("".join(c for c in text.casefold() if c.isalnum()) for text in (text_a, text_b))
    return (a, b) if a <= b else (b, a)


def fingerprint(text: str) -> int:
    """A number for the case-folded text (64 bits of a hash)."""
    return int.from_bytes(hashlib.blake2b(text.casefold().encode(), digest_size=8).digest(), "little")


def _without(data: LabeledPairs, banned: Collection[tuple[str, str]]) -> LabeledPairs:
    remaining = [i for i, (a, b, _) in enumerate(data.pairs) if folded_pair(a, b) not in banned]
    new_position = {old: new for new, old in enumerate(remaining)}
    return replace(
        data,
        pairs=tuple(data.pairs[i] for i in remaining),
        contradictions=frozenset(new_position[i] for i in data.contradictions if i in new_position),
    )
