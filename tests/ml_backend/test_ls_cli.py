"""``softirr-ls`` as a user meets it: help, and sentences for impossible requests.

Tests on a real server cover the commands' work.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from ml_backend import cli
from ml_backend.project_settings import ProjectSettings
from ml_backend.store.store import Store

COMMANDS = ("serve", "connect", "disconnect", "sync", "settings", "doctor", "export", "forget", "demo")


@pytest.fixture(autouse=True)
def nobodys_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [n for n in os.environ if n.startswith(("SOFTIRR_", "LABEL_STUDIO_", "BASIC_AUTH_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SOFTIRR_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "100")


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = asked(capsys, "--help")
    assert status == 0
    assert all(re.search(rf"^ +{command}\s+[A-Z].*\.$", out, re.M) for command in COMMANDS)
    assert "LABEL_STUDIO_URL" in out


def test_every_setting_of_a_project_is_an_option() -> None:
    parsed = vars(cli.parser().parse_args(["settings", "--project", "1"]))
    assert set(ProjectSettings().to_dict()) <= set(parsed)


@pytest.mark.parametrize(
    ("arguments", "environment", "status", "says"),
    [
        (["nonsense"], {}, 2, "invalid choice"),
        ([], {}, 2, "required"),
        (["sync"], {}, 2, "--project"),
        (["sync", "--project", "four"], {}, 2, "invalid int"),
        (["sync", "--project", "4"], {}, 1, "No Label Studio token: set LABEL_STUDIO_API_KEY"),
        (["sync", "--project", "4"], {"SOFTIRR_DATABASE_URL": "mysql://x/y"}, 2, "only sqlite and postgresql"),
        (["sync", "--project", "4"], {"PORT": "x"}, 2, "PORT is not a positive number"),
        (["connect", "--project", "4"], {}, 2, "--pull-only"),
        (["connect", "--project", "4", "--pull-only", "--url", "http://x"], {}, 2, "--pull-only"),
        (["settings", "--project", "4"], {}, 2, "Project 4 is not known here"),
        (["doctor"], {}, 1, ""),
        (["disconnect", "--project", "4"], {}, 1, "LABEL_STUDIO_API_KEY"),
        (["serve", "--port", "0"], {}, 2, "--port: 0 is not a port from 1 to 65535"),
        (["serve", "--port", "70000"], {}, 2, "--port: 70000 is not a port from 1 to 65535"),
        (["serve", "--port", "9.5"], {}, 2, "--port: 9.5 is not a port from 1 to 65535"),
        (["serve"], {"PORT": "70000"}, 2, "PORT is above 65535: 70000."),
        (
            ["settings", "--project", "4", "--link", "a@b.org", "--days", "0"],
            {},
            2,
            "--days: 0 is not a number of days",
        ),
        (["export", "--project", "4"], {}, 2, "Project 4 is not known here"),
        (["forget", "--project", "4"], {}, 2, "Project 4 is not known here"),
        (["backup", "x.zip"], {}, 2, "invalid choice"),
    ],
)
def test_refusals_are_sentences(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: dict[str, str],
    status: int,
    says: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ended, _, err = asked(capsys, *arguments)
    assert ended == status
    assert says in err
    assert "Traceback" not in err
    if not err.startswith("usage:") and err:
        assert err.count("\n") == 1


def test_a_folder_that_can_not_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SOFTIRR_DATA", str(tmp_path / "file" / "data"))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "x")
    status, _, err = asked(capsys, "sync", "--project", "4")
    assert status == 2
    assert "SOFTIRR_DATA" in err
    assert err.count("\n") == 1


def test_an_export_into_a_missing_folder_is_a_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'data' / 'softirr.sqlite3'}")
    store.migrate()
    store.ensure_project("http://localhost:8080", 4)
    store.close()
    status, out, err = asked(capsys, "export", "--project", "4", "--output", str(tmp_path / "no" / "a.csv"))
    assert (status, out) == (2, "")
    assert err.endswith("a.csv can't be written (No such file or directory).\n")
    assert asked(capsys, "export", "--project", "4")[1] == "item,rater,field,text\n"


def test_a_database_that_is_away(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTIRR_DATABASE_URL", "postgresql://nobody:secret-word@127.0.0.1:1/none")
    status, _, err = asked(capsys, "sync", "--project", "4")
    assert status == 1
    assert "database" in err
    assert "secret-word" not in err
    assert err.count("\n") == 1


def test_the_doctor_speaks(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = asked(capsys, "doctor")
    assert "LABEL_STUDIO_API_KEY is not set" in out
    assert "personal access token" in out


def test_settings_are_noted_and_forgotten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'data' / 'softirr.sqlite3'}")
    store.migrate()
    store.ensure_project("http://localhost:8080", 4)
    store.close()

    def line(name: str, *arguments: str) -> list[Any]:
        status, out, err = asked(capsys, "settings", "--project", "4", *arguments)
        assert status == 0, err
        return next(words for words in map(str.split, out.splitlines()) if words[0] == name)

    assert line("threshold") == ["threshold", "0.5", "default"]
    assert line("threshold", "--threshold", "0.7") == ["threshold", "0.7", "softirr-ls"]
    assert line("predictions", "--predictions", "always") == ["predictions", '"always"', "softirr-ls"]
    assert line("threshold") == ["threshold", "0.7", "softirr-ls"]
    assert asked(capsys, "settings", "--project", "4", "--panel", "always")[0] == 2
    assert line("policy")[-1] == "default"
    assert '["severity"],' in line("policy", "--ignore", "severity")
    assert '"count":' in (decided := line("policy", "--count", "side, severity")) and '["side",' in decided
    assert asked(capsys, "settings", "--project", "4", "--count", "mood")[0] == 2
    assert asked(capsys, "settings", "--project", "4", "--count", "side", "--ignore", "side")[0] == 2
    assert line("policy", "--policy", "exact-concept")[-1] == "softirr-ls"
    assert '"strict",' in line("policy")
    assert asked(capsys, "settings", "--project", "4", "--ignore", "mood")[0] == 2
    assert line("threshold", "--reset") == ["threshold", "0.5", "default"]
