"""``python -m lab.bench evidence``: the records of measures, and how well the estimator does with them.

A population is a project with a known truth: drawn from texts as people wrote them
(:mod:`lab.experiments.wording`), simulated from a terminology (:mod:`lab.experiments.generate`), or a
part of an annotated table. A *kind* is a source with a kind of disagreement. Sources weigh the same, and so do the
kinds of a source.

Half of the projects from wording have frequent concepts (a Zipf distribution), so that agreement by chance is high in
some of them.

The tables come from records that never saw the source they are used on. ``--aside`` tables use concepts that were set
aside.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lab.bench.evidence_populations import ITEMS, Population, populations
from lab.bench.record_fit import LEAST_PAIRS, Row, fit
from lab.experiments.wording import Part
from softirr.answers.ratings import Floats, Ints, Ratings
from softirr.errors import InputError
from softirr.markdown import table_head, table_row
from softirr.meaning.measures import Measure
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import MemoryCache
from softirr.meaning.measures.pairs import PairScorer
from softirr.statistics.chance.equivalence import PairEquivalence
from softirr.statistics.chance.exact import exact
from softirr.statistics.chance.permutation import permutation
from softirr.statistics.coefficients import registry
from softirr.statistics.coefficients.intervals import analytic
from softirr.statistics.evidence.design import Design, chance_stratum
from softirr.statistics.evidence.estimator import MeasureChance, estimate
from softirr.statistics.evidence.judgments import Judged
from softirr.statistics.evidence.posterior import Scores, logit
from softirr.statistics.evidence.record import ANY, Record
from softirr.statistics.evidence.sampling_frames import Frames
from softirr.terminal import Parser, positive
from softirr.text import normalize

__all__ = ["Case", "add_options", "judge", "statistics", "table"]

HEADLINE = "krippendorff_alpha"
JUDGMENTS = (0, 10, 20, 30, 60, 100)
_THIRDS = (0.4, 0.7)


@dataclass(frozen=True, eq=False)
class Case:
    """A population scored by a measure.

    Attributes
    ----------
    concepts : tuple of frozenset of str
        Concepts of each text of the table.
    truth : dict of str to (float or None)
        The coefficients of the project's own items.
    """

    population: Population
    measure: str
    model_sha256: str | None
    design: Design
    measure_chance: MeasureChance
    by_measure: dict[str, Any]
    concepts: tuple[frozenset[str], ...]
    truth: dict[str, float | None]

    @classmethod
    def of(cls, population: Population, measure: Measure, cache: MemoryCache) -> Case:
        """Score a population."""
        table = population.table
        scorer = PairScorer(measure, table.texts, cache=cache)
        frames = Frames(table, scorer, population.number, "optimal")
        concepts = tuple(population.concepts.get(normalize(text), frozenset({f"?{text}"})) for text in table.texts)
        design = frames.design
        ratings = design.ratings
        comparisons = ratings.comparisons
        scores = design.same.texts.equivalence(design.same.texts.p)
        chance = permutation(ratings, _sampled(design), permutations=2, seed=0)
        by_measure = {name: analytic(coefficient) for name, coefficient in _all(ratings, scores, chance).items()}
        truth = _truth(frames, concepts)
        index = np.arange(len(comparisons.left))
        measure_chance = MeasureChance(ratings, scores, chance, index)
        sha = measure.provenance().model_sha256
        return cls(population, measure.name, sha, design, measure_chance, by_measure, concepts, truth)

    def same(self, left: Ints, right: Ints) -> Floats:
        """T of texts left[i] and right[i]."""
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return np.array([float(bool(self.concepts[a] & self.concepts[b])) for a, b in pairs])


def _sampled(design: Design) -> PairEquivalence:
    """Equivalence of two answers by chance: the score of a random one of the sampled pairs of different items."""
    texts = design.different.texts
    values = texts.equivalence(texts.p)[design.different.first != design.different.second]
    rng = np.random.default_rng(0)

    def score(k: Ints, l: Ints) -> Floats:  # noqa: E741
        sample = rng.choice(values, len(k)) if len(values) else np.zeros(len(k))
        return np.where(k == l, 1.0, sample)

    return PairEquivalence(score)


def _all(ratings: Ratings, scores: Floats, chance: Any) -> dict[str, Any]:
    return {
        coefficient.key: coefficient.estimate(ratings, scores, chance)
        for coefficient in registry.DEFINITIONS
        if coefficient.audited
    }


def _truth(frames: Frames, concepts: Sequence[frozenset[str]]) -> dict[str, float | None]:
    """The coefficients by the concepts: exact, with texts that share a concept as the same."""
    ratings = frames.design.ratings
    table = frames.table
    names = sorted({name for concept in concepts for name in concept})
    number = {name: index for index, name in enumerate(names)}
    from scipy.sparse import csr_matrix

    of_answer = [{number[name] for text in answer for name in concepts[text]} for answer in table.answers]
    size = np.array([len(answer) for answer in table.answers])
    flat = [(row, column) for row, columns in enumerate(of_answer) for column in columns]
    rows, columns = np.array(flat, dtype=np.int64).reshape(-1, 2).T
    has = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(size), len(names)))
    codes = np.asarray(has.sum(axis=1)).ravel()

    def score(k: Ints, l: Ints) -> Floats:  # noqa: E741
        n_shared = np.asarray(has[k].multiply(has[l]).sum(axis=1)).ravel()
        single = (size[k] <= 1) & (size[l] <= 1)
        n_codes = codes[k] + codes[l]
        shared = np.where(single, n_shared > 0, 2 * n_shared / np.maximum(n_codes, 1))
        return np.where((k == l) | (n_codes == 0), 1.0, shared)

    shared = PairEquivalence(score)
    first, second = ratings.comparisons.left, ratings.comparisons.right
    scores = shared.score(ratings.answer[first], ratings.answer[second])
    chance = exact(ratings, shared, scores)
    return {name: coefficient.value for name, coefficient in _all(ratings, scores, chance).items()}


# --- record -----------------------------------------------------------------------------------------------------------


def statistics(case: Case) -> Row:
    """The errors of a measure in a population.

    Returns
    -------
    dict
        ``recovery``, ``leak`` and ``slope`` (None if there are too few pairs), and ``chance``: weighted
        share of equivalent pairs and number of pairs in each stratum of pairs of different items.
    """
    same, different = case.design.same.texts, case.design.different.texts
    truth, apart = case.same(same.left, same.right), case.same(different.left, different.right)
    weight = same.weights(case.design.ratings.pair_weights)
    chance_weight = different.weights(case.design.pooled_weight)
    stratum = chance_stratum(different.p)
    scores = Scores(same.p, weight, different.p, chance_weight)
    base = float(np.average(different.p, weights=chance_weight)) if chance_weight.sum() > 0 else 0.0
    span = max(1 - base, 1e-3)

    def place(which: Any) -> float | None:
        if int(which.sum()) < LEAST_PAIRS:
            return None
        return (float(np.average(same.p[which], weights=weight[which])) - base) / span

    strata = []
    for number in range(3):
        weights = chance_weight * (stratum == number)
        share = float(weights @ apart / weights.sum()) if weights.sum() > 0 else 0.0
        strata.append([share, int((stratum == number).sum())])
    population = case.population
    return {
        "measure": case.measure,
        "model_sha256": case.model_sha256,
        "group": population.group,
        "source": population.source,
        "kind": population.kind,
        "number": population.number,
        "recovery": place(truth == 1),
        "leak": place(truth == 0),
        "slope": _slope(logit(scores.p), truth),
        "chance": strata,
    }


def _slope(logits: Floats, truth: Floats) -> float | None:
    """Slope of the logistic function of T on logit P, shrunk a little to 1."""
    if min(float(truth.sum()), float((1 - truth).sum())) < LEAST_PAIRS:
        return None
    from scipy.optimize import minimize

    def loss(weights: Floats) -> float:
        eta = weights[0] + weights[1] * logits
        return float(np.sum(np.logaddexp(0, eta) - truth * eta) + (weights[1] - 1) ** 2 / 8)

    return float(minimize(loss, np.array([0.0, 1.0])).x[1])


# --- tables -----------------------------------------------------------------------------------------------------------


def judge(case: Case, n: int) -> Judged:
    """The first n units of a sheet, judged rightly."""
    texts = len(case.concepts)
    keys: dict[int, float] = {}
    if n:
        for frame, member in case.design.draws():
            a, b = case.design.key(frame, member)
            pairs = case.design.different.texts if frame else case.design.same.texts
            keys.setdefault(a * texts + b, float(pairs.p[member]))
            if len(keys) == n:
                break
    order = np.array(sorted(keys), dtype=np.int64)
    same = case.same(*np.divmod(order, texts)) if len(order) else np.zeros(0)
    return Judged(order, same, np.ones(len(order)), np.array([keys[key] for key in order.tolist()]), texts)


@dataclass(frozen=True)
class _Trial:
    group: str
    source: str
    judgments: int
    truth: float
    value: float
    low: float
    high: float


def _trials(cases: Sequence[Case], rows: Sequence[Row], judgments: Sequence[int]) -> Iterator[_Trial]:
    """The estimate of each case with each number of judgments, by a record that never saw the source."""
    records: dict[tuple[str, str], Record] = {}
    for case in cases:
        key = case.measure, case.population.source
        if key not in records:
            other_rows = [row for row in rows if row["measure"] == key[0] and row["source"] != key[1]]
            records[key] = fit(other_rows, key[0])
        truth = case.truth[HEADLINE]
        if truth is None:
            continue
        for n in judgments:
            result = estimate(case.design, case.by_measure, case.measure_chance, records[key], judge(case, n))
            coefficient = result.coefficients[HEADLINE]
            if coefficient.value is None or coefficient.ci95 is None:
                continue
            population = case.population
            yield _Trial(population.group, population.source, n, truth, coefficient.value, *coefficient.ci95)


def _tables(trials: Sequence[_Trial]) -> Iterator[str]:
    numbers = sorted({trial.judgments for trial in trials})
    columns = ("95% held: all", "low", "middle", "high")
    yield from table_head(("sources", "judgments", "mean error", *columns, "mean width"))
    for group in ("all", *dict.fromkeys(trial.group for trial in trials)):
        for n in numbers:
            yield table_row((group, n, *_cells([t for t in trials if t.judgments == n and group in ("all", t.group)])))
    yield ""
    yield from table_head(("source", *(f"error at {n}" for n in numbers)))
    for source in dict.fromkeys(trial.source for trial in trials):
        of_source = [trial for trial in trials if trial.source == source]
        yield table_row((source, *(_error([trial for trial in of_source if trial.judgments == n]) for n in numbers)))


def _error(trials: Sequence[_Trial]) -> str:
    return f"{np.mean([abs(trial.value - trial.truth) for trial in trials]):.3f}"


def _cells(trials: Sequence[_Trial]) -> list[str]:
    truth = np.array([trial.truth for trial in trials])
    covered = np.array([trial.low - 1e-9 <= trial.truth <= trial.high + 1e-9 for trial in trials])
    thirds = [truth < _THIRDS[0], (truth >= _THIRDS[0]) & (truth < _THIRDS[1]), truth >= _THIRDS[1]]
    shares = [f"{covered[third].mean():.1%}" if third.any() else "" for third in thirds]
    return [
        _error(trials),
        f"{covered.mean():.1%}",
        *shares,
        f"{np.mean([trial.high - trial.low for trial in trials]):.3f}",
    ]


def add_options(options: Parser) -> None:
    """The options."""
    options.add_argument(
        "--rows", required=True, metavar="FILE", help="statistics of populations, one JSON object a line"
    )
    options.add_argument("--wording", nargs="*", default=[], metavar="PATH", help="files of texts with concepts")
    options.add_argument("--terminology", nargs="*", default=[], metavar="NAME=PATH")
    options.add_argument("--table", nargs="*", default=[], metavar="NAME=PATH", help="annotated tables")
    options.add_argument("--measures", nargs="*", default=["nli"], metavar="NAME")
    options.add_argument("--populations", type=positive, default=4, help="of each kind (4)")
    options.add_argument("--items", type=positive, default=ITEMS, help=f"of a population from wording ({ITEMS})")
    options.add_argument("--judgments", type=int, nargs="*", default=list(JUDGMENTS), metavar="N")
    options.add_argument("--aside", action="store_true", help="concepts that were set aside; adds nothing to the rows")
    options.add_argument(
        "--write", metavar="FILE", help="write the records, such as softirr/statistics/evidence/records.json"
    )


def table(options: argparse.Namespace) -> Iterator[str]:
    """Collect populations, write their statistics and the records, and give the lines of the tables."""
    path = Path(options.rows)
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    sources = (options.wording, options.terminology, options.table)
    part: Part = "aside" if options.aside else "visible"
    for name in options.measures:
        measure, cases = measure_by_name(name), []
        for population in populations(*sources, count=options.populations, part=part, items=options.items):
            print(name, population.source, population.kind, population.number, file=sys.stderr, flush=True)
            cases.append(Case.of(population, measure, MemoryCache()))
        if cases and not options.aside:
            rows = [row for row in rows if row["measure"] != name] + [statistics(case) for case in cases]
            path.write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))
        if cases and options.judgments:
            of = len({case.population.source for case in cases})
            yield f"\n{name}, {part}: {len(cases)} populations of {of} sources\n"
            yield from _tables(list(_trials(cases, rows, options.judgments)))
    if options.write:
        _write(rows, Path(options.write))


def _write(rows: Sequence[Row], path: Path) -> None:
    """Write the record of each measure, and of any measure."""
    measures: dict[str, Any] = {}
    for measure in dict.fromkeys(row["measure"] for row in rows):
        rows_of_measure = [row for row in rows if row["measure"] == measure]
        hashes = {row["model_sha256"] for row in rows_of_measure}
        if len(hashes) > 1:
            raise InputError(f"The rows of {measure} are of several models: remove the rows of the earlier ones.")
        measures[measure] = {"model_sha256": hashes.pop(), **fit(rows_of_measure, measure).to_dict()}
    measures[ANY] = {"model_sha256": None, **fit(rows, ANY).to_dict()}
    description = "Written by python -m lab.bench evidence; see softirr/statistics/evidence/record.py."
    content = json.dumps({"about": description, "measures": measures}, indent=1, sort_keys=True, ensure_ascii=False)
    path.write_text(content + "\n", encoding="utf-8")
