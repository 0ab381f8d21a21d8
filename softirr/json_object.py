"""Results as JSON objects with a key for each of their fields."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


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
