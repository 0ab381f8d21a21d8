"""``softirr bench errors``: the error of measures on populations that they did not learn, and the record of it that the package holds.

A population is a simulated project (:mod:`softirr.lab.experiments.generate`) or a part of an annotated table, with the true coefficients known. A
*kind* is a source, a kind of disagreement and a setting. A quarter of the kinds, chosen by hash, is kept aside: the record is fitted without them and
checked on them.

The record of a measure is a line from the measure's coefficient to the true one (weighted least squares: sources weigh the same, and so do the
kinds of a source) and a Student t around it. Its scale is the one with which the 95% intervals hold the truth in 95% of populations that were left
out of the fit: a source at a time, a kind of disagreement at a time, a kind at a time; the widest of the three. A few kinds say little about the next
one, so the scale is at least the one of the predictive Student t from the mean square error of kinds that were left out, with two degrees of freedom
less than there are kinds. The populations of a kind err alike, so their number does not count. The record of any measure is fitted on all measures together, with one that is noise, and each measure is left out in turn: its scale holds the truth in 95% of the populations of each measure
that it was fitted without, so also of the worst one.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softirr.errors import InputError
from softirr.lab.experiments.generate import NEGATIVES, SETTINGS, Generator
from softirr.lab.experiments.tables import load_table
from softirr.measures import Measure
from softirr.measures import measure as measure_by_name
from softirr.measures.cache import MemoryCache
from softirr.measures.known_errors import ANY
from softirr.provenance import Provenance
from softirr.report.agreement import agreement
from softirr.tables.ratings import Floats
from softirr.tables.table import AnnotationTable, Answer
from softirr.terminal import Parser, positive
from softirr.terminology import load
from softirr.terminology.base import named_paths

__all__ = ["NOISE", "Noise", "collect", "fit", "main"]

NOISE = "noise"
"""A measure that has nothing to do with meaning; identical texts are still the same."""
COEFFICIENTS = ("observed_agreement", "krippendorff_alpha")
FREEDOM = 4.0
"""Of Student's t: heavy tails, so that judgements that contradict the record overrule it."""
ASIDE = 4
"""One kind in so many is kept aside."""
_LEVEL = 0.95
_BY_KIND = 2
"""Place of the kinds among the groupings."""
_TABLE = "table"
_PART = 100
_FEW_ITEMS = 200
_MOST_PARTS = 8
_SMALL_PART = 26
_COSTLY_PERMUTATIONS = 2

Row = dict[str, Any]


class Noise:
    """P that depends on the hash of two texts."""

    name = NOISE

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """P(a ≡ b), shape (n,): 1 for identical texts."""
        return np.array(
            [
                1.0 if a == b else zlib.crc32("\x1f".join(sorted(pair)).encode()) / 2**32
                for pair in pairs
                for a, b in [pair]
            ]
        )

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> np.ndarray:
        """P of every row text with every column text."""
        return self.score([(a, b) for a in rows for b in cols]).reshape(len(rows), len(cols)).astype(np.float32)

    def provenance(self) -> Provenance:
        """Its name."""
        return Provenance(measure=self.name)


def main(argv: Sequence[str]) -> int:
    """Collect errors, print the tables, write the record; returns the exit status."""
    parser = Parser(prog="softirr bench errors", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--errors", required=True, metavar="FILE", help="rows of JSON: what is in it is not collected again"
    )
    parser.add_argument("--terminology", action="append", default=[], metavar="NAME=PATH", help="repeatable")
    parser.add_argument(
        "--table", action="append", default=[], metavar="NAME=PATH", help="an annotated table; repeatable"
    )
    parser.add_argument(
        "--measures", nargs="*", default=[], metavar="NAME", help=f"measures to collect; {NOISE} is one"
    )
    parser.add_argument("--populations", type=positive, default=10, help="of each kind with single labels (10)")
    parser.add_argument("--sets", type=positive, default=8, help="of each kind with sets (8)")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--write", metavar="FILE", help="write the record, such as softirr/measures/known_errors.json")
    options = parser.parse_args(argv)
    path = Path(options.errors)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    if options.measures:
        made = [Noise() if name == NOISE else measure_by_name(name) for name in options.measures]
        with path.open("a", encoding="utf-8") as out:
            for row in collect(
                made,
                options.terminology,
                options.table,
                populations=options.populations,
                sets=options.sets,
                seed=options.seed,
                known={_key(row) for row in rows},
            ):
                out.write(json.dumps(row, sort_keys=True) + "\n")
                rows.append(row)
    fitted = fit(rows)
    for line in _tables(rows, fitted):
        print(line)
    if options.write:
        record = {"about": __doc__.strip().split("\n\n")[1].replace("\n", " "), "measures": fitted}
        Path(options.write).write_text(
            json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    return 0


# --- errors -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Population:
    source: str
    negatives: str
    setting: str
    number: int
    table: AnnotationTable
    gold: AnnotationTable


def collect(
    measures: Sequence[Measure],
    terminologies: Iterable[str],
    tables: Iterable[str],
    *,
    populations: int,
    sets: int,
    seed: int,
    known: set[tuple[Any, ...]] = frozenset(),  # type: ignore[assignment]
) -> Iterator[Row]:
    """Coefficients by each measure and the true ones, one row a measure and population.

    Parameters
    ----------
    measures : sequence of Measure
    terminologies, tables : iterable of str
        ``NAME=PATH``.
    populations, sets : int
        Populations of each kind, with single labels and with sets.
    seed : int
    known : set
        Rows that are not wanted again.

    Yields
    ------
    dict
        ``measure``, ``model_sha256``, ``source``, ``negatives``, ``setting``, ``number``, ``items``, and by coefficient ``plain`` (by the measure),
        ``identical`` (by identical texts) and ``true``.
    """
    cache = MemoryCache()
    for population in (*_simulated(terminologies, populations, sets, seed), *_annotated(tables)):
        shared = {name: getattr(population, name) for name in ("source", "negatives", "setting", "number")}
        wanted = [m for m in measures if _key({"measure": m.name, **shared}) not in known]
        if not wanted:
            continue
        print(*shared.values(), file=sys.stderr, flush=True)
        true = _values(population.gold, "exact")
        identical = _values(population.table, "exact")
        for made in wanted:
            plain = _values(population.table, made, cache)
            about = {
                "measure": made.name,
                "model_sha256": made.provenance().model_sha256,
                "items": len(population.table.items),
            }
            yield {**about, **shared, "plain": plain, "identical": identical, "true": true}


def _values(
    table: AnnotationTable, measure: str | Measure, cache: MemoryCache | None = None
) -> dict[str, float | None]:
    made = measure_by_name(measure) if isinstance(measure, str) else measure
    cheap = hasattr(made, "block")
    report = agreement(
        table,
        made,
        chance="exact" if cheap else "permutation",
        permutations=_COSTLY_PERMUTATIONS,
        reasons=False,
        cache=cache,
        progress=None,
    )
    return {name: report.coefficients[name].value for name in COEFFICIENTS}


def _simulated(terminologies: Iterable[str], populations: int, sets: int, seed: int) -> Iterator[_Population]:
    for given in terminologies:
        label, path, _ = named_paths(given)
        terminology = load(str(path))
        for setting in SETTINGS:
            generator = Generator(terminology, setting, seed=seed)
            for negatives in NEGATIVES:
                for number in range(sets if setting == "sets" else populations):
                    drawn = generator.population(number, negatives)
                    yield _Population(
                        label or terminology.name, negatives, setting, number, drawn.table(), drawn.gold()
                    )


def _annotated(tables: Iterable[str]) -> Iterator[_Population]:
    for given in tables:
        table = load_table(given)
        items = sorted({answer.item for answer in table.answers}, key=_hash)
        size = _PART if len(items) >= _FEW_ITEMS else _SMALL_PART
        for number in range(min(len(items) // size, _MOST_PARTS)):
            mine = set(items[number * size : (number + 1) * size])
            answers = [answer for answer in table.answers if answer.item in mine]
            said, meant = (
                AnnotationTable.from_answers(Answer(a.item, a.rater, getattr(a, part)) for a in answers)
                for part in ("texts", "codes")
            )
            yield _Population(table.name, "as found", _TABLE, number, said, meant)


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("measure", "source", "negatives", "setting", "number"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- record -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Errors:
    """Rows of one coefficient as arrays, shape (n,) each."""

    plain: Floats
    identical: Floats
    true: Floats
    weight: Floats
    groupings: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, rows: Sequence[Row], name: str, *, by_measure: bool) -> _Errors:
        used = [row for row in rows if None not in (row["plain"][name], row["true"][name], row["identical"][name])]
        labels = [
            [row["source"] for row in used],
            [row["source"] if row["setting"] == _TABLE else row["negatives"] for row in used],
            [f"{row['source']}/{row['negatives']}/{row['setting']}" for row in used],
        ]
        if by_measure:
            labels.append([row["measure"] for row in used])
        source, _, kind, *_ = (np.array(label) for label in labels)
        measure = np.array([row["measure"] for row in used])
        weight = np.ones(len(used))
        for m in np.unique(measure):
            sources = np.unique(source[measure == m])
            for s in sources:
                mine = (measure == m) & (source == s)
                kinds = np.unique(kind[mine])
                for k in kinds:
                    here = mine & (kind == k)
                    weight[here] = 1 / (len(sources) * len(kinds) * here.sum())
        plain, identical, true = (
            np.array([row[part][name] for row in used], dtype=np.float64) for part in ("plain", "identical", "true")
        )
        return cls(plain, identical, true, weight, tuple(np.array(label) for label in labels))

    def line(self, used: np.ndarray) -> tuple[float, float]:
        """Start and slope of the true coefficient on the measure's, by weighted least squares."""
        root = np.sqrt(self.weight[used])
        columns = np.stack([np.ones(int(used.sum())), self.plain[used]], axis=1)
        start, slope = np.linalg.lstsq(columns * root[:, None], self.true[used] * root, rcond=None)[0]
        return float(start), float(slope)

    def left_out(self, groups: np.ndarray) -> Floats:
        """True minus expected coefficient, by the line that is fitted without the population's group."""
        result = np.zeros(len(self.plain))
        for group in np.unique(groups):
            mine = groups == group
            if mine.all():
                return np.asarray(self.true - _on(self.line(mine), self.plain))
            result[mine] = self.true[mine] - _on(self.line(~mine), self.plain[mine])
        return result

    def missed(self, off: Floats) -> Floats:
        """How far an interval has to reach; a true value at the coefficient of identical texts is held whatever the lower end."""
        return np.where((off < 0) & (self.true <= self.identical + 1e-9), 0.0, np.abs(off))

    def reach(self, off: Floats) -> float:
        """The half width with which 95% of the populations are covered; nobody is further below than identical texts allow."""
        return _covering(self.missed(off), self.weight)

    def predicted_reach(self) -> float:
        """The half width for a population of a further kind: a Student t in which each kind is one observation, and the line took two of them."""
        from scipy.special import stdtrit

        kind = self.groupings[_BY_KIND]
        size = self.missed(self.left_out(kind))
        freedom = max(len(np.unique(kind)) - 2, 1)
        mean_square = float(self.weight @ size**2 / self.weight.sum())
        return float(stdtrit(freedom, 0.5 + _LEVEL / 2)) * mean_square**0.5

    def worst_reach(self, off: Floats, groups: np.ndarray) -> float:
        """The half width with which 95% of the populations of every group are covered."""
        size = self.missed(off)
        return max(_covering(size[groups == group], self.weight[groups == group]) for group in np.unique(groups))


def _covering(size: Floats, weight: Floats) -> float:
    """The size that 95% of the weight does not exceed."""
    order = np.argsort(size)
    share = np.cumsum(weight[order]) / weight.sum()
    return float(size[order][min(int(np.searchsorted(share, _LEVEL)), len(order) - 1)])


def _on(line: tuple[float, float], value: Floats) -> Floats:
    return np.clip(line[0] + line[1] * value, 0.0, 1.0)


def aside(row: Mapping[str, Any]) -> bool:
    """Whether the kind is kept aside; of an annotated table, which is one kind, each part by itself."""
    part = f"/{row['number']}" if row["setting"] == _TABLE else ""
    return int(_hash(f"{row['source']}/{row['negatives']}/{row['setting']}{part}")[:8], 16) % ASIDE == 0


def fit(rows: Sequence[Row]) -> dict[str, Any]:
    """The records by measure, from the rows that are not aside.

    Parameters
    ----------
    rows : sequence of dict
        As :func:`collect` gives them.

    Returns
    -------
    dict
        By measure: ``errors`` by coefficient, ``model_sha256``, and ``populations`` by source.
    """
    used = [row for row in rows if not aside(row)]
    if not used:
        raise InputError("There are no errors to fit: collect some with --measures and --terminology or --table.")
    result: dict[str, Any] = {}
    for measure in (*dict.fromkeys(row["measure"] for row in used), ANY):
        mine = [row for row in used if measure in (row["measure"], ANY)]
        hashes = {row["model_sha256"] for row in mine}
        if measure != ANY and len(hashes) > 1:
            raise InputError(f"The rows of {measure} are of several models: remove those of the earlier ones.")
        result[measure] = {
            "errors": {name: _record(mine, name, by_measure=measure == ANY) for name in COEFFICIENTS},
            "model_sha256": None if measure == ANY else hashes.pop(),
            "populations": {
                s: sum(row["source"] == s for row in mine) for s in sorted({row["source"] for row in mine})
            },
        }
    for name in COEFFICIENTS:  # no record is wider than the one for any measure
        widest = max(result[measure]["errors"][name]["scale"] for measure in result if measure != NOISE)
        result[ANY]["errors"][name]["scale"] = widest
    result.pop(NOISE, None)
    return result


def _record(rows: Sequence[Row], name: str, *, by_measure: bool) -> dict[str, float]:
    from scipy.special import stdtrit

    errors = _Errors.of(rows, name, by_measure=by_measure)
    start, slope = errors.line(np.ones(len(errors.plain), dtype=bool))
    reach = max(errors.predicted_reach(), *(errors.reach(errors.left_out(groups)) for groups in errors.groupings))
    if by_measure:
        measures = errors.groupings[-1]
        reach = max(reach, errors.worst_reach(errors.left_out(measures), measures))
    scale = reach / float(stdtrit(FREEDOM, 0.5 + _LEVEL / 2))
    return {"start": round(start, 3), "slope": round(slope, 3), "scale": round(scale, 4), "freedom": FREEDOM}


# --- tables -----------------------------------------------------------------------------------------------------------


def _tables(rows: Sequence[Row], fitted: Mapping[str, Any]) -> Iterator[str]:
    """The records, and how often their intervals hold the truth on the kinds that were kept aside and on the others."""
    yield "| measure | coefficient | expected true value | 95% within | populations | holds the truth, not aside | aside |"
    yield "|---|---|---|---|---|---|---|"
    for measure, record in fitted.items():
        for name, found in record["errors"].items():
            mine = [row for row in rows if measure in (row["measure"], ANY)]
            cover = [_coverage([row for row in mine if aside(row) is which], name, found) for which in (False, True)]
            yield (
                f"| {measure} | {name} | {found['start']:+.2f} {found['slope']:+.2f} × value | ±{_reach(found):.2f} | {len(mine)} | "
                + " | ".join("" if one is None else f"{one:.1%}" for one in cover)
                + " |"
            )
    yield ""
    sources = list(dict.fromkeys(row["source"] for row in rows))
    yield "Mean of the true coefficient minus the measure's (Krippendorff's alpha), and the standard deviation of it, by source:"
    yield ""
    yield "| measure | " + " | ".join(sources) + " |"
    yield "|---|" + "---|" * len(sources)
    for measure in dict.fromkeys(row["measure"] for row in rows):
        yield f"| {measure} | " + " | ".join(_by_source(rows, measure, source) for source in sources) + " |"


def _reach(found: Mapping[str, float]) -> float:
    from scipy.special import stdtrit

    return found["scale"] * float(stdtrit(found["freedom"], 0.5 + _LEVEL / 2))


def _coverage(rows: Sequence[Row], name: str, found: Mapping[str, float]) -> float | None:
    if not rows:
        return None
    errors = _Errors.of(rows, name, by_measure=False)
    off = errors.true - _on((found["start"], found["slope"]), errors.plain)
    held = (np.abs(off) <= _reach(found)) | ((off < 0) & (errors.true <= errors.identical + 1e-9))
    return float(errors.weight @ held / errors.weight.sum())


def _by_source(rows: Sequence[Row], measure: str, source: str) -> str:
    name = COEFFICIENTS[-1]
    off = [
        row["true"][name] - row["plain"][name]
        for row in rows
        if row["measure"] == measure and row["source"] == source and None not in (row["true"][name], row["plain"][name])
    ]
    return f"{np.mean(off):+.2f} ± {np.std(off):.2f}" if off else ""
