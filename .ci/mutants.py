"""Mutation testing of the science: small changes of the code, one at a time, that the tests must notice.

`make mutants` draws mutants of each package by a seed, and prints those that survive and a table;
`make mutants ARGS="--sample 20 policy"` draws fewer of one package. No file is changed: the tests are collected once,
and each mutant is a forked process, in which the mutated functions replace those in memory. A mutant meets the tests
that reach its statement, fastest first, until one fails, for `--seconds` of tests at most.
"""

import argparse
import ast
import builtins
import gc
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import types
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from mutations import mutants, mutated

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("coefficients", "chance", "audit", "evidence", "policy", "matching")
OTHERS = (
    "tests/properties", "tests/report", "tests/meaning/measures/test_kinds.py", "tests/planning/test_audited_models.py",
    "tests/test_one_number.py",
)  # fmt: skip
TESTS = (*(f"tests/{package}" for package in PACKAGES), *OTHERS)
HIT = "__hit__"
UNSWAPPED = 99
"""Exit status of a mutant that cannot replace its function in memory, and is loaded afresh instead."""


class Counting(ast.NodeTransformer):
    """Inserts a call before each statement of a function that reports its line."""

    def __init__(self, path):
        self.path, self.inside = path, False

    def visit_FunctionDef(self, node):
        outside, self.inside = self.inside, True
        self.generic_visit(node)
        self.inside = outside
        return node

    def visit(self, node):
        node = super().visit(node)
        if not self.inside or not isinstance(node, ast.stmt):
            return node
        call = ast.parse(f"{HIT}(({self.path!r}, {node.lineno}))").body[0]
        return [call, node]


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads modules from the code that `code_of` gives for their path, and all others as usual."""

    def __init__(self, code_of):
        self.code_of = code_of

    def find_spec(self, name, path=None, target=None):
        if not name.startswith("softirr."):
            return None
        file = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        if not file.is_file() or self.code_of(str(file)) is None:
            return None
        return importlib.util.spec_from_file_location(name, file, loader=self)

    def exec_module(self, module):
        exec(self.code_of(module.__file__), module.__dict__)  # noqa: S102


def counted(path):
    """The code of a module of the science that counts, or None for other modules."""
    if Path(path).relative_to(ROOT / "softirr").parts[0] not in PACKAGES:
        return None
    tree = Counting(path).visit(ast.parse(Path(path).read_text(encoding="utf-8")))
    return compile(ast.fix_missing_locations(tree), path, "exec")


def swap(path, tree):
    """Replace the functions of a module that live in memory by those of a tree."""
    fresh, waiting = {}, [compile(tree, path, "exec")]
    while waiting:
        code = waiting.pop()
        fresh[code.co_qualname, code.co_firstlineno] = code
        waiting += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    for function in [f for f in gc.get_objects() if isinstance(f, types.FunctionType)]:
        old = function.__code__
        if old.co_filename == path and old.co_name != "<lambda>":
            try:
                function.__code__ = fresh[old.co_qualname, old.co_firstlineno]
            except ValueError:  # the mutant no longer uses a variable of the function around it
                os._exit(UNSWAPPED)


class Session:
    """A plugin of pytest that runs `work(run_test, items by id)` instead of the tests' loop."""

    def __init__(self, work, hits=frozenset()):
        self.work, self.failed, self.hits, self.shared = work, False, hits, {}

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        """What a shared fixture reaches for its first test counts for all that use it."""
        before = set(self.hits)
        value = yield
        if fixturedef.scope != "function":
            self.shared[fixturedef.argname] = self.hits - before
        return value

    def pytest_runtest_logreport(self, report):
        self.failed |= report.failed

    def pytest_runtestloop(self, session):
        def run_test(item, following=None):
            self.failed = False
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            return not self.failed

        self.work(run_test, {item.nodeid: item for item in session.items})
        return True


def pytest_main(session, tests):
    """Collect the fast tests and hand them to a session, without output."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    plugins = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:rerunfailures"]
    arguments = ["-q", "-m", "not slow", "--hypothesis-seed=0", "-o", "session_timeout=100000", *plugins, *tests]
    return int(pytest.main(arguments, plugins=[session]))


def forked(call):
    """The process of a forked call."""
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            status = call()
        except BaseException as error:  # noqa: BLE001
            os.write(2, f"{error!r}\n".encode())
            status = 2
        os._exit(status or 0)
    return child


def status_of(child, seconds):
    """Exit status of a process, or None where it took longer and was ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def record(place, tests):
    """Write for each test the statements that it reaches and its seconds; and those that imports reach."""
    hits = set()
    setattr(builtins, HIT, hits.add)
    sys.meta_path.insert(0, Loader(counted))

    def work(run_test, items):
        imported, reached, seconds, failing = sorted(hits), {}, {}, []
        following = [*list(items.values())[1:], None]
        for item, after in zip(items.values(), following, strict=True):
            hits.clear()
            start = time.monotonic()
            if not run_test(item, after):
                failing.append(item.nodeid)
            seconds[item.nodeid] = time.monotonic() - start
            shared = [session.shared[name] for name in item.fixturenames if name in session.shared]
            reached[item.nodeid] = hits.union(*shared)
        lists = {test: sorted(lines) for test, lines in reached.items()}
        place.write_text(json.dumps({"imported": imported, "seconds": seconds, "failing": failing, "reached": lists}))

    session = Session(work, hits)
    return pytest_main(session, tests)


class Coverage:
    """Which tests reach a statement, fastest first."""

    def __init__(self, place):
        stored = json.loads(place.read_text())
        self.seconds, self.failing = stored["seconds"], stored["failing"]
        self.imported = {tuple(hit) for hit in stored["imported"]}
        self.by_line, self.by_path = defaultdict(set), defaultdict(set)
        for test, lines in stored["reached"].items():
            for path, line in lines:
                self.by_line[path, line].add(test)
                self.by_path[path].add(test)

    def tests(self, path, statement, limit):
        """Tests of a statement, or of a module where it has no line or runs at import, up to `limit` seconds."""
        afresh = statement is None or (path, statement) in self.imported
        own = self.by_path[path] if afresh else self.by_line[path, statement]
        every = set(own)
        if statement is None or (afresh and not own):  # what reads it may be in other modules of the package
            every |= set().union(
                *(tests for other, tests in self.by_path.items() if Path(other).parent == Path(path).parent)
            )
        chosen, total = [], 0.0
        for test in sorted(every, key=lambda test: (test not in own, self.seconds[test], test)):
            total += self.seconds[test]
            if chosen and total > limit:
                break
            chosen.append(test)
        return chosen, afresh


def run_in_memory(chosen, tests, pipe):
    """Write to a pipe the number of each mutant and whether the tests notice it, or None where it needs loading."""

    def work(run_test, items):
        for number, mutant, names in chosen:
            tree, *_ = mutated(*mutant[:3])

            def notice(path=mutant[0], tree=tree, names=names):
                swap(path, tree)
                own = [items[name] for name in names]
                return int(not all(map(run_test, own, [*own[1:], None])))

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
            own = list(items.values())
            os._exit(int(not own or not all(map(run_test, own, [*own[1:], None]))))

        return pytest_main(Session(work), list(names)) or 1

    return status_of(forked(notice), 60 + 5 * sum(names.values())) != 0


def run(chosen, coverage, seconds, tests):
    """(mutant, whether the tests notice it) of each, as they come."""
    in_memory, afresh = [], []
    for number, mutant in enumerate(chosen):
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


def main(arguments):
    """Print the survivors and the shares; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=PACKAGES, help=", ".join(PACKAGES))
    parser.add_argument("--sample", type=int, default=50, help="mutants to draw of each package (50)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=40, help="seconds of tests that a mutant meets (40)")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="files and folders of tests")
    parser.add_argument("--record", type=Path, help="file for what the tests reach, read again where it exists")
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    for name in ("HYPOTHESIS_STORAGE_DIRECTORY", "TMPDIR"):
        os.environ[name] = str(folder)
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for library in ("numpy", "scipy.stats", "scipy.optimize", "hypothesis", "pandas"):
        importlib.import_module(library)
    place = options.record or folder / "record.json"
    if not place.exists():
        os.waitpid(forked(lambda: record(place, options.tests)), 0)
    coverage = Coverage(place)
    if coverage.failing:
        print("These tests fail without a mutant:", *coverage.failing)
        return 2
    chosen, total = [], Counter()
    for package in options.packages:
        every = list(mutants(ROOT / "softirr" / package))
        total[package] = len(every)
        chosen += random.Random(options.seed).sample(every, min(options.sample, len(every)))  # noqa: S311
    killed, drawn = Counter(), Counter()
    for mutant, noticed in run(chosen, coverage, options.seconds, options.tests):
        path, place, number, _, line, name = mutant
        package = Path(path).relative_to(ROOT / "softirr").parts[0]
        drawn[package] += 1
        killed[package] += noticed
        if not noticed:
            _, before, after = mutated(path, place, number)
            print(f"survives: {Path(path).relative_to(ROOT)}:{line}: `{before}` becomes `{after}`", flush=True)
    print("\n| package | mutants | drawn | killed | share |\n|---|---:|---:|---:|---:|")
    for package in options.packages:
        share = killed[package] / max(drawn[package], 1)
        print(f"| {package} | {total[package]} | {drawn[package]} | {killed[package]} | {share:.0%} |")
    print(f"| all | {total.total()} | {drawn.total()} | {killed.total()} | {killed.total() / drawn.total():.0%} |")
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
