"""ICD-10-CM, from the tabular list in XML.

Codes, sections and chapters, with inclusion terms as synonyms (scope INCLUSION).

Inclusion terms are often narrower than their title, so results on them underestimate measures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lab.terminologies.xml_elements import elements, text
from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder

ROOT = "ICD10CM.tabular"


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from a tabular list.

    Raises
    ------
    InputError
        If the file is damaged; the message names the line.
    """
    for chapter in elements(path, "chapter"):
        name = text(chapter, "name")
        if not name:
            raise InputError(f"{path}, line {chapter.sourceline}: a chapter has no name.")
        chapter_id = f"CH{name}"
        builder.concept(chapter_id, text(chapter, "desc"), chapter.sourceline)
        for section in chapter.iterfind("section"):
            id = section.get("id")
            if not id:
                raise InputError(f"{path}, line {section.sourceline}: a section has no id.")
            codes = section.findall("diag")
            above = id
            if len(codes) == 1 and text(codes[0], "name") == id:
                above = chapter_id  # a section with one category is the same as that category
            else:
                builder.concept(id, text(section, "desc"), section.sourceline)
                builder.parent(id, chapter_id)
            for code in codes:
                _code(code, above, path, builder)


def _code(code: Any, parent: str, path: Path, builder: Builder) -> None:
    id = text(code, "name")
    if not id:
        raise InputError(f"{path}, line {code.sourceline}: a code has no name.")
    builder.concept(id, text(code, "desc"), code.sourceline)
    builder.parent(id, parent)
    for note in code.iterfind("inclusionTerm/note"):
        builder.synonym(id, "".join(note.itertext()), "INCLUSION")
    for child in code.iterfind("diag"):
        _code(child, id, path, builder)
