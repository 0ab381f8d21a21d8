"""``softirr bench terminology``: what looking texts up in a terminology is worth, and how often the lookup is right.

Three tables. *Error of kappa*: two simulated raters name the concepts of a terminology
(:mod:`lab.experiments.generate`, setting hard), and the measure works alone, with the whole terminology, and
without a random half of its names. *Lookup*: names with a typing error, with words around them,
and names that are left out, looked up in the other half; on request texts of a table that says what each means.
*Speed*: a made-up terminology of many names.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from lab.experiments.draw import Draw
from lab.experiments.generate import NEGATIVES, Generator, Population
from lab.training.set_aside_part import PARTS, Part, concepts_of, in_part
from lab.training.words import read_sections
from softirr.answers.ratings import Floats
from softirr.markdown import table_head, table_row
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import Store, open_cache
from softirr.meaning.measures.pairs import PairScorer
from softirr.meaning.measures.terminology import with_terminology
from softirr.meaning.policy.simplified import simplifications
from softirr.meaning.terminology import Terminology, load
from softirr.meaning.terminology.coder import Coder, Known
from softirr.meaning.terminology.index import build_index, open_index
from softirr.meaning.terminology.lookup import find
from softirr.meaning.terminology.table_lines import read_table
from softirr.terminal import Parser, positive

_T = TypeVar("_T")
PERMUTATIONS = 3
WAYS = ("alone", "whole", "half")
"""The measure alone, with the whole terminology, and with half of its names."""
OUTCOMES = ("right", "head", "wrong", "none")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def half_of(terminology: Terminology, seed: int) -> Terminology:
    """A terminology without a random half of its names.

    Parameters
    ----------
    terminology : Terminology
    seed : int

    Returns
    -------
    Terminology
    """

    def kept(name: str) -> bool:
        return hashlib.sha256(f"{seed} {name.casefold()}".encode()).digest()[0] % 2 == 0

    return dataclasses.replace(terminology, names=tuple(tuple(filter(kept, own)) for own in terminology.names))


def _kappa(p: Floats, n: int) -> float:
    """Kappa from the equivalence of n pairs of one item and of the chance pairs that follow."""
    chance = p[n:].mean()
    return float((p[:n].mean() - chance) / (1 - chance))


def _pairs(population: Population, seed: int) -> tuple[list[tuple[str, str]], Floats]:
    """The pairs of texts of a population and of its permutations, and whether each has one concept."""
    texts = [(a[0], b[0]) for a, b in population.texts]
    concepts = [(a[0], b[0]) for a, b in population.concepts]
    draw = np.random.default_rng([seed, population.number])
    places = [(i, i) for i in range(len(texts))]
    places += [(i, int(j)) for _ in range(PERMUTATIONS) for i, j in enumerate(draw.permutation(len(texts)))]
    gold = [float(concepts[i][0] == concepts[j][1]) for i, j in places]
    return [(texts[i][0], texts[j][1]) for i, j in places], np.array(gold)


def errors(
    terminology: Terminology,
    raw: Measure,
    populations: int,
    seed: int,
    cache: Store | None,
    *,
    part: Part | None = None,
) -> dict[tuple[str, str], list[float]]:
    """Errors of kappa by way and kind of negatives, one for each population.

    Parameters
    ----------
    terminology : Terminology
    raw : Measure
    populations : int
        Of each kind of negatives.
    seed : int
    cache : Store or None
    part : "visible", "set-aside" or None
        The concepts that are named.

    Returns
    -------
    dict of (str, str) to list of float
    """
    whole, half = (
        with_terminology(raw, [build_index(one)], simplify=simplifications)
        for one in (terminology, half_of(terminology, seed))
    )
    measures = dict(zip(WAYS, (raw, whole, half), strict=True))
    generator = Generator(terminology, "hard", seed=seed, among=concepts_of(terminology, part))
    by_kind: dict[tuple[str, str], list[float]] = {}
    for kind in NEGATIVES:
        for number in range(populations):
            pairs, gold = _pairs(generator.population(number, kind), seed)
            texts = list(dict.fromkeys(text for pair in pairs for text in pair))
            place = {text: i for i, text in enumerate(texts)}
            left, right = (np.array([place[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
            for way, measure in measures.items():
                p = PairScorer(measure, texts, cache=cache).score(left, right)
                error = _kappa(p, generator.size) - _kappa(gold, generator.size)
                by_kind.setdefault((way, kind), []).append(error)
    return by_kind


def mistyped(name: str, draw: Draw) -> str:
    """A name with one random typing error: a letter replaced by any other, lost, added, or exchanged with the next.

    Parameters
    ----------
    name : str
    draw : Draw

    Returns
    -------
    str
    """
    letters = [i for i, c in enumerate(name) if c.isalpha()]
    if not letters:
        return name
    at = draw.choice(letters)
    kind = draw.choice(("replace", "lose", "add", "exchange"))
    if kind == "replace":
        return name[:at] + draw.choice(_LETTERS) + name[at + 1 :]
    if kind == "lose":
        return name[:at] + name[at + 1 :]
    if kind == "add":
        return name[:at] + draw.choice(_LETTERS) + name[at:]
    return name[:at] + name[at + 1 : at + 2] + name[at] + name[at + 2 :]


def lookups(terminology: Terminology, size: int, seed: int) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """How often texts are found: kind of text, part, and how many are right, head, wrong and none.

    A text is right if the concept it was made of is among those found. It is the head if one of them is an ancestor and
    the attributes that were taken off are reported: "severe short stature" is found as short stature, without severe.
    Names that are left out may be found by a variant of another name.

    Parameters
    ----------
    terminology : Terminology
    size : int
        Texts of each kind and part, but every name that is left out.
    seed : int

    Yields
    ------
    tuple of (str, str, tuple of int)
    """
    kept = half_of(terminology, seed)
    whole, half = Coder([build_index(terminology)], simplifications), Coder([build_index(kept)], simplifications)
    around = dict(read_sections("bench_wordings"))["around a name"]
    for part in PARTS:
        draw = Draw(seed, terminology.name, part)
        concepts = [i for i, id in enumerate(terminology.ids) if in_part(id, part)]
        every = [(i, name) for i in concepts for name in terminology.names[i]]
        left_out = [(i, name) for i, name in every if name not in kept.names[i]]
        names = [draw.choice(every) for _ in range(size)]
        coders: dict[str, tuple[Coder, list[tuple[int, str]]]] = {
            "names": (whole, names),
            "typing errors": (whole, [(i, mistyped(name, draw)) for i, name in names]),
            "typing errors in names of 12 letters or more": (
                whole,
                [(i, mistyped(name, draw)) for i, name in names if len(name) >= 12],
            ),
            "words around them": (
                whole,
                [(i, draw.choice(around).format(name[:1].lower() + name[1:])) for i, name in names],
            ),
            "names that are left out": (half, left_out),
        }
        for kind, (coder, texts) in coders.items():
            yield kind, part, _counted(texts, coder)


def coded_lookups(terminology: Terminology, table: Path) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """How often texts of a table are found, as :func:`lookups` has it.

    In the terminology, and in one where they are no names.

    Parameters
    ----------
    terminology : Terminology
    table : Path
        With the columns id and text: a text, and the concept that it means. Concepts that the terminology lacks are
        left out.

    Yields
    ------
    tuple of (str, str, tuple of int)
    """
    place = {id: number for number, id in enumerate(terminology.ids)}
    rows = [(row["id"], row["text"]) for _, row in read_table(table, ("id", "text")) if row["id"] in place]
    wordings = {text.casefold() for _, text in rows}
    names = tuple(tuple(name for name in own if name.casefold() not in wordings) for own in terminology.names)
    hidden = dataclasses.replace(terminology, names=names)
    for kind, searched in ((table.stem, terminology), (f"{table.stem}, which are no names", hidden)):
        coder = Coder([build_index(searched)], simplifications)
        for part in PARTS:
            texts = [(place[id], text) for id, text in rows if in_part(id, part)]
            yield kind, part, _counted(texts, coder)


def _counted(texts: Sequence[tuple[int, str]], coder: Coder) -> tuple[int, ...]:
    """How many texts have each outcome; `texts` are pairs of the concept that is meant and the text."""
    counts = dict.fromkeys(OUTCOMES, 0)
    for (concept, _), known in zip(texts, coder.know([text for _, text in texts]), strict=True):
        counts[_outcome(concept, known, coder)] += 1
    return tuple(counts.values())


def _outcome(concept: int, known: Known | None, coder: Coder) -> str:
    """One of ``OUTCOMES`` for a text that was made of a concept."""
    if known is None:
        return "none"
    if concept in known.concepts:
        return "right"
    return "head" if known.attributes and coder.ancestors(concept) & set(known.concepts) else "wrong"


def speed(names: int) -> Iterator[tuple[str, str]]:
    """Processor time and memory of an index of made-up names.

    Parameters
    ----------
    names : int

    Yields
    ------
    tuple of (str, str)
    """
    draw = np.random.default_rng(0)
    letters = draw.integers(97, 123, (max(names // 10, 100), 9), dtype=np.uint8)
    words = [row.tobytes().decode() for row in letters]
    picked = draw.integers(0, len(words), (names, 4))
    with tempfile.TemporaryDirectory() as folder:
        with open(Path(folder, "concepts.tsv"), "w", encoding="utf-8") as file:
            file.write("id\tname\n")
            file.writelines(f"C{i // 2}\t{_name(words, row)}\n" for i, row in enumerate(picked) if i % 2 == 0)
        with open(Path(folder, "synonyms.tsv"), "w", encoding="utf-8") as file:
            file.write("id\tsynonym\n")
            file.writelines(f"C{i // 2}\t{_name(words, row)}\n" for i, row in enumerate(picked) if i % 2)
        index, taken = _timed(lambda: open_index(folder, cache=Path(folder, "cache")))
        yield f"read and index {index.n_names:,} names", f"{taken:.1f} s"
        yield "largest memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"
        index, taken = _timed(lambda: open_index(folder, cache=Path(folder, "cache")))
        yield "open from the cache", f"{taken * 1000:.0f} ms"
        texts = [_name(words, row) for row in picked[:100_000]]
        changed = [" ".join(text.split()[::-1]).upper() if i % 2 else f"{text} x" for i, text in enumerate(texts)]
        slipped = [f"{text[:4]}{text[5:]}" for text in texts]
        given_texts = {"names": texts, "variants and unknown texts": changed, "names with a lost letter": slipped}
        for what, given in given_texts.items():
            _, taken = _timed(lambda given=given: find(index, given))  # type: ignore[misc]
            yield f"look up {what}", f"{len(given) / taken:,.0f} texts/s"


def _name(words: Sequence[str], row: Sequence[int]) -> str:
    return " ".join(words[i] for i in row)


def _timed(work: Callable[[], _T]) -> tuple[_T, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument(
        "--terminology", action="append", default=[], metavar="PATH", help="a terminology; may be repeated"
    )
    options.add_argument("--measure", default="indel", metavar="NAME", help="the measure (indel)")
    options.add_argument("--populations", type=positive, default=8, metavar="N", help="of each kind of negatives (8)")
    options.add_argument("--part", choices=PARTS, help="name only these concepts in the populations (all)")
    options.add_argument(
        "--texts", type=positive, default=2000, metavar="N", help="texts of each kind to look up (2,000)"
    )
    options.add_argument(
        "--coded",
        action="append",
        default=[],
        metavar="TABLE",
        help="look up the texts of a table with the columns id and text; may be repeated",
    )
    options.add_argument("--names", type=positive, metavar="N", help="measure speed with so many made-up names")
    options.add_argument("--cache", default="none", metavar="URL", help="where scored pairs are kept (none)")
    options.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (0)")


def table(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the tables."""
    if options.names:
        yield from table_head(("index", "processor time"))
        yield from map(table_row, speed(options.names))
    terminologies = [load(path) for path in options.terminology]
    if terminologies:
        yield from _errors(terminologies, options)
        yield ""
        yield from table_head(("texts", "terminology", "part", "size", *OUTCOMES))
    for terminology in terminologies:
        coded = (coded_lookups(terminology, Path(source)) for source in options.coded)
        for kind, part, counts in chain(lookups(terminology, options.texts, options.seed), *coded):
            shares = (f"{100 * count / max(sum(counts), 1):.2f}%" for count in counts)
            yield table_row((kind, terminology.name, part, sum(counts), *shares))


def _errors(terminologies: Sequence[Terminology], options: argparse.Namespace) -> Iterator[str]:
    raw = measure_by_name(options.measure)
    yield ""
    yield from table_head((f"error of kappa, {options.measure}", "", *NEGATIVES, "mean"))
    whole: dict[tuple[str, str], list[float]] = {}
    with open_cache(options.cache) as cache:
        for terminology in terminologies:
            by_kind = errors(terminology, raw, options.populations, options.seed, cache, part=options.part)
            for key, values in by_kind.items():
                whole.setdefault(key, []).extend(values)
            yield from _ways(terminology.name, by_kind)
    if len(terminologies) > 1:
        yield from _ways("all", whole)


def _ways(name: str, by_kind: dict[tuple[str, str], list[float]]) -> Iterator[str]:
    for way in WAYS:
        cells = [float(np.abs(by_kind[way, kind]).mean()) for kind in NEGATIVES]
        yield table_row((name, way, *(f"{cell:.3f}" for cell in cells), f"{np.mean(cells):.4f}"))
