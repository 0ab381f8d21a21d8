"""The style check behind `make lint`: it finds planted violations, and counts against the baseline."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

CI = Path(__file__).resolve().parent.parent / ".ci"
MODULES = ("style", "style_code", "style_prose", "style_lists", "commit_message")


@pytest.fixture(scope="module")
def style() -> Iterator[ModuleType]:
    if not CI.exists():
        pytest.skip("only in a checkout")
    sys.path.insert(0, str(CI))
    yield importlib.import_module("style")
    sys.path.remove(str(CI))
    for name in MODULES:
        sys.modules.pop(name, None)


def kinds(style: ModuleType, path: str, source: str) -> list[str]:
    return [violation.kind for violation in style.violations(path, source)]


@pytest.mark.parametrize(
    ("suffix", "source", "lines"),
    [
        (".py", 'x = "the table holds it"\n', [1]),
        (".py", '"""One line.\n\nThe texts are told\napart.\n"""\n', [3]),
        (".py", "# holds\nholds = call(told)\n", []),
        (".py", 'x = "the key `holds` of the table"\n', []),
        (".md", "Text.\n\n```\nit holds\n```\n\nIt holds.\n", [7]),
        (".md", "The column `told` is [here](told.md).\n", []),
        (".js", "// it holds\nconst told = 'it holds'; /* it\nholds */\n", [2]),
        (".js", 'fetch("https://a.b/c d");\nlet holds = `${a} told ${b}`;\n', [2]),
        (".html", "<!-- holds -->\n<p class=\"holds\">{{ told }}</p>\n<script>var told = 'told it'</script>\n", []),
        (".html", '<p>It holds</p>\n<img alt="What Ben said">\n', [1, 2]),
    ],
)
def test_words_are_flagged_in_visible_text(style: ModuleType, suffix: str, source: str, lines: list[int]) -> None:
    listed = [v for v in style.violations("softirr/x" + suffix, source) if v.kind == "words"]
    assert [v.line for v in listed] == lines


def test_exception_needs_its_own_pattern(style: ModuleType) -> None:
    assert "words" not in kinds(style, "a.md", "Give `--judgements 60`.\n")
    assert kinds(style, "a.md", "It takes 60 judgements more\n").count("words") == 1


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("names", "def draw_sheet(told):\n    return told\n"),
        ("names", "for place, kappa in pairs:\n    print(place)\n"),
        ("phrases", '"""Of a text, for messages."""\n'),
        ("phrases", "# None where there is none\n"),
        ("phrases", 'def f():\n    """What the report says of a rater."""\n'),
        ("tests", "def test_a_full_disk_is_said_once():\n    pass\n"),
        ("lines", "x = 1  #" + "-" * 120 + "\n"),
        ("length", "x = 1\n" * 301),
        ("functions", "def f():\n" + "    x = 1\n" * 40),
        ("parameters", "def f(a, b, c, d, e, f, g):\n    pass\n"),
        ("docstrings", 'def f(rater):\n    """Do it.\n\n    Parameters\n    ----------\n    rater : str\n    """\n'),
        ("docstrings", 'def f():\n    """Do it.\n\n    Returns\n    -------\n    float\n    """\n'),
    ],
)
def test_planted_violation_is_found(style: ModuleType, kind: str, source: str) -> None:
    assert kind in kinds(style, "softirr/x.py", source)


@pytest.mark.parametrize(
    "source",
    [
        "def draw_sheet(table, n_items):\n    kappa = table[n_items]\n    return kappa\n",
        "class Pair:\n    def f(self, a, b, c, d, e, f):\n        pass\n",
        'def f(p):\n    """Return the mean.\n\n    Parameters\n    ----------\n    p : shape (n,)\n    """\n',
        'def f(p):\n    """Return P.\n\n    Returns\n    -------\n    float\n        Between 0 and 1.\n    """\n',
        "def f():\n" + '    """One line.\n\n' + "    More.\n" * 40 + '    """\n' + "    x = 1\n" * 39,
    ],
)
def test_plain_code_has_no_violation(style: ModuleType, source: str) -> None:
    assert kinds(style, "softirr/x.py", source) == []


def test_lint_fails_on_a_planted_violation(style: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "softirr").mkdir()
    (tmp_path / "softirr" / "planted.py").write_text("def draw_sheet(told):\n    return told\n", encoding="utf-8")
    monkeypatch.setattr(style, "ROOT", tmp_path)
    monkeypatch.setattr(style, "CHECKED", ("softirr",))
    assert style.main([]) == 1
    (tmp_path / "softirr" / "planted.py").write_text('"""Return the sheet."""\n', encoding="utf-8")
    assert style.main([]) == 0


def test_lint_fails_on_a_long_commit_subject(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(CI / "commit_message.py", tmp_path / ".ci")

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    def lint() -> int:
        command = [sys.executable, str(tmp_path / ".ci" / "commit_message.py"), "--since", "start"]
        return subprocess.run(command, capture_output=True, check=False).returncode

    git("init")
    git("commit", "--allow-empty", "-m", "Add the sheet")
    git("tag", "start")
    git("commit", "--allow-empty", "-m", "Draw the sheet")
    assert lint() == 0
    git("commit", "--allow-empty", "-m", "Draw " + "x" * 70)
    assert lint() == 1


def test_lint_runs_the_style_and_commit_checks() -> None:
    recipe = (CI.parent / "Makefile").read_text(encoding="utf-8").split("\nlint:")[1].split("\n\n")[0]
    assert "python .ci/style.py\n" in recipe
    assert "python .ci/commit_message.py --since " in recipe


def test_only_more_than_the_baseline_fails(style: ModuleType) -> None:
    allowed = style.read_baseline("# head\n2 words a.py\n1 length b.py\n")
    assert style.exceeding({("a.py", "words"): 2, ("b.py", "length"): 1}, allowed) == set()
    assert style.exceeding({("a.py", "words"): 3, ("c.py", "names"): 1}, allowed) == {
        ("a.py", "words"),
        ("c.py", "names"),
    }


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("Drop the codebook page\n\nNobody reads it.\n", None),
        ("Process pairs of one item first\n", None),
        ("Merge branch 'main'\n", None),
        ("Merge the modules of a package that describe one thing, and a few more of them\n", "has 78 characters"),
        ("", "is empty"),
        ("Drop " + "x" * 68 + "\n", "at most 72"),
        ("What a rereading found\n", "begin with an imperative"),
        ("Adds a page\n", "begin with an imperative"),
        ("Fixed the page\n", "begin with an imperative"),
        ("drop the page\n", "begin with an imperative"),
        ("Drop the page.\n", "ends with a period"),
        ("Drop the page\nNobody reads it.\n", "must be empty"),
    ],
)
def test_commit_message(style: ModuleType, message: str, problem: str | None) -> None:
    problems = importlib.import_module("commit_message").problems(message)
    assert problems == [] if problem is None else problem in " ".join(problems)


def test_hook_refuses_a_long_subject(style: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "message").write_text("Drop " + "x" * 80 + "\n", encoding="utf-8")
    command = [sys.executable, str(CI / "commit_message.py"), str(tmp_path / "message")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "at most 72" in done.stdout
