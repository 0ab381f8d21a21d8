"""Small terminologies for tests."""

from __future__ import annotations

from softirr.meaning.terminology.concepts import Terminology


def terminology(*names: tuple[str, ...], parents: dict[int, tuple[int, ...]] | None = None) -> Terminology:
    """Concepts C0, C1, ... with these names."""
    return Terminology(
        name="test",
        ids=tuple(f"C{i}" for i in range(len(names))),
        names=names,
        parents=tuple((parents or {}).get(i, ()) for i in range(len(names))),
    )


KNEE = terminology(
    ("Pain",),
    ("Knee pain", "gonalgia"),
    ("Medial knee pain",),
    ("Hip pain",),
    ("Cold", "common cold"),
    ("Cold", "low temperature"),
    parents={1: (0,), 2: (1,), 3: (0,)},
)
