"""Composed clinical words: Greek and Latin parts, adjectives and lay words for the same finding in the same place.

``nephritis``, ``inflammation of the kidney``, ``kidney inflammation`` and ``renal inflammation`` are one concept;
another place or another finding makes another concept with a similar name. Tables of parts times tables of patterns
give some thousand concepts and the contrasts that a model has to learn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from lab.train.graph import Graph
from lab.train.words import read_sections


def composed() -> Graph:
    """All compositions as one graph.

    Concepts that share a place, or a finding, are each other's contrasts. More general concepts are the finding
    that its own is a kind of, and the same finding in the place that its own is a part of.
    """
    tables = dict(read_sections("composed_words"))
    forms: list[tuple[str, ...]] = []
    organs: list[str] = []
    findings: list[str] = []
    for organ, finding, texts in _terms(tables):
        unique = tuple(dict.fromkeys(text.strip() for text in texts))
        if len(unique) > 1:
            forms.append(unique)
            organs.append(organ)
            findings.append(finding)
    by_place: defaultdict[str, list[int]] = defaultdict(list)
    by_finding: defaultdict[str, list[int]] = defaultdict(list)
    for k in range(len(forms)):
        by_place[organs[k]].append(k)
        by_finding[findings[k]].append(k)
    contrasts = [
        tuple(j for j in (*by_place[organs[k]], *by_finding[findings[k]]) if j != k) for k in range(len(forms))
    ]
    position = {(organ, finding): k for k, (organ, finding) in enumerate(zip(organs, findings, strict=True))}
    kinds, wholes = _above(tables["kinds_of"]), _above(tables["parts_of"])
    shared = frozenset(finding for line in tables["shared_with_whole"] for finding in line.split("|"))
    parents = [
        [
            position[above]
            for above in (
                *((organ, kind) for kind in kinds.get(finding, ())),
                *((larger, finding) for larger in wholes.get(organ, ()) if finding in shared),
            )
            if above in position
        ]
        for organ, finding in zip(organs, findings, strict=True)
    ]
    return Graph("composed terms", forms, parents=parents, contrasts=contrasts)


def _terms(tables: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str, list[str]]]:
    """Place, finding and wordings of each composition."""
    for line in tables["organs"]:
        root, lays, adjective = line.split("|")
        for pattern in tables["stems"]:
            suffix, *phrases = pattern.split("|")
            word = _joined(root, suffix)
            yield root, suffix, [word, *_filled(phrases, lays.split(","), adj=adjective)]
        for pattern in tables["phrases"]:
            phrases = pattern.split("|")
            yield root, phrases[0], _filled(phrases, lays.split(","), adj=adjective)
    for word in " ".join(tables["parts"]).split():
        names = [x.replace("_", " ") for x in word.split(",")]
        for pattern in tables["part_phrases"]:
            phrases = pattern.split("|")
            yield names[0], phrases[0], _filled(phrases, names)
    for line in tables["analytes"]:
        stem, words = line.split("|")
        for finding, pattern in (entry.split(":", 1) for entry in tables["levels"]):
            yield stem, finding, _filled(pattern.split("|"), words.split(","), stem=stem)
    for line in tables["cells"]:
        stem, cell, lay = line.split("|")
        disease = cell + ("ia" if cell.endswith("phil") else "osis")
        for finding, pattern in (entry.split(":", 1) for entry in tables["counts"]):
            yield cell, finding, _filled(pattern.split("|"), lay.split(","), stem=stem, cell=cell, many=disease)


def _above(table: tuple[str, ...]) -> dict[str, list[str]]:
    """For each entry of a table's lists, the first words of its lines."""
    nouns: defaultdict[str, list[str]] = defaultdict(list)
    for line in table:
        above, *below = line.split("|")
        for entry in below:
            nouns[entry].append(above)
    return dict(nouns)


def _filled(phrases: list[str], lays: list[str], **values: str) -> list[str]:
    return [p.format(lay=lay, **values) for p in phrases for lay in (lays if "{lay}" in p else lays[:1])]


def _joined(root: str, suffix: str) -> str:
    """Join two parts with one vowel between them: cardi + omegaly = cardiomegaly, cardi + itis = carditis."""
    if suffix[0] == "i" and root.endswith("i"):
        return root + suffix[1:]
    return root + suffix
