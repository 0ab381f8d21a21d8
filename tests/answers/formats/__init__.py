"""The same answers in every format that is read, each file after the format's documentation, and damaged ones."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

from tests.answers.formats import annotation_tools, table_files

__all__ = ["COMMANDS", "DAMAGED", "FORMATS", "options"]

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
COMMANDS = dict(re.findall(r"^\| ([^|]+) \|[^|]*\| `(softirr score [^`]+)` \|", PAGE, flags=re.MULTILINE))
"""Examples in the documentation, by format."""


def options(name: str) -> dict[str, str]:
    """The options of the documented command, for :func:`softirr.read`."""
    words = shlex.split(COMMANDS[name])[3:]
    return {option.removeprefix("--"): value for option, value in zip(words[::2], words[1::2], strict=True)}


FORMATS: dict[str, Callable[..., Path]] = {
    "CSV item,rater,text": table_files.long_csv,
    "long table": table_files.long_other_names,
    "wide CSV": table_files.wide_csv,
    "wide TSV": table_files.wide_tsv,
    "wide XLSX": table_files.wide_xlsx,
    "wide Parquet": table_files.wide_parquet,
    "JSONL item, rater, texts": table_files.jsonl,
    "JSON list": table_files.json_list,
    "Label Studio JSON": annotation_tools.label_studio,
    "Label Studio JSON_MIN": annotation_tools.json_min,
    "Label Studio CSV": annotation_tools.label_studio_csv,
    "Prodigy": annotation_tools.prodigy,
    "Argilla": annotation_tools.argilla_flat,
    "Argilla JSON": annotation_tools.argilla_json,
    "doccano": annotation_tools.doccano_zip,
    "doccano 1.0": annotation_tools.doccano_users,
    "folder": table_files.folder_of_raters,
}
"""What writes the file of each format."""
DAMAGED = [
    ("CSV item,rater,text", "\r\n2,ann,fever", "\r\n2,fever", "expected item, rater and text"),
    ("long table", "remark", "said", "has no column 'remark'"),
    ("wide CSV", "fever,high fever", "fever,high fever,x,y", "6 cells where the header has 4"),
    ("JSONL item, rater, texts", '"texts": ["fever"]', '"texts": "fever"', "texts is not a list"),
    ("JSON list", '"answer": "fever"', '"answer": 5', "has 5, which is not a text"),
    ("Label Studio JSON", '"result":', '"reslt":', "result is missing"),
    ("Label Studio JSON_MIN", '"finding": "fever"', '"finding": 5', "finding has no texts"),
    ("Label Studio CSV", '"fever",2,', '"fever","",', "expected id, annotator and annotation_id"),
    (
        "Prodigy",
        '"_annotator_id": "findings-bob", "_session_id": "findings-bob"',
        '"_annotator_id": ""',
        "names an annotator",
    ),
    ("Prodigy", '"_input_hash": 1002,', "", "expected _input_hash"),
    ("Prodigy", '"_timestamp": ', '"_timestamp": "today", "at": ', "_timestamp is not a number"),
    ("Argilla", '"finding.responses.users": ', '"finding.responses.users": 1.5, "of": ', "not as Argilla writes them"),
    ("Argilla", '["uuid-ann", "uuid-bob"]', '["uuid-ann"]', "differ in number from their users"),
    ("Argilla JSON", '"user_id": "uuid-bob"', '"user": 1', "has no user_id"),
    ("doccano 1.0", '"user": 2', '"users": 2', "names no user"),
]
"""Format, replaced text, its replacement in the format's file, and a part of the resulting message."""
