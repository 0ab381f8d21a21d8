"""Exports of tools for annotated language: INCEpTION, UIMA, Potato, brat."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import cassis

from tests.answers.formats.common import ANSWERS, ITEMS, RATERS, json_lines, rows, text_table


def inception_csv(folder: Path) -> Path:
    """INCEpTION 37, agreement page, export of the diff as CSV: "null" where an annotator has nothing."""
    table = [["Type", "Collection", "Document", "Layer", "Feature", "Position", *RATERS]]
    for item in ITEMS:
        values = [ANSWERS.get((item, rater), "null") for rater in RATERS]
        table.append(["SpanPosition", "", f"case{item}.txt", "custom.Finding", "value", "0-4", *values])
    return text_table(table, folder / "agreement.csv")


def _cas(text: str) -> Any:
    system = cassis.TypeSystem()
    finding = system.create_type("webanno.custom.Finding", supertypeName="uima.tcas.Annotation")
    system.create_feature(finding, "value", "uima.cas.String")
    cas = cassis.Cas(system, sofa_string="A case")
    cas.add(finding(begin=0, end=6, value=text))
    return cas


def uima_xmi(folder: Path) -> Path:
    """UIMA CAS XMI (1.1), a folder for each annotator."""
    root = folder / "xmi"
    for item, rater, text in rows():
        cas = _cas(text)
        (root / rater).mkdir(parents=True, exist_ok=True)
        cas.to_xmi(root / rater / f"case{item}.xmi")
        cas.typesystem.to_xml(root / "TypeSystem.xml")
    return root


def inception_zip(folder: Path) -> Path:
    """INCEpTION 37, export of a project with UIMA CAS JSON 0.4: ``annotation/DOCUMENT/ANNOTATOR.zip``."""
    path = folder / "project.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("exportedproject.json", "{}")
        for item, rater, text in rows():
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w") as one:
                one.writestr(f"{rater}.json", _cas(text).to_json())
            archive.writestr(f"annotation/case{item}.txt/{rater}.zip", inner.getvalue())
        for item in ITEMS:
            archive.writestr(f"annotation/case{item}.txt/INITIAL_CAS.json", _cas("nothing yet").to_json())
    return path


def potato_states(folder: Path) -> Path:
    """Potato 2, ``annotation_output``: a folder with ``user_state.json`` for each annotator."""
    root = folder / "annotation_output"
    for rater in RATERS:
        labels = {
            item: [[{"schema": "finding", "name": "text_box"}, text], [{"schema": "sure", "name": "yes"}, "true"]]
            for item, who, text in rows()
            if who == rater
        }
        (root / rater).mkdir(parents=True)
        (root / rater / "user_state.json").write_text(
            json.dumps(
                {"user_id": rater, "instance_id_ordering": list(labels), "instance_id_to_label_to_value": labels}
            ),
            encoding="utf-8",
        )
    return root


def potato_lines(folder: Path) -> Path:
    """Potato 1, ``annotated_instances.jsonl`` for each annotator."""
    root = folder / "potato1"
    for rater in RATERS:
        (root / rater).mkdir(parents=True)
        lines = [
            {"id": item, "displayed_text": "A case", "label_annotations": {"finding": {"text_box": text}}}
            for item, who, text in rows()
            if who == rater
        ]
        json_lines(lines, root / rater / "annotated_instances.jsonl")
    return root


def brat(folder: Path) -> Path:
    """brat 1.3, standoff: annotators' notes on the documents, a folder for each annotator."""
    root = folder / "brat"
    for item, rater, text in rows():
        (root / rater).mkdir(parents=True, exist_ok=True)
        lines = ["T1\tCase 0 6\tA case", f"#1\tAnnotatorNotes T1\t{text}"]
        (root / rater / f"case{item}.ann").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (root / rater / f"case{item}.txt").write_text("A case", encoding="utf-8")
    return root
