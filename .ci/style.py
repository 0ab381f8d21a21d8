"""Check names, language and sizes: count the violations of each file and allow no more than before.

`make lint` compares the counts with `.ci/style_baseline.txt`: a file that exceeds its count there fails. After a
clean-up, `python3 .ci/style.py --update` lowers the baseline. `python3 .ci/style.py PATH ...` lists every violation
below some files or folders, `--count` the number for each package and kind, and `--rates` the shares of vague names,
flagged prose and long commit subjects.

| kind | violation |
|---|---|
| words | a flagged word in a text that people read (`style_words.txt`) |
| phrases | a turn of phrase in a docstring, comment or page that is not plain English (`style_phrases.txt`) |
| names | a variable or parameter with a name that describes nothing (`style_names.txt`) |
| tests | a test with a name that is a riddle (`style_phrases.txt`) |
| docstrings | a parameter without a description, or a section that only repeats a type |
| lines | more than 120 characters |
| length | more than 300 lines in a file |
| functions | more than 40 lines in a function, without its docstring |
| parameters | more than 6 parameters |
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

from commit_message import LONGEST_SUBJECT
from style_code import code_violations, names_in_file
from style_prose import prose_lines, prose_violations

ROOT = Path(__file__).resolve().parent.parent
BASELINE = Path(__file__).with_name("style_baseline.txt")
SUFFIXES = (".py", ".md", ".html", ".js", ".css", ".conf")
CHECKED = (
    "softirr",
    "ml_backend",
    "plugin",
    "lab",
    "tests",
    "docs",
    ".ci",
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
)
SKIPPED_FOLDERS = {"results", "word_lists", "node_modules", "__pycache__", "migrations"}


def checked_files(paths):
    """Files that people write and read, below some paths."""
    for name in paths:
        path = (ROOT / name).resolve()
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            folders = set(file.relative_to(ROOT).parts)
            if file.suffix in SUFFIXES and ".min." not in file.name and not SKIPPED_FOLDERS & folders:
                yield file


def violations(path, source):
    """All violations in the text of a file; its path is relative to the root."""
    yield from prose_violations(path, source)
    yield from code_violations(path, source)


def violations_below(paths):
    """All violations below some paths."""
    return [
        violation
        for file in checked_files(paths)
        for violation in violations(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
    ]


def read_baseline(text):
    """(path, kind) -> number of violations that a file may have."""
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {(path, kind): int(count) for count, kind, path in rows}


def exceeding(counts, allowed):
    """(path, kind) of files with more violations than the baseline allows."""
    return {key for key, count in counts.items() if count > allowed.get(key, 0)}


def write_baseline(counts):
    """Allow the present violations."""
    head = "# Violations that .ci/style.py still allows: number, kind, file. Lower it: python3 .ci/style.py --update\n"
    rows = (f"{counts[path, kind]} {kind} {path}\n" for path, kind in sorted(counts))
    BASELINE.write_text(head + "".join(rows), encoding="utf-8")


def compare_with_baseline():
    """Print what exceeds the baseline; the exit status."""
    listed = violations_below(CHECKED)
    counts = Counter((violation.path, violation.kind) for violation in listed)
    allowed = read_baseline(BASELINE.read_text(encoding="utf-8"))
    too_many = exceeding(counts, allowed)
    for violation in listed:
        if (violation.path, violation.kind) in too_many:
            print(violation.shown())
    for path, kind in sorted(too_many):
        print(f"{path} has {counts[path, kind]} violations of {kind}; {allowed.get((path, kind), 0)} are allowed.")
    return 1 if too_many else 0


def print_rates():
    """Print the share of vague names, flagged lines of prose per 1,000, and long subjects of the last 200 commits."""
    n_names = n_vague = n_lines = n_flagged = 0
    for file in checked_files(CHECKED):
        path, source = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        kinds = Counter(violation.kind for violation in violations(path, source))
        n_names += len(list(names_in_file(file.suffix, source)))
        n_vague += kinds["names"]
        n_lines += len(list(prose_lines(file.suffix, source)))
        n_flagged += kinds["phrases"]
    command = ["git", "-C", str(ROOT), "log", "-200", "--format=%s"]
    subjects = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    n_long = sum(len(subject) > LONGEST_SUBJECT for subject in subjects)
    print(f"names that describe nothing: {100 * n_vague / n_names:.1f}% of {n_names}")
    print(f"flagged lines of prose: {1000 * n_flagged / n_lines:.0f} of 1,000 ({n_lines} lines)")
    print(f"commit subjects of more than {LONGEST_SUBJECT} characters: {n_long} of {len(subjects)}")


def main(arguments):
    """Run the command; its exit status."""
    options = {argument for argument in arguments if argument.startswith("--")}
    paths = [argument for argument in arguments if argument not in options]
    if "--update" in options:
        write_baseline(Counter((violation.path, violation.kind) for violation in violations_below(CHECKED)))
        return 0
    if "--rates" in options:
        print_rates()
        return 0
    if not paths and "--count" not in options:
        return compare_with_baseline()
    listed = violations_below(paths or CHECKED)
    if "--count" in options:
        packages = Counter(("/".join(v.path.split("/")[:2]), v.kind) for v in listed)
        for (package, kind), number in packages.most_common():
            print(f"{number:5d} {kind:10} {package}")
    else:
        print(*(violation.shown() for violation in listed), sep="\n")
    return 1 if listed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
