"""A world as a file of each format, and what its ids are called there."""

from __future__ import annotations

import csv
import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import openpyxl

from tests.properties.worlds import World

NUMBERS = {"ann": "1", "bob": "2", "cy": "3", "dee": "4"}
FIELDS = ("finding", "plan")


@dataclass(frozen=True)
class Format:
    """A format: the writer of a world, the options to read it, and the answers that it can hold."""

    write: Callable[[World, Path], tuple[Path, list[str]]]
    empties: bool = False
    sets: bool = False
    fields: int = 1
    weights: bool = False
    item: Callable[[str], str] = field(default=lambda item: item)
    rater: Callable[[str], str] = field(default=lambda rater: rater)


def shuffled(world: World, values):
    """The same rows in an order of the world's own; 0 keeps the order."""
    values = list(values)
    if world.order:
        random.Random(world.order).shuffle(values)
    return values


def save(path: Path, table) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table)
    return path


def lines(path: Path, entries) -> Path:
    path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries), encoding="utf-8")
    return path


def weight_of(world: World, item: str) -> list:
    return [] if world.weights is None else [world.weights[item]]


def weighted(world: World) -> list[str]:
    return [] if world.weights is None else ["--weight", "share"]


def long_csv(world, folder):
    rows = [
        [item, rater, text, *weight_of(world, item)]
        for (item, rater), texts in shuffled(world, world.tables[0].items())
        for text in texts or ("",)
    ]
    head = ["item", "rater", "text", *(["share"] if world.weights else [])]
    return save(folder / "long.csv", [head, *rows]), weighted(world)


def long_fields(world, folder):
    rows = [
        [
            item,
            rater,
            *(table[item, rater][0] if table[item, rater] else "" for table in world.tables),
            *weight_of(world, item),
        ]
        for item, rater in shuffled(world, world.tables[0])
    ]
    head = ["case", "nurse", *FIELDS, *(["share"] if world.weights else [])]
    options = ["--item", "case", "--rater", "nurse", "--text", ",".join(FIELDS), "--empty", "none", *weighted(world)]
    return save(folder / "fields.csv", [head, *rows]), options


def wide_table(world):
    rows = [
        [item, *(world.tables[0].get((item, rater), ("",))[0] for rater in world.raters), *weight_of(world, item)]
        for item in shuffled(world, world.items)
    ]
    return [["id", *world.raters, *(["share"] if world.weights else [])], *rows]


def wide_options(world):
    return ["--item", "id", "--raters", ",".join(world.raters), *weighted(world)]


def wide_csv(world, folder):
    return save(folder / "wide.csv", wide_table(world)), wide_options(world)


def workbook(world, folder):
    book = openpyxl.Workbook()
    for row in wide_table(world):
        book.active.append([None if cell == "" else cell for cell in row])
    book.save(folder / "wide.xlsx")
    return folder / "wide.xlsx", wide_options(world)


def json_lines(world, folder):
    entries = [
        {
            "item": item,
            "rater": rater,
            "texts": list(texts),
            **({"share": world.weights[item]} if world.weights else {}),
        }
        for (item, rater), texts in shuffled(world, world.tables[0].items())
    ]
    return lines(folder / "answers.jsonl", entries), weighted(world)


def json_rows(world, folder):
    entries = [
        {
            "task_id": item,
            "annotator": rater,
            "answer": text,
            **({"share": world.weights[item]} if world.weights else {}),
        }
        for (item, rater), texts in shuffled(world, world.tables[0].items())
        for text in texts
    ]
    (folder / "rows.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder / "rows.json", weighted(world)


def json_columns(world, folder):
    """A row for each item, with a key for each rater who answered it."""
    entries = [
        {"id": item}
        | {rater: world.tables[0][item, rater][0] for rater in world.raters if (item, rater) in world.tables[0]}
        for item in shuffled(world, world.items)
    ]
    (folder / "columns.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder / "columns.json", ["--item", "id", "--raters", ",".join(world.raters)]


def label_studio_tasks(world: World) -> list[dict]:
    """Tasks as Label Studio 1.23 exports them.

    Skipped annotations and copies of predictions among them do not count.
    """
    tasks = []
    for item in shuffled(world, world.items):
        annotations = []
        for rater in shuffled(world, world.raters):
            if (item, rater) not in world.tables[0]:
                continue
            result = [
                {"id": f"{name}{n}", "from_name": name, "to_name": "text", "type": "textarea", "origin": "manual"}
                | {"value": {"text": [text]}}
                for name, table in zip(FIELDS, world.tables, strict=False)
                for n, text in enumerate(table[item, rater])
            ]
            number = 10 * int(item) + int(NUMBERS[rater])
            annotation = {"id": number, "completed_by": int(NUMBERS[rater]), "was_cancelled": False, "result": result}
            annotations.append({**annotation, "updated_at": "2026-01-05T10:00:00Z"})
            if result and number % 3 == 0:
                older = {**annotation, "id": number + 100_000, "updated_at": "2026-01-04T10:00:00Z"}
                wrong = [{**result[0], "value": {"text": ["an older answer"]}}]
                annotations.insert(0, {**older, "result": wrong})
            if number % 4 == 0:
                annotations.append({**annotation, "id": number + 200_000, "completed_by": 9, "was_cancelled": True})
        data = {"text": f"Case {item}", **({"share": world.weights[item]} if world.weights else {})}
        tasks.append({"id": int(item), "data": data, "annotations": annotations})
    return tasks


def label_studio(world, folder):
    path = folder / "export.json"
    path.write_text(json.dumps(label_studio_tasks(world)), encoding="utf-8")
    return path, ["--text", ",".join(FIELDS[: len(world.tables)]), *weighted(world)]


def prodigy(world, folder):
    entries = [
        {"text": f"Case {item}", "_input_hash": int(item), "_task_hash": 1, "field_rows": 1, "_view_id": "blocks"}
        | {"user_input": texts[0], "answer": "accept", "_timestamp": 1767600000}
        | {"_annotator_id": f"findings-{rater}", "_session_id": f"findings-{rater}"}
        for (item, rater), texts in shuffled(world, world.tables[0].items())
    ]
    return lines(folder / "prodigy.jsonl", entries), []


def doccano(world, folder):
    with zipfile.ZipFile(folder / "doccano.zip", "w") as archive:
        for rater in shuffled(world, world.raters):
            entries = [
                {"id": int(item), "text": f"Case {item}", "label": list(texts), "Comments": []}
                for (item, who), texts in shuffled(world, world.tables[0].items())
                if who == rater
            ]
            archive.writestr(f"{rater}.jsonl", "".join(json.dumps(entry) + "\n" for entry in entries))
    return folder / "doccano.zip", []


def argilla(world, folder):
    entries = []
    for item in shuffled(world, world.items):
        texts_by_rater = [
            (r, world.tables[0][item, r][0]) for r in shuffled(world, world.raters) if (item, r) in world.tables[0]
        ]
        responses = [{"value": text, "user_id": rater} for rater, text in texts_by_rater]
        entries.append(
            {"id": item, "fields": {"text": f"Case {item}"}, "metadata": {}, "suggestions": {}, "vectors": {}}
            | {"responses": {"finding": responses}, "_server_id": "3f1c"}
        )
    (folder / "argilla.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder / "argilla.json", []


FORMATS = {
    "long CSV": Format(long_csv, empties=True, sets=True, weights=True),
    "long CSV of two fields": Format(long_fields, empties=True, fields=2, weights=True),
    "wide CSV": Format(wide_csv, weights=True),
    "XLSX": Format(workbook, weights=True),
    "JSONL": Format(json_lines, empties=True, sets=True, weights=True),
    "JSON rows": Format(json_rows, sets=True, weights=True),
    "JSON columns": Format(json_columns),
    "Label Studio": Format(label_studio, empties=True, sets=True, weights=True, rater=NUMBERS.__getitem__),
    "Label Studio of two fields": Format(label_studio, empties=True, fields=2, rater=NUMBERS.__getitem__),
    "Prodigy": Format(prodigy, rater=lambda rater: f"findings-{rater}"),
    "doccano": Format(doccano),
    "Argilla": Format(argilla),
}
