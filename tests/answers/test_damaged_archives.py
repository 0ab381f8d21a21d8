"""A damaged archive or workbook is refused in one sentence, or it gives the answers that were put in.

A large one is refused at once.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import softirr
from softirr.answers.readers import table_folders as folders
from tests import Cli
from tests.answers.formats.common import workbook
from tests.answers.plain_rows import refusal, rows

ANSWERS = {"ann": ["fever", "cough", "rash"] * 9, "bob": ["fever", "dry cough", "itch"] * 9}
SETTINGS = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for rater, texts in ANSWERS.items():
            rows = "".join(f"{number},{text}\n" for number, text in enumerate(texts))
            archive.writestr(f"{rater}.csv", "item,text\n" + rows)
    return file.getvalue()


def book() -> bytes:
    answer_rows = [[number, rater, text] for rater, texts in ANSWERS.items() for number, text in enumerate(texts)]
    file: io.BytesIO = workbook([["item", "rater", "text"], *answer_rows], io.BytesIO())
    return file.getvalue()


def content(path: Path) -> set[tuple[str, str, tuple[str, ...]]] | None:
    try:
        table = softirr.read(path)
    except softirr.InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - any error; a value without one
        return None
    return rows(table)


WHOLE = {(str(number), rater, (text,)) for rater, texts in ANSWERS.items() for number, text in enumerate(texts)}
FILES = {"archive.zip": archive(), "book.xlsx": book()}


@pytest.mark.parametrize("name", FILES)
class TestDamage:
    def test_the_file_itself(self, name: str, tmp_path: Path) -> None:
        (tmp_path / name).write_bytes(FILES[name])
        assert content(tmp_path / name) == WHOLE

    @pytest.mark.slow
    @SETTINGS
    @given(data=st.data())
    def test_bytes_changed(self, name: str, tmp_path: Path, data: st.DataObject) -> None:
        archive_bytes = bytearray(FILES[name])
        for _ in range(data.draw(st.integers(1, 3))):
            archive_bytes[data.draw(st.integers(4, len(archive_bytes) - 1))] ^= data.draw(st.integers(1, 255))
        (tmp_path / name).write_bytes(archive_bytes)
        assert content(tmp_path / name) in (None, WHOLE)

    @SETTINGS
    @given(data=st.data())
    def test_cut_off(self, name: str, tmp_path: Path, data: st.DataObject) -> None:
        (tmp_path / name).write_bytes(FILES[name][: data.draw(st.integers(4, len(FILES[name]) - 1))])
        assert content(tmp_path / name) is None


class TestExamples:
    @pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_STORED])
    def test_a_damaged_member_is_named(self, method: int, tmp_path: Path, cli: Cli) -> None:
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            for rater in ANSWERS:
                archive.writestr(f"{rater}.csv", "item,text\n" + "1,fever\n2,cough\n" * 40)
            data_offset = archive.infolist()[1].header_offset + 30 + len("bob.csv") + 20
        damaged = bytearray(path.read_bytes())
        damaged[data_offset : data_offset + 8] = bytes(byte ^ 0xFF for byte in damaged[data_offset : data_offset + 8])
        path.write_bytes(damaged)
        error = cli("score", path, status=2)
        assert "contains the file 'bob.csv', which is damaged or encrypted" in error

    def test_a_disk_without_space(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        (tmp_path / "a.zip").write_bytes(FILES["archive.zip"])
        monkeypatch.setattr(zipfile.ZipFile, "extract", full)
        assert re.search(r"can't be unpacked to .*: No space left on device", refusal(tmp_path / "a.zip"))


class TestManyFiles:
    @staticmethod
    def archive_of(path: Path, names: list[str]) -> Path:
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, "")
            for rater in ANSWERS:
                archive.writestr(f"{rater}.csv", "item,text\n1,fever\n")
        return path

    def test_empty_folders_are_not_made(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(folders, "MOST_FILES", 10)
        path = self.archive_of(tmp_path / "a.zip", [f"d{number}/" for number in range(5_000)])
        assert softirr.read(path).raters == ("ann", "bob")

    @pytest.mark.parametrize(
        "names", [[f"d{number}/x.csv" for number in range(11)], ["/".join("a" * 30) + "/x.csv"]], ids=["many", "deep"]
    )
    def test_too_many_are_refused_before_they_are_unpacked(
        self, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(folders, "MOST_FILES", 10)
        monkeypatch.setattr(zipfile.ZipFile, "extract", lambda *_: pytest.fail("unpacked"))
        assert re.search(
            r"has \d+ files; at most 10, nested at most 20 folders deep, can be read",
            refusal(self.archive_of(tmp_path / "a.zip", names)),
        )

    def test_a_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(folders, "MOST_FILES", 10)
        for number in range(11):
            (tmp_path / "all" / f"d{number}").mkdir(parents=True)
        assert "more than 10 files or folders" in refusal(tmp_path / "all")
