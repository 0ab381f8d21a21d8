"""Style of texts that people read: flagged words, and turns of phrase that a native engineer would not write."""

import ast
import io
import re
import tokenize

from style_lists import Violation, entries, is_excepted

WORDS = {word.strip(): better.strip() for word, _, better in (e.partition(" -> ") for e in entries("style_words.txt"))}
FLAGGED = re.compile(
    r"\b(" + "|".join(re.escape(w).replace(r"\ ", r"\s+") for w in sorted(WORDS, key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)
PHRASES = [
    (name, re.compile(pattern))
    for name, pattern in (entry.split("\t") for entry in entries("style_phrases.txt"))
    if name != "riddle"
]
FENCES = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.DOTALL | re.MULTILINE)
INLINE_CODE = re.compile(r"``[^`]+``|`[^`\n]+`|\]\([^)\s]*\)")
HTML_CODE = re.compile(
    r"<(script|style|code|pre)\b.*?</\1>|<!--.*?-->|\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL | re.IGNORECASE
)
HTML_TAG = re.compile(r"<[^<>]*>")
SHOWN_ATTRIBUTE = re.compile(r"\b(?:title|alt|placeholder|aria-label)\s*=\s*\"([^\"]*)\"")
JS_PART = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)", re.DOTALL)


def prose_violations(path, source):
    """Flagged words (not in tests and .ci) and phrases (not in the changelog) of a file."""
    suffix = "." + path.rpartition(".")[2]
    if not path.startswith(("tests/", ".ci/")):
        yield from flagged_words(path, suffix, source)
    for line, text in prose_lines(suffix, source):
        name = next((name for name, pattern in PHRASES if pattern.search(text)), None)
        if name is not None and not is_excepted(path, text):
            yield Violation("phrases", path, line, f"{name}: {text[:100]}")


def blanked(pattern, text):
    """The text with every match replaced by spaces, so that line numbers stay."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def shown_texts(suffix, source):
    """(line number, text) of everything that people read in a file."""
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


def flagged_words(path, suffix, source):
    """Flagged words, also those that a line break divides."""
    lines = source.splitlines()
    for first, text in shown_texts(suffix, source):
        prose = blanked(INLINE_CODE, text)
        for match in FLAGGED.finditer(prose):
            number = first + text.count("\n", 0, match.start())
            line = text[text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
            if not is_excepted(path, line) and not is_excepted(path, lines[min(number, len(lines)) - 1]):
                word = re.sub(r"\s+", " ", match[0])
                yield Violation("words", path, number, f"{word!r}: {WORDS[word.lower()]}")


def prose_lines(suffix, source):
    """(line number, line) of docstrings, comments and Markdown; no code, headings of sections and examples."""
    if suffix == ".md":
        for number, line in enumerate(blanked(FENCES, source).splitlines(), 1):
            if line.strip():
                yield number, line.strip()
    elif suffix == ".py":
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
                for shift, line in enumerate(map(str.strip, node.value.value.splitlines())):
                    if " " in line and set(line) - set("-=") and not line.startswith((">>>", "...")):
                        yield node.lineno + shift, line
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and " " in token.string[2:]:
                yield token.start[0], token.string[1:].strip()
