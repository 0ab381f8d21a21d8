"""``softirr bench fit``: how often each warning that a measure does not fit its texts is raised, on English projects and on others.

A project is some texts of one table (at most two thirds), drawn at random from the half that no threshold was fitted on (by a hash of the text, as in
:mod:`softirr.measures.suitability`). Checks of the texts alone run on every project, checks that ask the model on the first few.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, get_args

import numpy as np

from softirr.errors import InputError
from softirr.measures import Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.cache import MemoryCache
from softirr.measures.pairs import PairScorer
from softirr.measures.suitability import Reason, chance_misfit, check_word_swaps, text_misfits
from softirr.terminal import Parser, natural, positive
from softirr.text import normalize

__all__ = ["Alarms", "alarms", "main", "read_column"]

REASONS: tuple[Reason, ...] = get_args(Reason)
OF_TEXTS: tuple[Reason, ...] = ("language", "unknown", "length", "abbreviations")
"""Checks that ask no model."""
LANGUAGE = "language"
"""A column of this name splits a file into one table for each language."""
FEWEST = 10
"""Texts below which a table is left out, and that a project has at least."""


@dataclass(frozen=True)
class Alarms:
    """How often each warning was raised.

    Attributes
    ----------
    counts : dict of str to (int, int)
        Projects with the warning, and projects that were checked, by reason.
    any : (int, int)
        Projects with one warning at least, of those that had every check.
    by_chance : tuple of float
        Mean P of different texts drawn at random, of each project that the model was asked about.
    """

    counts: dict[Reason, tuple[int, int]]
    any: tuple[int, int]
    by_chance: tuple[float, ...]


def main(argv: Sequence[str]) -> int:
    """Print the table; returns the exit status."""
    parser = Parser(prog="softirr bench fit", description=__doc__.split("\n")[0])
    source = "NAME=FILE#COLUMN"
    parser.add_argument(
        "--english", nargs="+", default=[], metavar=source, help="tables that fit: TSV, gzipped or not; warnings are false alarms"
    )  # fmt: skip
    parser.add_argument(
        "--other", nargs="+", default=[], metavar=source,
        help=f"tables that do not fit; a column named {LANGUAGE} makes a table of each language",
    )  # fmt: skip
    parser.add_argument("--measure", default="nli", metavar="NAME", help="the measure that is checked (nli)")
    parser.add_argument("--projects", type=positive, default=200, help="projects of each table (200)")
    parser.add_argument(
        "--scored", type=natural, default=10, help="of these, projects that the model is asked about (10)"
    )
    parser.add_argument("--texts", type=positive, default=30, help="different texts of a project (30)")
    parser.add_argument(
        "--pairs", type=positive, default=60, help="random pairs of each project for agreement by chance (60)"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    if not options.english and not options.other:
        raise InputError("There is no table: give one with --english or --other.")
    model = measure_by_name(options.measure) if options.scored else options.measure
    print(
        f"Projects of up to {options.texts} texts; {options.projects} of each table for the checks of texts, {min(options.scored, options.projects)} for those of scores.\n"
    )
    print("| table | texts | " + " | ".join(REASONS) + " | any | highest mean P by chance |")
    print("|---" * (len(REASONS) + 4) + "|", flush=True)
    for kind, given in (("English", options.english), ("not English, or not fit", options.other)):
        found = []
        for name, texts in _tables(given):
            found.append(alarms(texts, model, options))
            print(_line(name, f"{len(texts):,}", found[-1]), flush=True)
        if len(found) > 1:
            print(_line(f"**{kind}: all {len(found)}**", "", _together(found)), flush=True)
    return 0


def read_column(path: str | Path, column: str) -> dict[str, list[str]]:
    """Different texts of a column that no threshold was fitted on, by language where the file tells it, else under an empty name.

    Parameters
    ----------
    path : str or Path
        TSV with a header, gzipped if it ends with ``.gz``.
    column : str

    Returns
    -------
    dict of str to list of str

    Raises
    ------
    InputError
        If the file can't be read or has no such column.
    """
    found: dict[str, dict[str, None]] = {}
    try:
        with _opened(Path(path)) as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if column not in (rows.fieldnames or ()):
                raise InputError(
                    f"The file {path} has no column {column!r}; it has {', '.join(rows.fieldnames or ())}."
                )
            for row in rows:
                text = normalize(row[column] or "")
                if text and hashlib.sha256(text.encode()).digest()[0] % 2:
                    found.setdefault(row.get(LANGUAGE) or "", {})[text] = None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The file {path} can't be read: {error}.") from error
    return {language: list(texts) for language, texts in found.items()}


def alarms(texts: Sequence[str], measure: Measure | str, options: argparse.Namespace) -> Alarms:
    """Check projects of the texts.

    Parameters
    ----------
    texts : sequence of str
        Different ones.
    measure : Measure or str
        A name is enough if no project is scored.
    options : Namespace
        With projects, scored, texts, pairs and seed, as on the command line.

    Returns
    -------
    Alarms
    """
    rng = np.random.default_rng(options.seed)
    cache = MemoryCache()
    raised: dict[Reason, int] = dict.fromkeys(REASONS, 0)
    warned, means = 0, []
    scored = 0 if isinstance(measure, str) else min(options.scored, options.projects)
    size = min(options.texts, max(2 * len(texts) // 3, FEWEST))  # projects of a small table differ, too
    for number in range(options.projects):
        chosen = [texts[k] for k in rng.choice(len(texts), size, replace=False)]
        reasons = {misfit.reason for misfit in text_misfits(measure, chosen)}
        if number < scored and not isinstance(measure, str):
            mean = _by_chance(measure, chosen, options.pairs, rng, cache)
            means.append(mean)
            n = len(chosen)
            for found in (
                chance_misfit(measure, (1 + (n - 1) * mean) / n, n),
                check_word_swaps(measure, chosen, options.seed, cache=cache),
            ):
                reasons |= {found.reason} if found is not None else set()
            warned += bool(reasons)
        for reason in reasons:
            raised[reason] += 1
    checked = {reason: options.projects if reason in OF_TEXTS else scored for reason in REASONS}
    return Alarms({reason: (raised[reason], checked[reason]) for reason in REASONS}, (warned, scored), tuple(means))


def _by_chance(
    measure: Measure, texts: Sequence[str], size: int, rng: np.random.Generator, cache: MemoryCache
) -> float:
    """Mean P of random pairs of different texts."""
    left = rng.integers(len(texts), size=size)
    right = (left + rng.integers(1, len(texts), size=size)) % len(texts)
    return float(PairScorer(measure, texts, cache=cache).score(left, right).mean())


def _tables(given: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for one in given:
        name, equals, rest = one.partition("=")
        path, mark, column = rest.rpartition("#")
        if not (equals and mark and name and path and column):
            raise InputError(f"A table is given as NAME=FILE#COLUMN, not as {one}.")
        for language, texts in sorted(read_column(path, column).items()):
            if len(texts) >= FEWEST:
                yield f"{name} {language}".strip(), texts


def _together(found: Sequence[Alarms]) -> Alarms:
    counts = {
        reason: (sum(one.counts[reason][0] for one in found), sum(one.counts[reason][1] for one in found))
        for reason in REASONS
    }
    means = tuple(mean for one in found for mean in one.by_chance)
    return Alarms(counts, (sum(one.any[0] for one in found), sum(one.any[1] for one in found)), means)


def _line(name: str, size: str, found: Alarms) -> str:
    shares = [_share(*found.counts[reason]) for reason in REASONS]
    highest = f"{max(found.by_chance):.2f}" if found.by_chance else "–"
    return f"| {name} | {size} | {' | '.join(shares)} | {_share(*found.any)} | {highest} |"


def _share(count: int, of: int) -> str:
    return f"{count / of:.1%}".replace(".0%", "%") if of else "–"


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")
