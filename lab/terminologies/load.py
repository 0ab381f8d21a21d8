"""Loading of a terminology with the reader for its format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lab.terminologies import folder, icd10cm, icd11, meddra, mesh, obographs, skos, snomed, xml_elements
from lab.terminologies.source import SourceBuilder, SourceTerminology
from softirr.errors import InputError
from softirr.meaning.terminology import named_path
from softirr.meaning.terminology.readers import is_concept_table, read_concept_table, read_obo

_Reader = Callable[[Path, SourceBuilder], None]
_XML_READERS: dict[str, _Reader] = {mesh.ROOT: mesh.read, icd10cm.ROOT: icd10cm.read, skos.ROOT: skos.read}


def load(source: str) -> SourceTerminology:
    """Read a terminology.

    Parameters
    ----------
    source : str
        A path, or ``NAME=PATH``; for ICD-11 the path of the tabulation, or ``TABULATION,SYNONYMS``. A folder with
        ``concepts.tsv`` is a folder of tables, one with ``pt.asc`` MedDRA, one with ``sct2_Concept_Snapshot`` SNOMED
        CT; files are recognized by their name and outermost element. Files may be gzipped.

    Raises
    ------
    InputError
        If the terminology can't be read; the message names the file and, where possible, the line.
    """
    label, path, synonyms = named_paths(source)
    reader = _reader(path)
    builder = SourceBuilder(
        label or (path.name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem), str(path)
    )
    if synonyms is None:
        reader(path, builder)
    elif reader is icd11.read:
        icd11.read(path, builder, synonyms)
    else:
        raise InputError(f"{source}: only ICD-11 takes a second file.")
    return mesh.without_cycles(builder.build(), path) if reader is mesh.read else builder.build()


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


def _reader(path: Path) -> _Reader:
    """The reader of a file by its name and outermost element, or of a folder by its files."""
    if path.is_dir():
        return _folder_reader(path)
    suffix = Path(path.name.removesuffix(".gz")).suffix.casefold()
    if suffix == ".obo":
        return read_obo
    if suffix == ".xml":
        root = xml_elements.outermost(path)
        if root not in _XML_READERS:
            raise InputError(f"{path}: XML of an unknown kind, its outermost element is {root}.")
        return _XML_READERS[root]
    if suffix in skos.SUFFIXES:
        return skos.read
    if suffix == ".json":
        return obographs.read
    if suffix in (".txt", ".tsv", ".csv"):
        return read_concept_table if is_concept_table(path) else icd11.read
    raise InputError(f"{path}: the kind of terminology is not recognized from the name of the file.")


def _folder_reader(path: Path) -> _Reader:
    if folder.find(path, "concepts"):
        return folder.read
    if meddra.find(path, "pt"):
        return meddra.read
    if snomed.find(path):
        return snomed.read
    raise InputError(f"{path} contains neither concepts.tsv nor pt.asc nor a file sct2_Concept_Snapshot.")
