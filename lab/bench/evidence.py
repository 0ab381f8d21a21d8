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

from lab.bench.evidence_cases import Case, judge, statistics
from lab.bench.evidence_populations import ITEMS, populations
from lab.bench.record_fit import Row, fit
from lab.experiments.wording import Subset
from lab.results_table import table_head, table_row
from softirr.errors import InputError
from softirr.meaning.measures import measure as measure_by_name
from softirr.meaning.measures.cache import PairCache
from softirr.statistics.evidence.estimator import Estimates
from softirr.statistics.evidence.record import ANY, Record
from softirr.terminal import Parser, positive

HEADLINE = "krippendorff_alpha"
JUDGMENTS = (0, 10, 20, 30, 60, 100)
_THIRDS = (0.4, 0.7)


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
            result = Estimates(case.design, case.measured, case.by_measure, records[key], judge(case, n))
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
    subset: Subset = "aside" if options.aside else "visible"
    for name in options.measures:
        measure, cases = measure_by_name(name), []
        for population in populations(*sources, count=options.populations, subset=subset, items=options.items):
            print(name, population.source, population.kind, population.number, file=sys.stderr, flush=True)
            cases.append(Case.of(population, measure, PairCache()))
        if cases and not options.aside:
            rows = [row for row in rows if row["measure"] != name] + [statistics(case) for case in cases]
            path.write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))
        if cases and options.judgments:
            n_sources = len({case.population.source for case in cases})
            yield f"\n{name}, {subset}: {len(cases)} populations of {n_sources} sources\n"
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
