"""docker-compose.yml and the Dockerfile say what the code understands. No Docker engine is needed, so none is tried."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from ml_backend import cli, settings
from ml_backend.demo.server import VERSION as LABEL_STUDIO_VERSION
from ml_backend.labelstudio import connect
from ml_backend.settings import Settings
from ml_backend.store.store import Store

DEFAULT = re.compile(r"\$\{(\w+):-([^}]*)\}")


@pytest.fixture(scope="module")
def services(root: Path) -> dict[str, Any]:
    """The services as they are without any variable set."""
    text = (root / "docker-compose.yml").read_text()
    found: dict[str, Any] = yaml.safe_load(DEFAULT.sub(r"\2", text))
    return found["services"]


@pytest.fixture(scope="module")
def dockerfile(root: Path) -> str:
    return (root / "ml_backend" / "Dockerfile").read_text()


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return found


@pytest.mark.parametrize("name", ["softirr", "softirr-gpu"])
def test_every_variable_is_one_that_the_code_reads(services: dict[str, Any], name: str) -> None:
    read = set(re.findall(r'"([A-Z][A-Z_]{3,})"', Path(settings.__file__).read_text()))
    given = services[name]["environment"]
    assert set(given) - {"HF_HOME"} <= read
    assert {"LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "SOFTIRR_LABEL_STUDIO_ORIGINS", "REDIS_URL"} <= set(given)


@pytest.mark.parametrize("name", ["softirr", "softirr-gpu"])
def test_the_settings_fit_the_other_services(services: dict[str, Any], name: str) -> None:
    made = Settings.from_environment({k: v or "" for k, v in services[name]["environment"].items()})
    assert made.label_studio_url == "http://label-studio:8080"
    assert made.label_studio_origins == (services["label-studio"]["environment"]["LABEL_STUDIO_HOST"],)
    assert made.redis_url == "redis://redis:6379/0"
    assert made.host == "0.0.0.0"
    assert services[name]["ports"] == [f"127.0.0.1:9090:{made.port}"]
    assert Store(made.database_url).engine.url.render_as_string(hide_password=False) == (
        f"postgresql+psycopg://postgres:{services['db']['environment']['POSTGRES_PASSWORD']}@db:5432/"
        f"{services['db']['environment']['POSTGRES_DB']}"
    )
    assert made.cache_url == made.database_url, "what a model scored is kept beside it"
    assert not made.basic_auth_user
    assert set(services[name]["depends_on"]) == {"db", "redis", "label-studio"}


def test_label_studio_may_call_private_addresses_and_is_the_tested_version(services: dict[str, Any]) -> None:
    label_studio = services["label-studio"]
    assert label_studio["image"] == f"heartexlabs/label-studio:{LABEL_STUDIO_VERSION}"
    for variable in re.findall(r"(\w+)=false", connect.RESERVED):
        assert label_studio["environment"][variable] == "false"
    database = label_studio["environment"]
    assert database["POSTGRE_PASSWORD"] == services["db"]["environment"]["POSTGRES_PASSWORD"]
    assert database["POSTGRE_NAME"] != services["db"]["environment"]["POSTGRES_DB"], "not one database for both"


def test_the_card_is_asked_for_by_name_only(services: dict[str, Any]) -> None:
    gpu = services["softirr-gpu"]
    assert gpu["profiles"] == ["gpu"]
    (device,) = gpu["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
    assert "profiles" not in services["softirr"]
    # Label Studio reaches either under one name.
    assert services["softirr"]["networks"] == gpu["networks"] == {"default": {"aliases": ["softirr"]}}


def test_models_and_state_are_kept_in_volumes(root: Path, services: dict[str, Any], dockerfile: str) -> None:
    environment = services["softirr"]["environment"]
    mounted = dict(volume.split(":")[::-1] for volume in services["softirr"]["volumes"])
    assert mounted == {environment["SOFTIRR_DATA"]: "softirr-data", environment["HF_HOME"]: "models"}
    declared = yaml.safe_load((root / "docker-compose.yml").read_text())["volumes"]
    used = {v.split(":")[0] for service in services.values() for v in service.get("volumes", [])}
    assert used == set(declared)
    assert set(json.loads(re.findall(r"^VOLUME (.*)$", dockerfile, re.M)[0])) == set(mounted)


def test_the_image(root: Path, services: dict[str, Any], dockerfile: str, project: dict[str, Any]) -> None:
    assert services["softirr"]["image"] == f"softirr:{project['version']}"
    last = dockerfile.rpartition("\nFROM ")[2]
    assert re.search(r"^USER softirr$", last, re.M), "not root"
    assert json.loads(re.findall(r"^CMD (.*)$", last, re.M)[0]) == ["softirr-ls", "serve"]
    python = re.findall(r"^FROM python:(\d+)\.(\d+)-slim", dockerfile, re.M)
    assert {(3, 11)} == {(int(major), int(minor)) for major, minor in python}
    (extras,) = re.findall(r'"\.\[([\w,]+)\]"', dockerfile)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    assert any(line.startswith("torch==") for line in (root / "constraints.txt").read_text().splitlines())


def test_what_is_copied_is_there_and_not_ignored(root: Path, dockerfile: str) -> None:
    copied = [source for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile, re.M) for source in line.split()[:-1]]
    kept = {
        line[1:]
        for line in (root / "ml_backend" / "Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    assert set(copied) == kept
    assert all((root / source).exists() for source in copied)


def test_the_commands_in_the_comments_are_ours(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (root / "docker-compose.yml").read_text()
    (command,) = re.findall(r"^#\s+docker compose exec softirr softirr-ls (.*\\\n.*)$", text, re.M)
    parsed = cli._parser().parse_args(shlex.split(command.replace("\\\n#", " ")))
    assert parsed.url == "http://softirr:9090"
    assert parsed.panel_url == "http://localhost:9090"


def test_docker_compose_takes_it(root: Path) -> None:
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not installed (Debian's package docker-compose needs no engine for this)")
    for arguments in ([], ["--profile", "gpu"]):
        done = subprocess.run(
            [program, *arguments, "--project-directory", root, "-f", root / "docker-compose.yml", "config", "--quiet"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
