"""Parquet files, read in batches by pyarrow, which is imported only here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from softirr.answers.registry import Format, Ways
from softirr.answers.request import Request
from softirr.answers.rows import Rows
from softirr.answers.source import Source, needed, refused


def _read(source: Source, request: Request) -> Rows:
    needed("pyarrow", "pyarrow", "A Parquet file")
    parquet = importlib.import_module("pyarrow.parquet")
    arrow = importlib.import_module("pyarrow")
    with refused(f"{source.name} is a damaged Parquet file.", arrow.ArrowException, OSError, ValueError):
        file = parquet.ParquetFile(source.seekable())
        columns = tuple(file.schema_arrow.names)

    def rows() -> Iterator[tuple[int, Sequence[Any]]]:
        number = 0
        with refused(f"{source.name} is a damaged Parquet file ({{error}}).", arrow.ArrowException, OSError):
            for batch in file.iter_batches(batch_size=8192):
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield number, cells

    return Rows(source.name, "parquet", columns, rows(), blank="null missing")


FORMATS = (Format("parquet", file=Ways(lambda source: source.start.startswith(b"PAR1"), _read)),)
