"""The sources of training pairs: terminologies, WordNet, this project's words, labeled pairs.

Texts of a benchmark are left out first, and part of the concepts is kept for development.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from lab.terminologies import load
from lab.train.coded import aside_texts, coded_graph, parents_by_id
from lab.train.graph import Graph
from lab.train.labeled import LabeledPairs, read_pairs
from lab.train.morphology import composed
from lab.train.same_meaning import Meanings
from lab.train.source_graphs import Embed, definitions, terminology_graph, with_neighbors, wordnet_graph
from lab.train.wordings import abbreviation_graph, nouns_for, read_word_forms
from lab.train.wordnet import WordNet, read_wordnet
from lab.train.words import LISTS, read_confused, read_list
from softirr.errors import InputError
from softirr.meaning.terminology import read_table
from softirr.meaning.terminology.text_files import lines
from softirr.text import normalize

Say = Callable[[str], None]


@dataclass(frozen=True)
class Sources:
    """What pairs are drawn from.

    Attributes
    ----------
    graphs
        Concepts, one graph per source. The given terminologies are the first graph.
    pairs
        Labeled pairs, one entry per file.
    judged
        Pairs that people judged for this very purpose (reviewers, users).
    antonyms
        Words of opposite meaning.
    confused
        Texts that look alike, are opposites or are often confused, and mean different things.
    kept_apart
        Pairs of texts that must not be drawn, as :func:`folded_pair` gives them.
    banned
        Fingerprints of benchmark texts, which composed texts must not match either.
    nouns
        Adjectives with the noun that they pertain to.
    dropped
        How many different texts were left out because they occur in a benchmark.
    notes
        Sentences about what was read and what was left out.
    """

    graphs: tuple[Graph, ...]
    pairs: tuple[LabeledPairs, ...] = ()
    judged: tuple[LabeledPairs, ...] = ()
    antonyms: tuple[tuple[str, str], ...] = ()
    confused: tuple[tuple[str, str], ...] = ()
    kept_apart: frozenset[tuple[str, str]] = frozenset()
    banned: frozenset[int] = frozenset()
    nouns: tuple[tuple[str, str], ...] = ()
    dropped: int = 0
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def meanings(self) -> Meanings:
        """What the texts of all graphs mean; computed once, which takes some seconds for a large terminology."""
        return Meanings(self.graphs)


def gather(
    terminologies: Sequence[str],
    *,
    wordnet: str | os.PathLike[str] | None = None,
    pairs: Sequence[str] = (),
    judged: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    keep_apart: Sequence[str] = (),
    abbreviations: Sequence[str] = (),
    word_forms: Sequence[str] = (),
    wording: Sequence[str] = (),
    hierarchy: Sequence[str] = (),
    own_words: float = 0.6,
    held_out: float = 0.06,
    embed: Embed | None = None,
    say: Say = lambda sentence: None,
) -> Sources:
    """Read all sources.

    Parameters
    ----------
    terminologies
        What :func:`softirr.meaning.terminology.load` takes. Concepts with the same id in two of them are one concept. Of a
        folder ``definitions.tsv`` (id, definition) is read, too.
    wordnet
        Folder for :func:`lab.train.wordnet.read_wordnet`.
    pairs, judged
        Files for :func:`lab.train.labeled.read_pairs`.
    leave_out
        Terminologies, lists of texts (``.txt``, a line each, or tables with a column ``mention``) and files of labeled
        pairs that serve as benchmarks: no text of theirs is kept (a text is compared case-folded), and no labeled pair
        that is one of theirs.
    keep_apart
        Files of pairs that are never drawn, for whatever reason.
    abbreviations
        Tables for :func:`lab.train.wordings.abbreviation_graph`.
    word_forms
        Tables for :func:`lab.train.wordings.read_word_forms`.
    wording
        Tables for :func:`lab.train.coded.coded_graph`. No source keeps a text of a concept that they set
        aside.
    hierarchy
        Terminologies whose ids and parents alone are read, for the concepts of ``wording``.
    own_words
        How much each of this project's word lists counts beside the other graphs (see :class:`Graph`); 0 leaves them
        out.
    held_out
        Share of the concepts kept for development.
    embed
        Vectors of texts, unit length, shape (n, d): gives neighbors that mean something similar. Without it only
        spelling gives neighbors.

    Raises
    ------
    InputError
        If a source can't be used, or nothing is left.
    """
    banned, banned_pairs = _benchmarks(leave_out, say)
    banned |= aside_texts(wording)
    dropped: set[str] = set()
    notes: list[str] = []

    def keep(text: str) -> bool:
        if text.casefold() in banned:
            dropped.add(text.casefold())
            return False
        return True

    graphs: list[Graph] = []

    def add(graph: Graph, share: float = held_out, among: Iterable[int] | None = None) -> None:
        graphs.append(replace(graph, held_out=_chosen(graph, share, range(len(graph)) if among is None else among)))

    read = [load(source) for source in terminologies]
    if read:
        add(terminology_graph(read, keep, definitions(terminologies)))
        notes.extend(f"{t.name}: {len(t):,} concepts, {len(t.synonyms):,} synonyms." for t in read)
    if abbreviations:
        add(abbreviation_graph(abbreviations, keep, share=3.0))
        notes.append(f"Abbreviations: {len(graphs[-1]):,} long forms.")
    parents = parents_by_id(load(source) for source in hierarchy)
    for file in wording:
        add(coded_graph(file, keep, parents=parents))
        notes.append(f"{graphs[-1].name}: {len(graphs[-1]):,} concepts as people word them.")
    words: WordNet | None = None
    confused: tuple[tuple[str, str], ...] = ()
    if wordnet is not None:
        words = read_wordnet(wordnet)
        graph = wordnet_graph(words, keep)
        add(graph, held_out / 2, [k for k in range(len(graph)) if graph.clinical[k]])
        notes.append(f"{Path(wordnet).name}: {len(words.ids):,} synsets.")
    if own_words:
        for name in LISTS:
            listed = read_list(name)
            forms = [[t for t in dict.fromkeys(group) if keep(t)] for group in listed.groups]
            above = [() if place is None else (place,) for place in listed.above]
            graphs.append(Graph.build(name, forms, parents=above, share=own_words))
        put_together = composed()
        forms_kept = tuple(tuple(t for t in f if keep(t)) for f in put_together.forms)
        add(replace(put_together, forms=forms_kept), held_out / 2)
        notes.append(f"Own words: {sum(len(g) for g in graphs[-len(LISTS) - 1 :]):,} concepts.")
        confused = tuple(pair for pair in read_confused() if all(map(keep, pair)))
        notes.append(f"Own words: {len(confused):,} pairs of texts that are often confused.")
    if not any(len(forms) for graph in graphs for forms in graph.forms):
        raise InputError("There is nothing to train on: name a terminology, WordNet or labeled pairs.")
    pertaining = {k: v for file in word_forms for k, v in read_word_forms(file).items()}
    nouns = nouns_for(pertaining, (text for graph in graphs for forms in graph.forms for text in forms))
    if word_forms:
        notes.append(f"Word forms: {len(nouns):,} adjectives with their noun.")
    graphs = _spread(graphs)
    say("Looking for neighbors in spelling and meaning.")
    graphs = with_neighbors(graphs, embed)

    def labeled(files: Sequence[str], share: str) -> tuple[LabeledPairs, ...]:
        tables = []
        for file in files:
            data = read_pairs(file)
            left = _without(data, banned_pairs)
            notes.append(
                f"{data.name}: {len(left.pairs):,} {share} pairs, {len(data.pairs) - len(left.pairs):,} left out as "
                "benchmark pairs."
            )
            tables.append(left)
        return tuple(tables)

    result = Sources(
        graphs=tuple(graphs),
        pairs=labeled(pairs, "labeled"),
        judged=labeled(judged, "judged"),
        antonyms=() if words is None else words.antonyms,
        confused=confused,
        kept_apart=frozenset(pair for file in keep_apart for pair in _folded_pairs(file)),
        banned=frozenset(map(fingerprint, banned)),
        nouns=nouns,
        dropped=len(dropped),
        notes=(
            *notes,
            f"{len(dropped):,} texts left out because they occur in a benchmark vocabulary ({len(banned):,} texts).",
        ),
    )
    for note in result.notes:
        say(note)
    return result


def _chosen(graph: Graph, share: float, among: Iterable[int]) -> tuple[bool, ...]:
    """Which concepts are kept for development.

    By a hash of the first text, so that the choice does not depend on other sources.
    """
    chosen = [False] * len(graph)
    for k in among:
        if graph.forms[k]:
            digest = hashlib.sha256(graph.forms[k][0].casefold().encode()).digest()
            chosen[k] = int.from_bytes(digest[:4], "big") < share * 2**32
    return tuple(chosen)


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


def _benchmarks(sources: Sequence[str], say: Say) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """Case-folded texts of terminologies, and case-folded pairs of labeled files."""
    texts: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    for source in sources:
        path = Path(source)
        if path.is_file() and (listed := _listed(path)) is not None:
            texts.update(listed)
        elif path.is_file() and not path.name.removesuffix(".gz").endswith((".obo", ".xml")):
            pairs.update(_folded_pairs(source))
        else:
            texts.update(text.casefold() for text in load(source).texts())
    if sources:
        say(f"Benchmarks: {len(texts):,} texts and {len(pairs):,} pairs are kept out of training.")
    return frozenset(texts), frozenset(pairs)


def _listed(path: Path) -> set[str] | None:
    """Case-folded texts of a list, a line each, or of a table with a column ``mention``; None for any other file."""
    if path.name.removesuffix(".gz").endswith(".txt"):
        return {text.casefold() for _, line in lines(path) if (text := normalize(line))}
    if not path.name.removesuffix(".gz").endswith((".tsv", ".csv")):
        return None
    rows = read_table(path)
    first = next(rows, None)
    if first is None or "mention" not in first[1]:
        return None
    return {normalize(row["mention"]).casefold() for _, row in (first, *rows)}


def _folded_pairs(file: str) -> Iterable[tuple[str, str]]:
    for premise, hypothesis, _ in read_pairs(file).pairs:
        yield folded_pair(premise, hypothesis)


def folded_pair(one: str, other: str) -> tuple[str, str]:
    """Letters and digits of both texts, case-folded, the smaller first: data sets differ in spaces and punctuation."""
    a, b = ("".join(c for c in text.casefold() if c.isalnum()) for text in (one, other))
    return (a, b) if a <= b else (b, a)


def fingerprint(text: str) -> int:
    """A number for the case-folded text (64 bits of a hash)."""
    return int.from_bytes(hashlib.blake2b(text.casefold().encode(), digest_size=8).digest(), "little")


def _without(data: LabeledPairs, banned: Collection[tuple[str, str]]) -> LabeledPairs:
    kept = [i for i, (a, b, _) in enumerate(data.pairs) if folded_pair(a, b) not in banned]
    place = {old: new for new, old in enumerate(kept)}
    return replace(
        data,
        pairs=tuple(data.pairs[i] for i in kept),
        contradictions=frozenset(place[i] for i in data.contradictions if i in place),
    )
