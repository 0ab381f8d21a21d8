"""``softirr bench learned``: error of kappa before and after the policy that judgements of other items propose.

Half of the items (by hash) of a crowd, of readers and of a corpus, and half of the populations of a terminology, are judged; the policy that these judgements
propose is tried on the other half.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from softirr.audit.proposal import propose_policy
from softirr.errors import InputError
from softirr.lab.bench.combine import TERMINOLOGIES, Answers, of_items, of_terminology
from softirr.lab.training.annotators import READERS
from softirr.lab.training.develop import auroc
from softirr.measures import Measure, measure
from softirr.measures.cache import PairCache, open_cache
from softirr.measures.calibration import JudgedPairs
from softirr.measures.pairs import PairScorer
from softirr.policy.measure import under_policy
from softirr.policy.rules import AS_WRITTEN
from softirr.terminal import Parser, guarded, positive

__all__ = ["halves", "judgements", "main", "row", "table"]


def halves(data: Path, name: str, n: int) -> tuple[list[Answers], list[Answers]]:
    """Populations to judge and populations to try a policy on, which share no item (of a terminology: no population)."""
    if name in TERMINOLOGIES:
        source = f"{name}={data / 'benchmark' / 'terminology' / name}"
        drawn = [answers for _, answers in of_terminology(source, 2 * n)]
        return drawn[::2], drawn[1::2]
    read, file = next((read, file) for known, read, file in READERS if known == name)
    items = read(data / "benchmark" / "annotators" / name / file)
    odd = [sha256(item.id.encode()).digest()[0] % 2 for item in items]
    parts = ([item for item, half in zip(items, odd, strict=True) if half == side] for side in (0, 1))
    judged, tried = (list(of_items(name, part, 2 * n)) for part in parts)
    return judged, tried


def judgements(populations: Sequence[Answers], most: int) -> JudgedPairs:
    """The first different pairs of texts of some populations, each once, with what is true of them."""
    found: dict[tuple[str, str], float] = {}
    for answers in populations:
        for (a, b), same in zip(answers.texts, answers.same().tolist(), strict=True):
            if a != b:
                found.setdefault((min(a, b), max(a, b)), same)
    kept = list(found.items())
    chosen = sorted(np.random.default_rng(1).permutation(len(kept))[:most].tolist())
    return JudgedPairs(tuple(kept[place][0] for place in chosen), tuple(kept[place][1] for place in chosen))


def row(made: Measure, judged: JudgedPairs, tried: Sequence[Answers], cache: PairCache | None) -> tuple[Any, ...]:
    """The proposed policy, and for no policy and for it the mean error of kappa and the AUROC of different texts."""
    proposed = propose_policy(judged, made, cache=cache, progress=None).policy
    before, after = (_tried(under_policy(made, policy), tried, cache) for policy in (AS_WRITTEN, proposed))
    return proposed.told(), before, after


def _tried(made: Measure, populations: Sequence[Answers], cache: PairCache | None) -> tuple[float, float | None]:
    errors, scores, truths = [], [], []
    for answers in populations:
        pairs = [*answers.texts, *answers.by_chance()]
        texts = sorted({text for pair in pairs for text in pair})
        number = {text: place for place, text in enumerate(texts)}
        left, right = (np.array([number[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1))
        p = np.asarray(PairScorer(made, texts, cache=cache).score(left, right), dtype=np.float64)
        observed, expected = np.split(p, [len(answers.texts)])
        errors.append(answers.error(observed, expected))
        differ = np.array([a != b for a, b in answers.texts])
        scores.append(observed[differ])
        truths.append(answers.same()[differ])
    found, truth = np.concatenate(scores), np.concatenate(truths) > 0
    return float(np.mean(errors)), auroc(found[truth], found[~truth])


def table(
    made: Measure, data: Path, names: Sequence[str], *, n: int, most: int, cache: PairCache | None = None
) -> Iterator[str]:
    """Lines of the table.

    Parameters
    ----------
    made : Measure
    data : Path
        Folder with ``benchmark/``.
    names : sequence of str
        Data to try, of :data:`NAMES`.
    n : int
        Populations of each kind in each half.
    most : int
        Judged pairs.
    cache : PairCache, optional

    Returns
    -------
    iterator of str
    """
    yield "| data | judged | proposed | error of kappa: as written | proposed | AUROC: as written | proposed |"
    yield "|---|---|---|---|---|---|---|"
    for name in names:
        judging, trying = halves(data, name, n)
        judged = judgements(judging, most)
        proposed, before, after = row(made, judged, trying, cache)
        areas = ("–" if area is None else f"{area:.3f}" for area in (before[1], after[1]))
        yield f"| {name} | {len(judged.pairs)} | {proposed} | {before[0]:.3f} | {after[0]:.3f} | {' | '.join(areas)} |"


NAMES: tuple[str, ...] = (*TERMINOLOGIES, *(name for name, _, _ in READERS))
"""Data of the benchmark."""


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = Parser(
        prog="softirr bench learned", description="Error of kappa before and after a policy that was learned."
    )
    made.add_argument("--data", required=True, metavar="FOLDER", help="folder with benchmark/")
    made.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="some of the data (all)")
    made.add_argument("--measure", default="nli", metavar="NAME", help="see softirr measures (nli)")
    made.add_argument("--judged", type=positive, default=200, metavar="N", help="judged pairs (200)")
    made.add_argument("--populations", type=positive, default=2, metavar="N", help="populations of each kind (2)")
    made.add_argument("--cache", metavar="URL", help="where scored pairs are kept (a file in your cache folder)")
    return made


def main(argv: Sequence[str]) -> int:
    """Print the table; returns the exit status."""
    options = parser().parse_args(argv)

    def run() -> int:
        if not Path(options.data, "benchmark").is_dir():
            raise InputError(f"{options.data} has no folder benchmark.")
        with open_cache(options.cache) as cache:
            lines = table(
                measure(options.measure),
                Path(options.data),
                options.only,
                n=options.populations,
                most=options.judged,
                cache=cache,
            )
            for line in lines:
                print(line, flush=True)
        return 0

    return guarded(run)
