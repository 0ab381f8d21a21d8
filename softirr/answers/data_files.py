"""The data files beside these modules: names of columns, marks for missing answers, forms and foreign files."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["data_file"]


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
