"""Annotated tables of texts with codes for their meaning."""

from __future__ import annotations

from pathlib import Path

from lab.experiments import derm1m, reflacx
from lab.experiments.annotated_table import Coded, GoldTable
from lab.terminologies import named_paths
from softirr.errors import InputError
from softirr.meaning.terminology.readers import lines, read_table

COLUMNS = ("item", "rater", "text", "codes")


def load_table(source: str) -> GoldTable:
    """Read an annotated table: REFLACX, Derm1M, or any table with the columns item, rater, text and codes.

    Parameters
    ----------
    source : str
        A path or ``NAME=PATH``; for Derm1M also ``METADATA,DUPLICATES``. The columns or the folder show the kind.

    Raises
    ------
    InputError
        One sentence that names the file and, if possible, the line.
    """
    label, path, duplicates = named_paths(source)
    name = label or path.name.removesuffix(".gz").partition(".")[0]
    if path.is_dir():
        if not reflacx.metadata(path, 1):
            raise InputError(
                f"{path} is a folder without metadata_phase_1.csv; the only folder that is read is REFLACX."
            )
        return reflacx.read(path, name)
    _, first = next(lines(path), (1, ""))
    columns = {column.strip().strip('"') for column in first.replace("\t", ",").split(",")}
    if columns >= set(derm1m.COLUMNS):
        return derm1m.read(path, name, duplicates)
    if not columns >= set(COLUMNS):
        raise InputError(f"{path}, line 1: no header item,rater,text,codes, and not the header of Derm1M.")
    if duplicates is not None:
        raise InputError(f"{source}: only Derm1M takes a second file.")
    return read_plain(path, name)


def read_plain(path: Path, name: str) -> GoldTable:
    """Read a table ``item,rater,text,codes`` (comma- or tab-separated, gzipped or not), one line per text.

    Several lines of one item and rater are a set; an empty text is an empty answer. ``codes`` contains one code, or
    several with ``|`` between them. Where each text has one code, the codes are matched to the texts of a set.
    """
    texts: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for line, row in read_table(path, COLUMNS):
        item, rater, text = (row[column].strip() for column in COLUMNS[:3])
        if not item or not rater:
            raise InputError(f"{path}, line {line}: the {'rater' if item else 'item'} is missing.")
        codes = tuple(code for code_list in row["codes"].split("|") if (code := code_list.strip()))
        if text and not codes:
            raise InputError(f"{path}, line {line}: the text has no code.")
        codes_by_text = texts.setdefault((item, rater), {})
        if codes_by_text.get(text, codes) != codes:
            raise InputError(f"{path}, line {line}: the same text of one answer has other codes than before.")
        codes_by_text[text] = codes
    single = all(len(codes) == 1 for codes_by_text in texts.values() for text, codes in codes_by_text.items() if text)
    return GoldTable.of(
        name,
        (
            Coded(
                item,
                rater,
                tuple(text for text in codes_by_text if text),
                tuple(dict.fromkeys(code for codes in codes_by_text.values() for code in codes)),
                {text: codes[0] for text, codes in codes_by_text.items() if text} if single else None,
            )
            for (item, rater), codes_by_text in texts.items()
        ),
        path=path,
    )
