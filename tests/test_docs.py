"""The documentation lists exactly the existing routes, variables, keys, names, files and links.

To fix a failure, write the missing thing into the page that the message names.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import softirr
from tests import Cli
from tests.documentation import PAGES, REFERENCE, ROOT, blocks
from tests.meaning.terminology.terms import FEVER_OBO


@pytest.fixture(scope="module")
def readme() -> str:
    return PAGES["README.md"]


def test_tables_that_are_shown_can_be_read(tmp_path: Path) -> None:
    for page in PAGES:
        for block in blocks(page, "csv"):
            (tmp_path / "shown.csv").write_text(block)
            assert softirr.read(tmp_path / "shown.csv").items, page


def _documented_variables() -> set[str]:
    return set(re.findall(r"`([A-Z][A-Z_]{3,})`", PAGES[f"{REFERENCE}environment.md"]))


def test_every_environment_variable_of_the_backend_is_documented() -> None:
    from ml_backend.settings import Settings

    read = {str(field.alias) for field in Settings.model_fields.values()} | {"LABEL_STUDIO_HOST"}
    assert sorted(read - _documented_variables()) == [], "docs/reference/environment.md: these are missing."


def test_every_environment_variable_of_the_science_is_documented() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "softirr").rglob("*.py")]
    read = {name for source in sources for name in re.findall(r"environ[^\n]*\"(SOFTIRR_[A-Z_]+)\"", source)}
    assert sorted(read - _documented_variables()) == [], "docs/reference/environment.md: these are missing."


COEFFICIENT = {"value", "standard_error", "ci95", "undefined"}
OF_THE_TABLE = {"judgments", "details"}
"""Further keys of a coefficient."""
DETAILS = {"by_measure", "items_only", "judgments_only"}
OPEN = dict.fromkeys(("coefficients", "by_closeness", "plain", "off"), "NAME")
OPEN |= dict.fromkeys(("texts", "unmatched", "written", "tendency", "labels"), "RATER")
OPEN |= {"kinds": "REASON", "needed_for_width": "WIDTH", "pairs_by_use": "USE"}
"""Object with keys that depend on the data -> name of these keys in the documentation."""


def _keys(value: Any, path: str = "", name: str = "") -> set[str]:
    """Every key below a JSON value, as the documentation writes it."""
    if isinstance(value, Mapping) and not set(value) >= COEFFICIENT and name != "judges_agreement":
        start = f"{path}." if path else ""
        return {
            key
            for inner, below in value.items()
            for key in _keys(below, f"{start}{OPEN.get(name, inner)}", "" if name in OPEN else inner)
        }
    if isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        return {key for entry in value for key in _keys(entry, f"{path}[]")}
    return {path}


def _tasks() -> list[dict[str, Any]]:
    """An export in which each part of a report has something to count."""
    answers: dict[int, list[tuple[str, ...] | None]] = {
        1: [("fever", "cough"), ("rash",), ("nausea",), ("pain",), ("rash",), ("alone",)],
        2: [("cough", "fevers"), ("a rash",), (), ("itch for many weeks",), ("rash all over the whole trunk",), None],
        3: [("fever, cough",), ("rash",), ("nausea",), ("itching",), ("rash",), None],
    }
    return [
        {"id": n, "data": {"share": n + 1}, "annotations": [_annotation(who, all[n]) for who, all in answers.items()]}
        for n in range(6)
    ]


def _command_with_model_and_terms() -> list[str]:
    """Score pairs of which a model scores some, and a terminology knows others."""
    names = [f"finding {letter * 3}" for letter in "abcdefghijkl"]
    Path("house.tsv").write_text("".join(["id\tname\n", *(f"{name[-1]}\t{name}\n" for name in names)]))
    rows = [f"{n},ann,{a}\n{n},ben,{b}\n" for n, (a, b) in enumerate(pairwise(names))]
    Path("single.csv").write_text("".join(["item,rater,text\n", *rows, f"99,ann,rash\n99,ben,{names[0]}\n"]))
    return ["score", "single.csv", "--measure", "nli", "--cache", "none", "--terminology", "house.tsv", "--json"]


def test_every_key_of_the_json_report_is_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.chdir(tmp_path)
    Path("export.json").write_text(json.dumps(_tasks()))
    Path("terms.obo").write_text(FEVER_OBO)
    options = ["--measure", "indel", "--split", "commas", "--terminology", "terms.obo"]
    head, *rows = cli("audit", "sample", "export.json", *options).splitlines()
    Path("sheet.csv").write_text("\n".join([head, *(f"{row}different" for row in rows)]))
    report = cli("audit", "apply", "export.json", "sheet.csv", *options, "--json")
    page = PAGES[f"{REFERENCE}json.md"]
    documented_keys = _documented_keys(page)
    assert documented_keys >= COEFFICIENT | OF_THE_TABLE
    assert documented_keys >= DETAILS
    documented = documented_keys - COEFFICIENT - OF_THE_TABLE - DETAILS
    keys = _keys(report) | _keys(cli("score", "export.json", *options, "--weight", "share", "--json"))
    keys |= _keys(cli(*_command_with_model_and_terms()))
    # a field of categories
    Path("choices.csv").write_text("item,rater,side\n1,ann,left\n1,ben,right\n2,ann,left\n2,ben,left\n")
    choices = cli("score", "choices.csv", "--field", "side=nominal", "--json")
    keys |= _keys({name: choices[name] for name in ("confusions", "confusion_matrix", "fields")})
    cli("score", "export.json", *options, "--output", "results")
    clusters = json.loads(Path("results", "report.json").read_text(encoding="utf-8"))["meanings"]
    open_keys = {"texts": "texts.TEXT", "raters": "raters.RATER"}
    keys |= {f"meanings[].{open_keys.get(key, key)}" for cluster in clusters for key in cluster}
    assert report["provenance"]["pairs_by_use"] == {}, "measures without a model do not count"
    keys.add("provenance.pairs_by_use.USE")
    # a list that is empty in one place and not in another, an object that is null in one
    keys -= {key for key in keys if any(key_below.startswith((f"{key}[]", f"{key}.")) for key_below in keys)}
    assert sorted(keys - documented) == [], "docs/reference/json.md: these are missing."
    assert sorted(documented - keys) == [], "docs/reference/json.md: these don't exist."
    for name in report["coefficients"]:
        assert f"`{name}`" in page
    assert set(report["coefficients"]["cohen_kappa"]) == COEFFICIENT | OF_THE_TABLE
    assert set(report["coefficients"]["cohen_kappa"]["details"]) == DETAILS


def _documented_keys(page: str) -> set[str]:
    """Keys in the first column of the page's tables. "as `KEY`" refers to the keys of another object."""
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    keys = {key for row in rows for key in re.findall("`([^`]+)`", row[0])}
    for row in rows:
        if row[2].startswith("as `"):
            aliases = zip(re.findall("`([^`]+)`", row[0]), re.findall("`([^`]+)`", row[2]), strict=True)
            for alias, name in aliases:
                keys |= {f"{alias}{key.removeprefix(name)}" for key in keys if re.match(rf"{name}[.\[]", key)}
                keys.discard(alias)
    return keys


def _annotation(who: int, texts: tuple[str, ...] | None) -> dict[str, Any]:
    """As in Label Studio's export; None is a skipped task."""
    value = {"text": list(texts or ())}
    result = [{"type": "textarea", "from_name": "findings", "to_name": "text", "value": value}] if texts else []
    return {"completed_by": who, "was_cancelled": texts is None, "result": result}


def _documented_names(package: str) -> set[str]:
    """Names with an entry in python.md; an entry of the package itself lists all its public names."""
    page = PAGES[f"{REFERENCE}python.md"]
    names = re.findall(rf"^::: {re.escape(package)}\.(\w+)$", page, flags=re.MULTILINE)
    assert len(names) == len(set(names)), f"{package}: a name is documented twice."
    if re.search(rf"^::: {re.escape(package)}$", page, flags=re.MULTILINE):
        assert not names, f"{package}: the entry of the package lists these names already."
        return set(importlib.import_module(package).__all__) - {"__version__"}
    return set(names)


def _packages_with_public_names() -> list[str]:
    """softirr, and its packages that list what they offer."""
    packages = ["softirr"]
    for path in sorted((ROOT / "softirr").glob("*/__init__.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        if "__all__" in names and path.parent.name != "cli":
            packages.append(f"softirr.{path.parent.name}")
    return packages


@pytest.mark.parametrize("package", _packages_with_public_names())
def test_every_public_name_is_documented(package: str) -> None:
    public = set(importlib.import_module(package).__all__) - {"__version__"}
    if package == "softirr":
        public -= {name for name in public if f"softirr.{name}" in _packages_with_public_names()}
    documented = _documented_names(package)
    if package == "softirr":
        documented -= {name for name in documented if f"softirr.{name}" in _packages_with_public_names()}
    assert sorted(public - documented) == [], f"docs/reference/python.md, {package}: these are missing."
    assert sorted(documented - public) == [], f"docs/reference/python.md, {package}: these are not public."


def _links(text: str) -> list[str]:
    """Files that a page links to."""
    return re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def test_every_file_that_is_linked_is_there() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "softirr").rglob("*.md")]
    texts = PAGES | {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in pages}
    links = [(page, target) for page, text in texts.items() for target in _links(text)]
    assert [link for link in links if not ((ROOT / link[0]).parent / link[1]).exists()] == []
    assert any(".png" in text for text in texts.values())


def test_every_page_that_the_site_links_to_is_on_it() -> None:
    """Pages of the repository outside docs/ are on the site where ``docs/site_hooks.py`` lists them."""
    elsewhere = re.findall(r'^    "(\S+\.md)": ', (ROOT / "docs" / "site_hooks.py").read_text(), flags=re.MULTILINE)
    on_site = {*elsewhere, *(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))}
    assert len(elsewhere) > 10
    for page in on_site:
        linked = {((ROOT / page).parent / link).resolve() for link in _links((ROOT / page).read_text(encoding="utf-8"))}
        pages = {path.relative_to(ROOT).as_posix() for path in linked if path.suffix == ".md"}
        assert pages <= on_site, page


def test_every_path_of_contributing_is_there() -> None:
    paths = re.findall(r"`((?:softirr|ml_backend|plugin|docs|tests)/[\w./]*)`", PAGES["CONTRIBUTING.md"])
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_true_alpha_of_the_example_is_the_documented_one() -> None:
    from ml_backend.demo import example
    from ml_backend.demo.project import true_value

    tutorial = " ".join(PAGES["docs/tutorial.md"].split())
    assert f"the true alpha is known: {true_value():.2f}" in tutorial
    assert f"The example has {len(example.narratives())} short" in tutorial


def test_the_readme_is_short(readme: str) -> None:
    assert len(readme.splitlines()) <= 120, "Details belong into docs/."


def test_installed_versions_are_pinned(root: Path) -> None:
    import tomllib

    from ml_backend.demo.server import VERSION

    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert f"label-studio=={VERSION}" in (root / ".ci" / "environment.py").read_text()
    pins = dict(re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)$", (root / "constraints.txt").read_text(), flags=re.MULTILINE))
    names = {re.sub("[-_.]+", "-", name).lower() for name in pins}
    requirements = [
        *project["dependencies"],
        *(
            entry
            for extra in ("labelstudio", "lab", "dev", "docs", "postgres", "ray")
            for entry in project["optional-dependencies"][extra]
        ),
    ]
    required = {
        re.split(r"[\[<>=;! ]", entry, maxsplit=1)[0].lower().replace("_", "-")
        for entry in requirements
        if "win32" not in entry.replace("!= 'win32'", "")
    }
    assert sorted(required - names - {"softirr"}) == [], "constraints.txt: these are missing."
