"""The report of a run folder, written into it: tables and one page."""

from __future__ import annotations

from pathlib import Path

from lab.experiments.analysis import KAPPA, TITLES, Results
from lab.experiments.figures import figure_tables, plot
from lab.experiments.measure_tables import (
    assignment_table,
    calibration_table,
    coefficients_table,
    cost_table,
    mae_table,
    negatives_table,
    real_table,
)
from lab.experiments.run import REAL
from lab.results_table import Table
from softirr.errors import writing

PAGE = "results.md"


def write_report(results: Results, folder: Path, made_by: str, *, with_figures: bool = False) -> tuple[Table, ...]:
    """Write the tables of a run and the data of its figures (CSV), and a Markdown page.

    Parameters
    ----------
    made_by : str
        Command and version, for the page.
    folder : Path
        Run folder: tables go to ``tables``, figures to ``figures``.
    with_figures : bool
        Also draw the figures, which needs matplotlib.

    Returns
    -------
    tuple of Table
        The tables of the page, without the data of the figures.
    """
    sections: dict[str, list[Table]] = {TITLES[s].capitalize(): _setting(results, s) for s in results.settings}
    if results.settings:
        sections["All settings"] = [calibration_table(results), cost_table(results)]
    facts = [f"Made by: {made_by}"]
    if results.sources(REAL):
        sections["Annotated tables"] = [real_table(results)]
        facts += _notes(results)
    page = ["# Which measure to trust", *(f"- {fact}" for fact in facts)]
    shown_tables = []
    for heading, tables in sections.items():
        filled = [table for table in tables if table.rows]
        page += [f"\n## {heading}\n" * bool(filled), *(table.markdown() for table in filled)]
        shown_tables += filled
    figures = figure_tables(results)
    for table in (*shown_tables, *figures):
        _write(folder / "tables" / f"{table.name}.csv", table.csv())
    _write(folder / PAGE, "\n".join(page))
    if with_figures:
        plot((*figures, *shown_tables), folder / "figures")
    return tuple(shown_tables)


def _setting(results: Results, setting: str) -> list[Table]:
    tables = []
    kinds = {r.project.negatives for r in results.select(setting)}
    if "random" in kinds:
        tables += [
            mae_table(results, setting),
            mae_table(results, setting, "scott_pi"),
            coefficients_table(results, setting),
        ]
        if len(kinds) > 1:
            tables.append(negatives_table(results, setting))
    if setting == "sets":
        tables.append(assignment_table(results))
    return tables


def _notes(results: Results) -> list[str]:
    notes: dict[str, None] = {}
    for record in results.select(REAL):
        project = record.project
        counts, kappa = project.counts, project.truth[KAPPA]
        value = "not defined" if kappa is None else f"{kappa:.3f}"
        notes[
            f"{project.source}: {counts['items']} items, {counts['raters']} raters, {counts['excluded']} answers "
            f"left out, true κ {value}."
        ] = None
        notes.update(dict.fromkeys(f"{project.source}: {note}" for note in counts["notes"]))
    return list(notes)


def _write(path: Path, text: str) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
