"""Choice of the reader of an annotated table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lab.experiments.tables import derm1m, others, plain, reflacx
from lab.experiments.tables.annotated_table import GoldTable
from lab.terminologies import named_paths
from softirr.errors import InputError
from softirr.meaning.terminology.text_files import lines

_READERS: dict[str, Callable[..., GoldTable]] = {
    "table": plain.read,
    "reflacx": reflacx.read,
    "derm1m": derm1m.read,
    "derm_ddx": others.read_derm_ddx,
    "protoqa": others.read_protoqa,
    "ncbi_disease": others.read_ncbi_disease,
}
KINDS = tuple(_READERS)
"""Names of the kinds of tables."""


def load_table(source: str, *, kind: str | None = None) -> GoldTable:
    """Read an annotated table.

    Parameters
    ----------
    source : str
        A path or ``NAME=PATH``; for Derm1M also ``METADATA,DUPLICATES``. The columns or the folder show the kind.
    kind : str, optional
        One of ``KINDS``, where it can't be recognized.

    Raises
    ------
    InputError
        One sentence that names the file and, if possible, the line.
    """
    label, path, extra = named_paths(source)
    table_kind = kind or _guess(path)
    if table_kind not in _READERS:
        raise InputError(f"There is no kind of table {table_kind!r}; the kinds are {', '.join(KINDS)}.")
    if extra is not None and table_kind != "derm1m":
        raise InputError(f"{source}: only Derm1M takes a second file.")
    name = label or path.name.removesuffix(".gz").partition(".")[0]
    if extra is not None:
        return derm1m.read(path, name, extra)
    return _READERS[table_kind](path, name)


def _guess(path: Path) -> str:
    if path.is_dir():
        if reflacx.metadata(path, 1):
            return "reflacx"
        raise InputError(f"{path} is a folder without metadata_phase_1.csv; the only folder that is read is REFLACX.")
    _, first = next(lines(path), (1, ""))
    if first.lstrip().startswith("{"):
        return "derm_ddx" if '"readers"' in first else "protoqa"
    names = {name.strip().strip('"') for name in first.replace("\t", ",").split(",")}
    for kind, columns in (
        ("table", plain.COLUMNS),
        ("derm1m", derm1m.COLUMNS),
        ("ncbi_disease", ("mention", "concept")),
    ):
        if names >= set(columns):
            return kind
    raise InputError(f"{path}, line 1: no header item,rater,text,codes, and none of the other kinds of tables.")
