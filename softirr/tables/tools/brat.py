"""brat's standoff files, ``.ann``: a folder for each annotator, with a file for each document."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from softirr.errors import InputError
from softirr.tables.request import Request, chosen_texts, gathered_tables
from softirr.tables.table import AnnotationTable

__all__ = ["brat_tables"]

NOTES = "AnnotatorNotes"


def brat_tables(files: Iterable[tuple[str, str, Path]], request: Request) -> dict[str, AnnotationTable]:
    """The tables of the kinds of text asked for, or of the only one: annotators' notes, or the texts marked as an entity.

    An item is a document, and an answer the set of texts in it.

    Parameters
    ----------
    files : iterable of (str, str, Path)
        Document, annotator and file.
    request : Request

    Raises
    ------
    InputError
        Names the line that can't be used, or the kinds to choose from.
    """
    kept = [(document, rater, list(_texts(path))) for document, rater, path in files]
    found = list(dict.fromkeys(kind for _, _, texts in kept for kind, _ in texts))
    if NOTES in found and not request.texts:
        found = [NOTES]
    gathered = {name: request.gathered(repeats="set") for name in chosen_texts(request, found, "kind of annotation")}
    for document, rater, texts in kept:
        for name, one in gathered.items():
            one.add(document, rater, tuple(text for kind, text in texts if kind == name) or None)
    return gathered_tables(request, "brat", gathered, n_rows=len(kept))


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Kind and text of each entity and note in a file."""
    try:
        lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line[0] not in "T#":
            continue
        cells = line.split("\t")
        kind = cells[1].split(" ")[0] if len(cells) > 1 else ""
        if len(cells) < 3 or not kind or (line[0] == "T" and not re.search(r" \d+ \d+(;\d+ \d+)*$", cells[1])):
            raise InputError(f"{path}, line {number}: expected an annotation of brat, with tabs between its parts.")
        if line[0] == "T" or kind == NOTES:
            yield kind, cells[2]
