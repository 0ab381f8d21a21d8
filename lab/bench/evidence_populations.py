"""The populations of ``python -m lab.bench evidence``: projects with a known equivalence."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lab.experiments.generate import NEGATIVES as RELATIVES
from lab.experiments.generate import Generator, Setting, table_of_raters
from lab.experiments.tables import load_table
from lab.experiments.wording import NEGATIVES, Subset, concepts_of_texts, read_wording
from lab.terminologies import load, named_paths
from softirr.answers.table import AnnotationTable, Answer

ITEMS = 300

_TABLE_PART, _SMALL_PART, _MOST_PARTS = 100, 26, 4


@dataclass(frozen=True, eq=False)
class Population:
    """A project with a known truth.

    Attributes
    ----------
    group, source, kind : str
        ``wording``, ``terminology`` or ``table``; the file; and the kind of disagreement.
    concepts : dict of str to frozenset of str
        The concepts of each normalized text.
    """

    group: str
    source: str
    kind: str
    number: int
    table: AnnotationTable
    concepts: dict[str, frozenset[str]]


def populations(
    wording: Iterable[str],
    terminologies: Iterable[str],
    tables: Iterable[str],
    *,
    count: int,
    subset: Subset,
    items: int = ITEMS,
) -> Iterator[Population]:
    """Populations of every source.

    Parameters
    ----------
    wording : iterable of str
        Files of texts with concepts.
    terminologies, tables : iterable of str
        ``NAME=PATH``.
    count : int
        Populations of each kind.
    subset : {"visible", "aside"}
        Which concepts of wording.
    items : int
        Most items of a population from wording.
    """
    for path in wording:
        yield from _of_wording(path, count, subset, items)
    if subset == "visible":
        for source in terminologies:
            yield from _of_terminology(source, count)
        for source in tables:
            yield from _of_table(source)


def _of_wording(path: str, count: int, subset: Subset, items: int) -> Iterator[Population]:
    texts = read_wording(path, subset=subset)
    for kind in NEGATIVES:
        for number in range(count):
            rng = np.random.default_rng((zlib.crc32(f"{texts.name}{subset}".encode()), number))
            share = float(rng.uniform(0.1, 0.95))
            n_items = int(min(items, max(60, 1.5 * len(texts.pairs))))
            seed = zlib.crc32(f"{texts.name}{kind}{number}{subset}".encode())
            project = texts.project(n_items, share, kind, seed, skewed=number % 2 == 1)
            table = table_of_raters(project.texts, digits=4)
            yield Population("wording", texts.name, kind, number, table, project.identity())


def _of_terminology(source: str, count: int) -> Iterator[Population]:
    label, path, _ = named_paths(source)
    terminology = load(str(path))
    settings: tuple[Setting, ...] = ("paper", "hard")
    for setting in settings:
        generator = Generator(terminology, setting, seed=77, size=150)
        for negatives in RELATIVES:
            for number in range(max(1, count // 2)):
                project = generator.population(number, negatives)
                concepts_of_text = concepts_of_texts(
                    pair
                    for texts_and_codes in zip(project.texts, project.concepts, strict=True)
                    for texts, codes in zip(*texts_and_codes, strict=True)
                    for pair in zip(texts, codes, strict=True)
                )
                name = label or terminology.name
                yield Population(
                    "terminology", name, f"{setting} {negatives}", number, project.table(), concepts_of_text
                )


def _of_table(source: str) -> Iterator[Population]:
    table = load_table(source)
    items = sorted({answer.item for answer in table.answers}, key=lambda item: zlib.crc32(item.encode()))
    size = _TABLE_PART if len(items) >= 2 * _TABLE_PART else _SMALL_PART
    for number in range(min(len(items) // size, _MOST_PARTS)):
        chosen_items = set(items[number * size : (number + 1) * size])
        answers = [answer for answer in table.answers if answer.item in chosen_items]
        concepts_of_text = concepts_of_texts(
            pair
            for answer in answers
            for pair in (answer.by_text or dict(zip(answer.texts, answer.codes, strict=False))).items()
        )
        rows = (Answer(answer.item, answer.rater, answer.texts) for answer in answers)
        yield Population("table", table.name, "as found", number, AnnotationTable.from_answers(rows), concepts_of_text)
