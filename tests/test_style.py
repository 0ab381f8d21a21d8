"""The checker of style behind `make lint`: it reads prose and no code, and counts against the baseline."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PLACE = Path(__file__).resolve().parent.parent / ".ci" / "style.py"


@pytest.fixture(scope="module")
def style() -> ModuleType:
    if not PLACE.exists():
        pytest.skip("only in a checkout")
    spec = importlib.util.spec_from_file_location("style", PLACE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
def test_words_are_flagged_in_what_people_read(style: ModuleType, suffix: str, source: str, lines: list[int]) -> None:
    listed = [v for v in style.violations("softirr/x" + suffix, suffix, source) if v.kind == "words"]
    assert [v.line for v in listed] == lines


def test_a_line_of_another_kind_does_not_excuse(style: ModuleType) -> None:
    assert not list(style.flagged_words("a.md", ".md", "Give `--judgements 60`.\n"))
    assert len(list(style.flagged_words("a.md", ".md", "It takes 60 judgements more\n"))) == 1


def test_names_lines_and_length(style: ModuleType) -> None:
    source = "def f(told):\n    found = 1\n" + "x = 1  #" + "-" * 120 + "\n" + "y = 1\n" * 400
    kinds = [v.kind for v in style.violations("tests/x.py", ".py", source)]
    assert sorted(kinds) == ["length", "lines", "names", "names"]


def test_only_more_than_the_baseline_fails(style: ModuleType) -> None:
    allowed = style.read_baseline("# head\n2 words a.py\n1 length b.py\n")
    assert style.exceeding({("a.py", "words"): 2, ("b.py", "length"): 1}, allowed) == set()
    assert style.exceeding({("a.py", "words"): 3, ("c.py", "names"): 1}, allowed) == {
        ("a.py", "words"),
        ("c.py", "names"),
    }
