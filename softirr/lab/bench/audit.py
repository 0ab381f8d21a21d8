"""``softirr bench audit``: error, interval coverage and interval width of audited coefficients, on simulated projects with known values."""

from __future__ import annotations

import argparse
import json
import math
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from softirr.lab.bench.audit_informed import FAMILIES, record_tables, tables, text_tables, texts
from softirr.lab.bench.audit_informed import simulated as one_simulated
from softirr.lab.bench.audit_simulation import NAMES, QUALITIES, Runs, World, simulate
from softirr.lab.bench.errors import NOISE, Noise
from softirr.lab.experiments.generate import NEGATIVES
from softirr.terminal import Parser, positive

WORLDS = {
    "single": World(),
    "few categories": World(n_items=200, concepts=8, skew=0.5, keep=0.55, names=6),
    "sets": World(largest=3, keep=0.75),
    "three raters, gaps": World(n_items=200, n_raters=3, missing=0.15),
}
SHORT = {"cohen_kappa": "kappa", "fleiss_kappa": "Fleiss", "krippendorff_alpha": "alpha"}


def main(argv: Sequence[str]) -> int:
    """Print the tables; returns the exit status."""
    parser = Parser(prog="softirr bench audit", description=__doc__)
    parser.add_argument("--simulations", type=positive, default=100, help="simulated projects of each row (100)")
    parser.add_argument("--judgements", type=positive, nargs="+", default=[60, 100, 200])
    parser.add_argument("--worlds", nargs="*", choices=tuple(WORLDS), default=tuple(WORLDS))
    parser.add_argument("--measures", nargs="+", choices=tuple(QUALITIES), default=tuple(QUALITIES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="ray: simulate the projects on a Ray cluster, not those of real texts (local)",
    )
    parser.add_argument(
        "--terminologies", metavar="FOLDER", help="folder with hpo, cl and icd10cm: adds the tables on real texts"
    )
    parser.add_argument(
        "--informed",
        type=positive,
        default=0,
        metavar="PROJECTS",
        help="adds the table of intervals from the first judgement on, with so many projects of each family of measures",
    )
    parser.add_argument(
        "--records",
        type=positive,
        default=0,
        metavar="RECORDS",
        help="adds coverage without judgements by so many records from 20, 50 and 200 projects of each family",
    )
    parser.add_argument(
        "--allocations",
        type=positive,
        default=0,
        metavar="PROJECTS",
        help="adds the interval by other ways to spread judgements over the strata, on so many projects of each family, with --terminologies also on real texts",
    )
    parser.add_argument(
        "--errors",
        metavar="FILE",
        help="what bench errors collected: with --terminologies, adds that table on real texts, each by a record that knows neither its words nor its kind",
    )
    parser.add_argument("--items", type=positive, default=1_000, help="items of a project of real texts (1000)")
    parser.add_argument("--populations", type=positive, default=6, help="projects of real texts of each setting (6)")
    parser.add_argument("--audits", type=positive, default=4, help="audits of each project of real texts (4)")
    parser.add_argument(
        "--text-measures",
        nargs="+",
        default=["indel"],
        metavar="NAME",
        help="measures on real texts; minilm is all-MiniLM-L6-v2 where its package is installed (indel)",
    )
    parser.add_argument(
        "--proxies",
        nargs="+",
        default=[],
        metavar="NAME",
        help="with --errors: the same with further measures, named as for --text-measures",
    )
    options = parser.parse_args(argv)
    for line in simulated(options):
        print(line, flush=True)
    if options.informed:
        for line in tables(options.judgements, options.informed, options.seed):
            print(line, flush=True)
    if options.records:
        for line in record_tables(options.seed, options.records):
            print(line, flush=True)
    if options.allocations:
        for line in _by_allocation(options):
            print(line, flush=True)
    if options.terminologies and options.errors:
        for line in _by_records(options):
            print(line, flush=True)
    elif options.terminologies and not options.allocations:
        for line in on_texts(options):
            print(line, flush=True)
    return 0


def _by_allocation(options: argparse.Namespace) -> Iterator[str]:
    from softirr.lab.bench.audit_allocations import lines
    from softirr.lab.bench.audit_texts import TERMINOLOGIES, named

    yield "| measure | allocation | " + " | ".join(str(n) for n in options.judgements) + " |"
    yield "|---|---|" + "---|" * len(options.judgements)
    for family in FAMILIES:
        cases = (one_simulated(family, number, options.seed) for number in range(options.allocations))
        yield from lines(family, cases, options.judgements)
    for name in options.text_measures if options.terminologies else ():
        measure = Noise() if name == NOISE else named(name)
        each = math.ceil(options.allocations / (len(TERMINOLOGIES) * len(NEGATIVES)))
        real = (
            case
            for terminology in TERMINOLOGIES
            for negatives in NEGATIVES
            for case in texts(
                str(Path(options.terminologies) / terminology), measure, negatives, projects=each, seed=options.seed
            )
        )
        yield from lines(f"{name}, real texts", real, options.judgements)


def _by_records(options: argparse.Namespace) -> Iterator[str]:
    from softirr.lab.bench.audit_texts import named

    rows = [json.loads(line) for line in Path(options.errors).read_text(encoding="utf-8").splitlines()]
    return text_tables(
        options.terminologies,
        rows,
        options.text_measures,
        options.judgements,
        projects=options.populations,
        seed=options.seed,
        proxies=[named(name) for name in options.proxies],
    )


def simulated(options: argparse.Namespace) -> Iterator[str]:
    """Tables of bias, coverage and efficiency on simulated answers."""
    judgements = tuple(options.judgements)
    for name in options.worlds:
        world = WORLDS[name]
        yield ""
        yield f"## {name}: {world}"
        yield ""
        yield (
            "Of each coefficient: mean error in its own standard errors (z), mean absolute error (MAE), both against the project's own "
            "truth; standard deviation of the estimates; mean standard error over it (SE/SD); share of 95% intervals that hold "
            "the population's truth (cover). Ratio: SD over that of judging as many pairs without a measure, identical answers known to both; "
            "in brackets over that of plain random pairs, identical answers judged too."
        )
        yield ""
        yield (
            "| measure | judgements | "
            + " | ".join(f"{SHORT[n]}: z, MAE, SD, SE/SD, cover" for n in NAMES)
            + " | ratio |"
        )
        yield "|---|---|---|---|---|---|"
        # every measure meets the same projects as the baselines, so that ratios are of like with like
        seed = options.seed + zlib.crc32(name.encode()) % 10_000
        bases = [
            simulate(
                world,
                QUALITIES["noise"],
                judgements,
                options.simulations,
                seed=seed,
                without=without,
                engine=options.engine,
            )
            for without in ("measure", "anything")
        ]
        for measure in options.measures:
            found = simulate(
                world, QUALITIES[measure], judgements, options.simulations, seed=seed, engine=options.engine
            )
            for n in judgements:
                ratios = [found["cohen_kappa", n].spread / base["cohen_kappa", n].spread for base in bases]
                cells = " | ".join(_cell(found[name, n]) for name in NAMES)
                yield f"| {measure} | {n} | {cells} | {ratios[0]:.2f} ({ratios[1]:.2f}) |"


def _cell(runs: Runs) -> str:
    error = float(np.sqrt(np.mean(runs.errors**2)))
    return f"{runs.bias:+.1f}, {runs.off:.4f}, {runs.spread:.4f}, {error / runs.spread:.2f}, {runs.covered:.1%}"


def on_texts(options: argparse.Namespace) -> Iterator[str]:
    """Tables of single labels in the words of real terminologies."""
    from softirr.lab.bench.audit_texts import tables

    yield ""
    yield (
        f"## Real texts: {options.items} items, two raters, single labels, judged by the true concepts; {options.populations} projects of each "
        f"setting, {options.audits} audits of each"
    )
    yield ""
    yield from tables(
        options.terminologies,
        options.text_measures,
        options.judgements,
        items=options.items,
        populations=options.populations,
        audits=options.audits,
        seed=options.seed,
    )
