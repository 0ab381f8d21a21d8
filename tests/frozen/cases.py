"""Commands with frozen numbers: the words after ``softirr score``, with names of files in ``inputs``."""

from __future__ import annotations

from pathlib import Path

INPUTS = Path(__file__).parent / "inputs"
SHEET = "sheet.csv"
"""Judgments of ``sets.csv`` drawn under indel."""
_LONG = "--item item --rater rater --text text"

COMMANDS = {
    # formats
    "long-csv": "sets.csv --measure indel",
    "tsv": "singles.tsv --measure levenshtein",
    "jsonl": "sets.jsonl --measure indel",
    "wide-csv": "wide.csv --item case --raters ann,bob --measure indel",
    "excel": "wide.xlsx --item case --raters ann,bob --measure indel",
    "parquet": "singles.parquet --measure levenshtein",
    "folder": "raters --item item --text text --measure indel",
    "label-studio-json": "label-studio.json --control findings --measure indel",
    "label-studio-json-min": "label-studio-min.json --control findings --measure indel",
    "label-studio-csv": "label-studio.csv --control findings --measure indel",
    "label-studio-choices": "label-studio.json --field severity=nominal",
    "label-studio-rating": "label-studio.json --field quality=interval",
    "label-studio-regions": "regions.json --control comment --measure indel",
    "label-studio-boxes": "boxes.json --control note --measure indel",
    "prodigy": "prodigy.jsonl --measure indel",
    "doccano": "doccano.zip --measure indel",
    "argilla": "argilla.json --measure indel",
    "demo": f"demo.csv {_LONG} --measure indel",
    # measures, chance and matching
    "exact": "sets.csv --measure exact",
    "casefold": "sets.csv --measure exact --casefold",
    "jaccard": "sets.csv --measure jaccard",
    "levenshtein-sets": "sets.csv --measure levenshtein",
    "permutation": "sets.csv --measure indel --chance permutation --permutations 3 --seed 1",
    "greedy": "sets.csv --measure indel --assignment greedy",
    "weights": "wide.csv --item case --raters ann,bob --weight share --measure indel",
    # kinds of fields
    "nominal": "fields.csv --item case --rater nurse --field severity=nominal",
    "ordinal": "fields.csv --item case --rater nurse --field severity=ordinal:mild,moderate,severe",
    "interval": "fields.csv --item case --rater nurse --field temperature=interval",
    "ratio": "fields.csv --item case --rater nurse --field grade=ratio",
    "linear": "fields.csv --item case --rater nurse --field grade=linear",
    "set": "ratings.csv --item item --rater rater --field set=set",
    "set-jaccard": "ratings.csv --item item --rater rater --field set=set:jaccard",
    "path": "ratings.csv --item item --rater rater --field path=path",
    "ranking": "ratings.csv --item item --rater rater --field ranking=ranking",
    "date": "ratings.csv --item item --rater rater --field date=date",
    # preparation
    "missing-marks": "marks.csv --missing n/a --measure indel",
    "no-missing-marks": "marks.csv --missing none --measure indel",
    "split-lines": "lists.csv --split lines --measure indel",
    "split-semicolons": "lists.csv --split semicolons --measure indel",
    "split-sentences": "paragraphs.csv --split sentences --measure indel",
    # evidence
    "terminology-table": "sets.csv --measure indel --terminology terms.csv",
    "terminology-obo": "sets.csv --measure indel --terminology terms.obo",
    "audit": f"sets.csv --measure indel --judgments {SHEET}",
    "audit-other-measure": f"sets.csv --measure jaccard --judgments {SHEET}",
    # policies and the bundled model
    "policy-any-severity": "sets.csv --measure indel --policy any-severity",
    "policy-count-side": "sets.csv --measure indel --count side",
    "nli": "sets.csv --measure nli --precision float32",
    "nli-finding": "sets.csv --measure nli --precision float32 --policy finding",
    "nli-lenient": "singles.tsv --measure nli --precision float32 --more-general lenient",
    "nli-terminology": "sets.csv --measure nli --precision float32 --terminology terms.csv",
}


def words(command: str) -> list[str]:
    """The command line of ``softirr score`` or, for a case with judgments, ``softirr audit apply``.

    Examples
    --------
    >>> words("wide.csv --measure indel")[0]
    'score'
    """
    arguments = [str(INPUTS / word) if (INPUTS / word).exists() else word for word in command.split()]
    if "--judgments" in arguments:
        index = arguments.index("--judgments")
        sheet = arguments[index + 1]
        arguments = ["audit", "apply", arguments[0], sheet, *arguments[1:index], *arguments[index + 2 :]]
    else:
        arguments = ["score", *arguments]
    return [*arguments, "--cache", "none", "--json"]
