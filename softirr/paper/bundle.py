"""An evidence bundle: data, settings and numbers with hashes, for another machine to check and compute again.

A bundle is a ZIP archive with ``manifest.json``, which names every other member with its SHA-256, ``report.json``, and
the data and sheets unless texts are left out.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from softirr.answers.archives import DAMAGE
from softirr.answers.source import refused
from softirr.errors import InputError
from softirr.plural import plural
from softirr.provenance import version

__all__ = ["Bundle", "Check", "compared", "make_bundle", "read_bundle", "without_texts"]

SCHEMA = 1
MANIFEST, REPORT = "manifest.json", "report.json"
_LARGEST = 2_000_000_000
_MOST_MEMBERS = 100
_WITHOUT_TEXTS = {
    *("schema_version", "measure", "n_items", "n_raters", "headline", "coefficients", "expected_agreement"),
    *("raters", "rater_pairs", "excluded", "warnings", "provenance", "audit"),
}
_OF_ITEM = ("id", "agreement", "kappa", "sigma", "n_raters")
"""The parts of a report and of its items without texts."""
_PACKAGES = ("numpy", "scipy", "rapidfuzz", "torch", "transformers")
TOLERANCE = {"value": 1e-6, "model": 2e-3}
"""How far a number may be off that is computed again: number formats of models differ between machines."""


@dataclass(frozen=True)
class Bundle:
    """A bundle that was read, with members that have the hashes of its manifest.

    Attributes
    ----------
    manifest : dict
    members : dict of str to bytes
    """

    manifest: dict[str, Any]
    members: dict[str, bytes]

    @property
    def report(self) -> dict[str, Any]:
        """The report that was put into it."""
        content: dict[str, Any] = json.loads(self.members[REPORT])
        return content


@dataclass(frozen=True)
class Check:
    """One thing that was compared.

    Attributes
    ----------
    what : str
    ok : bool or None
        None where it could not be compared, or may differ.
    detail : str
    """

    what: str
    ok: bool | None
    detail: str

    def line(self) -> str:
        """As a line of text."""
        mark = "differs" if self.ok is False else "not compared" if self.ok is None else "same"
        return f"{mark:<13}{self.what}: {self.detail}"


def make_bundle(
    report: Mapping[str, Any],
    settings: Mapping[str, Any],
    data: tuple[str, bytes],
    sheets: Sequence[tuple[str, bytes]] = (),
    *,
    texts: bool = True,
    more: Mapping[str, str] | None = None,
) -> bytes:
    """Make a bundle.

    Parameters
    ----------
    report : mapping
        The JSON object of the report.
    settings : mapping
        What it was computed with: options by name.
    data : (str, bytes)
        Name and content of the file of answers.
    sheets : sequence of (str, bytes)
        Judged sheets.
    texts : bool
        False leaves data, sheets and texts of the report out; their hashes stay.
    more : mapping of str to str, optional
        Other members by name, such as ``report.md``.
    """
    shared = dict(report) if texts else without_texts(report)
    members = {REPORT: json.dumps(shared, indent=1, allow_nan=False).encode()}
    members |= {name: text.encode() for name, text in (more or {}).items()}
    inputs = [("data", *data), *(("sheet", name, content) for name, content in sheets)]
    listed = []
    for number, (role, name, content) in enumerate(inputs):
        member = f"inputs/{number}-{_plain(name)}" if texts else None
        listed.append({"role": role, "name": _plain(name), "sha256": _sha256(content), "member": member})
        if member is not None:
            members[member] = content
    manifest = {
        "softirr_bundle": SCHEMA,
        "softirr": version(),
        "versions": _versions(),
        "settings": dict(settings),
        "inputs": listed,
        "members": {name: _sha256(content) for name, content in members.items()},
        "numbers": _numbers(report),
        "model_sha256": report["provenance"].get("model_sha256"),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {MANIFEST: json.dumps(manifest, indent=1, allow_nan=False).encode(), **members}.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def without_texts(report: Mapping[str, Any]) -> dict[str, Any]:
    """The report without what people wrote: items keep their agreement only."""
    kept = {key: value for key, value in report.items() if key in _WITHOUT_TEXTS}
    return {**kept, "items": [{key: item[key] for key in _OF_ITEM if key in item} for item in report["items"]]}


def read_bundle(content: bytes, name: str) -> Bundle:
    """Read a bundle and check the hash of every member.

    Raises
    ------
    InputError
        If it is no bundle, or a member is missing, added or changed.
    """
    wrong = f"{name} is damaged, or not an evidence bundle of softirr."
    with refused(wrong, *DAMAGE, OSError, LookupError, TypeError, AttributeError):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_MEMBERS or sum(entry.file_size for entry in entries) > _LARGEST:
                raise InputError(f"{name} is too large for an evidence bundle.")
            members = {entry.filename: archive.read(entry) for entry in entries}
        manifest = json.loads(members.pop(MANIFEST))
        known = {str(key): str(value) for key, value in manifest["members"].items()}
        if manifest["softirr_bundle"] != SCHEMA:
            raise InputError(f"{name} is a bundle of a later release of softirr.")
    for member, content in members.items():
        if member not in known:
            raise InputError(f"{name}: {member[:80]} is not in the manifest.")
        if _sha256(content) != known[member]:
            raise InputError(f"{name}: {member[:80]} was changed: its hash differs from the manifest.")
    if missing := sorted(known.keys() - members.keys()):
        raise InputError(f"{name}: {missing[0][:80]} is missing.")
    if REPORT not in members:
        raise InputError(f"{name} contains no report.")
    return Bundle(manifest, members)


def compared(bundle: Bundle, again: Mapping[str, Any] | None) -> list[Check]:
    """What the manifest says against its own report, this machine, and the numbers that were computed again.

    Parameters
    ----------
    bundle : Bundle
    again : mapping or None
        The report that was computed again; None where it could not be.
    """
    manifest = bundle.manifest
    checks = [
        Check(
            "members",
            True,
            f"{plural(len(bundle.members), 'file has the hash', 'files have the hashes')} of the manifest",
        )
    ]
    own = _apart(manifest["numbers"], _numbers(bundle.report), 0.0)
    checks.append(Check("report", not own, own or "its numbers are the manifest's"))
    for package, there in manifest["versions"].items():
        here = _versions().get(package)
        if here != there:
            checks.append(Check(package, None, f"{there} there, {here or 'not installed'} here"))
    if again is None:
        return checks
    there, here = manifest["model_sha256"], again["provenance"].get("model_sha256")
    if there or here:
        checks.append(
            Check("model", there == here, "the same weights" if there == here else f"{there} there, {here} here")
        )
    off = _apart(manifest["numbers"], _numbers(again), TOLERANCE["model" if there else "value"])
    checks.append(
        Check(
            "numbers",
            not off,
            off or f"{plural(len(manifest['numbers']), 'number was', 'numbers were')} computed again",
        )
    )
    return checks


def _numbers(report: Mapping[str, Any]) -> dict[str, float | None]:
    """Numbers that a reader may quote."""
    numbers: dict[str, float | None] = {"n_items": report["n_items"], "n_raters": report["n_raters"]}
    for name, value in report["coefficients"].items():
        numbers[name] = value["value"]
        for end, at in (("low", 0), ("high", 1)):
            numbers[f"{name}.{end}"] = None if value["ci95"] is None else value["ci95"][at]
    numbers |= {f"expected.{key}": report["expected_agreement"].get(key) for key in ("cohen", "fleiss", "krippendorff")}
    return numbers


def _apart(there: Mapping[str, Any], here: Mapping[str, Any], tolerance: float) -> str:
    """The first number that differs, as a sentence; empty where none does."""
    for name in there:
        a, b = there[name], here.get(name)
        if (a is None) != (b is None) or (
            a is not None and b is not None and not math.isclose(a, b, rel_tol=0, abs_tol=tolerance)
        ):
            return f"{name} is {a} there and {b} here"
    return ""


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "softirr": version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _plain(name: str) -> str:
    """A file name without folders."""
    return name.replace("\\", "/").rsplit("/", 1)[-1] or "data"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
