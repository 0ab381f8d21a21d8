"""The data files of this package: names of columns, marks for missing answers and foreign files."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def data_file(name: str) -> Any:
    """The content of a data file.

    Parameters
    ----------
    name : str
        Without its ending.

    Returns
    -------
    object
        As it is in JSON; not to be changed.
    """
    return json.loads(files("softirr.answers").joinpath(f"{name}.json").read_text("utf-8"))


def foreign_start(start: bytes) -> str | None:
    """Describe a file that softirr cannot read, by its first bytes.

    Examples
    --------
    >>> foreign_start(b"%PDF-1.7")
    'a PDF: copy its table into a spreadsheet first'
    >>> foreign_start(b"item,rater,text") is None
    True
    """
    begins: dict[str, str] = data_file("foreign")
    return next((what for mark, what in begins.items() if start.startswith(mark.encode("latin-1"))), None)
