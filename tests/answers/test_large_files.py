"""Large files are read in pieces: memory depends on the answers, not on the file, and progress is reported."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import softirr
from tests.answers.plain_rows import refusal

MEBIBYTE = 1 << 20
QUESTION = {"question": "why? " * 400}


def _csv(path: Path) -> int:
    """Write a file of long questions and short answers."""
    return _rows(path, lambda n, rater: f'{n},{rater},fever {n % 50},"{"why? " * 400}"', "item,rater,text,question\n")


def _jsonl(path: Path) -> int:
    return _rows(path, lambda n, rater: json.dumps({"item": n, "rater": rater, "texts": ["fever"], **QUESTION}))


def _json_rows(path: Path) -> int:
    return _rows(path, lambda n, rater: json.dumps({"item": n, "rater": rater, "text": "fever", **QUESTION}))


def _rows(path: Path, row: Callable[[int, str], str], head: str = "") -> int:
    with path.open("w", encoding="utf-8") as file:
        file.write(head)
        file.writelines(f"{row(n, rater)}\n" for n in range(4000) for rater in ("ann", "bob"))
    return 4000


def _export(path: Path) -> int:
    region = {"type": "textarea", "from_name": "f", "value": {"text": ["fever"]}}
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for n in range(2000):
            annotations = [{"id": 2 * n + k, "completed_by": k, "result": [region]} for k in (1, 2)]
            file.write(
                ("," if n else "") + json.dumps({"id": n, "data": {"text": "why? " * 1600}, "annotations": annotations})
            )
        file.write("]")
    return 2000


@pytest.mark.slow
@pytest.mark.parametrize("write", [_csv, _jsonl, _json_rows, _export])
def test_the_file_itself_is_not_kept(write: Callable[[Path], int], tmp_path: Path) -> None:
    n_items = write(tmp_path / "large")
    size = (tmp_path / "large").stat().st_size
    assert size > 15 * MEBIBYTE
    softirr.read(io.StringIO("item,rater,text\n1,a,x\n"))  # imports take memory, too
    tracemalloc.start()
    try:
        table = softirr.read(tmp_path / "large")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(table.items) == n_items
    assert peak < 0.5 * size, f"{peak / MEBIBYTE:.0f} MiB for a file of {size / MEBIBYTE:.0f} MiB"


@pytest.mark.slow
@pytest.mark.parametrize("write", [_csv, _export])
def test_progress_counts_bytes(write: Callable[[Path], int], tmp_path: Path) -> None:
    write(tmp_path / "large")
    size = (tmp_path / "large").stat().st_size
    reports: list[tuple[int, int]] = []
    softirr.read(tmp_path / "large", progress=lambda done, total: reports.append((done, total)))
    assert len(reports) > 10
    assert [done for done, _ in reports] == sorted({done for done, _ in reports})
    assert reports[-1] == (size, size)


def test_a_task_longer_than_a_piece_and_numbers_at_its_end(tmp_path: Path) -> None:
    """Values that are cut between two pieces are read whole, and the line of a mistake is right."""
    region = {"type": "textarea", "from_name": "f", "value": {"text": ["x" * 3_000_000]}}
    tasks = [{"id": n, "annotations": [{"completed_by": k, "result": [region]} for k in (1, 2)]} for n in (1, 2)]
    text = "[\n" + ",\n".join(json.dumps(task) for task in tasks) + "\n]"
    (tmp_path / "a.json").write_text(text)
    assert softirr.read(tmp_path / "a.json").items == ("1", "2")
    (tmp_path / "a.json").write_text(text.replace('"id": 2', '"id": 2, "id": 3'))
    assert "line 3: task number 2 has the key id twice" in refusal(tmp_path / "a.json")
    (tmp_path / "a.json").write_text(text[:-2])
    assert "not valid JSON" in refusal(tmp_path / "a.json")


@pytest.mark.parametrize("end", range(65_530, 65_545))
def test_lines_and_letters_between_two_pieces(end: int, tmp_path: Path) -> None:
    """The first piece has 64 KiB: a line end, a quote or a letter of several bytes may lie on its border."""
    start = "item,rater,text\r\n"
    filling = "x" * (end - len(start) - len("1,a,\r\n"))
    path = tmp_path / "a.csv"
    path.write_bytes((start + f'1,a,{filling}\r\n1,b,"ü, ""ö"""\r\n2,a,y\r\n').encode())
    assert softirr.read(path).texts == tuple(sorted((filling, 'ü, "ö"', "y")))
