"""Hooks of MkDocs: pages in other folders of the repository, and formulas without scripts."""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path
from typing import Any

import latex2mathml.converter
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "lab/README.md": "results/lab.md",
    "lab/bench/README.md": "results/benchmarks.md",
    "lab/bench/results/audit.md": "results/audit.md",
    "lab/bench/results/coefficients.md": "results/coefficients.md",
    "lab/bench/results/coverage.md": "results/coverage.md",
    "lab/bench/results/errors.md": "results/errors.md",
    "lab/bench/results/facts.md": "results/facts.md",
    "lab/bench/results/policies.md": "results/policies.md",
    "lab/bench/results/fit.md": "results/fit.md",
    "lab/bench/results/project.md": "results/project.md",
    "lab/bench/results/training.md": "results/further-training.md",
    "lab/experiments/results/README.md": "results/experiments.md",
    "lab/train/README.md": "results/training.md",
    "softirr/models/nli/README.md": "results/bundled-model.md",
}
"""File in the repository -> page of the site.

Pages link to the file, so that links work in the repository; the site links to the page.
"""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of other folders."""
    for source, page in ELSEWHERE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links between files of the repository at the pages of the site."""
    pages = {page: source for source, page in ELSEWHERE.items()}
    source = pages.get(page.file.src_uri, posixpath.join("docs", page.file.src_uri))

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        site_path = ELSEWHERE.get(target, posixpath.relpath(target, "docs") if target.startswith("docs/") else None)
        if site_path is None:
            return match[0]
        return f"]({posixpath.relpath(site_path, posixpath.dirname(page.file.src_uri) or '.')}{match[2] or ''})"

    return re.sub(r"\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)", link, markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Turn formulas into MathML, which browsers show without a script, and unescape the bars in tables."""

    def formula(match: re.Match[str]) -> str:
        display = "block" if match[1] == "div" else "inline"
        return latex2mathml.converter.convert(html.unescape(match[2]), display=display)

    content = re.sub(r"<td[^>]*>.*?</td>", lambda cell: cell[0].replace("\\|", "|"), content, flags=re.DOTALL)
    return re.sub(r'<(div|span) class="arithmatex">\\[\[(](.*?)\\[\])]</\1>', formula, content, flags=re.DOTALL)
