"""The data files of the style check, and the type of a violation."""

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Violation(NamedTuple):
    """One violation: its kind, its file and line, and what to do."""

    kind: str
    path: str
    line: int
    message: str

    def shown(self):
        """The violation as a line of text."""
        return f"{self.path}:{self.line}: {self.message}"


def entries(name):
    """The lines of a data file in this folder, without comments."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("# ")]


EXCEPTIONS = [
    (pattern, re.compile(line, re.IGNORECASE))
    for pattern, line in (entry.split("\t") for entry in entries("style_exceptions.txt"))
]


def is_excepted(path, line):
    """Whether `style_exceptions.txt` allows a violation in this line."""
    return any((pattern == "*" or fnmatch(path, pattern)) and regex.search(line) for pattern, regex in EXCEPTIONS)
