"""Style of code: names, docstring sections, and the size of lines, files, functions and parameter lists."""

import ast
import re

from style_lists import Violation, entries, is_excepted

VAGUE_NAMES = frozenset(" ".join(entries("style_names.txt")).split())
LONGEST_LINE, LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS = 120, 300, 40, 6
SECTION = re.compile(r"^([A-Z][a-z]+(?: [A-Z][a-z]+)?)\n-{3,}$", re.MULTILINE)
JS_NAMES = re.compile(
    r"\b(?:const|let|var|function)\s+([\w$]+)|\bfunction\b[\s\w$]*\(([\w$,\s]*)\)"
    r"|\(([\w$,\s]*)\)\s*=>|\b([\w$]+)\s*=>"
)
DESCRIBED = {"Parameters", "Attributes", "Returns", "Yields"}
RIDDLE = next(re.compile(line.split("\t")[1]) for line in entries("style_phrases.txt") if line.startswith("riddle\t"))


def code_violations(path, source):
    """Violations in code; Markdown has none."""
    suffix = "." + path.rpartition(".")[2]
    if suffix == ".md":
        return
    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE and not is_excepted(path, line):
            yield Violation("lines", path, number, f"{len(line)} characters: at most {LONGEST_LINE}")
    if len(lines) > LONGEST_FILE and not is_excepted(path, "length"):
        yield Violation("length", path, 1, f"{len(lines)} lines: at most {LONGEST_FILE}")
    yield from name_violations(path, suffix, source, lines)
    if suffix == ".py":
        yield from function_violations(path, ast.parse(source))


def names_in_file(suffix, source):
    """(line number, name) of every variable and parameter; of JavaScript, also of every function."""
    if suffix == ".py":
        yield from bound_names(ast.parse(source))
    elif suffix == ".js":
        for match in JS_NAMES.finditer(source):
            number = source.count("\n", 0, match.start()) + 1
            for name in re.findall(r"[A-Za-z_$][\w$]*", match[1] or match[2] or match[3] or match[4] or ""):
                yield number, name


def bound_names(tree):
    """(line number, name) of every variable and parameter of Python."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def name_violations(path, suffix, source, lines):
    """Names that describe nothing."""
    for number, name in names_in_file(suffix, source):
        if name.lstrip("_") in VAGUE_NAMES and not is_excepted(path, lines[number - 1]):
            yield Violation("names", path, number, f"name {name!r}: say what the value is")


def function_violations(path, tree):
    """Functions that are too long or take too much, riddles among the tests' names, and empty docstring sections."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            n_lines = function_lines(node)
            if n_lines > LONGEST_FUNCTION and not is_excepted(path, f"functions {node.name}"):
                message = f"{node.name} has {n_lines} lines: at most {LONGEST_FUNCTION}"
                yield Violation("functions", path, node.lineno, message)
            n_parameters = len(parameters(node))
            if n_parameters > MOST_PARAMETERS and not is_excepted(path, f"parameters {node.name}"):
                message = f"{node.name} has {n_parameters} parameters: at most {MOST_PARAMETERS}"
                yield Violation("parameters", path, node.lineno, message)
            if node.name.startswith("test_") and RIDDLE.search(node.name + "_"):
                yield Violation("tests", path, node.lineno, f"{node.name}: name the subject and what it does")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and (
            text := ast.get_docstring(node)
        ):
            for message in empty_sections(text):
                yield Violation("docstrings", path, node.lineno, f"{node.name}: {message}")


def function_lines(node):
    """Number of lines of a function without its docstring."""
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str)
    n_docstring = first.end_lineno - first.lineno + 1 if is_docstring else 0
    return node.end_lineno - node.lineno + 1 - n_docstring


def parameters(node):
    """Parameters of a function, without self and cls."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


def empty_sections(docstring):
    """Problems of the sections of a docstring: parameters without a description, results with a type only."""
    titles_and_texts = SECTION.split(docstring)
    for title, text in zip(titles_and_texts[1::2], titles_and_texts[2::2], strict=True):
        if title not in DESCRIBED:
            continue
        rows = [line for line in text.splitlines() if line.strip()]
        for row, below in zip(rows, [*rows[1:], ""], strict=True):
            adds_something = "shape" in row or "{" in row or below.startswith(" ")
            if not row.startswith(" ") and not adds_something:
                yield f"{title}: {row.strip()!r} has no description: describe it or drop it"
