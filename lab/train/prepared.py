"""The data of a training in its work folder: gathered from sources once, and recognized when it continues."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.terminologies import named_paths
from lab.train.batches import read_kept, write_sources
from softirr.errors import InputError

__all__ = ["DATA", "prepare", "source_name"]

DATA = (
    "terminology",
    "wordnet",
    "labelled",
    "judged",
    "leave_out",
    "keep_apart",
    "abbreviations",
    "word_forms",
    "wording",
    "hierarchy",
)
"""Options of ``python -m lab.train`` that name sources."""


def prepare(
    work: Path,
    start: str,
    data: Mapping[str, Any],
    *,
    own_words: float,
    by_meaning: bool,
    device: str,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """The data of a work folder: those that are there, or gathered now.

    Parameters
    ----------
    start : str
        Folder of the model to start from.
    data : mapping
        Sources by the names of :data:`DATA`; all empty to take what is there.
    own_words : float
        Weight of softirr's own word lists.
    by_meaning : bool
        Whether neighbors are looked for with the vectors of the start model, too.

    Returns
    -------
    dict
        What the data were made from.

    Raises
    ------
    InputError
        If the folder has data from other sources.
    """
    file = work / "data.json.gz"
    given = {name: value for name, value in data.items() if value}
    fingerprint = _fingerprint(data, own_words, by_meaning)
    if file.is_file():
        about, _ = read_kept(file)
        if given and about.get("fingerprint") != fingerprint:
            raise InputError(f"{file} was prepared from other data: choose another work folder.")
        return about
    from lab.train.sources import gather

    sources = gather(
        data["terminology"],
        pairs=data["labelled"],
        **{name: data[name] for name in DATA if name not in ("terminology", "labelled")},
        own_words=own_words,
        embed=_embedder(start, device) if by_meaning else None,
        say=say,
    )
    about = {
        "fingerprint": fingerprint,
        "start": source_name(start),
        "sources": {name: [source_name(source) for source in _listed(value)] for name, value in given.items()},
        "own_words": own_words,
        "left_out_texts": sources.dropped,
        "notes": list(sources.notes),
    }
    fresh = work / "data.part"
    write_sources(fresh, sources, about)
    os.replace(fresh, file)
    say(f"The data are in {file} ({file.stat().st_size / 2**20:.1f} MB).")
    return about


def source_name(path: str) -> str:
    """A source without the place where it lies on this machine.

    Parameters
    ----------
    path : str
        A path, or ``NAME=PATH``.

    Examples
    --------
    >>> source_name("/data/terms/hp.obo"), source_name("runs/first/model")
    ('hp.obo', 'first')
    """
    parts = Path(path.partition("=")[2] or path).parts
    if len(parts) > 1 and parts[-1] == "model":
        return parts[-2]
    return parts[-1] if parts else path


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _fingerprint(data: Mapping[str, Any], own_words: float, by_meaning: bool) -> str:
    """Hash of everything that the data are made from, wherever it lies."""
    total = hashlib.sha256()
    for name in DATA:
        for source in _listed(data[name]):
            for path in filter(None, named_paths(str(source))[1:]):
                for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                    if file.is_file():
                        digest = hashlib.sha256(file.read_bytes()).hexdigest()
                        total.update(f"{name}\0{file.name}\0{digest}\0".encode())
    total.update(f"{own_words}{not by_meaning}".encode())
    return total.hexdigest()


def _embedder(start: str, device: str) -> Any:
    """Vectors by the start model: the mean of its last layer, of unit length."""

    def embed(texts: Sequence[str]) -> Any:
        from softirr.inference.encoder import TextEncoder

        vectors, _ = TextEncoder(Path(start), device=device, precision="float32", max_length=64).encode(texts)
        return vectors

    return embed
