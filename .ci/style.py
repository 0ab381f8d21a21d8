"""Language, names and size of files: what style.md asks for, counted for each file, and never more than before.

`make lint` compares the counts with `.ci/style_baseline.txt`: a file that exceeds its count there fails. A clean-up
lowers the baseline with `python3 .ci/style.py --update`. `python3 .ci/style.py PATH ...` lists everything in some files
or folders, `--count` the number for each package.

Kinds of violations: *words*, flagged phrases in texts that people read (strings of Python and JavaScript, text of HTML,
prose of Markdown; no code); *names*, variables named by an adjective or participle; *lines* of more than 120
characters; *length*, a file of more than 400 lines.
"""

import ast
import re
import sys
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent
BASELINE = HERE / "style_baseline.txt"
SUFFIXES = (".py", ".md", ".html", ".js", ".css", ".conf")
PLACES = (
    "softirr",
    "ml_backend",
    "plugin",
    "tests",
    "docs",
    ".ci",
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
)
NAMES = frozenset({"found", "made", "told", "said", "how"})
NOT_OURS = {"results", "word_lists", "node_modules", "__pycache__", "migrations"}
LONGEST_LINE, LONGEST_FILE = 120, 400


class Violation(NamedTuple):
    """One violation: its kind, its file and line, and what to do."""

    kind: str
    path: str
    line: int
    message: str


def entries(name):
    """The lines of a data file beside this one, without comments."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


PHRASES = {
    phrase.strip(): better.strip() for phrase, _, better in (e.partition(" -> ") for e in entries("style_words.txt"))
}
FLAGGED = re.compile(
    r"\b(" + "|".join(re.escape(p).replace(r"\ ", r"\s+") for p in sorted(PHRASES, key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)
EXCEPTIONS = [
    (pattern, re.compile(line, re.IGNORECASE))
    for pattern, line in (e.split("\t") for e in entries("style_exceptions.txt"))
]
FENCES = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.DOTALL | re.MULTILINE)
INLINE_CODE = re.compile(r"``[^`]+``|`[^`\n]+`|\]\([^)\s]*\)")
HTML_CODE = re.compile(
    r"<(script|style|code|pre)\b.*?</\1>|<!--.*?-->|\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL | re.IGNORECASE
)
HTML_TAG = re.compile(r"<[^<>]*>")
SHOWN_ATTRIBUTE = re.compile(r"\b(?:title|alt|placeholder|aria-label)\s*=\s*\"([^\"]*)\"")
JS_PART = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)", re.DOTALL)


def blanked(pattern, text):
    """The text with every match replaced by spaces, so that places stay."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def texts(suffix, source):
    """(line number, text) of what people read in a file."""
    if suffix == ".py":
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield node.lineno, node.value
    elif suffix == ".js":
        for match in JS_PART.finditer(source):
            if match[1] and " " in match[1]:
                yield source.count("\n", 0, match.start()) + 1, match[1][1:-1]
    elif suffix == ".html":
        source = blanked(HTML_CODE, source)
        yield 1, blanked(HTML_TAG, source)
        for match in SHOWN_ATTRIBUTE.finditer(source):
            yield source.count("\n", 0, match.start()) + 1, match[1]
    elif suffix == ".md":
        yield 1, blanked(FENCES, source)


def excepted(path, line):
    """Whether a phrase is right in this line."""
    return any((pattern == "*" or fnmatch(path, pattern)) and regex.search(line) for pattern, regex in EXCEPTIONS)


def flagged_words(path, suffix, source):
    """Flagged phrases, also those that a line break divides."""
    lines = source.splitlines()
    for first, text in texts(suffix, source):
        prose = blanked(INLINE_CODE, text)
        for match in FLAGGED.finditer(prose):
            number = first + text.count("\n", 0, match.start())
            own = text[text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
            if not excepted(path, own) and not excepted(path, lines[min(number, len(lines)) - 1]):
                phrase = re.sub(r"\s+", " ", match[0])
                yield Violation("words", path, number, f"{phrase!r}: {PHRASES[phrase.lower()]}")


def bound_names(source):
    """(line number, name) wherever Python binds a name: variables, parameters, functions, classes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def violations(path, suffix, source):
    """All violations in the text of a file; of tests only those in code."""
    if not path.startswith(("tests/", ".ci/")):
        yield from flagged_words(path, suffix, source)
    lines = source.splitlines()
    if suffix == ".py":
        for number, name in bound_names(source):
            if name in NAMES and not excepted(path, lines[number - 1]):
                yield Violation("names", path, number, f"name {name!r}: say what the value is")
    if suffix != ".md":
        for number, line in enumerate(lines, 1):
            if len(line) > LONGEST_LINE:
                yield Violation("lines", path, number, f"{len(line)} characters: at most {LONGEST_LINE}")
        if len(lines) > LONGEST_FILE:
            yield Violation("length", path, 1, f"{len(lines)} lines: at most {LONGEST_FILE}")


def files(places):
    """Files that people write and read."""
    for place in places:
        path = (ROOT / place).resolve()
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            parts = set(file.relative_to(ROOT).parts)
            if file.suffix in SUFFIXES and ".min." not in file.name and not NOT_OURS & parts:
                yield file


def of_places(places):
    """All violations below some places."""
    return [
        violation
        for file in files(places)
        for violation in violations(file.relative_to(ROOT).as_posix(), file.suffix, file.read_text(encoding="utf-8"))
    ]


def shown(violation):
    return f"{violation.path}:{violation.line}: {violation.message}"


def read_baseline(text):
    """(path, kind) -> how many violations a file may have."""
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {(path, kind): int(count) for count, kind, path in rows}


def exceeding(counts, allowed):
    """(path, kind) of files with more violations than the baseline allows."""
    return {key for key, count in counts.items() if count > allowed.get(key, 0)}


def check(update):
    """Compare everything with the baseline, or write it anew; the exit status."""
    everything = of_places(PLACES)
    counts = Counter((violation.path, violation.kind) for violation in everything)
    if update:
        head = "# Violations that .ci/style.py still allows: number, kind, file. Lower: python3 .ci/style.py --update"
        rows = (f"{counts[key]} {key[1]} {key[0]}\n" for key in sorted(counts))
        BASELINE.write_text(head + "\n" + "".join(rows), encoding="utf-8")
        return 0
    allowed = read_baseline(BASELINE.read_text(encoding="utf-8"))
    over = exceeding(counts, allowed)
    for violation in everything:
        if (violation.path, violation.kind) in over:
            print(shown(violation))
    for path, kind in sorted(over):
        print(f"{path} has {counts[path, kind]} violations of {kind}; {allowed.get((path, kind), 0)} are allowed.")
    return 1 if over else 0


def main(arguments):
    """Run the command; its exit status."""
    options = {argument for argument in arguments if argument.startswith("--")}
    places = [argument for argument in arguments if argument not in options]
    if not places and "--count" not in options:
        return check("--update" in options)
    listed = of_places(places or PLACES)
    if "--count" in options:
        packages = Counter(("/".join(v.path.split("/")[:2]), v.kind) for v in listed)
        for (package, kind), number in packages.most_common():
            print(f"{number:5d} {kind:6} {package}")
    else:
        print(*map(shown, listed), sep="\n")
    return 1 if listed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
