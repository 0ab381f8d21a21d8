"""Texts as people wrote them, with the concept that a coder gave each.

One graph for each set of :mod:`lab.experiments.wording`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

from lab.experiments.wording import CodedText, coded_rows, is_aside
from lab.train.graph import Graph, nearest
from lab.train.wordings import is_acronym, likeness_to_initials
from softirr.meaning.measures.lexical import tokens
from softirr.meaning.terminology.concepts import Terminology
from softirr.meaning.terminology.readers import read_table
from softirr.text import normalize

_LABELS = "concept_labels.tsv.gz"
_LONGEST = 400
"""Characters of a text that is used."""
_NEAREST = 6
"""Contrasts by letters for each text, and by document for each concept."""
_DOCUMENT = 60
"""A source with more concepts is not a document but a collection."""
_STEPS = 8
_SHARE = 2.0
"""Weight of such a graph, see :class:`Graph`."""


def aside_texts(files: Iterable[str | Path]) -> frozenset[str]:
    """Case-folded texts of the concepts that are set aside, in any of the files: no training text may be one of them.

    Parameters
    ----------
    files : iterable of path
        Tables for :func:`lab.experiments.wording.coded_rows`.
    """
    return frozenset(row.text.casefold() for file in files for row in coded_rows(file) if is_aside(row.concept))


def parents_by_id(terminologies: Iterable[Terminology]) -> dict[str, tuple[str, ...]]:
    """The more general concepts of each id, over all terminologies; their texts are not used."""
    result: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for t in terminologies:
        for k, above in enumerate(t.parents):
            result[t.ids[k]].update((t.ids[parent], None) for parent in above)
    return {key: tuple(above) for key, above in result.items()}


def coded_graph(
    file: str | Path, keep: Callable[[str], bool], *, parents: Mapping[str, Sequence[str]] | None = None
) -> Graph:
    """The visible concepts of one set as a graph.

    Parameters
    ----------
    file : path
        Table ``text, concept, source_id, n``; ``concept_labels.tsv.gz`` in the same folder names concepts.
    keep : callable
        Whether a text may be used.
    parents : dict of str to sequence of str, optional
        More general concepts by id. The nearest ones that the set has become parents.
    """
    path = Path(file)
    return graph_of_rows(path.name.removesuffix(".tsv.gz"), coded_rows(path), keep, _labels(path), parents or {})


def graph_of_rows(
    name: str,
    rows: Iterable[CodedText],
    keep: Callable[[str], bool],
    labels: Mapping[str, str],
    parents: Mapping[str, Sequence[str]],
) -> Graph:
    """The visible concepts of coded texts as a graph.

    Texts of one concept mean the same. A text with two or more concepts is left out, and these concepts are never
    contrasts of each other. An acronym that does not consist of the initials of another text is entailed by the other
    texts, and the reverse is not known. Contrasts are the nearest concepts by letters, and concepts of the same
    document. If all words of a concept are in a text of the other, it may be broader and is not a contrast.

    Parameters
    ----------
    labels : dict of str to str
        A further name of each concept.
    """
    rows = [row for row in rows if not is_aside(row.concept)]
    positions: dict[tuple[str, str], int] = {}
    owners: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    documents: defaultdict[tuple[str, str], dict[int, None]] = defaultdict(dict)
    for row in rows:
        k = positions.setdefault((row.context, row.concept), len(positions))
        owners[row.context, row.text.casefold()].add(k)
        documents[row.context, row.source][k] = None
    forms: list[dict[str, str]] = [{} for _ in positions]
    coded = (row for row in rows if len(owners[row.context, row.text.casefold()]) == 1 and len(row.text) <= _LONGEST)
    for key, text in (
        *(((row.context, row.concept), row.text) for row in coded),
        *((key, labels.get(key[1], "")) for key in positions),
    ):
        if text and keep(text):
            forms[positions[key]].setdefault(text.casefold(), text)
    unclear: list[set[int]] = [set() for _ in positions]
    for owner in owners.values():
        for k in owner:
            unclear[k] |= owner - {k}
    texts, one_way = _without_acronyms(forms)
    contexts = {context: number for number, context in enumerate(dict.fromkeys(context for context, _ in positions))}
    return Graph(
        name,
        texts,
        parents=_nearest_parents(positions, parents),
        contrasts=_contrasts(texts, positions, unclear, documents.values()),
        origin=[contexts[context] for context, _ in positions],
        share=_SHARE,
        one_way=one_way,
        unclear=[tuple(sorted(neighbors)) for neighbors in unclear],
    )


def _labels(path: Path) -> dict[str, str]:
    """Names of the set's concepts, from the table next to its file."""
    file = path.parent / _LABELS
    if not file.is_file():
        return {}
    name = path.name.removesuffix(".tsv.gz")
    rows = read_table(file, ("set", "concept", "label"))
    return {row["concept"]: normalize(row["label"]) for _, row in rows if row["set"] == name}


def _without_acronyms(
    forms: Sequence[Mapping[str, str]],
) -> tuple[list[tuple[str, ...]], list[tuple[tuple[str, str], ...]]]:
    """Texts of each concept without the acronyms that need their context, and these as pairs (text, acronym)."""
    texts, one_way = [], []
    for form in forms:
        full = [text for text in form.values() if not is_acronym(text)]
        short = [text for text in form.values() if is_acronym(text)]
        apart = [s for s in short if full and not any(likeness_to_initials(f, s)[0] == len(s) for f in full)]
        texts.append(tuple(text for text in form.values() if text not in apart))
        one_way.append(tuple((f, s) for s in apart for f in full[:3]))
    return texts, one_way


def _nearest_parents(
    positions: Mapping[tuple[str, str], int], parents: Mapping[str, Sequence[str]]
) -> list[tuple[int, ...]]:
    """For each concept the concepts of its context that are reached first on the way to more general ones."""
    result = []
    for context, concept in positions:
        above: dict[int, None] = {}
        front, reached = [concept], {concept}
        for _ in range(_STEPS):
            up = [p for c in front for p in parents.get(c, ()) if p not in reached]
            reached.update(up)
            above.update((positions[context, p], None) for p in up if (context, p) in positions)
            front = [p for p in up if (context, p) not in positions]
        result.append(tuple(above))
    return result


def _contrasts(
    texts: Sequence[Sequence[str]],
    positions: Mapping[tuple[str, str], int],
    unclear: Sequence[Collection[int]],
    documents: Iterable[Mapping[int, None]],
) -> list[tuple[int, ...]]:
    result: list[dict[int, None]] = [{} for _ in texts]
    by_context: defaultdict[str, list[int]] = defaultdict(list)
    for (context, _), k in positions.items():
        by_context[context].append(k)
    for members in by_context.values():
        owned = [(text, k) for k in members for text in texts[k]]
        for row, columns in nearest([text for text, _ in owned], _NEAREST):
            result[owned[row][1]].update((owned[column][1], None) for column in columns)
    rng = Random(len(texts))
    for concepts in documents:
        if len(concepts) <= _DOCUMENT:
            members = list(concepts)
            for k in members:
                result[k].update(dict.fromkeys(rng.sample(members, min(_NEAREST, len(members)))))
    words = [[tokens(text) for text in texts_of_concept] for texts_of_concept in texts]
    return [
        tuple(o for o in neighbors if o != k and o not in unclear[k] and not _may_be_broader(words[k], words[o]))
        for k, neighbors in enumerate(result)
    ]


def _may_be_broader(texts_a: Sequence[frozenset[str]], texts_b: Sequence[frozenset[str]]) -> bool:
    """Whether all words of a text of one concept are in a text of the other concept."""
    return any(a <= b or b <= a for a in texts_a for b in texts_b)
