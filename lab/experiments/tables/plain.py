"""Any annotated table: ``item,rater,text,codes``, one line per text."""

from __future__ import annotations

from pathlib import Path

from lab.experiments.tables.annotated_table import Coded, GoldTable
from softirr.errors import InputError
from softirr.meaning.terminology import read_table

COLUMNS = ("item", "rater", "text", "codes")


def read(path: Path, name: str) -> GoldTable:
    """Read a table (comma- or tab-separated, gzipped or not).

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
        place=str(path),
    )
