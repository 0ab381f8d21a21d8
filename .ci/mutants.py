"""Mutation testing of the science: small changes of the code, one at a time, that the tests must notice.

`make mutants` draws mutants of each package by a seed, and prints those that survive and a table;
`make mutants ARGS="--sample 20 policy"` draws fewer of one package. No file is changed: the tests are collected once,
and each mutant is a forked process, in which the mutated functions replace those in memory. A mutant meets the tests
that reach its statement, fastest first, until one fails, for `--seconds` of tests at most.
"""

import argparse
import builtins
import importlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from mutant_process import (
    HIT,
    PACKAGES,
    ROOT,
    UNSWAPPED,
    Loader,
    Session,
    counted,
    forked,
    package_of,
    pytest_main,
    status_of,
    swap,
)
from mutations import mutants, mutated

TESTS = (
    *(f"tests/{folder}" for folder in PACKAGES.values()),
    *("tests/properties", "tests/report", "tests/meaning/measures/test_kinds.py", "tests/test_one_number.py"),
)


def record(record_file, tests):
    """Write the statements that each test reaches, its seconds, and the statements that imports reach."""
    hits = set()
    setattr(builtins, HIT, hits.add)
    sys.meta_path.insert(0, Loader(counted))

    def work(run_test, items):
        imported, reached, seconds, failing = sorted(hits), {}, {}, []
        following = [*list(items.values())[1:], None]
        for item, next_item in zip(items.values(), following, strict=True):
            hits.clear()
            start = time.monotonic()
            if not run_test(item, next_item):
                failing.append(item.nodeid)
            seconds[item.nodeid] = time.monotonic() - start
            shared = [session.shared[name] for name in item.fixturenames if name in session.shared]
            reached[item.nodeid] = hits.union(*shared)
        lists = {test: sorted(lines) for test, lines in reached.items()}
        record_file.write_text(
            json.dumps({"imported": imported, "seconds": seconds, "failing": failing, "reached": lists})
        )

    session = Session(work, hits)
    return pytest_main(session, tests)


class Coverage:
    """Which tests reach a statement, fastest first."""

    def __init__(self, record_file):
        stored = json.loads(record_file.read_text())
        self.seconds, self.failing = stored["seconds"], stored["failing"]
        self.imported = {tuple(hit) for hit in stored["imported"]}
        self.by_line, self.by_path = defaultdict(set), defaultdict(set)
        for test, lines in stored["reached"].items():
            for path, line in lines:
                self.by_line[path, line].add(test)
                self.by_path[path].add(test)

    def tests(self, path, statement, limit):
        """Tests of a statement, up to `limit` seconds; of the module if it has no line or runs at import."""
        afresh = statement is None or (path, statement) in self.imported
        reaching = self.by_path[path] if afresh else self.by_line[path, statement]
        candidates = set(reaching)
        if statement is None or (afresh and not reaching):  # its readers may be in other modules of the package
            folder = Path(path).parent
            candidates |= set().union(*(tests for file, tests in self.by_path.items() if Path(file).parent == folder))
        selected, total = [], 0.0
        for test in sorted(candidates, key=lambda test: (test not in reaching, self.seconds[test], test)):
            total += self.seconds[test]
            if selected and total > limit:
                break
            selected.append(test)
        return selected, afresh


def run_in_memory(numbered_mutants, tests, pipe):
    """Write to a pipe the number of each mutant and whether tests notice it, or None if its module must be loaded."""

    def work(run_test, items):
        for number, mutant, names in numbered_mutants:
            tree, *_ = mutated(*mutant[:3])

            def notice(path=mutant[0], tree=tree, names=names):
                swap(path, tree)
                selected = [items[name] for name in names]
                return int(not all(map(run_test, selected, [*selected[1:], None])))

            limit = 20 + 5 * sum(s for _, s in names.items())
            status = status_of(forked(notice), limit)
            os.write(pipe, (json.dumps([number, None if status == UNSWAPPED else status != 0]) + "\n").encode())

    return pytest_main(Session(work), tests)


def run_afresh(mutant, names):
    """Whether tests notice a mutant that is loaded instead of its module."""
    tree, *_ = mutated(*mutant[:3])
    code = compile(tree, mutant[0], "exec")

    def notice():
        sys.meta_path.insert(0, Loader(lambda path: code if path == mutant[0] else None))

        def work(run_test, items):
            selected = list(items.values())
            os._exit(int(not selected or not all(map(run_test, selected, [*selected[1:], None]))))

        return pytest_main(Session(work), list(names)) or 1

    return status_of(forked(notice), 60 + 5 * sum(names.values())) != 0


def run(drawn_mutants, coverage, seconds, tests):
    """(mutant, whether the tests notice it) of each, as they come."""
    in_memory, afresh = [], []
    for number, mutant in enumerate(drawn_mutants):
        names, loaded = coverage.tests(mutant[0], mutant[3], seconds)
        if not names:
            yield mutant, False
        else:
            timed = {name: coverage.seconds[name] for name in names}
            (afresh if loaded else in_memory).append((number, mutant, timed))
    reading, writing = os.pipe()
    child = forked(lambda: os.close(reading) or run_in_memory(in_memory, tests, writing))
    os.close(writing)
    by_number = {number: (mutant, names) for number, mutant, names in in_memory}
    with os.fdopen(reading) as lines:
        for line in lines:
            number, noticed = json.loads(line)
            mutant, names = by_number[number]
            yield mutant, run_afresh(mutant, names) if noticed is None else noticed
    os.waitpid(child, 0)
    for _, mutant, names in afresh:
        yield mutant, run_afresh(mutant, names)


def parse(arguments):
    """Options of the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), help=", ".join(PACKAGES))
    parser.add_argument("--sample", type=int, default=50, help="mutants to draw of each package (50)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=40, help="seconds of tests that a mutant meets (40)")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="files and folders of tests")
    parser.add_argument(
        "--record", type=Path, help="file of the statements that tests reach; it is reused if it exists"
    )
    return parser.parse_args(arguments)


def prepare(folder):
    """Set the environment of the forked tests and import the slow libraries once."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    for name in ("HYPOTHESIS_STORAGE_DIRECTORY", "TMPDIR"):
        os.environ[name] = str(folder)
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for library in ("numpy", "scipy.stats", "scipy.optimize", "hypothesis", "pandas"):
        importlib.import_module(library)


def main(arguments):
    """Print the survivors and the shares; the exit status."""
    options = parse(arguments)
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    prepare(folder)
    record_file = options.record or folder / "record.json"
    if not record_file.exists():
        os.waitpid(forked(lambda: record(record_file, options.tests)), 0)
    coverage = Coverage(record_file)
    if coverage.failing:
        print("These tests fail without a mutant:", *coverage.failing)
        return 2
    sample, totals = [], Counter()
    for package in options.packages:
        candidates = list(mutants(ROOT / "softirr" / PACKAGES[package]))
        totals[package] = len(candidates)
        sample += random.Random(options.seed).sample(candidates, min(options.sample, len(candidates)))  # noqa: S311
    killed, n_drawn = Counter(), Counter()
    for mutant, noticed in run(sample, coverage, options.seconds, options.tests):
        path, index, number, _, line, _ = mutant
        n_drawn[package_of(path)] += 1
        killed[package_of(path)] += noticed
        if not noticed:
            _, original, change = mutated(path, index, number)
            print(f"survives: {Path(path).relative_to(ROOT)}:{line}: `{original}` becomes `{change}`", flush=True)
    print_table(options.packages, totals, n_drawn, killed)
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def print_table(packages, totals, n_drawn, killed):
    """Print the share of killed mutants of each package."""
    print("\n| package | mutants | drawn | killed | share |\n|---|---:|---:|---:|---:|")
    for package in packages:
        share = killed[package] / max(n_drawn[package], 1)
        print(f"| {package} | {totals[package]} | {n_drawn[package]} | {killed[package]} | {share:.0%} |")
    share = killed.total() / max(n_drawn.total(), 1)
    print(f"| all | {totals.total()} | {n_drawn.total()} | {killed.total()} | {share:.0%} |")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
