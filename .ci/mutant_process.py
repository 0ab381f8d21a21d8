"""Run the tests with a mutant: count the lines that each test reaches, and replace functions in memory or modules."""

import ast
import gc
import importlib.abc
import importlib.util
import os
import signal
import time
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "coefficients": "statistics/coefficients",
    "chance": "statistics/chance",
    "matching": "statistics/matching",
    "evidence": "statistics/evidence",
    "audit": "audit",
    "policy": "meaning/policy",
}
"""Name of a package -> its folder below softirr."""
HIT = "__hit__"
UNSWAPPED = 99
"""Exit status of a mutant that cannot replace its function in memory. Its module is loaded instead."""


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


def package_of(path):
    """Name of the package of a module in `PACKAGES`, or None for other modules."""
    folder = Path(path).relative_to(ROOT / "softirr").parent.as_posix()
    return next((name for name, package in PACKAGES.items() if f"{folder}/".startswith(f"{package}/")), None)


def counted(path):
    """The code of a module of the science that counts its lines, or None for other modules."""
    if package_of(path) is None:
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
        """Lines that a shared fixture reaches for its first test count for all tests that use it."""
        earlier_hits = set(self.hits)
        value = yield
        if fixturedef.scope != "function":
            self.shared[fixturedef.argname] = self.hits - earlier_hits
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
    """Exit status of a process, or None if it took longer and was ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
