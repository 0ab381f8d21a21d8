"""Files of the pages for browsers, and their versions."""

import hashlib
from functools import cache
from pathlib import Path

from softirr.report.page.render import SCRIPTS, STATIC, STYLES

SHARED = (*STYLES, *SCRIPTS)
"""Files of the pages that are in `softirr.report.page`."""


def static_dir() -> Path:
    """Scripts and styles of the report and audit pages that `softirr.report.page` does not have."""
    return Path(__file__).parent / "static"


def page_files_version() -> str:
    """Version of the pages' files, of `softirr.report.page` and of this folder."""
    return f"{version_of(STATIC)}{version_of(static_dir())}"


@cache
def version_of(folder: Path) -> str:
    """Short hash of the files of a folder; their addresses contain it, so that browsers can cache them permanently."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
