"""JSON: results as objects with a key for each of their fields, and data files of this package."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def data_file(package: str, name: str) -> Any:
    """The content of a data file of a package, which is not to be changed; the name is without its ending."""
    return json.loads(files(package).joinpath(f"{name}.json").read_text("utf-8"))


@dataclass(frozen=True)
class JsonObject:
    """Base class of results. Each field becomes a key of the JSON object."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON.

        Examples
        --------
        >>> @dataclass(frozen=True)
        ... class Pair(JsonObject):
        ...     texts: tuple[str, ...]
        ...     p: float
        >>> Pair(("fever", "pyrexia"), 0.9).to_dict()
        {'texts': ['fever', 'pyrexia'], 'p': 0.9}
        """
        return {attribute.name: _json_value(getattr(self, attribute.name)) for attribute in fields(self)}


def _json_value(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_json_value(entry) for entry in value]
    return {key: _json_value(entry) for key, entry in value.items()} if isinstance(value, dict) else value
