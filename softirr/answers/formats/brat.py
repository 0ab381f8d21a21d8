"""brat's standoff files, ``.ann``: a folder for each annotator, with a file for each document."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from softirr.answers.archives import Folder
from softirr.answers.gathered import Request, Tables, chosen_texts, gathered_tables
from softirr.answers.registry import Format, Ways
from softirr.errors import InputError

__all__ = ["FORMATS"]

NOTES = "AnnotatorNotes"


def _read(folder: Folder, request: Request) -> Tables:
    """The tables of the kinds of text asked for, or of the only one.

    Annotators' notes, or the texts marked as an entity.

    An item is a document, and an answer the set of texts in it.
    """
    kept = [(path.stem, folder.rater_of(path), list(_texts(path))) for path in folder.ending(".ann")]
    kinds = list(dict.fromkeys(kind for _, _, texts in kept for kind, _ in texts))
    if NOTES in kinds and not request.texts:
        kinds = [NOTES]
    gathered = {name: request.gathered(repeats="set") for name in chosen_texts(request, kinds, "kind of annotation")}
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


FORMATS = (Format("brat", folder=Ways(lambda folder: bool(folder.ending(".ann")), _read)),)
