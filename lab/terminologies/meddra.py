"""MedDRA, from the folder of ASCII files for subscribers.

Preferred terms with their current lowest-level terms as synonyms.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from softirr.errors import InputError
from softirr.meaning.terminology.concepts import Builder
from softirr.meaning.terminology.readers import lines
from softirr.numbers import plural

_CURRENCY = 9  # column of llt.asc that shows whether a term is current


def read(path: Path, builder: Builder) -> None:
    """Fill the builder from a folder with ``llt.asc``, ``pt.asc`` and the files of the levels above.

    Raises
    ------
    InputError
        If a file is missing or damaged.
    """
    for level in ("soc", "hlgt", "hlt", "pt"):
        file = find(path, level)
        if file is None:
            if level == "pt":
                raise InputError(f"{path} has no pt.asc.")
            continue
        builder.place = str(file)
        for number, cells in _rows(file, 2):
            builder.concept(cells[0], cells[1], number)
    llt = find(path, "llt")
    if llt is None:
        raise InputError(f"{path} has no llt.asc.")
    for _, cells in _rows(llt, 3):
        if len(cells) <= _CURRENCY or cells[_CURRENCY] != "N":
            builder.synonym(cells[2], cells[1])
    for above, below in (("soc", "hlgt"), ("hlgt", "hlt"), ("hlt", "pt")):
        file = find(path, f"{above}_{below}")
        if file is not None:
            for _, cells in _rows(file, 2):
                builder.parent(cells[1], cells[0])


def find(folder: Path, stem: str) -> Path | None:
    """``STEM.asc`` in the folder, in any case."""
    return next((p for p in sorted(folder.iterdir()) if p.name.casefold() == f"{stem}.asc"), None)


def _rows(path: Path, n_columns: int) -> Iterator[tuple[int, list[str]]]:
    """Rows of a file with columns that end in ``$``."""
    number = 0
    for number, line in lines(path):
        if line.strip():
            cells = [cell.strip() for cell in line.split("$")]
            if len(cells) < n_columns:
                raise InputError(
                    f"{path}, line {number}: {plural(len(cells), 'column')}, but at least {n_columns} are needed, "
                    "separated by $."
                )
            yield number, cells
    if not number:
        raise InputError(f"{path} is empty.")
