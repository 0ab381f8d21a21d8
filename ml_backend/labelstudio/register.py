"""Which connected backends score a project.

They are noted in the project's triage tab, where each of them finds the others.

Predictions without suggestions carry a score and nothing else, so they can't say who wrote them.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from ml_backend.labelstudio import triage
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.errors import NotFound

__all__ = ["Register", "backend_name", "stronger"]

KEY = "softirr_backends"  # in the tab's data
Mark = Mapping[str, Any]


def backend_name(secret: bytes) -> str:
    """Name of a backend, made from its store's secret."""
    return hashlib.sha256(b"backend" + secret).hexdigest()[:12]


def stronger(own: Mark, others: Iterable[Mark]) -> Mark | None:
    """The strongest of the other backends, if it goes before this one."""
    rivals = [other for other in others if _place(other) > _place(own) and other.get("connected") is not None]
    rivals = [other for other in rivals if other.get("scoring") != own["scoring"]]
    return max(rivals, key=_place, default=None)


def _place(mark: Mark) -> tuple[bool, float, str]:
    since = mark.get("connected")
    known = isinstance(since, int | float) and not isinstance(since, bool)
    return known, float(since) if known and since else 0.0, str(mark.get("backend"))


class Register:
    """The marks in the triage tab of one project, as they are now.

    Attributes
    ----------
    marks : dict
        Name of a backend -> its mark (`sync.other_backends.mark`), with the id of its ``connection`` in Label Studio or
        None.
    exists : bool
        Whether there is a tab to note anything in.
    """

    def __init__(self, client: Client, number: int):
        self._client, self._number = client, number
        self._view = triage.view(client, number)
        noted = (self._view or {}).get("data", {}).get(KEY)
        marks = noted if isinstance(noted, Mapping) else {}
        self.marks: dict[str, Mark] = {
            str(name): mark for name, mark in marks.items() if isinstance(mark, Mapping) and mark.get("backend") == name
        }
        self.exists = self._view is not None

    def others(self, own: str) -> dict[str, Mark]:
        """The marks of other backends."""
        return {name: mark for name, mark in self.marks.items() if name != own}

    def gone(self, own: str) -> set[str]:
        """The other backends whose connection was removed in Label Studio."""
        asked = {name: mark["connection"] for name, mark in self.others(own).items() if mark.get("connection")}
        there = {connection["id"] for connection in self._client.connections(self._number)} if asked else set()
        return {name for name, number in asked.items() if number not in there}

    def change(self, own: str, mark: Mark | None, *, without: Iterable[str] = ()) -> None:
        """Note the backend `own`, or forget it where there is no mark; forget those in `without` too."""
        wanted = {name: mark for name, mark in self.marks.items() if name not in {own, *without}}
        if mark is not None:
            wanted[own] = dict(mark)
        if self._view is None or wanted == self.marks:
            return
        data = {**self._view["data"], KEY: wanted}
        try:
            self._client.request("PATCH", f"/api/dm/views/{self._view['id']}/", body={"data": data})
        except NotFound:  # somebody removed the tab meanwhile
            self._view, self.exists = None, False
            return
        self.marks = wanted
        self._view = {**self._view, "data": data}
