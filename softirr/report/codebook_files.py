"""A codebook as a file of other programs: REFI-QDA, CSV and SPSS, beside the TSV that is a terminology."""

from __future__ import annotations

import re
import tempfile
import uuid
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from softirr.answers.cells import csv_text
from softirr.answers.source import needed
from softirr.answers.table import AnnotationTable
from softirr.errors import InputError
from softirr.plural import plural
from softirr.provenance import version
from softirr.report.codebook_entries import Codebook, Entry
from softirr.report.open_lists import FIGURES

__all__ = ["ENDINGS", "check_ending", "codebook_file", "contributions_csv"]

_COLUMNS = ("item", "rater", "text", "code", "name", "raters", "answered")
"""Of each text given: the id and name of its entry, how many raters of the item have the entry, and all its raters."""
_NAMESPACE = "urn:QDA-XML:codebook:1.0"
_NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_TSV = (".tsv", ".txt", "")
_COLUMN_LABELS = {
    "item": "Item",
    "rater": "Rater",
    "text": "Text of the rater",
    "code": "Entry of the codebook",
    "raters": "Raters of the item with this entry",
    "answered": "Raters of the item",
}
_LONGEST_LABEL = 120
"""Characters of a value label in SPSS."""


def check_ending(name: str) -> None:
    """Refuse the name of a file whose ending is no format of a codebook.

    Parameters
    ----------
    name : str

    Raises
    ------
    InputError
        If its ending is unknown.
    """
    if Path(name).suffix.casefold() not in (*_TSV, *ENDINGS):
        raise InputError(
            f"{name} would have an unknown format: a codebook is written as .tsv (a terminology), .csv, .qdc "
            "(REFI-QDA, for ATLAS.ti, MAXQDA, NVivo and QualCoder) or .sav (SPSS)."
        )


def codebook_file(book: Codebook, table: AnnotationTable, ending: str) -> bytes:
    """The codebook in the format of a file's ending.

    Parameters
    ----------
    book : Codebook
    table : AnnotationTable
        The answers that it was made of.
    ending : str
        One of ``ENDINGS``; any other one that `check_ending` allows is a terminology as TSV.

    Returns
    -------
    bytes

    Raises
    ------
    InputError
        If the measure does not fit the texts, so that the codebook is not reliable.
    """
    terminology = book.to_tsv()  # refuses a codebook that is not reliable
    write = ENDINGS.get(ending.casefold())
    return write(book, table) if write else terminology.encode()


def contributions_csv(book: Codebook) -> str:
    """What each rater contributes, as CSV: each figure with the ends of its 95% interval.

    Parameters
    ----------
    book : Codebook

    Returns
    -------
    str
    """
    ends = (f"{figure}{end}" for figure in FIGURES for end in ("", "_low", "_high"))
    rows: list[tuple[Any, ...]] = [("rater", "entries", *ends)]
    for one in book.contributions:
        values = [(getattr(one, name), *(ci95 or ("", ""))) for name, ci95 in zip(FIGURES, one.ci95, strict=True)]
        rows.append((one.rater, one.entries, *chain.from_iterable(values)))
    return csv_text(rows)


def _refi_qda(book: Codebook, table: AnnotationTable) -> bytes:
    """A code book of REFI-QDA 1.5, with a code for each entry; its description has the definitions and all texts."""
    root = ElementTree.Element("CodeBook", {"xmlns": _NAMESPACE, "origin": f"softirr {version()}"})
    codes = ElementTree.SubElement(root, "Codes")
    for entry in book.entries:
        guid = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{_NAMESPACE}:{entry.id}"))
        name = _xml_text(entry.name)
        code = ElementTree.SubElement(codes, "Code", {"guid": guid, "name": name, "isCodable": "true"})
        ElementTree.SubElement(code, "Description").text = _xml_text("\n".join(_described(entry)))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _xml_text(text: str) -> str:
    """Text without characters that XML does not have."""
    return _NOT_IN_XML.sub(" ", text)


def _described(entry: Entry) -> Iterator[str]:
    yield from (f"{one.text}: {one.definition}" for one in entry.wordings if one.definition)
    yield f"Texts: {'; '.join(one.text for one in entry.wordings)}."
    yield f"Used {plural(entry.count, 'time')} by {', '.join(entry.raters)}."


def _answers(book: Codebook, table: AnnotationTable) -> Iterator[tuple[str, str, str, str, str, int, int]]:
    """A row for each text given, as `_COLUMNS` names them."""
    entry_of = {wording.text: entry for entry in book.entries for wording in entry.wordings}
    rows = list(zip(table.item.tolist(), table.rater.tolist(), table.answer.tolist(), strict=True))
    answered: dict[int, set[int]] = {}
    same: dict[tuple[int, str], set[int]] = {}
    for item, rater, answer in rows:
        answered.setdefault(item, set()).add(rater)
        for text in table.texts_of(answer):
            same.setdefault((item, entry_of[text].id), set()).add(rater)
    for item, rater, answer in rows:
        for text in table.texts_of(answer):
            entry = entry_of[text]
            given = table.items[item], table.raters[rater], text
            yield *given, entry.id, entry.name, len(same[item, entry.id]), len(answered[item])


def _csv(book: Codebook, table: AnnotationTable) -> bytes:
    return csv_text([_COLUMNS, *_answers(book, table)]).encode()


def _spss(book: Codebook, table: AnnotationTable) -> bytes:
    """The answers with the numbers of their entries, whose names are value labels."""
    title = "A file of SPSS"
    pyreadstat, pandas = needed("pyreadstat", "pyreadstat", title), needed("pandas", "pandas", title)
    number = {entry.id: at for at, entry in enumerate(book.entries, start=1)}
    frame = pandas.DataFrame(_answers(book, table), columns=list(_COLUMNS)).drop(columns="name")
    frame["code"] = frame["code"].map(number)
    labels = {at: book.entries[at - 1].name[:_LONGEST_LABEL] for at in number.values()}
    with tempfile.TemporaryDirectory(prefix="softirr-") as folder:
        path = Path(folder, "codes.sav")
        pyreadstat.write_sav(frame, str(path), column_labels=_COLUMN_LABELS, variable_value_labels={"code": labels})
        return path.read_bytes()


ENDINGS: dict[str, Callable[[Codebook, AnnotationTable], bytes]] = {".qdc": _refi_qda, ".csv": _csv, ".sav": _spss}
"""Writers by the ending of the file."""
