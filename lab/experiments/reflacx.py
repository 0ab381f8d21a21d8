"""REFLACX (Bigolin Lanfredi et al. 2022).

Chest X-rays dictated by up to five radiologists, as PhysioNet's folder has them.

As in Wullschleger et al. 2026: the readings of phases 1 and 2, in which radiologists read the same X-rays; the text is
the corrected transcription, the gold codes are the labels that the radiologist selected from the closed set, with any
certainty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lab.experiments.annotated_table import Coded, GoldTable
from softirr.answers.table import Excluded
from softirr.errors import InputError
from softirr.meaning.terminology.readers import read_table, read_text

_PHASES = (1, 2)
_ABOUT = (
    "id",
    "split",
    "eye_tracking_data_discarded",
    "image",
    "dicom_id",
    "subject_id",
    "image_size_x",
    "image_size_y",
    "Other",  # free text, not of the closed set
)
_READING = re.compile(r"P\d(\d\d)R\d+$")
NO_TRANSCRIPT = "no transcription: the eye-tracking data was discarded"
NO_FILE = "no transcription.txt"


def metadata(folder: Path, phase: int) -> Path | None:
    """The table of a phase's readings, in the folder or in its ``main_data``."""
    name = f"metadata_phase_{phase}.csv"
    return next((p for p in (folder / "main_data" / name, folder / name) if p.is_file()), None)


def read(path: Path, name: str) -> GoldTable:
    """Read the folder."""
    excluded: list[Excluded] = []
    answers: dict[tuple[str, str], Coded] = {}
    for phase in _PHASES:
        table = metadata(path, phase)
        if table is None:
            raise InputError(f"{path} has no metadata_phase_{phase}.csv, so it is no REFLACX folder.")
        for line, reading, item, rater, codes, discarded in _readings(table):
            transcript = table.parent / reading / "transcription.txt"
            if discarded or not transcript.is_file():
                excluded.append(Excluded(item, rater, NO_TRANSCRIPT if discarded else NO_FILE))
                continue
            if (item, rater) in answers:
                raise InputError(
                    f"{table}, line {line}: radiologist {rater} reads the image {item} for the second time."
                )
            answers[item, rater] = Coded(item, rater, (read_text(transcript),), codes)
    return GoldTable.of(name, answers.values(), path=path, excluded=excluded)


def _readings(table: Path) -> Iterator[tuple[int, str, str, str, tuple[str, ...], bool]]:
    for line, row in read_table(table, ("id", "dicom_id", "eye_tracking_data_discarded")):
        reading = row["id"].strip()
        match = _READING.match(reading)
        if match is None:
            raise InputError(f"{table}, line {line}: {reading!r} is not the id of a reading, such as P102R009922.")
        codes = []
        for label, value in row.items():
            if label not in _ABOUT and _selected(value, table, line, label):
                codes.append(label)
        yield (
            line,
            reading,
            row["dicom_id"].strip(),
            match.group(1),
            tuple(codes),
            _true(row["eye_tracking_data_discarded"]),
        )


def _selected(value: str, table: Path, line: int, label: str) -> bool:
    text = value.strip()
    if text.casefold() in ("", "true", "false"):
        return _true(text)
    try:
        return float(text) > 0
    except ValueError:
        raise InputError(f"{table}, line {line}: the certainty of {label!r} is {text!r}, not a number.") from None


def _true(value: str) -> bool:
    return value.strip().casefold() == "true"
