"""Addresses in Label Studio: every number of the report leads to its tasks.

The address itself has a tab that is not saved: ``?tab=`` and the gzipped JSON of its filters (Data Manager, "virtual
tab").
"""

import gzip
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence
from typing import Any

MOST_IDS = 40


class Links:
    """Makes addresses of one project.

    Parameters
    ----------
    base : str
        Address of Label Studio for browsers.
    number : int
        The project's id there.
    triage : int, optional
        Id of its triage tab.
    """

    def __init__(self, base: str, number: int, *, triage: int | None = None):
        self._data = f"{base.rstrip('/')}/projects/{number}/data"
        self._triage = triage

    def project(self) -> str:
        """The Data Manager."""
        return self._data

    def task(self, number: int | str) -> str:
        """One task, opened."""
        return f"{self._data}?task={number}"

    def queued(self, number: int, *, tab: str | None = None) -> str:
        """A task of the queue, opened in a tab (by default the triage tab); closing it leads back to the list."""
        opened_tab = tab or self._triage
        return f"{self._data}?tab={opened_tab}&task={number}" if opened_tab else self.task(number)

    def tasks(self, numbers: Sequence[int | str], title: str) -> str:
        """Return the address of a tab with these tasks; only the first `MOST_IDS` if there are more."""
        if len(numbers) == 1:
            return self.task(numbers[0])
        filters = [_filter("filter:tasks:id", "equal", "Number", int(number)) for number in numbers[:MOST_IDS]]
        return self._tab(title, filters, conjunction="or")

    def annotated_by(self, raters: Iterable[str], title: str) -> str | None:
        """Tasks that all of these annotators answered.

        None for models, which Label Studio does not list as annotators.
        """
        names = list(raters)
        if not all(name.isdigit() for name in names):
            return None
        return self._tab(title, [_filter("filter:tasks:annotators", "contains", "List", int(name)) for name in names])

    def _tab(self, title: str, filters: list[dict[str, Any]], *, conjunction: str = "and") -> str:
        tab = {
            "title": title[:80],
            "filters": {"conjunction": conjunction, "items": filters},
            "ordering": ["tasks:predictions_score"],
        }
        packed = gzip.compress(json.dumps(tab, separators=(",", ":")).encode(), mtime=0)
        return f"{self._data}?tab={urlsafe_b64encode(packed).decode().rstrip('=')}"


def _filter(name: str, operator: str, kind: str, value: Any) -> dict[str, Any]:
    return {"filter": name, "operator": operator, "type": kind, "value": value}
