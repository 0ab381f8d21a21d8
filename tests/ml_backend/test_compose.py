"""docker-compose.yml and the Dockerfile use only settings that the code knows. tests/podman builds and runs them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from ml_backend import cli, settings
from ml_backend.demo.server import VERSION as LABEL_STUDIO_VERSION
from ml_backend.labelstudio import backend_address
from ml_backend.settings import Settings
from ml_backend.store.store import Store
from tests.programs import run_program

DEFAULT = re.compile(r"\$\{(\w+):-([^}]*)\}")
REQUIRED = re.compile(r"\$\{(\w+):\?[^}]*\}")
FILES = ("docker-compose.yml", "ml_backend/docker-compose.gpu.yml")


@pytest.fixture(scope="module")
def services(root: Path) -> dict[str, Any]:
    """The services with no variable set but those that have to be, each of which is its own name."""
    text = (root / "docker-compose.yml").read_text()
    compose: dict[str, Any] = yaml.safe_load(REQUIRED.sub(r"\1", DEFAULT.sub(r"\2", text)))
    return compose["services"]


@pytest.fixture(scope="module")
def dockerfile(root: Path) -> str:
    return (root / "ml_backend" / "Dockerfile").read_text()


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return project


def test_every_variable_is_one_that_the_code_reads(services: dict[str, Any]) -> None:
    read = set(re.findall(r'"([A-Z][A-Z_]{3,})"', Path(settings.__file__).read_text()))
    environment = services["softirr"]["environment"]
    assert set(environment) - {"HF_HOME"} <= read
    assert {"LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "SOFTIRR_LABEL_STUDIO_ORIGINS"} <= set(environment)


def test_the_settings_fit_the_other_services(services: dict[str, Any]) -> None:
    settings = Settings.from_environment({k: v or "" for k, v in services["softirr"]["environment"].items()})
    assert settings.label_studio_url == "http://label-studio:8080"
    assert settings.label_studio_origins == (services["label-studio"]["environment"]["LABEL_STUDIO_HOST"],)
    assert settings.host == "0.0.0.0"
    assert services["softirr"]["ports"] == [f"127.0.0.1:9090:{settings.port}"]
    assert Store(settings.database_url).engine.url.render_as_string(hide_password=False) == (
        f"postgresql+psycopg://postgres:{services['db']['environment']['POSTGRES_PASSWORD']}@db:5432/"
        f"{services['db']['environment']['POSTGRES_DB']}"
    )
    assert settings.cache_url == "/data/pairs.sqlite3", "on a volume, which survives the container"
    assert "softirr-data:/data" in services["softirr"]["volumes"]
    assert not settings.basic_auth_user
    assert set(services["softirr"]["depends_on"]) == {"db", "label-studio"}


def test_label_studio_may_call_private_addresses_and_is_the_tested_version(services: dict[str, Any]) -> None:
    label_studio = services["label-studio"]
    assert label_studio["image"] == f"heartexlabs/label-studio:{LABEL_STUDIO_VERSION}"
    for variable in re.findall(r"(\w+)=false", backend_address.RESERVED):
        assert label_studio["environment"][variable] == "false"
    database = label_studio["environment"]
    assert database["POSTGRE_PASSWORD"] == services["db"]["environment"]["POSTGRES_PASSWORD"]
    assert database["POSTGRE_NAME"] != services["db"]["environment"]["POSTGRES_DB"], "not one database for both"


def test_no_secret_has_a_default_and_one_command_makes_them_all(root: Path, tmp_path: Path) -> None:
    text = (root / "docker-compose.yml").read_text()
    required = set(REQUIRED.findall(text))
    assert {"LABEL_STUDIO_SECRET_KEY", "LABEL_STUDIO_PASSWORD", "POSTGRES_PASSWORD"} == required
    assert not {name for name, default in DEFAULT.findall(text) if default and re.search("KEY|PASS|SECRET", name)}
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the secrets, is not installed")
    (command,) = re.findall(r"^#\s+(for name in .* > \.env)$", text, re.M)
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    environment = dict(line.split("=") for line in (tmp_path / ".env").read_text().splitlines())
    assert set(environment) == required
    # Hexadecimal: fit for a URL, and never the $ that Label Studio takes for the name of a variable.
    assert all(re.fullmatch("[0-9a-f]{48}", value) for value in environment.values())


def test_label_studio_keeps_its_secret_key(services: dict[str, Any]) -> None:
    assert services["label-studio"]["environment"]["SECRET_KEY"] == "LABEL_STUDIO_SECRET_KEY"


@pytest.mark.parametrize("name", ["label-studio", "softirr", "db"])
def test_a_container_may_little_and_its_log_has_an_end(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
    if name != "label-studio":  # its image writes to its own files
        assert service["read_only"] is True
        assert "/tmp" in service["tmpfs"]
    if name in ("label-studio", "softirr"):
        assert service["stop_grace_period"] == "30s"
    if name == "db":  # its image begins as root, and without capabilities root can't become another user
        assert service["user"] == "postgres"
        assert "ports" not in service


def test_postgresql_is_healthy_only_when_it_answers_over_the_network(services: dict[str, Any]) -> None:
    test = services["db"]["healthcheck"]["test"]
    assert test[test.index("--host") + 1] == "127.0.0.1"


def test_the_card_takes_the_place_of_the_cpu(root: Path, services: dict[str, Any]) -> None:
    """One service either way: one port, one name, one `docker compose exec softirr`."""
    gpu = yaml.safe_load((root / "ml_backend/docker-compose.gpu.yml").read_text())["services"]
    assert set(gpu) == {"softirr"}
    (device,) = gpu["softirr"]["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
    assert gpu["softirr"]["image"] == services["softirr"]["image"] + "-gpu"
    assert not any("profiles" in service for service in services.values())


def test_label_studio_takes_the_name_of_the_backend(services: dict[str, Any]) -> None:
    (alias,) = services["softirr"]["networks"]["default"]["aliases"]
    assert backend_address.callable_url(f"http://{alias}:9090") == f"http://{alias}:9090"


def test_models_and_state_are_kept_in_volumes(root: Path, services: dict[str, Any], dockerfile: str) -> None:
    environment = services["softirr"]["environment"]
    mounted = dict(volume.split(":")[::-1] for volume in services["softirr"]["volumes"])
    assert mounted == {environment["SOFTIRR_DATA"]: "softirr-data", environment["HF_HOME"]: "models"}
    declared = yaml.safe_load((root / "docker-compose.yml").read_text())["volumes"]
    used_words = {v.split(":")[0] for service in services.values() for v in service.get("volumes", [])}
    assert used_words == set(declared)
    assert set(json.loads(re.findall(r"^VOLUME (.*)$", dockerfile, re.M)[0])) == set(mounted)


def test_the_image(root: Path, services: dict[str, Any], dockerfile: str, project: dict[str, Any]) -> None:
    assert services["softirr"]["image"] == f"softirr:{project['version']}"
    last = dockerfile.rpartition("\nFROM ")[2]
    assert re.search(r"^USER softirr$", last, re.M), "not root"
    assert json.loads(re.findall(r"^CMD (.*)$", last, re.M)[0]) == ["softirr-ls", "serve"]
    python = re.findall(r"^FROM python:(\d+)\.(\d+)-slim", dockerfile, re.M)
    assert {(3, 11)} == {(int(major), int(minor)) for major, minor in python}
    (extras,) = re.findall(r'^ARG EXTRAS="([\w ]+)"$', dockerfile, re.M)
    assert set(extras.split()) <= set(project["optional-dependencies"])
    assert any(line.startswith("torch==") for line in (root / "constraints.txt").read_text().splitlines())


def test_dependencies_are_installed_before_the_code_is_copied(dockerfile: str) -> None:
    _, dependencies, code, last = dockerfile.split("\nFROM ")[1:]
    assert "pyproject.toml" not in dependencies, "which changes more often than what is required"
    assert "pip install" in dependencies
    assert not re.search(r"^COPY .*softirr softirr", dependencies, re.M)
    assert "pip wheel --no-deps" in code
    assert last.index("COPY --from=dependencies") < last.index("--mount=type=bind,from=code")


def test_copied_files_exist_and_are_not_ignored(root: Path, dockerfile: str) -> None:
    copied = [source for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile, re.M) for source in line.split()[:-1]]
    kept_lines = {
        line[1:]
        for line in (root / "ml_backend" / "Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    assert set(copied) == kept_lines
    assert all((root / source).exists() for source in copied)


def test_the_commands_in_the_comments_are_ours(root: Path) -> None:
    text = (root / "docker-compose.yml").read_text()
    (command,) = re.findall(r"^#\s+docker compose exec softirr softirr-ls (.*\\\n.*)$", text, re.M)
    parsed = cli.parser().parse_args(shlex.split(command.replace("\\\n#", " ")))
    assert parsed.url == "http://softirr.internal:9090"
    assert parsed.panel_url == "http://localhost:9090"


@pytest.mark.slow
def test_docker_compose_takes_it(root: Path, tmp_path: Path) -> None:
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not installed (Debian's package docker-compose needs no engine for this)")
    secrets = dict.fromkeys(REQUIRED.findall((root / "docker-compose.yml").read_text()), "0a")
    for files in (FILES[:1], FILES):
        words = [word for file in files for word in ("-f", str(root / file))]
        settings_of_files = (program, "--project-directory", root, *words, "config", "--quiet")
        run_program(*settings_of_files, environment={**os.environ, **secrets})
    (tmp_path / "empty").touch()
    bare = {name: value for name, value in os.environ.items() if name not in secrets}
    command = (program, "--env-file", tmp_path / "empty", "-f", root / FILES[0], "config", "--quiet")
    done = run_program(*command, environment=bare, status=None)
    assert done.returncode != 0
    assert "is missing in .env" in done.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="Podman is used as root")
def test_make_podman_names_every_missing_program_before_it_builds(root: Path, tmp_path: Path) -> None:
    for name in ("podman", "debootstrap", "docker-compose", "openssl", "aardvark-dns"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
    code = f"import engine; engine.FOLDERS = ({str(tmp_path / 'bin')!r},); import check; raise SystemExit(check.main())"
    environment = os.environ | {"PATH": str(tmp_path / "bin"), "PYTHONPATH": f"{root / 'tests' / 'podman'}:{root}"}
    command = (sys.executable, "-c", code, "--folder", tmp_path / "kept")
    done = run_program(*command, environment=environment, status=2)
    assert done.stderr == (
        "Nothing was built. Missing programs; on Debian: apt-get install netavark catatonit iptables runc.\n"
    )
    assert not (tmp_path / "kept").exists()
