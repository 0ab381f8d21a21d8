"""A backend's address is checked before anything is written.

Label Studio takes it, and the backend there knows the project; otherwise a sentence has the reason.
"""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from werkzeug.serving import make_server

from ml_backend import cli
from ml_backend.labelstudio import doctor
from ml_backend.labelstudio.backend_address import callable_url, look
from ml_backend.labelstudio.doctor import examine
from ml_backend.labelstudio.doctor_project import Finding
from softirr.errors import InputError
from tests.ml_backend.seeded_store import LABEL_STUDIO, NUMBER, Seeded


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[tuple[Seeded, str]]:
    seeded = Seeded(tmp_path / "there")
    server = make_server("127.0.0.1", 0, seeded.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield seeded, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_it_knows_its_own_store(backend: tuple[Seeded, str]) -> None:
    seeded, url = backend
    assert look(url, seeded.settings, seeded.services.store.secret()) == "ours"
    assert look("http://127.0.0.1:9", seeded.settings, b"x" * 16) == "away"
    assert seeded.services.store.secret().hex() not in seeded.client.get("/health").get_data(as_text=True)


@pytest.mark.parametrize(
    ("folder", "label_studio", "says"),
    [
        ("elsewhere", LABEL_STUDIO, "same SOFTIRR_DATA (or SOFTIRR_DATABASE_URL) as softirr-ls serve"),
        ("there", "http://127.0.0.1:8080", "one LABEL_STUDIO_URL"),
    ],
)
def test_another_shell_gets_a_sentence_and_nothing_is_changed(
    backend: tuple[Seeded, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    folder: str,
    label_studio: str,
    says: str,
) -> None:
    _, url = backend
    environment = {
        "SOFTIRR_DATA": str(tmp_path / folder),
        "SOFTIRR_DATABASE_URL": f"sqlite:///{tmp_path / folder / 'store.sqlite3'}",
        "LABEL_STUDIO_URL": label_studio,
        "LABEL_STUDIO_API_KEY": "key",
    }
    with mock.patch.dict(os.environ, environment):
        # nothing listens at Label Studio's address: had it been asked, the status would be 1
        assert cli.main(["connect", "--project", str(NUMBER), "--url", url]) == 2
    errors = capsys.readouterr().err
    assert says in errors and url in errors and "do not open there" in errors


def test_the_doctor_looks_at_the_projects_own_address(backend: tuple[Seeded, str], tmp_path: Path) -> None:
    """Another backend has the usual port, and its folder is none of this project's business."""
    _, url = backend
    seeded = Seeded(tmp_path / "own")
    server = make_server("127.0.0.1", 0, seeded.app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    own_url = f"http://127.0.0.1:{server.server_port}"
    seeded.services.store.update_project(seeded.project, connection={"mode": "connected", "url": own_url})
    settings = seeded.settings.model_copy(update={"host": "127.0.0.1", "port": int(url.rpartition(":")[2])})

    def answers(number: int | None) -> list[str]:
        store = seeded.services.store
        findings = list(doctor._service(settings, store, None, number))
        assert all(finding.ok or finding.fix for finding in findings), (
            "also of a scorer process that has not started yet"
        )
        return [finding.what for finding in findings if "://" in finding.what]

    assert answers(NUMBER)[0] == f"This backend answers at {own_url}."
    assert "another place than this command" in answers(None)[0]
    server.shutdown()
    server.server_close()
    assert answers(NUMBER) == [f"This backend does not answer at {own_url}."]
    settings = settings.model_copy(update={"port": 9})
    assert answers(NUMBER) == [f"This backend does not answer at {own_url}."]


def test_finding_needs_a_next_step() -> None:
    with pytest.raises(ValueError, match="without the next step"):
        Finding(False, "Something is wrong.")


def test_doctor_gives_a_next_step_for_unexpected_findings(tmp_path: Path) -> None:
    seeded = Seeded(tmp_path)
    for finding in examine(seeded.settings, seeded.services.store, NUMBER):
        assert finding.ok or finding.fix


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:9090",
        "http://127.0.0.1:9090",
        "http://[::1]:9090",
        "http://softirr.internal:9090",
        "https://Irr.Clinic.example/agreement",
        "http://host.docker.internal:9090",
        "http://münchen.example:9090",
        "http://irr.xn--p1ai",
    ],
)
def test_hosts_that_label_studio_takes(url: str) -> None:
    assert callable_url(url) == url


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://softirr:9090", "--url http://softirr.internal:9090"),
        ("softirr", "host name without a dot"),
        ("http://soft_irr.internal:9090", "letters, digits, hyphens and dots"),
        ("http://irr.host1", "no digits after the last dot"),
        ("http://-irr.internal", "letters, digits, hyphens and dots"),
        ("ftp://softirr.internal", "not an http address"),
    ],
)
def test_hosts_that_it_refuses(url: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        callable_url(url)
