"""A world as a file of each format, and what its ids are called there."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.answers.formats import annotation_tools
from tests.answers.formats.common import json_lines, text_table, workbook
from tests.answers.plain_rows import json_file
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


def rows(world: World) -> list[tuple[str, str, str]]:
    """Item, rater and text of each answer of one text."""
    return [(item, rater, texts[0]) for (item, rater), texts in shuffled(world, world.tables[0].items())]


def written_by(write):
    """The writer of a format that needs no options."""
    return lambda world, folder: (write(folder, rows(world)), [])


def share_of(world: World, item: str) -> dict[str, float]:
    return {} if world.weights is None else {"share": world.weights[item]}


def weighted(world: World) -> list[str]:
    return [] if world.weights is None else ["--weight", "share"]


def long_csv(world, folder):
    rows = [
        [item, rater, text, *share_of(world, item).values()]
        for (item, rater), texts in shuffled(world, world.tables[0].items())
        for text in texts or ("",)
    ]
    head = ["item", "rater", "text", *(["share"] if world.weights else [])]
    return text_table([head, *rows], folder / "long.csv"), weighted(world)


def long_fields(world, folder):
    rows = [
        [
            item,
            rater,
            *(table[item, rater][0] if table[item, rater] else "" for table in world.tables),
            *share_of(world, item).values(),
        ]
        for item, rater in shuffled(world, world.tables[0])
    ]
    head = ["case", "nurse", *FIELDS, *(["share"] if world.weights else [])]
    options = ["--item", "case", "--rater", "nurse", "--text", ",".join(FIELDS), "--empty", "none", *weighted(world)]
    return text_table([head, *rows], folder / "fields.csv"), options


def wide_table(world):
    rows = [
        [
            item,
            *(world.tables[0].get((item, rater), ("",))[0] for rater in world.raters),
            *share_of(world, item).values(),
        ]
        for item in shuffled(world, world.items)
    ]
    return [["id", *world.raters, *(["share"] if world.weights else [])], *rows]


def wide_options(world):
    return ["--item", "id", "--raters", ",".join(world.raters), *weighted(world)]


def wide_csv(world, folder):
    return text_table(wide_table(world), folder / "wide.csv"), wide_options(world)


def wide_xlsx(world, folder):
    return workbook(wide_table(world), folder / "wide.xlsx"), wide_options(world)


def jsonl(world, folder):
    entries = [
        {"item": item, "rater": rater, "texts": list(texts)} | share_of(world, item)
        for (item, rater), texts in shuffled(world, world.tables[0].items())
    ]
    return json_lines(entries, folder / "answers.jsonl"), weighted(world)


def json_rows(world, folder):
    entries = [
        {"task_id": item, "annotator": rater, "answer": text} | share_of(world, item)
        for (item, rater), texts in shuffled(world, world.tables[0].items())
        for text in texts
    ]
    return json_file(folder / "rows.json", entries), weighted(world)


def json_columns(world, folder):
    """A row for each item, with a key for each rater who answered it."""
    entries = [
        {"id": item}
        | {rater: world.tables[0][item, rater][0] for rater in world.raters if (item, rater) in world.tables[0]}
        for item in shuffled(world, world.items)
    ]
    return json_file(folder / "columns.json", entries), ["--item", "id", "--raters", ",".join(world.raters)]


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
        data = {"text": f"Case {item}", **share_of(world, item)}
        tasks.append({"id": int(item), "data": data, "annotations": annotations})
    return tasks


def label_studio(world, folder):
    path = json_file(folder / "export.json", label_studio_tasks(world))
    return path, ["--text", ",".join(FIELDS[: len(world.tables)]), *weighted(world)]


FORMATS = {
    "long CSV": Format(long_csv, empties=True, sets=True, weights=True),
    "long CSV of two fields": Format(long_fields, empties=True, fields=2, weights=True),
    "wide CSV": Format(wide_csv, weights=True),
    "XLSX": Format(wide_xlsx, weights=True),
    "JSONL": Format(jsonl, empties=True, sets=True, weights=True),
    "JSON rows": Format(json_rows, sets=True, weights=True),
    "JSON columns": Format(json_columns),
    "Label Studio": Format(label_studio, empties=True, sets=True, weights=True, rater=NUMBERS.__getitem__),
    "Label Studio of two fields": Format(label_studio, empties=True, fields=2, rater=NUMBERS.__getitem__),
    "Prodigy": Format(
        written_by(annotation_tools.prodigy),
        item=lambda item: str(1000 + int(item)),
        rater=lambda rater: f"findings-{rater}",
    ),
    "doccano": Format(written_by(annotation_tools.doccano_zip)),
    "Argilla": Format(written_by(annotation_tools.argilla_json), rater=lambda rater: f"uuid-{rater}"),
}
