"""The file of a terminology's index: a header in JSON and plain arrays.

The arrays are mapped into memory, so that opening takes milliseconds and processes share the pages.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KEYS", "VERSION", "read_index", "write_index"]

_LOG = logging.getLogger("softirr")
_MAGIC = b"SOFTIRR-TERMS\x01\n\n"
VERSION = 6
"""Raise it whenever keys or arrays change: files of other versions are written again."""
_ALIGNED = 64
KEYS = ("exact", "folded", "bag", "joined")
_ARRAYS = {
    **{f"{key}_{part}": kind for key in KEYS for part, kind in (("hash", "<u8"), ("name", "<u4"))},
    "concept_name": "<u4",
    "name_concept": "<u4",
    "parent_start": "<u4",
    "parent": "<u4",
    **{f"{what}_{part}": kind for what in ("id", "name") for part, kind in (("start", "<u8"), ("text", "|u1"))},
    "word_hash": "<u8",
    "pair_hash": "<u8",
    "word_start": "<u8",
    "word_text": "|u1",
    "cut_hash": "<u8",
    "cut_word": "<u4",
}


def write_index(file: Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Write an index file in one step.

    Parameters
    ----------
    arrays : mapping of str to array
        Each array of the format, of any shape.

    Returns
    -------
    bool
        False where the folder can't be written.
    """
    places: dict[str, list[int]] = {}
    at = 0
    for key in _ARRAYS:
        places[key] = [at, len(arrays[key])]
        at += -(-arrays[key].nbytes // _ALIGNED) * _ALIGNED
    head = json.dumps({**header, "version": VERSION, "arrays": places}).encode()
    start = -(-(len(_MAGIC) + 8 + len(head)) // _ALIGNED) * _ALIGNED
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as out:
            try:
                out.write(_MAGIC + len(head).to_bytes(8, "little") + head)
                for key, kind in _ARRAYS.items():
                    out.seek(start + places[key][0])
                    out.write(np.ascontiguousarray(arrays[key].astype(kind, copy=False)).data)
                out.truncate(start + at)
                out.close()
                os.replace(out.name, file)
            except BaseException:
                os.unlink(out.name)
                raise
    except OSError as error:
        _LOG.warning("The index of a terminology can't be kept in %s: %s.", file.parent, error.strerror or error)
        return False
    return True


def read_index(file: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """Header and arrays of an index file, mapped into memory.

    Returns
    -------
    (dict, dict) or None
        None where there is no file or it is damaged; each array has the shape with which it was written.
    """
    try:
        size = file.stat().st_size
        with open(file, "rb") as opened:
            if opened.read(len(_MAGIC)) != _MAGIC:
                return None
            length = int.from_bytes(opened.read(8), "little")
            if length > size:
                return None
            header = json.loads(opened.read(length))
        start = -(-(len(_MAGIC) + 8 + length) // _ALIGNED) * _ALIGNED
        whole = np.memmap(file, dtype=np.uint8, mode="r")
        arrays = {}
        for key, kind in _ARRAYS.items():
            at, count = header["arrays"][key]
            stop = start + at + count * np.dtype(kind).itemsize
            if header["version"] != VERSION or stop > size:
                return None
            arrays[key] = np.asarray(whole[start + at : stop]).view(kind)
        return header, arrays
    except (OSError, ValueError, KeyError, TypeError):
        return None
