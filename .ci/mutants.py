"""Mutation testing of the science: small changes of the code, one at a time, that its package's tests must notice.

`make mutants` draws mutants by a seed and prints those that survive; `make mutants ARGS="--sample 60 policy"` draws
fewer of one package. No file is changed: a forked process loads the mutated module from memory and runs the package's
fast tests until one fails.
"""

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("coefficients", "chance", "audit", "policy", "matching")
SECONDS = 300
"""A mutant that takes longer is killed: an endless loop counts as noticed."""
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


def changes(node):
    """Functions that change a node in place, with a name for each."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            if type(operator) in COMPARISONS:
                other = COMPARISONS[type(operator)]
                yield other.__name__, lambda n, place=place, other=other: n.ops.__setitem__(place, other())
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        other = OPERATORS[type(node.op)]
        yield other.__name__, lambda n, other=other: setattr(n, "op", other())
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield other.__name__, lambda n, other=other: setattr(n, "op", other())
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "negated", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    elif isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        value = (not node.value) if type(node.value) is bool else node.value + 1
        yield repr(value), lambda n, value=value: setattr(n, "value", value)
    elif isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in CALLS:
            field = "id" if isinstance(node.func, ast.Name) else "attr"
            yield CALLS[name], lambda n, field=field, name=name: setattr(n.func, field, CALLS[name])
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield "return None", lambda n: setattr(n, "value", ast.Constant(None))


def nodes(tree):
    """The nodes inside functions, without annotations and without what runs at import."""
    skipped = set()
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if getattr(node, field, None) is not None:
                skipped |= {id(inner) for inner in ast.walk(getattr(node, field))}
    ordered = list(ast.walk(tree))
    inside = {id(n) for f in ordered if isinstance(f, ast.FunctionDef) for s in f.body for n in ast.walk(s)}
    return [(place, n) for place, n in enumerate(ordered) if id(n) in inside and id(n) not in skipped]


def mutants(packages):
    """(path, place of the node, number of the change, line, description) of every mutant."""
    for package in packages:
        for path in sorted((ROOT / "softirr" / package).rglob("*.py")):
            for place, node in nodes(ast.parse(path.read_text(encoding="utf-8"))):
                for number, (name, _) in enumerate(changes(node)):
                    yield path, place, number, node.lineno, name


def mutated(path, place, number):
    """The source of a module with one change, and the text of the changed statement's first line, before and after."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[place]
    before = ast.unparse(copy.deepcopy(node)).splitlines()[0]
    _, change = list(changes(node))[number]
    change(node)
    return ast.unparse(ast.fix_missing_locations(tree)), before, ast.unparse(node).splitlines()[0]


class Loader(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Loads one module from a text; all others come from their files."""

    def __init__(self, name, path, source):
        self.name, self.path, self.source = name, path, source

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_filename(self, fullname):
        return str(self.path)

    def get_data(self, path):
        return self.source.encode()


def tests_of(path):
    """The fast tests of a module's package, those of its own name first."""
    folder = ROOT / "tests" / path.relative_to(ROOT / "softirr").parts[0]
    return sorted(map(str, folder.glob("test_*.py")), key=lambda name: (path.stem not in name, name))


def run(path, source):
    """Whether the tests notice a mutant."""
    child = os.fork()
    if child == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        sys.meta_path.insert(0, Loader(name, path, source))
        import pytest

        quiet = ["-q", "-x", "-n", "0", "-m", "not slow", "-p", "no:cacheprovider", "--no-header"]
        os._exit(int(pytest.main([*quiet, *tests_of(path)])))
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def main(arguments):
    """Print the survivors and the shares; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=PACKAGES, help=", ".join(PACKAGES))
    parser.add_argument("--sample", type=int, default=300, help="mutants to draw (300)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--minutes", type=float, default=0, help="draw no more mutants after so many minutes (no limit)"
    )
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    for library in ("numpy", "scipy.stats", "scipy.optimize", "pytest", "hypothesis", "pandas"):
        importlib.import_module(library)
    everything = list(mutants(options.packages))
    chosen = random.Random(options.seed).sample(everything, min(options.sample, len(everything)))  # noqa: S311
    print(f"{len(chosen)} of {len(everything)} mutants, seed {options.seed}", flush=True)
    for path in {path.parent: path for path, *_ in chosen}.values():
        if run(path, path.read_text(encoding="utf-8")):
            print(f"The tests of {path.parent.name} fail without a mutant.")
            return 2
    counts, start = {package: [0, 0] for package in options.packages}, time.monotonic()
    for path, place, number, line, name in chosen:
        if options.minutes and time.monotonic() - start > 60 * options.minutes:
            break
        source, before, after = mutated(path, place, number)
        noticed = run(path, source)
        count = counts[path.relative_to(ROOT / "softirr").parts[0]]
        count[0] += noticed
        count[1] += 1
        if not noticed:
            print(f"survives: {path.relative_to(ROOT)}:{line}: {name}: `{before}` becomes `{after}`", flush=True)
    print("\n| package | mutants | killed |\n|---|---:|---:|")
    for package, (killed, drawn) in counts.items():
        print(f"| {package} | {drawn} | {killed} ({killed / max(drawn, 1):.0%}) |")
    killed, drawn = (sum(column) for column in zip(*counts.values(), strict=True))
    print(f"| all | {drawn} | {killed} ({killed / max(drawn, 1):.0%}) |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
