"""The built wheel computes and serves outside the checkout.

The new environment takes the libraries of the one that runs the tests (a line in a .pth file), because installing
PyTorch again would take minutes; the package itself comes from the wheel alone, and each test makes sure of that.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import requests

from ml_backend.demo.processes import Process, free_port
from tests.programs import run_program

CSV = "item,rater,text\n1,ann,fever\n1,ben,fever\n2,ann,rash\n2,ben,cough\n3,ann,nausea\n3,ben,\n"


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without a network: the build tool is among the development dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    run_program(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, root)
    (built,) = folder.glob("softirr-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    pip = (sys.executable, "-m", "pip", "--python", folder)
    run_program(*pip, "install", "--no-deps", "--no-index", "--quiet", wheel)
    (purelib / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / ("Scripts" if os.name == "nt" else "bin")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Environment without variables that lead to the checkout, and with a separate state."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SOFTIRR", "LABEL_STUDIO"))
    }
    return {
        **variables,
        "SOFTIRR_DATA": str(tmp_path / "state"),
        "LABEL_STUDIO_URL": "http://127.0.0.1:9",
        "HOME": str(tmp_path),
    }


@pytest.mark.slow
def test_the_wheel_carries_everything_that_is_not_python(wheel: Path, root: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    needed = {
        "softirr/py.typed",
        "softirr/models/nli/LICENSE",
        "ml_backend/demo/key.tsv",
        "ml_backend/demo/narratives.tsv",
        "ml_backend/demo/narratives_de.tsv",
        "ml_backend/plugin/agreement-panel/plugin.js",
        "ml_backend/plugin/panel/render.js",
        "ml_backend/plugin/panel/helper.js",
        "ml_backend/plugin/snippet.xml",
        "ml_backend/web/static/report.js",
        "ml_backend/web/templates/report.html",
    }
    assert needed - names == set()
    tracked = run_program("git", "ls-files", "softirr", "ml_backend", "plugin", folder=root, status=None)
    if tracked.returncode == 0 and tracked.stdout:
        expected = {
            re.sub("^plugin/", "ml_backend/plugin/", name)
            for name in tracked.stdout.splitlines()
            if (root / name).exists()
        }
        assert expected - names == set()
    strangers = [name for name in names if not name.startswith(("softirr", "ml_backend")) or "__pycache__" in name]
    assert strangers == []


@pytest.mark.slow
def test_it_knows_its_version_and_its_licence(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA")]
    assert "License-Expression: Apache-2.0 AND CC-BY-SA-4.0" in metadata
    assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())


def test_it_is_the_installed_package_that_runs(installed: Path, environment: dict[str, str], tmp_path: Path) -> None:
    code = "import softirr, ml_backend.labelstudio.snippet as a; print(softirr.__file__); print(a.plugin_dir())"
    done = run_program(installed / "python", "-c", code, environment=environment, folder=tmp_path)
    for path in done.stdout.split():
        assert Path(path).is_relative_to(installed.parent)


def test_softirr_score_on_a_csv(installed: Path, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text(CSV)
    command = (installed / "softirr", "score", "answers.csv", "--measure", "exact", "--json")
    report = json.loads(run_program(*command, environment=environment, folder=tmp_path).stdout)
    assert (report["n_items"], report["n_raters"]) == (3, 2)
    assert report["coefficients"]["observed_agreement"]["value"] == pytest.approx(1 / 3)
    assert report["coefficients"]["krippendorff_alpha"]["value"] is not None


@pytest.mark.slow
def test_every_command_starts(installed: Path, environment: dict[str, str], tmp_path: Path) -> None:
    def printed(*command: str) -> str:
        program, *arguments = command
        return run_program(installed / program, *arguments, environment=environment, folder=tmp_path).stdout

    assert {entry["name"] for entry in json.loads(printed("softirr", "measures", "--json"))} >= {
        "exact",
        "indel",
        "nli",
    }
    (tmp_path / "answers.csv").write_text(CSV)
    assert printed("softirr", "audit", "sample", "answers.csv", "--measure", "exact").startswith("unit,pair,text_a,")
    assert "--folder" in printed("softirr-ls", "demo", "--help")


def test_bad_input_is_one_sentence_and_status_2(installed: Path, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("a,b\n1,2\n")
    command = (installed / "softirr", "score", "answers.csv")
    done = run_program(*command, environment=environment, folder=tmp_path, status=2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


@contextlib.contextmanager
def _serving(installed: Path, environment: dict[str, str], folder: Path) -> Iterator[str]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [installed / "softirr-ls", "serve", "--port", str(port)]
    server = Process(command, environment=environment, log=folder / "serve.log", name="softirr-ls serve")

    def ready() -> bool:
        with contextlib.suppress(requests.RequestException):
            return requests.get(f"{url}/health", timeout=5).ok
        return False

    try:
        server.wait_until(ready, timeout=180)
        yield url
    finally:
        server.stop()


def _connected(installed: Path, environment: dict[str, str]) -> list[str]:
    """A project as `connect` leaves it: the secret of its connection, and its panel's key."""
    code = (
        "from ml_backend.auth.keys import Keys; from ml_backend.services import Services; "
        "from ml_backend.settings import Settings; s = Services(Settings.from_environment()); t = s.store; "
        "r = t.ensure_project(s.settings.label_studio_url, 1); "
        "t.update_project(r['id'], connection={'mode': 'connected'}); k = Keys(t.secret()); "
        "print(k.password(1), k.key(1, 'panel'))"
    )
    return run_program(installed / "python", "-c", code, environment=environment).stdout.split()


@pytest.mark.slow
def test_the_backend_serves_its_panel_files(installed: Path, environment: dict[str, str], tmp_path: Path) -> None:
    with _serving(installed, environment, tmp_path) as url:
        password, key = _connected(installed, environment)
        versions = requests.get(f"{url}/versions", auth=("softirr", password), timeout=30)
        assert versions.json()["versions"] == ["agreement"]
        page = requests.get(f"{url}/panel", params={"k": key}, timeout=30)
        assert page.headers["Content-Type"].startswith("text/html")
        files = re.findall(r'(?:src|href)="([^"]+\.(?:js|css)[^"]*)"', page.text)
        assert files, page.text
        for name in files:
            reply = requests.get(requests.compat.urljoin(page.url, name), timeout=30)
            assert reply.status_code == 200, name
            assert len(reply.content) > 100
        refusal = requests.get(f"{url}/report/1", timeout=30)
        assert refusal.status_code == 403
        assert refusal.headers["Content-Type"].startswith("text/html"), "a page, made from the packaged template"
        for name in ("report.js", "report.css", "audit.js", "tables.js"):
            assert requests.get(f"{url}/report/static/any/{name}", timeout=30).status_code == 200, name
    assert "Traceback" not in (tmp_path / "serve.log").read_text()


OPTIONAL = {"matplotlib", "openai", "openpyxl", "pandas", "pyarrow", "ray", "sqlalchemy"}
"""Libraries of an extra that `softirr` names in one sentence if they are missing."""


def test_every_import_is_declared(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = {"softirr": project["dependencies"]}
    declared["ml_backend"] = declared["softirr"] + extras["labelstudio"]
    declared["lab"] = declared["softirr"] + extras["lab"]
    distributions = packages_distributions()
    undeclared = set()
    for path in [path for package_name in declared for path in root.glob(f"{package_name}/**/*.py")]:
        package_name = path.relative_to(root).parts[0]
        names = {
            re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-") for requirement in declared[package_name]
        }
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for module in {module.split(".")[0] for module in modules}:
                if module in sys.stdlib_module_names or module in declared:
                    continue
                if package_name == "softirr" and module in OPTIONAL:
                    continue
                provided = {name.lower().replace("_", "-") for name in distributions.get(module, [module])}
                if not provided & names:
                    undeclared.add(f"{path.relative_to(root)}: {module}")
    assert sorted(undeclared) == []


def test_every_requirement_is_imported(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    code = "\n".join(path.read_text(encoding="utf-8") for path in root.glob("softirr/**/*.py"))
    modules = {"huggingface-hub": "huggingface_hub"}
    names = [re.split(r"[^\w.-]", requirement)[0] for requirement in project["dependencies"]]
    unused = [n for n in names if not re.search(rf"(import|from) {modules.get(n, n)}\b", code)]
    assert unused == []
