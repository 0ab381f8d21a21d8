"""Loading of a terminology with the reader for its format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lab.terminologies import folder, icd10cm, icd11, meddra, mesh, obographs, skos, snomed, xml_elements
from softirr.errors import InputError
from softirr.meaning.terminology import concept_table, obo
from softirr.meaning.terminology.concepts import Builder, Terminology
from softirr.meaning.terminology.load import named_path, stem_of

__all__ = ["FORMATS", "load", "named_paths"]

_READERS: dict[str, Callable[..., None]] = {
    "table": concept_table.read,
    "folder": folder.read,
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
_XML_ROOTS = {mesh.ROOT: "mesh", icd10cm.ROOT: "icd10cm", skos.ROOT: "skos"}


def load(source: str, *, format: str | None = None, name: str | None = None) -> Terminology:
    """Read a terminology.

    Parameters
    ----------
    source : str
        A path, or ``NAME=PATH``; for ICD-11 the path of the tabulation, or ``TABULATION,SYNONYMS``. A folder with
        ``concepts.tsv`` is a folder of tables, one with ``pt.asc`` MedDRA, one with ``sct2_Concept_Snapshot`` SNOMED
        CT; files are recognized by their name and outermost element. Files may be gzipped.
    format : str, optional
        One of ``FORMATS``; needed if the format can't be recognized.
    name : str, optional
        Name of the terminology; by default NAME, else the name of the file or folder.

    Raises
    ------
    InputError
        If the terminology can't be read; the message names the file and, where possible, the line.
    """
    label, path, synonyms = named_paths(source)
    format = format or _recognized_format(path)
    if format not in _READERS:
        raise InputError(f"There is no terminology format {format!r}; the formats are {', '.join(FORMATS)}.")
    if synonyms is not None and format != "icd11":
        raise InputError(f"{source}: only ICD-11 takes a second file.")
    builder = Builder(name or label or stem_of(path), str(path))
    if format == "icd11":
        icd11.read(path, builder, synonyms)
    else:
        _READERS[format](path, builder)
    terminology = builder.build()
    return mesh.without_cycles(terminology, path) if format == "mesh" else terminology


def named_paths(source: str) -> tuple[str, Path, Path | None]:
    """Split ``[NAME=]PATH[,SECOND]`` into the name, empty if there is none, and the paths.

    Raises
    ------
    InputError
        If a path does not exist.
    """
    first, comma, second = source.rpartition(",")
    if not comma or Path(source.partition("=")[2] or source).exists() or Path(source).exists():
        return (*named_path(source), None)
    if not Path(second).exists():
        raise InputError(f"{second} does not exist.")
    return (*named_path(first), Path(second))


def _recognized_format(path: Path) -> str:
    if path.is_dir():
        return _folder_format(path)
    suffix = Path(path.name.removesuffix(".gz")).suffix.casefold()
    if suffix == ".obo":
        return "obo"
    if suffix == ".xml":
        root = xml_elements.outermost(path)
        if root not in _XML_ROOTS:
            raise InputError(f"{path}: XML of an unknown kind, its outermost element is {root}.")
        return _XML_ROOTS[root]
    if suffix in skos.SUFFIXES:
        return "skos"
    if suffix == ".json":
        return "obographs"
    if suffix in (".txt", ".tsv", ".csv"):
        return "table" if concept_table.is_concept_table(path) else "icd11"
    raise InputError(f"{path}: the kind of terminology is not recognized from the name: name it with --format.")


def _folder_format(path: Path) -> str:
    if folder.find(path, "concepts"):
        return "folder"
    if meddra.find(path, "pt"):
        return "meddra"
    if snomed.find(path):
        return "snomed"
    raise InputError(f"{path} contains neither concepts.tsv nor pt.asc nor a file sct2_Concept_Snapshot.")
