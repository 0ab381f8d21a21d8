"""Terminologies of a project: the operator names them, scores and codes come from them, and nothing else is opened."""

from pathlib import Path
from typing import Any

import pytest

from ml_backend.cli import main
from ml_backend.options import checked_options
from ml_backend.project_settings import effective, refused
from ml_backend.settings import Settings
from tests.meaning.terminology.terms import FEVER_OBO
from tests.ml_backend.seeded_store import NUMBER, Seeded

TASKS = {
    101: {"2": ["fever"], "3": ["pyrexia"]},
    102: {"2": ["dry cough"], "3": ["cough"]},
    103: {"2": ["rash"], "3": ["exanthema"]},
}
CONFIG = """<View><Text name="text" value="$text"/><TextArea name="findings" toName="text"/>
<Choices name="code" toName="text" choice="single">
<Choice value="Fever" alias="HP:0001945"/><Choice value="HP:0012735 Cough"/></Choices>
<Taxonomy name="tree" toName="text"><Choice value="Finding"><Choice value="HP:0001945"/></Choice></Taxonomy>
<Choices name="other" toName="text"><Choice value="yes"/></Choices></View>"""


@pytest.fixture
def obo(tmp_path: Path) -> str:
    (tmp_path / "hp.obo").write_text(FEVER_OBO)
    return str(tmp_path / "hp.obo")


@pytest.fixture
def seeded(tmp_path: Path) -> Seeded:
    seeded = Seeded(tmp_path / "data")
    seeded.put(TASKS)
    seeded.update(required=2)
    return seeded


def details(seeded: Seeded, number: int) -> dict[str, Any]:
    stored: dict[str, Any] = seeded.task(number)["details"]
    return stored


def test_scores_come_from_the_terminology(seeded: Seeded, obo: str) -> None:
    seeded.score(terminologies=(obo,))
    stored = {number: details(seeded, number)["controls"]["findings"] for number in TASKS}
    assert [stored[number]["agreement"] for number in (101, 102)] == [1.0, 0.0]
    assert stored[101]["matches"][0]["sources"] == ["terminology"]
    assert stored[103]["matches"][0]["sources"] == ["measure"]


def test_the_panel_never_shows_the_path(seeded: Seeded, obo: str) -> None:
    seeded.score(terminologies=(obo,))
    panel = seeded.as_person().get("/api/panel", query_string={"project": NUMBER, "task": 101, "k": seeded.key()}).json
    assert panel["status"] == "ready" and obo not in str(panel)


def test_the_terminologys_content_is_part_of_the_provenance(seeded: Seeded, obo: str) -> None:
    scorer = seeded.services.scorer
    provenance_before = scorer.provenance("indel", terminologies=(obo,))
    assert [terminology["name"] for terminology in provenance_before["terminologies"]] == ["hp"]
    Path(obo).write_text(FEVER_OBO.replace("Pyrexia", "Febris"))
    provenance_after = scorer.provenance("indel", terminologies=(obo,))
    assert provenance_before["terminologies"] != provenance_after["terminologies"], (
        "a changed file is read again, and tasks are scored anew"
    )
    assert "terminologies" not in scorer.provenance("indel")


def test_only_the_operator_names_files(obo: str) -> None:
    options = checked_options({"terminologies": [obo]}, source="the connection")
    settings = Settings.from_environment({})
    assert set(refused(settings, options)) == {"terminologies"}
    assert effective(settings, connection=options).values.terminologies == ()
    assert not settings.allows_measure(f"terminology:{obo}")
    assert not settings.allows_measure("terminology:/etc/passwd")
    layers = effective(settings, command_options=options)
    assert layers.values.terminologies == (obo,)
    assert layers.to_dict()["terminologies"]["value"] == ["hp"], "pages show names, no folders"


def test_the_command_reads_the_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("SOFTIRR_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "x")
    (tmp_path / "bad.obo").write_text("<html>")
    for path, problem in ((tmp_path / "none.obo", "does not exist"), (tmp_path / "bad.obo", "bad.obo, line 1")):
        assert main(["sync", "--project", "1", "--terminology", str(path)]) == 2
        assert problem in capsys.readouterr().err
