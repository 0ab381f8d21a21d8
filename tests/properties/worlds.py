"""Random tables of answers with known meanings: the texts of every rater, and their concepts."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from tests.properties.direct import Truth

RATERS = ("ann", "bob", "cy", "dee")
CONCEPTS = ("zorbin", "krélta", "mopava", "tuvex", "daskil")
KINDS = ("exact", "casefold", "terminology", "ignored", "counted", "split")
SIDES = ("left", "right", "bilateral")


@dataclass(repr=False)
class World:
    """A table: the texts in each cell of each field, their meanings, and the options under which these hold.

    A cell that is not there is missing; a cell without texts is an answer that found nothing.
    """

    tables: list[dict[tuple[str, str], tuple[str, ...]]]
    truth: list[dict[tuple[str, str], Truth]]
    options: list[str]
    terminology: dict[str, list[str]] = field(default_factory=dict)
    weights: dict[str, float] | None = None
    order: int = 0

    def __repr__(self) -> str:
        """Short, as a failure prints it: rows, or their number."""
        rows = [str(table) if len(table) < 50 else f"{len(table)} cells" for table in self.tables]
        return f"World({rows}, {self.options}, weights={self.weights}, order={self.order})"

    @property
    def items(self) -> list[str]:
        return list(dict.fromkeys(item for item, _ in self.tables[0]))

    @property
    def raters(self) -> list[str]:
        return sorted({rater for _, rater in self.tables[0]})

    def command(self, folder: Path) -> list[str]:
        """The options, with the terminology written to the folder."""
        if not self.terminology:
            return self.options
        lines = [
            f"C{n}\t{name}\t{synonym}"
            for n, (name, synonyms) in enumerate(self.terminology.items())
            for synonym in synonyms
        ]
        (folder / "terms.tsv").write_text("\n".join(["id\tname\tsynonym", *lines]) + "\n", encoding="utf-8")
        return [*self.options, "--terminology", str(folder / "terms.tsv")]


def disguised(text: str, variant: int) -> str:
    """The same text in another form: decomposed, with other spaces, or with a character nobody sees."""
    return (text, unicodedata.normalize("NFD", text), f"  {text}\u00a0", text[:2] + "\u200b" + text[2:])[variant]


@st.composite
def spellings(draw, kinds=KINDS):
    """How a concept may be written, and the options under which all of that is one concept.

    (options, terminology, write).
    """
    kind = draw(st.sampled_from(kinds))
    variant = st.integers(0, 3)
    options = ["--measure", "exact"]
    terminology: dict[str, list[str]] = {}

    def plain(concept):
        return disguised(concept, draw(variant)), concept, concept

    write = plain
    if kind == "casefold":
        options.append("--casefold")

        def write(concept):
            return draw(st.sampled_from((concept, concept.upper(), concept.title()))), concept, concept

    elif kind == "terminology":
        terminology = {concept: [f"{concept[::-1]} {n}{concept}" for n in "uvw"] for concept in CONCEPTS}

        def write(concept):
            text = draw(st.sampled_from((concept, *terminology[concept])))
            return text, unicodedata.normalize("NFC", text), concept

    elif kind in ("ignored", "counted"):
        options += [f"--{'ignore' if kind == 'ignored' else 'count'}", "side"]

        def write(concept):
            text = f"{draw(st.sampled_from(SIDES))} {concept}"
            return text, text, concept if kind == "ignored" else text

    elif kind == "split":
        options += ["--split", draw(st.sampled_from(("semicolons", ";")))]
    return options, terminology, write, kind == "split"


@st.composite
def worlds(draw, *, empties=True, sets=True, fields=1, weights=True, **kinds):
    """A world that a format can hold.

    It has empty answers, answers of several rows, several fields and weights if the format can hold them.
    """
    options, terminology, write, split = draw(spellings(**kinds))
    raters = RATERS[: draw(st.integers(2, 4))]
    concepts = CONCEPTS[: draw(st.integers(2, 5))]
    items = [str(10 + n) for n in range(draw(st.integers(2, 7)))]
    # two raters have a text for the first item, so that there is something to read
    sure = [(items[0], rater) for rater in raters[:2]]
    cells = [(item, rater) for item in items for rater in raters if (item, rater) in sure or draw(st.integers(0, 4))]
    # raters who first appear after many rows, as in an export sorted by date
    late = [(str(1000 + n), rater) for n in range(210) for rater in raters[:2]] if not draw(st.integers(0, 4)) else []
    tables, truth = [], []
    for _ in range(fields):
        texts: dict[tuple[str, str], tuple[str, ...]] = {}
        meanings: dict[tuple[str, str], Truth] = {}
        for cell in cells:
            maximum = 3 if split or (sets and fields == 1) else 1
            minimum = 0 if empties and cell not in sure else 1
            cell_concepts = draw(st.lists(st.sampled_from(concepts), min_size=minimum, max_size=maximum, unique=True))
            wordings = [write(concept) for concept in cell_concepts]
            cell_texts = tuple(text for text, _, _ in wordings)
            texts[cell] = ("; ".join(cell_texts),) if split and cell_texts else cell_texts
            meanings[cell] = Truth(
                frozenset(key for _, key, _ in wordings), frozenset(concept for _, _, concept in wordings)
            )
        for number, cell in enumerate(late):
            concept = concepts[number % len(concepts)]
            key = f"left {concept}" if "side" in options else concept
            texts[cell] = (key,)
            meanings[cell] = Truth(frozenset({key}), frozenset({key if "--count" in options else concept}))
        tables.append({cell: texts[cell] for cell in (*late, *cells)})
        truth.append(meanings)
    item_weights = None
    if weights and draw(st.booleans()):
        all_items = sorted({item for item, _ in (*cells, *late)})
        item_weights = {
            item: draw(st.sampled_from((1, 2, 3, 0.5, 0.25, 0))) if int(item) < 1000 else 1 for item in all_items
        }
        if not any(item_weights.values()):
            item_weights = None
    return World(tables, truth, options, terminology, item_weights, draw(st.sampled_from((0, 0, 1, 2))))
