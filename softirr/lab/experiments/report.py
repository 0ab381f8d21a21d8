"""The report of a run folder, written into it: tables, figures and one page."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from softirr.lab.experiments import figures
from softirr.lab.experiments.analysis import KAPPA, TITLES, Results
from softirr.lab.experiments.generate import NEGATIVES
from softirr.lab.experiments.measure_tables import (
    assignment_table,
    calibration_table,
    coefficients_table,
    cost_table,
    mae_table,
    negatives_table,
    real_table,
    sources_table,
)
from softirr.lab.experiments.output import Table, write, write_text
from softirr.lab.experiments.page import page
from softirr.lab.experiments.real import SETTING as REAL

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Written:
    """What was written.

    Attributes
    ----------
    page : Path
    tables : tuple of Table
    figures : tuple of Path
    """

    page: Path
    tables: tuple[Table, ...]
    figures: tuple[Path, ...]


class _Sections:
    def __init__(self, folder: Path, format: str | None) -> None:
        self.folder, self.format = folder, format
        self.found: dict[str, tuple[list[Table], list[tuple[str, Path]]]] = {}

    def table(self, heading: str, table: Table) -> None:
        if table.rows:
            self.found.setdefault(heading, ([], []))[0].append(table)

    def figure(self, heading: str, name: str, caption: str, make: Callable[[], figures.Figure]) -> None:
        if self.format is not None:
            path = figures.save(make(), self.folder / "figures", name, self.format)
            self.found.setdefault(heading, ([], []))[1].append((caption, path))


def write_report(
    results: Results,
    folder: Path,
    *,
    figure_format: str | None = "png",
    tell: Tell | None = None,
) -> Written:
    """Write tables (CSV, Markdown, LaTeX) to ``tables``, figures to ``figures``, ``index.html``, and how it was made to ``run.json``.

    Parameters
    ----------
    results : Results
    folder : Path
    figure_format : {"png", "pdf", "svg"} or None
        None makes no figures.
    tell : callable, optional
        Called with what is being made.
    """
    say = tell or (lambda _: None)
    made = _Sections(folder, figure_format)
    commands = results.store.commands()
    facts = [f"Made by: {command} (softirr {version})" for command, version in commands]
    for setting in results.settings:
        say(f"tables, {setting}")
        _setting(results, setting, made)
    if results.settings:
        say("figures")
        heading = "All settings"
        made.table(heading, calibration_table(results))
        made.table(heading, cost_table(results))
        if any(r.population.negatives == "random" for r in results.records):
            made.figure(
                heading,
                "error_by_truth",
                "Error of κ against the true κ, random negatives: exact matching and the best measure of each family; a dot is a population, lines are "
                "means of fifths of the scale",
                lambda: figures.against_truth(results, results.settings),
            )
            made.figure(
                heading,
                "calibration",
                "Reliability of P on same-item pairs, random negatives: exact matching and the best measure of each family; P is right on the dotted line",
                lambda: figures.calibration(results, results.settings),
            )
    if results.sources(REAL):
        say("annotated tables")
        heading = "Annotated tables"
        made.table(heading, real_table(results))
        facts += _notes(results)
    tables = [table for tables, _ in made.found.values() for table in tables]
    write(tables, folder / "tables")
    made_by = [{"command": command, "softirr": version} for command, version in commands]
    write_text(folder / "run.json", json.dumps(made_by, indent=1) + "\n")
    write_text(folder / "index.html", page("Which measure to trust", made.found, facts))
    return Written(
        folder / "index.html", tuple(tables), tuple(path for _, paths in made.found.values() for _, path in paths)
    )


def _setting(results: Results, setting: str, made: _Sections) -> None:
    heading = TITLES[setting].capitalize()
    kinds = {r.population.negatives for r in results.select(setting)}
    if "random" in kinds:
        made.table(heading, mae_table(results, setting))
        made.table(heading, mae_table(results, setting, "scott_pi"))
        made.table(heading, coefficients_table(results, setting))
        changes = negatives_table(results, setting)
        if len(kinds) > 1:
            made.table(heading, changes)
            made.figure(heading, f"negatives_{setting}", changes.title, lambda: figures.heat_map(changes))
        for kind in NEGATIVES:
            if kind in kinds:
                made.figure(
                    heading,
                    f"violins_{setting}_{kind}",
                    f"Error of κ, {kind} negatives: the populations' errors, marked at their mean; blue and bold are the best measure and those that "
                    "are not significantly worse",
                    lambda kind=kind: figures.violins(results, setting, kind),  # type: ignore[misc]
                )
    made.table(heading, sources_table(results, setting))
    if setting == "sets":
        made.table(heading, assignment_table(results))


def _notes(results: Results) -> list[str]:
    found: dict[str, None] = {}
    for record in results.select(REAL):
        p = record.population
        about = p.about
        truth = p.truth[KAPPA]
        value = "not defined" if truth is None else f"{truth:.3f}"
        found[
            f"{p.source}: {about['items']} items, {about['raters']} raters, {about['excluded']} answers left out, true κ {value}."
        ] = None
        for note in about["notes"]:
            found[f"{p.source}: {note}"] = None
    return list(found)
