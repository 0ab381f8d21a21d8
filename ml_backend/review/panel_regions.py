"""Where each text of a field is: its region in the task, for a TextArea that annotators answer for each region."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from ml_backend.settings import origin

__all__ = ["Regions", "regions_of"]

_SHOWN = ("label", "where", "quote", "box", "ratio", "annotation", "region")


class Regions:
    """The regions of one field of a task.

    Parameters
    ----------
    stored : mapping
        As `ml_backend.labelstudio.answers` keeps them: kind and address of the object, and the rows of
        `labelstudio.regions.region_rows`.
    """

    def __init__(self, stored: Mapping[str, Any]):
        self._stored, self._rows = stored, stored.get("rows") or ()

    def shows(self, home: str, places: Collection[str]) -> dict[str, Any]:
        """The object of the regions; its address only where Label Studio itself serves it.

        Parameters
        ----------
        home : str
            Label Studio's address for browsers.
        places : collection of str
            Its origins.
        """
        address = self._stored.get("address")
        whole = urljoin(f"{home}/", address) if address else ""
        return {"kind": self._stored.get("kind"), "address": whole if whole and origin(whole) in places else None}

    def of(
        self, rater: str, text: str, place: int | None = None, *, without: Collection[int] = ()
    ) -> dict[str, Any] | None:
        """The region of an annotator's text.

        Parameters
        ----------
        place : int, optional
            Number of the group of overlapping regions that the text belongs to.
        without : collection of int
            Groups that the text does not belong to, as far as there are others.
        """
        row = self.find(text, rater, place, without=without)
        return None if row is None else {name: row[name] for name in _SHOWN}

    def find(
        self, text: str, rater: str | None = None, place: int | None = None, *, without: Collection[int] = ()
    ) -> Mapping[str, Any] | None:
        """The stored row of a region with this text, or with a text that contains it."""
        rows = [
            one
            for one in self._rows
            if (rater is None or one["rater"] == rater) and (place is None or one["place"] == place)
        ]
        exact = [one for one in rows if text in one["texts"]]
        known = exact or [one for one in rows if any(text in whole for whole in one["texts"])]
        return next((one for one in known if one["place"] not in without), known[0] if known else None)

    def suggested(self, details: Mapping[str, Any], texts: Sequence[str]) -> list[tuple[Mapping[str, Any], list[str]]]:
        """Regions with the suggested texts that they have, in each place where these are suggested.

        Parameters
        ----------
        details : mapping
            Scoring details of the field.
        texts : sequence of str
            What is wanted of the suggestion.
        """
        by_place = {int(place): own for place, own in (details.get("suggested") or {}).items()}
        anywhere: list[tuple[int | None, str]] = [(None, text) for text in texts]
        asked = [(place, text) for place, own in by_place.items() for text in own if text in texts]
        rows = [(self.find(text, None, place), text) for place, text in asked or anywhere]
        of_region: dict[Any, tuple[Mapping[str, Any], list[str]]] = {}
        for row, text in rows:
            if row is not None:
                of_region.setdefault((row["annotation"], row["region"]), (row, []))[1].append(text)
        return list(of_region.values())


def regions_of(task: Mapping[str, Any], control: str) -> Regions | None:
    """The regions of a field; None where its texts have none, or were read by a version that did not keep them."""
    stored = ((task.get("facts") or {}).get("regions") or {}).get(control)
    return Regions(stored) if stored and stored.get("rows") else None
