"""Folders and ZIP archives: their files, their hash, archives as folders, and folders with a table for each rater.

Each table of such a folder is named after its rater.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from softirr.answers.answer import RawInput
from softirr.answers.layout import columns_by_names
from softirr.answers.readers.json_text import json_rows
from softirr.answers.registry import Format, Request, Ways
from softirr.answers.row_tables import per_rater_input
from softirr.answers.rows import Records, Rows
from softirr.answers.source import Source, refused
from softirr.errors import InputError
from softirr.text import listed, shown

TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".json", ".jsonl")
"""Suffixes of files that may be tables."""
_LARGEST = 8 << 30
_LONG = 200
_DEEPEST = 20
MOST_FILES = 20_000
"""Most files of a folder or a ZIP archive; more take minutes before the first is read."""
DAMAGE = (zipfile.BadZipFile, EOFError, RuntimeError, ValueError, struct.error, zlib.error, lzma.LZMAError)
"""What reading a damaged or encrypted archive raises."""
_INSTRUCTIONS = ("readme", "read me", "liesmich")
"""Beginnings of the names of files that have no answers."""


@dataclass(frozen=True)
class Folder:
    """A folder, or an archive that was unpacked.

    Attributes
    ----------
    name : str
        Name of the input, for messages.
    open : callable
        Gives the rows or the records of a file.
    """

    path: Path
    name: str
    open: Callable[[Path], Rows | Records]

    @cached_property
    def files(self) -> list[Path]:
        """Files of the folder and the folders in it, in order, without hidden ones.

        Raises
        ------
        InputError
            If there are too many for a folder of answers.
        """
        files: list[Path] = []
        n_folders = 0
        for parent, folders, names in os.walk(self.path):
            folders[:] = [name for name in folders if not _hidden(name)]
            files += [Path(parent, name) for name in names if not _hidden(name)]
            n_folders += len(folders)
            if max(len(files), n_folders) > MOST_FILES:
                raise InputError(
                    f"{self.name} has more than {MOST_FILES:,} files or folders: give the folder with the answers of "
                    "one project only."
                )
        return sorted(path for path in files if path.is_file())

    @property
    def sha256(self) -> str:
        """Hash of the names and contents of the files."""
        digest = hashlib.sha256()
        for path in self.files:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path.relative_to(self.path).as_posix()}\0{content}\n".encode())
        return digest.hexdigest()

    def ending(self, *suffixes: str) -> list[Path]:
        """Files with one of these suffixes."""
        return [path for path in self.files if path.suffix.casefold() in suffixes]

    @property
    def tables(self) -> list[Path]:
        """Files of the folder itself that may be tables."""
        return [path for path in self.ending(*TABLES) if path.parent == self.path]

    def first_record(self, path: Path) -> Mapping[str, Any]:
        """Return the first record of a file with JSON; empty if it has none."""
        try:
            content = self.open(path)
            first = None if isinstance(content, Rows) else next(content, None)
        except InputError:
            return {}
        return first[1] if first is not None and isinstance(first[1], Mapping) else {}


def _hidden(name: str) -> bool:
    return name.startswith((".", "~$", "__MACOSX"))


@contextmanager
def unpacked(source: Source) -> Iterator[Path]:
    """A ZIP archive as a folder that is removed afterwards.

    Names that lead out of the folder are cut, and empty folders are left out.

    Raises
    ------
    InputError
        If it is damaged or encrypted, has too many files, or is far too large.
    """
    name = source.name
    with refused(f"{name} is a damaged ZIP archive: create it again.", *DAMAGE):
        archive = zipfile.ZipFile(source.seekable())
        members = [info for info in archive.infolist() if not info.is_dir()]
    if len(members) > MOST_FILES or any(info.filename.count("/") > _DEEPEST for info in members):
        raise InputError(
            f"{name} has {len(members):,} files; at most {MOST_FILES:,}, nested at most {_DEEPEST} folders deep, can "
            "be read."
        )
    if sum(info.file_size for info in members) > _LARGEST:
        raise InputError(f"{name} would take more than {_LARGEST >> 30} GiB unpacked: unpack it yourself.")
    with tempfile.TemporaryDirectory(prefix="softirr-") as temporary:
        folder = Path(temporary)
        for member in members:
            try:
                archive.extract(member, folder)
            except (*DAMAGE, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:  # bz2 has none, for damaged data
                    raise InputError(f"{name} can't be unpacked to {folder.parent}: {error.strerror}.") from None
                raise InputError(
                    f"{name} contains the file {shown(member.filename, _LONG)!r}, which is damaged or encrypted: "
                    "create the archive again, without a password."
                ) from None
        inside = [path for path in folder.iterdir() if not _hidden(path.name)]
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _read(folder: Folder, request: Request) -> RawInput:
    paths = [path for path in folder.tables if not path.stem.casefold().startswith(_INSTRUCTIONS)]
    tables_by_folder = {} if paths else _of_subfolders(folder)
    if len(paths) < 2 and not tables_by_folder:
        names = [path.relative_to(folder.path).as_posix() for path in folder.files]
        if len(paths) == 1:
            raise InputError(
                f"{folder.name} has one table, {paths[0].name}, and no file for each rater: give this file "
                "itself, or a file for each rater."
            )
        inside = f"it has {listed(names)}" if names else "it is empty"
        raise InputError(
            f"{folder.name} is a folder or ZIP archive without a file for each rater (CSV, XLSX, JSONL and the "
            f"like): {inside}."
        )
    tables: dict[str, Rows] = {}
    for rater, path in tables_by_folder.items() or ((path.stem, path) for path in paths):
        content = folder.open(path)
        if rater in tables:
            raise InputError(
                f"{folder.name} has two files of the rater {rater}: {listed([path.name for path in paths])}."
            )
        tables[rater] = content if isinstance(content, Rows) else json_rows(str(path), content, "jsonl")
    unrelated = _other_tables(tables, request)
    tables = {rater: table for rater, table in tables.items() if rater not in unrelated}
    notes = [f"Each {'folder' if tables_by_folder else 'file'} has the answers of one rater: {listed(tuple(tables))}."]
    if unrelated:
        notes.append(f"These files have other columns and were not read: {listed(unrelated)}.")
    return per_rater_input(tables, request, "folder", notes)


def _of_subfolders(folder: Folder) -> dict[str, Path]:
    """Return the only table of each subfolder, by the name of the subfolder; empty if some have several."""
    tables_by_folder: dict[str, Path] = {}
    for path in folder.ending(*TABLES):
        folders = path.relative_to(folder.path).parts
        if len(folders) != 2 or folders[0] in tables_by_folder:
            return {}
        tables_by_folder[folders[0]] = path
    return tables_by_folder if len(tables_by_folder) > 1 else {}


def _other_tables(tables: Mapping[str, Rows], request: Request) -> list[str]:
    """Tables such as a list of codes: without known columns and any column of the others, which have them."""
    recognized = [name for name, table in tables.items() if columns_by_names((*table.columns, "rater")) is not None]
    if request.options.names_columns or len(recognized) < 2:
        return []
    folded = {name: {column.casefold() for column in table.columns} for name, table in tables.items()}
    columns = {column for name in recognized for column in folded[name]}
    return [name for name in tables if name not in recognized and not folded[name] & columns]


FORMATS = (Format("folder", folder=Ways(lambda folder: True, _read), is_general=True),)
