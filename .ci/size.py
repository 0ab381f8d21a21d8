"""How large the code is: code lines by package, circles of imports, long files and long lines.

`make size`, or `python3 .ci/size.py FOLDER`.
"""

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

PACKAGES = {
    "softirr, without lab": ("softirr", "lab"),
    "lab": ("lab", None),
    "ml_backend": ("ml_backend", None),
    "plugin": ("plugin", None),
    "tests": ("tests", None),
}
"""Package: its folder, and a folder within it that is another package."""
LANGUAGES = {"Python": (".py",), "JS, CSS, HTML": (".js", ".css", ".html")}
COMMENTS = re.compile(r"/\*.*?\*/|<!--.*?-->|\{#.*?#\}|(?<![:\"'\\])//[^\n]*", re.DOTALL)
NOT_CODE = {"results", "__pycache__", "node_modules"}
LONG_FILE, LONG_LINE = 300, 120


def files(root, folder, without, suffixes):
    """Files of a package that people write and read: no results, no minified libraries."""
    for path in sorted((root / folder).rglob("*")):
        is_excluded = without is not None and (root / without) in path.parents
        if path.suffix in suffixes and not is_excluded and ".min." not in path.name and not NOT_CODE & set(path.parts):
            yield path


def docstring_lines(tree):
    """Numbers of the lines of docstrings, of modules, classes, functions and the attributes below which they stand."""
    lines = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines |= set(range(node.lineno, node.end_lineno + 1))
    return lines


def code_lines(path, text):
    """Number of lines with code: neither blank nor only a comment or a docstring."""
    if path.suffix != ".py":
        return sum(bool(line.strip()) for line in COMMENTS.sub("", text).splitlines())
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(ast.parse(text)))


def imports(root, package):
    """Module -> modules of the same package that it imports, inside functions too."""
    paths = {}
    for path in files(root, package, None, (".py",)):
        paths[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    graph = {}
    for name, path in paths.items():
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    names.add(inner if inner in paths else node.module)
        graph[name] = (names & paths.keys()) - {name}
    return graph


def circles(graph):
    """Groups of modules that import each other, directly or through others (Tarjan's components of more than one)."""
    order, low, stack, groups = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for module in sorted(graph[node]):
            if module not in order:
                visit(module)
                low[node] = min(low[node], low[module])
            elif module in stack:
                low[node] = min(low[node], order[module])
        if low[node] == order[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                groups.append(sorted(group))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return groups


def main(root):
    long_files, long_lines = [], {}
    print("| package | language | files | code lines |\n|---|---|---:|---:|")
    for package, (folder, without) in PACKAGES.items():
        for language, suffixes in LANGUAGES.items():
            paths = list(files(root, folder, without, suffixes))
            texts = {path: path.read_text(encoding="utf-8") for path in paths}
            if texts:
                total = sum(code_lines(path, text) for path, text in texts.items())
                print(f"| {package} | {language} | {len(paths)} | {total:,} |")
            for path, text in texts.items():
                name, lines = str(path.relative_to(root)), text.splitlines()
                if len(lines) > LONG_FILE:
                    long_files.append((len(lines), name))
                if too_long := sum(len(line) > LONG_LINE for line in lines):
                    long_lines[name] = too_long
    groups = [group for package in ("softirr", "ml_backend") for group in circles(imports(root, package))]
    over_400 = sum(n > 400 for n, _ in long_files)
    print(f"\nCircles of imports: {len(groups)}")
    for group in groups:
        print("  " + ", ".join(group))
    print(f"Files of more than {LONG_FILE} lines: {len(long_files)} ({over_400} of more than 400)")
    for n, name in sorted(long_files, reverse=True)[:20]:
        print(f"  {n} {name}")
    print(f"Lines of more than {LONG_LINE} characters: {sum(long_lines.values())} in {len(long_lines)} files")
    for name, n in sorted(long_lines.items(), key=lambda entry: -entry[1])[:20]:
        print(f"  {n} {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
