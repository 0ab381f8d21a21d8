"""A document as Markdown, LaTeX, HTML and docx."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable, Sequence
from html import escape
from itertools import groupby

from softirr.errors import InputError
from softirr.markdown import table_head, table_row
from softirr.paper.document import CITED, Document, Table
from softirr.paper.references import reference
from softirr.report.charts import forest_chart
from softirr.report.drawing import Drawing, png
from softirr.report.forest import forest_text
from softirr.report.html import table_html

__all__ = ["FORMATS", "as_docx", "as_html", "as_latex", "as_markdown", "beyond_latin"]


def _with_years(text: str) -> str:
    """The text with citations as (Author Year); several in a row are one pair of parentheses."""

    def cite(match: re.Match[str]) -> str:
        works = [reference(key) for key in CITED.findall(match.group())]
        return "(" + "; ".join(f"{work.short} {work.year}" for work in works) + ")"

    return re.sub(r"\[@\w+\](?:\s*\[@\w+\])*", cite, text)


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", text)


def as_markdown(paper: Document) -> str:
    """The document as Markdown."""

    def table(one: Table) -> str:
        lines = [*table_head(one.head), *(table_row(map(_markdown, row)) for row in one.rows)]
        return "\n".join(lines) + f"\n\n*{_markdown(one.caption)}*"

    def text(parts: Sequence[str]) -> list[str]:
        return [_markdown(_with_years(part)) for part in parts]

    figure = "\n".join(["```text", *forest_text(paper.figure), "```", "", f"*{_markdown(paper.caption)}*"])
    parts = [
        f"# {paper.title}",
        "## Methods",
        *text(paper.methods),
        "## Results",
        *text(paper.results),
        *map(table, paper.tables),
        *([figure] if paper.figure else []),
        "## Limitations",
        "\n".join(f"- {point}" for point in text(paper.limitations)),
        "## References",
        "\n".join(f"- {_markdown(reference(key).entry())}" for key in paper.cited),
    ]
    return "\n\n".join(parts) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "±": r"$\pm$",
    "’": "'",
    "“": "``",
    "”": "''",
    '"': r"\textquotedbl{}",
}


_NOT_IN_T1 = frozenset("ĦħĸĿŀŉŦŧ")
"""Latin letters that pdflatex has no sign for, though it has their neighbors."""
_RIGHT_TO_LEFT = ("ARABIC", "HEBREW", "SYRIAC", "THAANA")


def latex_text(text: str) -> str:
    r"""Text in which nothing is a command of LaTeX.

    Letters that pdflatex does not have are in ``\unicodetext``, one script at a time.

    Examples
    --------
    >>> latex_text("50% of a_b \\ é 熱")
    '50\\% of a\\_b \\textbackslash{} é \\unicodetext{熱}'
    """
    marks = unicodedata.normalize("NFC", text)
    scripts = [_script(mark) for mark in marks]
    for place in range(1, len(marks) - 1):  # words of one script stay together, so that they can run from right to left
        if marks[place] == " " and scripts[place - 1] == scripts[place + 1]:
            scripts[place] = scripts[place - 1]
    parts = []
    for script, run in groupby(zip(scripts, marks, strict=True), key=lambda one: one[0]):
        letters = [mark for _, mark in run]
        command = r"\unicodeleft" if script in _RIGHT_TO_LEFT else r"\unicodetext"
        parts.append(
            f"{command}{{{''.join(letters)}}}" if script else "".join(_LATEX.get(mark, mark) for mark in letters)
        )
    return "".join(parts)


def beyond_latin(paper: Document) -> int:
    """How many letters of a document pdflatex does not have.

    Examples
    --------
    >>> beyond_latin(Document("Agreement of Аня", (), (), (), (), (), ""))
    3
    """
    cells = [cell for one in paper.tables for row in (one.head, *one.rows) for cell in row]
    texts = [paper.title, *paper.methods, *paper.results, *paper.limitations, *(one.caption for one in paper.tables)]
    texts += [*cells, *(row.label for row in paper.figure), paper.caption]
    return sum(_script(mark) != "" for text in texts for mark in unicodedata.normalize("NFC", text))


def _script(mark: str) -> str:
    """The first word of the name of a character that pdflatex does not have, such as CYRILLIC; empty for the others."""
    if mark in _LATEX or " " <= mark <= "~" or ("\xa0" <= mark < "\u0180" and mark not in _NOT_IN_T1):
        return ""
    return unicodedata.name(mark, "SIGN").split()[0]


_FONTS = (
    "FreeSerif,DejaVu Serif,DejaVu Sans,Noto Serif,Noto Serif CJK SC,Noto Sans CJK SC,FandolSong-Regular.otf,Noto "
    "Naskh Arabic,Noto Serif Hebrew,Noto Serif Devanagari,Noto Serif Thai,Droid Sans Fallback,Songti SC,Arial "
    "Unicode MS,SimSun,Segoe UI"
)
"""Fonts of Linux, macOS, Windows and TeX, tried in this order.

The first one that has a text's first letter is taken.
"""
_ENCODINGS = (r"\usepackage[utf8]{inputenc}", r"\usepackage[T1]{fontenc}", r"\usepackage{textcomp}")
_LETTERS = (
    r"\usepackage{iftex}",
    r"\newif\ifletterslost\newif\ifletterfound",
    r"\makeatletter",
    r"\iftutex",
    r"\usepackage{fontspec}",
    r"\newcommand{\unicodefont}[1]{\letterfoundfalse",
    rf"\@for\fontname@:={_FONTS}\do{{\ifletterfound\else",
    r"\expanded{\noexpand\IfFontExistsTF{\fontname@}{\noexpand\fontspec{\fontname@}}}{}%",
    r"\iffontchar\font\expandafter`\@car#1\@nil\relax\letterfoundtrue\fi\fi}}",
    r"\DeclareRobustCommand{\unicodetext}[1]{{\unicodefont{#1}\ifletterfound#1\else\normalfont?\global\letterslosttrue\fi}}",
    r"\DeclareRobustCommand{\unicodeleft}[1]{{\ifluatex\textdir TRT\fi\unicodetext{#1}}}",
    r"\else",
    *_ENCODINGS,
    r"\DeclareRobustCommand{\unicodetext}[1]{?\global\letterslosttrue}",
    r"\let\unicodeleft\unicodetext",
    r"\fi",
    r"\makeatother",
)
r"""Defines ``\unicodetext``: letters with lualatex or xelatex and a font that has them, else a question mark."""
_LOST = (
    r"\ifletterslost\paragraph{Note} A question mark replaces letters that this program or its fonts do not have. "
    r"The LaTeX file has them: compile it with lualatex or xelatex, with a font for them installed.\fi"
)


_HASH = re.compile("[0-9a-f]{32,}")


def _breakable(match: re.Match[str]) -> str:
    """A hash that can end a line anywhere after eight digits: it is wider than what is left of most lines."""
    return r"\allowbreak{}".join(re.findall(".{1,8}", match.group()))


def as_latex(paper: Document) -> str:
    """The document as LaTeX that compiles by itself with the packages of every distribution.

    With pdflatex, or with lualatex and xelatex, which have all letters.
    """
    rich = beyond_latin(paper) > 0

    def text(part: str) -> str:
        pieces = re.split(r"\s*((?:\[@\w+\]\s*)+)", part)
        return "".join(
            f"~\\cite{{{','.join(CITED.findall(piece))}}}" + (" " if piece.endswith(" ") else "")
            if CITED.search(piece)
            else _HASH.sub(_breakable, latex_text(piece))
            for piece in pieces
        )

    def table(one: Table) -> list[str]:
        rows = [" & ".join(map(latex_text, row)) + r" \\" for row in (one.head, *one.rows)]
        columns = "l" + "r" * (len(one.head) - 1)
        return [
            r"\begin{table}[htbp]",
            r"\centering",
            f"\\caption{{{latex_text(one.caption)}}}",
            f"\\begin{{tabular}}{{{columns}}}",
            r"\hline",
            rows[0],
            r"\hline",
            *rows[1:],
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
        ]

    lines = [
        r"\documentclass{article}",
        *(_LETTERS if rich else _ENCODINGS),
        r"\sloppy",
        r"\begin{document}",
        f"\\title{{{latex_text(paper.title)}}}\\author{{}}\\date{{}}\\maketitle",
        r"\section{Methods}",
        *(f"{text(part)}\n" for part in paper.methods),
        r"\section{Results}",
        *(f"{text(part)}\n" for part in paper.results),
        *(line for one in paper.tables for line in table(one)),
        *_picture(paper),
        r"\section{Limitations}",
        r"\begin{itemize}",
        *(f"\\item {text(point)}" for point in paper.limitations),
        r"\end{itemize}",
        *([_LOST] if rich else []),
        r"\begin{thebibliography}{99}",
        *(f"\\bibitem{{{key}}} {latex_text(reference(key).entry())}" for key in paper.cited),
        r"\end{thebibliography}",
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _chart(paper: Document) -> Drawing | None:
    rows = [row for row in paper.figure if row.value is not None]
    return forest_chart(rows, "Agreement", low=0.0) if rows else None


def _picture(paper: Document) -> list[str]:
    """The forest plot in LaTeX's own picture environment."""
    chart = _chart(paper)
    if chart is None:
        return []
    caption = f"\\caption{{{latex_text(paper.caption)}}}"
    return [r"\begin{figure}[htbp]", r"\centering", *chart.picture(latex_text), caption, r"\end{figure}"]


def as_html(paper: Document) -> str:
    """The document as one HTML page without scripts."""

    def paragraphs(parts: Sequence[str]) -> str:
        return "".join(f"<p>{escape(_with_years(part))}</p>" for part in parts)

    tables = "".join(
        table_html(one.head, one.rows).replace("<table>", f"<table><caption>{escape(one.caption)}</caption>", 1)
        for one in paper.tables
    )
    chart = _chart(paper)
    caption = f"<figcaption>{escape(paper.caption)}</figcaption>"
    figure = "" if chart is None else f"<figure>{chart.svg()}{caption}</figure>"
    points = "".join(f"<li>{escape(_with_years(point))}</li>" for point in paper.limitations)
    works = "".join(f"<li>{escape(reference(key).entry())}</li>" for key in paper.cited)
    style = (
        "body{font:16px/1.5 sans-serif;max-width:48rem;margin:2rem auto;padding:0 "
        "1rem}table{border-collapse:collapse;margin:1rem 0}th,td{border-bottom:1px solid #ccc;padding:.25rem "
        ".75rem;text-align:left}caption{text-align:left;font-style:italic}svg{max-width:100%;height:auto}p,li{overflow-wrap:anywhere}"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(paper.title)}</title><style>{style}</style></head><body>"
        f"<h1>{escape(paper.title)}</h1><h2>Methods</h2>{paragraphs(paper.methods)}<h2>Results</h2>{paragraphs(paper.results)}{tables}{figure}<h2>Limitations</h2><ul>{points}</ul><h2>References</h2><ul>{works}</ul></body></html>\n"
    )


def as_docx(paper: Document) -> bytes:
    """The document as a Word file.

    Raises
    ------
    InputError
        If python-docx is not installed.
    """
    try:
        import docx
        from docx.shared import Cm, Pt
    except ImportError:
        raise InputError("A Word file needs python-docx: pip install softirr[paper].") from None
    page = docx.Document()
    page.add_heading(paper.title, 0)
    for heading, parts in (("Methods", paper.methods), ("Results", paper.results)):
        page.add_heading(heading, 1)
        for part in parts:
            page.add_paragraph(_xml(_with_years(part)))
    for one in paper.tables:
        caption = page.add_paragraph(_xml(one.caption), style="Caption")
        caption.paragraph_format.space_before = Pt(14)
        table = page.add_table(rows=1, cols=len(one.head), style="Light List Accent 1")
        for cell, text in zip(table.rows[0].cells, one.head, strict=True):
            cell.text = _xml(text)
        for row in one.rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = _xml(text)
        # a table that fits on a page stands on one page, with its caption
        kept = [paragraph for row in table.rows[:-1] for cell in row.cells for paragraph in cell.paragraphs]
        for paragraph in (caption, *kept):
            paragraph.paragraph_format.keep_with_next = True
    if (chart := _chart(paper)) is not None:
        if (picture := png(chart)) is not None:
            page.add_picture(io.BytesIO(picture), width=Cm(15))
        else:  # without fonts on this machine the plot is text, which Word has a font for
            run = page.add_paragraph().add_run(_xml("\n".join(forest_text(paper.figure))))
            run.font.name, run.font.size = "Courier New", Pt(7)
        page.paragraphs[-1].paragraph_format.space_before = Pt(14)
        page.paragraphs[-1].paragraph_format.keep_with_next = True
        page.add_paragraph(_xml(paper.caption), style="Caption")
    page.add_heading("Limitations", 1)
    for point in paper.limitations:
        page.add_paragraph(_xml(_with_years(point)), style="List Bullet")
    page.add_heading("References", 1)
    for key in paper.cited:
        page.add_paragraph(_xml(reference(key).entry()))
    out = io.BytesIO()
    page.save(out)
    return out.getvalue()


def _xml(text: str) -> str:
    """Text without characters that XML does not have."""
    return "".join(
        mark for mark in text if mark >= " " and not 0xD800 <= ord(mark) <= 0xDFFF and ord(mark) not in (0xFFFE, 0xFFFF)
    )


FORMATS: dict[str, Callable[[Document], str | bytes]] = {
    "markdown": as_markdown,
    "latex": as_latex,
    "html": as_html,
    "docx": as_docx,
}
"""Writers by the name of their format."""
