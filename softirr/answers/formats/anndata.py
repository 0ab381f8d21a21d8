"""AnnData files (``.h5ad``): the table ``obs``, read by h5py, which is imported only here. The matrix is not read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softirr.answers.books import text_of_value
from softirr.answers.gathered import Request
from softirr.answers.registry import Format, Ways
from softirr.answers.rows import Rows, is_missing
from softirr.answers.source import Source, needed, refused
from softirr.errors import InputError

__all__ = ["FORMATS"]

_HDF5 = b"\x89HDF\r\n\x1a\n"
_INDEX = "_index"


def _is_it(source: Source) -> bool:
    return source.start.startswith(_HDF5)


def _read(source: Source, request: Request) -> Rows:
    """The rows of ``obs`` with its index as the first column."""
    h5py = needed("h5py", "h5py", "An AnnData file")
    wrong = f"{source.name} is a damaged AnnData file ({{error}})."
    with (
        refused(wrong, OSError, LookupError, TypeError, ValueError, AttributeError, RuntimeError),
        h5py.File(source.seekable(), "r") as file,
    ):
        if not isinstance(file.get("obs"), h5py.Group):
            raise _not_anndata(source.name, "obs" in file)
        columns = _columns(file["obs"])
    if len({len(cells) for cells in columns.values()}) != 1:
        raise InputError(f"{source.name} is a damaged AnnData file: the columns of obs differ in length.")
    rows = ((number, list(cells)) for number, cells in enumerate(zip(*columns.values(), strict=True), start=1))
    return Rows(source.name, "anndata", tuple(columns), rows, blank="missing")


def _not_anndata(name: str, is_old: bool) -> InputError:
    if is_old:
        return InputError(
            f"{name} was written by anndata before version 0.7: read it with anndata, and write it again with "
            "write_h5ad."
        )
    return InputError(
        f"{name} is an HDF5 file without the table obs of AnnData: save its table as CSV, or as AnnData with "
        "write_h5ad."
    )


def _columns(obs: Any) -> dict[str, list[str | None]]:
    """Texts of each column; None where a value is missing."""
    index = _name(obs.attrs[_INDEX])
    order = [_name(one) for one in obs.attrs.get("column-order", ())]
    named = {"index" if index == _INDEX and "index" not in order else index: obs[index]}
    named |= {one: obs[one] for one in order}
    old: Mapping[str, Any] = obs.get("__categories", {})  # of anndata 0.7
    return {name: _texts(_values(column, old.get(name))) for name, column in named.items()}


def _name(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _values(column: Any, categories: Any) -> list[Any]:
    """Values of a column; ValueError if it is no plain column of this file."""
    if hasattr(column, "keys"):
        if "categories" in column:
            return _of_categories(column["codes"], column["categories"])
        values, mask = _values(column["values"], None), column["mask"][:] if "mask" in column else ()
        return (
            [None if missing else value for value, missing in zip(values, mask, strict=True)] if len(mask) else values
        )
    if categories is not None:
        return _of_categories(column, categories)
    if column.ndim != 1 or column.dtype.names or column.external:
        raise ValueError(column.name)
    return list(column.asstr()[:] if column.dtype.kind in "OS" else column[:])


def _of_categories(codes: Any, categories: Any) -> list[Any]:
    known = _values(categories, None)
    return [None if code < 0 else known[code] for code in codes[:]]


def _texts(values: list[Any]) -> list[str | None]:
    return [None if is_missing(value) else text_of_value(value) for value in values]


FORMATS = (Format("anndata", file=Ways(_is_it, _read)),)
