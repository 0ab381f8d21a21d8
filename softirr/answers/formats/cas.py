"""UIMA CAS, XMI or JSON, as INCEpTION exports them: one file for each annotator of a document, read by dkpro-cassis."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from softirr.answers.archives import Folder
from softirr.answers.gathered import Records, Request, Tables, chosen_texts, gathered_tables
from softirr.answers.registry import Format, Ways
from softirr.answers.source import needed, refused
from softirr.errors import InputError

__all__ = ["FORMATS"]

_BUILT_IN = (
    "uima.",
    "de.tudarmstadt.ukp.dkpro.core.api.metadata",
    "de.tudarmstadt.ukp.dkpro.core.api.segmentation",
    "webanno.custom.Tag",
)


_NOT_RATERS = ("INITIAL_CAS", "CURATION_USER")


def _is_object(value: Mapping[str, Any]) -> bool:
    """Whether an object is a CAS in JSON (version 0.4)."""
    return "%FEATURE_STRUCTURES" in value


def _refuse_object(records: Records, request: Request) -> Tables:
    raise InputError(
        f"{request.name} has the annotations of one person: give the folder with a file for each annotator."
    )


def _documents(folder: Folder) -> list[Path]:
    return [path for path in folder.files if path.suffix == ".xmi" or (path.suffix == ".json" and _is_cas(path))]


def _is_cas(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(65536)
    return b'"%TYPES"' in start or b"%FEATURE_STRUCTURES" in start


def _by_annotator(folder: Folder) -> Iterator[tuple[str, str, Path]]:
    """Document, annotator and file: INCEpTION has a folder for each document, other tools one for each annotator."""
    for path in _documents(folder):
        if path.stem in _NOT_RATERS:
            continue
        outer = folder.rater_of(path)
        by_document = path.parent.parent.name == "annotation"
        yield (outer, path.stem, path) if by_document else (path.stem, outer, path)


def _read(folder: Folder, request: Request) -> Tables:
    """The tables of the features asked for, or of the only one with texts.

    An item is a document, and an answer the set of its values. With ``item="position"`` an item is a place in a
    document.
    """
    cassis = needed("cassis", "dkpro-cassis", "A UIMA CAS")
    system = None
    types = next(iter(folder.called("typesystem.xml")), None)
    if types is not None:
        # cassis and lxml have no exception in common
        with refused(f"{types} is no type system of UIMA ({{error}})."), types.open("rb") as file:
            system = cassis.load_typesystem(file)
    by_position = request.options.item == "position"
    kept = []
    for document, rater, path in _by_annotator(folder):
        cas = _loaded(cassis, path, system)
        kept.append((document, rater, list(_values(cas))))
    features = list(dict.fromkeys(name for _, _, values in kept for name, _, _ in values))
    gathered = {name: request.gathered(repeats="set") for name in chosen_texts(request, features, "text feature")}
    for document, rater, values in kept:
        for name, one in gathered.items():
            texts = [(position, text) for feature, position, text in values if feature == name]
            if by_position:
                for position, text in texts:
                    one.add(f"{document} {position}", rater, text)
            else:
                one.add(document, rater, tuple(text for _, text in texts) or None)
    return gathered_tables(request, "cas", gathered, n_rows=len(kept))


def _loaded(cassis: Any, path: Path, system: Any) -> Any:
    if path.suffix == ".xmi" and system is None:
        raise InputError(f"{path} needs the TypeSystem.xml that was exported with it: put it into the same folder.")
    with refused(f"{path} is no UIMA CAS ({{error}})."), path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of type systems that repeat a feature
        if path.suffix == ".xmi":
            return cassis.load_cas_from_xmi(file, typesystem=system)
        return cassis.load_cas_from_json(file)


def _values(cas: Any) -> Iterator[tuple[str, str, str]]:
    """Feature as ``Type:feature``, place and text of each text of an annotation."""
    for kind in cas.typesystem.get_types():
        if kind.name.startswith(_BUILT_IN):
            continue
        features = [one.name for one in kind.all_features if one.rangeType.name == "uima.cas.String"]
        if not features:
            continue
        for annotation in cas.select(kind.name):
            if annotation.type.name != kind.name:
                continue  # of a type below this one, which comes by itself
            position = f"{getattr(annotation, 'begin', '')}-{getattr(annotation, 'end', '')}"
            for feature in features:
                value = annotation.get(feature)
                if isinstance(value, str) and value.strip():
                    yield f"{kind.name.rpartition('.')[2]}:{feature}", position, value


FORMATS = (
    Format(
        "cas", folder=Ways(lambda folder: bool(_documents(folder)), _read), records=Ways(_is_object, _refuse_object)
    ),
)
