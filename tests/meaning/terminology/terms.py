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

HEART_OBO = """format-version: 1.2
ontology: hp

[Term]
id: HP:0001
name: Heart disease

[Term]
id: HP:0002
name: Myocardial infarction
synonym: "Heart attack" EXACT layperson []
synonym: "MI, \\"silent\\" or not" RELATED []
synonym: "STEMI" NARROW []
is_a: HP:0001 ! Heart disease

[Term]
id: HP:0003
name: obsolete thing
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""

FEVER_OBO = """format-version: 1.2

[Term]
id: HP:0001945
name: Fever
synonym: "Pyrexia" EXACT []
synonym: "Fevers" EXACT []

[Term]
id: HP:0012735
name: Cough

[Term]
id: HP:0031246
name: Nonproductive cough
synonym: "Dry cough" EXACT []
is_a: HP:0012735
"""
