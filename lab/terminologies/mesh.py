"""MeSH descriptors, from the yearly XML file ``desc20XX.xml`` (or ``.gz``), read as a stream.

Every entry term of a descriptor is a name of it, as in Wullschleger et al. 2026; terms of its preferred concept have
the scope EXACT, terms of its other concepts ENTRY (near-synonyms and narrower concepts among them). Parents come from
the tree numbers.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab.terminologies.source import SourceTerminology
from lab.terminologies.xml_elements import elements, text
from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder
from softirr.numbers import plural

ROOT = "DescriptorRecordSet"


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from a MeSH descriptor file.

    Raises
    ------
    InputError
        If the file is damaged; the message names the line.
    """
    owner: dict[str, str] = {}
    for record in elements(path, "DescriptorRecord"):
        id, name = text(record, "DescriptorUI"), text(record, "DescriptorName/String")
        if not id or not name:
            lacking = "DescriptorName" if id else "DescriptorUI"
            raise InputError(f"{path}, line {record.sourceline}: a DescriptorRecord has no {lacking}.")
        builder.concept(id, name, record.sourceline)
        for number in record.iterfind("TreeNumberList/TreeNumber"):
            owner[(number.text or "").strip()] = id
        for concept in record.iterfind("ConceptList/Concept"):
            scope = "EXACT" if concept.get("PreferredConceptYN") == "Y" else "ENTRY"
            for term in concept.iterfind("TermList/Term/String"):
                builder.synonym(id, term.text or "", scope)
    for number, id in owner.items():
        above, dot, _ = number.rpartition(".")
        if dot and above in owner:
            builder.parent(id, owner[above])


def without_cycles(terminology: SourceTerminology, path: Path) -> SourceTerminology:
    """Drop the links to parents that close a cycle, in depth-first order, and note how many.

    The positions of a descriptor in several trees can contradict each other.
    """
    parents = [list(links) for links in terminology.parents]
    done, on_path, n_removed = set[int](), set[int](), 0
    for start in range(len(parents)):
        stack = [] if start in done else [(start, list(parents[start]))]
        on_path.update(concept for concept, _ in stack)
        while stack:
            child, waiting = stack[-1]
            if not waiting:
                on_path.discard(child)
                done.add(child)
                stack.pop()
            elif (parent := waiting.pop()) in on_path:
                parents[child].remove(parent)
                n_removed += 1
            elif parent not in done:
                on_path.add(parent)
                stack.append((parent, list(parents[parent])))
    if not n_removed:
        return terminology
    note = (
        f"{plural(n_removed, 'link to a parent', 'links to parents')} left out: "
        f"{'it closes' if n_removed == 1 else 'they close'} a cycle in {path}."
    )
    return replace(terminology, parents=tuple(map(tuple, parents)), notes=(*terminology.notes, note))
