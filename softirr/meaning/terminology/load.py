"""Loading of a terminology with the reader for its format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from softirr.errors import InputError
from softirr.meaning.terminology import icd10cm, icd11, meddra, mesh, obo, obographs, skos, snomed, tsv, xml
from softirr.meaning.terminology.concepts import SAME_MEANING, Builder, Terminology, named_paths

__all__ = ["FORMATS", "load"]

_READERS: dict[str, Callable[..., None]] = {
    "tsv": tsv.read,
    "obo": obo.read,
    "mesh": mesh.read,
    "icd10cm": icd10cm.read,
    "icd11": icd11.read,
    "meddra": meddra.read,
    "obographs": obographs.read,
    "snomed": snomed.read,
    "skos": skos.read,
}
FORMATS = tuple(_READERS)
"""Names of the formats."""


def load(
    source: str, *, format: str | None = None, scopes: frozenset[str] = SAME_MEANING, name: str | None = None
) -> Terminology:
    """Read a terminology.

    Parameters
    ----------
    source : str
        A path, or ``NAME=PATH``; for ICD-11 the path of the tabulation, or ``TABULATION,SYNONYMS``. A folder with
        ``concepts.tsv``, or a table with the columns id and name, is TSV, one with ``pt.asc`` MedDRA, one with
        ``sct2_Concept_Snapshot`` SNOMED CT; files are recognized by their name and outermost element. Files may be
        gzipped.
    format : str, optional
        One of ``FORMATS``; needed where the format can't be recognized.
    scopes : frozenset of str
        Scopes of synonyms that count as names.
    name : str, optional
        Name of the terminology; by default NAME, else the file's or folder's name.

    Returns
    -------
    Terminology

    Raises
    ------
    InputError
        If the terminology can't be read; the message names the file and, where possible, the line.
    """
    label, path, extra = named_paths(source)
    chosen = format or _guess(path)
    if chosen not in _READERS:
        raise InputError(f"There is no terminology format {chosen!r}; the formats are {', '.join(FORMATS)}.")
    if extra is not None and chosen != "icd11":
        raise InputError(f"{source}: only ICD-11 takes a second file.")
    stem = path.name.removesuffix(".gz")
    builder = Builder(name or label or (stem if path.is_dir() else Path(stem).stem), str(path))
    if chosen == "icd11":
        icd11.read(path, builder, extra)
    else:
        _READERS[chosen](path, builder)
    # the positions of a MeSH descriptor in several trees can contradict each other
    return builder.build(scopes, break_cycles=chosen == "mesh")


def name_of(source: str) -> str:
    """The name of a terminology by default: NAME of ``NAME=PATH``, else the file's or folder's name.

    Parameters
    ----------
    source : str
        As for :func:`load`; the path need not exist.

    Returns
    -------
    str
    """
    label, equals, _ = source.partition("=")
    if equals and "/" not in label and "\\" not in label:
        return label
    path = Path(source if Path(source).exists() else source.split(",", maxsplit=1)[0])
    stem = path.name.removesuffix(".gz")
    return stem if path.is_dir() else Path(stem).stem


def source_files(source: str) -> list[Path]:
    """The files that a terminology is read from, sorted.

    Parameters
    ----------
    source : str
        As for :func:`load`.
    """
    _, path, extra = named_paths(source)
    if path.is_dir():
        if tsv.find(path, "concepts"):
            tables = [tsv.find(path, stem) for stem in ("concepts", "synonyms", "is_a")]
            return sorted(one for one in tables if one is not None)
        return sorted(one for files in snomed.find(path).values() for one in files) or meddra.files(path)
    beside = [one for one in icd11.synonym_files(path) if one.is_file()] if extra is None else [extra]
    return sorted({path, *beside})


def _guess(path: Path) -> str:
    if path.is_dir():
        if tsv.find(path, "concepts"):
            return "tsv"
        if meddra.find(path, "pt"):
            return "meddra"
        if snomed.find(path):
            return "snomed"
        raise InputError(f"{path} contains neither concepts.tsv nor pt.asc nor a file sct2_Concept_Snapshot.")
    suffix = Path(path.name.removesuffix(".gz")).suffix.casefold()
    if suffix == ".obo":
        return "obo"
    if suffix == ".xml":
        top = xml.outermost(path)
        known = {mesh.ROOT: "mesh", icd10cm.ROOT: "icd10cm", skos.ROOT: "skos"}
        if top not in known:
            raise InputError(f"{path}: XML of an unknown kind, its outermost element is {top}.")
        return known[top]
    if suffix in skos.SUFFIXES:
        return "skos"
    if suffix == ".json":
        return "obographs"
    if suffix in (".txt", ".tsv", ".csv"):
        return "tsv" if tsv.is_codebook(path) else "icd11"
    raise InputError(f"{path}: the kind of terminology is not recognized from the name: name it with --format.")
