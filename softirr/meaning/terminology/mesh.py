"""MeSH descriptors, from the yearly XML file ``desc20XX.xml`` (or ``.gz``), read as a stream.

Every entry term of a descriptor is a name of it, as in Wullschleger et al. 2026; terms of its preferred concept have
the scope EXACT, terms of its other concepts ENTRY (near-synonyms and narrower concepts among them). Parents come from
the tree numbers.
"""

from __future__ import annotations

from pathlib import Path

from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder
from softirr.meaning.terminology.xml import elements, text

__all__ = ["ROOT", "read"]

ROOT = "DescriptorRecordSet"


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from a MeSH descriptor file.

    Parameters
    ----------
    path : Path
    builder : Builder

    Raises
    ------
    InputError
        If the file is damaged; the message names the line.
    """
    owner: dict[str, str] = {}
    for record in elements(path, "DescriptorRecord", ROOT):
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
