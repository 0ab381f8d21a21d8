"""Derm1M (Yan et al. 2025): captions of the same dermatology image from different sources.

As in Wullschleger et al. 2026: an item is an image, or a group of duplicates; a rater is a data source; the gold codes
are the diagnoses and skin concepts together; images need captions, with codes, of two sources or more. The data set has
no list of its duplicates (they are found by comparing the images): give one as ``METADATA,DUPLICATES``, a table with
the columns ``filename`` and ``group``; without it, rows of one file name are one image.
"""

from __future__ import annotations

from pathlib import Path

from lab.experiments.annotated_table import Coded, GoldTable
from softirr.answers.table import Excluded
from softirr.errors import InputError
from softirr.meaning.terminology.readers import read_table

COLUMNS = ("filename", "source", "disease_label", "skin_concept")
_NOTHING = frozenset({"", "nan", "none", "no definitive diagnosis", "no visual concepts", "no visual concept"})
NO_CAPTION = "no caption"
NO_CODES = "not mapped to the terminology"
ONE_SOURCE = "only one source"
SECOND_OF_SOURCE = "a further caption of the same source"


def read(path: Path, name: str, duplicates: Path | None = None) -> GoldTable:
    """Read the metadata table of a release, such as ``Derm1M_v2_pretrain.csv``."""
    group = _groups(duplicates) if duplicates is not None else {}
    excluded: list[Excluded] = []
    by_item: dict[str, dict[str, Coded]] = {}
    for line, row in read_table(path, COLUMNS):
        caption = (row.get("caption") or row.get("truncated_caption") or "").strip()
        if "caption" not in row and "truncated_caption" not in row:
            raise InputError(f"{path}, line 1: the header has neither 'caption' nor 'truncated_caption'.")
        file, source = row["filename"].strip(), row["source"].strip()
        if not file or not source:
            raise InputError(f"{path}, line {line}: the {'source' if file else 'file name'} is missing.")
        item = group.get(file, file)
        codes = tuple(dict.fromkeys((*_labels(row["disease_label"]), *_labels(row["skin_concept"]))))
        reason = NO_CAPTION if not caption else NO_CODES if not codes else None
        if reason is None and source in by_item.get(item, {}):
            reason = SECOND_OF_SOURCE
        if reason is None:
            by_item.setdefault(item, {})[source] = Coded(item, source, (caption,), codes)
        else:
            excluded.append(Excluded(item, source, reason))
    excluded += [Excluded(item, next(iter(by)), ONE_SOURCE) for item, by in by_item.items() if len(by) < 2]
    return GoldTable.of(
        name,
        (answer for by in by_item.values() if len(by) > 1 for answer in by.values()),
        path=path,
        excluded=excluded,
        notes=("A rater is a data source: the data set does not say who wrote a caption.",),
    )


def _labels(value: str) -> list[str]:
    return [label for label_text in value.split(",") if (label := label_text.strip().casefold()) not in _NOTHING]


def _groups(path: Path) -> dict[str, str]:
    return {
        row["filename"].strip(): row["group"].strip()
        for _, row in read_table(path, ("filename", "group"))
        if row["group"].strip()
    }
