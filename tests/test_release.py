"""The metadata of a release agree in all files, and a package index can show them."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from tests.programs import module_of, run_program

REPOSITORY = "https://forge.test/owner/softirr"


@pytest.fixture
def hook(root: Path) -> ModuleType:
    return module_of(root / ".ci/package_metadata.py")


def test_every_file_has_the_version_of_pyproject(root: Path) -> None:
    run_program(sys.executable, root / ".ci/release.py", "--check")


def test_the_license_is_the_same_everywhere(root: Path) -> None:
    expression = tomllib.loads((root / "pyproject.toml").read_text())["project"]["license"]
    licenses = expression.split(" AND ")
    assert yaml.safe_load((root / "CITATION.cff").read_text())["license"] == licenses
    assert json.loads((root / "codemeta.json").read_text())["license"] == [
        f"https://spdx.org/licenses/{p}" for p in licenses
    ]
    assert expression in json.loads((root / ".zenodo.json").read_text())["notes"]
    assert expression in (root / "README.md").read_text()


def test_metadata_has_no_placeholder_address(root: Path) -> None:
    for name in ("pyproject.toml", "CITATION.cff", "codemeta.json", ".zenodo.json", "README.md"):
        assert "example.org" not in (root / name).read_text(), name


def test_the_index_gets_absolute_links_and_pictures(hook: ModuleType, root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    index_text = hook.index_readme(readme, REPOSITORY, "1.2.3")
    assert f"]({REPOSITORY}/raw/v1.2.3/docs/images/panel.png)" in index_text
    assert f'<img src="{REPOSITORY}/raw/v1.2.3/docs/images/report.png"' in index_text
    assert f"]({REPOSITORY}/blob/v1.2.3/docs/tutorial.md)" in index_text
    assert "](docs/" not in index_text and '"docs/' not in index_text


def test_without_a_repository_the_index_gets_neither_links_nor_pictures(hook: ModuleType, root: Path) -> None:
    index_text = hook.index_readme((root / "README.md").read_text(encoding="utf-8"), "", "1.2.3")
    assert "](docs/" not in index_text and "<img" not in index_text and "![" not in index_text
    assert "https://labelstud.io" in index_text, "links to other sites stay"
    assert hook.project_urls("", "1.2.3") == {}
    assert hook.project_urls(REPOSITORY, "1.2.3")["Source"] == REPOSITORY


def test_the_conda_recipe_has_the_facts_of_pyproject(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    recipe = yaml.safe_load((root / ".ci/conda/meta.yaml").read_text())
    about_section, requirements = recipe["about"], recipe["requirements"]
    assert recipe["package"] == {"name": project["name"], "version": project["version"]}
    assert (about_section["license"], about_section["summary"]) == (project["license"], project["description"])
    assert about_section["license_file"] == project["license-files"]
    assert recipe["build"]["entry_points"] == [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert len(requirements["run"]) == 1 + len(project["dependencies"])
    assert f"python {project['requires-python']}" in requirements["run"] and "pytorch >=2.4" in requirements["run"]
    assert [name for name in requirements["host"] if name.startswith("hatchling ")]
