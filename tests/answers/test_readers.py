"""Readers that other packages add as entry points of the group ``softirr.readers``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from softirr.answers import registry
from softirr.errors import InputError
from tests.answers.plain_rows import text_file
from tests.programs import run_python

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
EXAMPLE = next(code for code in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL) if "WARD" in code)
READ = "import softirr, sys; table = softirr.read(sys.argv[1]); print(table.raters, table.texts, table.reading.format)"


def _package(folder: Path, target: str = "ward_reader:WARD") -> Path:
    """A folder with the installed package of the documentation."""
    text_file(folder / "ward_reader.py", EXAMPLE)
    metadata = folder / "ward_reader-1.dist-info"
    metadata.mkdir()
    text_file(metadata / "METADATA", "Metadata-Version: 2.1\nName: ward-reader\nVersion: 1\n")
    text_file(metadata / "entry_points.txt", f"[softirr.readers]\nward = {target}\n")
    return folder


def test_documented_reader_of_another_package_reads_its_files(tmp_path: Path) -> None:
    path = text_file(tmp_path / "answers.ward", "#ward\ncase 7 | ann | fever\n\ncase 7 | bob | rash\n")
    root = Path(registry.__file__).parents[2]
    environment = {"PYTHONPATH": f"{_package(tmp_path)}:{root}"}
    assert run_python(READ, path, environment=environment) == "('ann', 'bob') ('fever', 'rash') ward"
    assert len(EXAMPLE.splitlines()) <= 20


@pytest.mark.parametrize(
    ("target", "message"),
    [("ward_reader:missing", "fails (AttributeError)"), ("ward_reader:is_ward", "is not a softirr")],
)
def test_broken_reader_of_another_package_is_named(
    target: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(_package(tmp_path, target)))
    registry.formats.cache_clear()
    try:
        with pytest.raises(InputError, match=re.escape(message)):
            registry.formats()
    finally:
        monkeypatch.undo()
        sys.modules.pop("ward_reader", None)
        registry.formats.cache_clear()
