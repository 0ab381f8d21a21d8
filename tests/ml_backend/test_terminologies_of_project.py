"""Terminologies of a project: the operator names them, scores and codes come from them, and nothing else is opened."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from ml_backend.cli import main
from ml_backend.labelstudio.config import PredictionChecker, coded_controls, text_controls
from ml_backend.labelstudio.predictions import build
from ml_backend.options import checked_options
from ml_backend.settings import ProjectSettings, Settings, effective, refused
from softirr.errors import InputError
from tests.ml_backend.seeded_store import NUMBER, Seeded

OBO = """format-version: 1.2

[Term]
id: HP:0001945
name: Fever
synonym: "Pyrexia" EXACT []

[Term]
id: HP:0012735
name: Cough

[Term]
id: HP:0031246
name: Nonproductive cough
synonym: "Dry cough" EXACT []
is_a: HP:0012735
"""
TASKS = {
    101: {"2": ["fever"], "3": ["pyrexia"]},
    102: {"2": ["dry cough"], "3": ["coughs"]},
    103: {"2": ["rash"], "3": ["exanthema"]},
}
CONFIG = """<View><Text name="text" value="$text"/><TextArea name="findings" toName="text"/>
<Choices name="code" toName="text" choice="single"><Choice value="Fever" alias="HP:0001945"/><Choice value="HP:0012735 Cough"/></Choices>
<Taxonomy name="tree" toName="text"><Choice value="Finding"><Choice value="HP:0001945"/></Choice></Taxonomy>
<Choices name="other" toName="text"><Choice value="yes"/></Choices></View>"""


@pytest.fixture
def obo(tmp_path: Path) -> str:
    (tmp_path / "hp.obo").write_text(OBO)
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


def test_scores_and_codes_come_from_the_terminology(seeded: Seeded, obo: str) -> None:
    seeded.score(terminologies=(obo,))
    stored = {number: details(seeded, number)["controls"]["findings"] for number in TASKS}
    assert [stored[number]["agreement"] for number in (101, 102)] == [1.0, 0.0]
    assert stored[102]["matches"][0]["relation"] == "second is more general"
    (code,) = stored[101]["matches"][0]["codes"]
    assert (code["id"], stored[101]["matches"][0]["sources"]) == ("HP:0001945", ["terminology"])
    assert stored[103]["matches"][0]["sources"] == ["measure"]
    (codes,) = stored[101]["suggestion_codes"].values()
    assert codes == [code]
    indexes = seeded.services.settings.data / "terminologies"
    assert len(list(indexes.iterdir())) == 1, "the index is a file that all processes share"


def test_the_panel_shows_codes(seeded: Seeded, obo: str) -> None:
    seeded.score(terminologies=(obo,))
    shown = seeded.as_person().get("/api/panel", query_string={"project": NUMBER, "task": 101, "k": seeded.key()}).json
    assert shown["matches"][0]["codes"][0]["id"] == "HP:0001945"
    assert [code["id"] for codes in shown["suggestion_codes"].values() for code in codes] == ["HP:0001945"]
    assert obo not in str(shown)


def test_predictions_suggest_choices_with_these_codes(seeded: Seeded, obo: str) -> None:
    seeded.score(terminologies=(obo,))
    prediction = build(details(seeded, 101), text_controls(CONFIG), suggestions=True, coded=coded_controls(CONFIG))
    values = {region["from_name"]: region["value"] for region in prediction["result"]}
    assert values["code"] == {"choices": ["HP:0001945"]}, "the alias is the result of the choice"
    assert values["tree"] == {"taxonomy": [["Finding", "HP:0001945"]]}
    assert "other" not in values
    meta = prediction["result"][0]["meta"]
    assert [code["id"] for codes in meta["suggestion_codes"].values() for code in codes] == ["HP:0001945"]
    assert PredictionChecker(CONFIG).problem(prediction | {"model_version": "agreement"}) is None
    unknown = build(details(seeded, 103), text_controls(CONFIG), suggestions=True, coded=coded_controls(CONFIG))
    assert [region["type"] for region in unknown["result"]] == ["textarea"]


def test_the_report_has_coverage_and_the_codes_of_each_task(seeded: Seeded, obo: str) -> None:
    seeded.put({104: {"2": ["=1+1", "severe fever"], "3": ["Pyrexia"]}})
    seeded.score(terminologies=(obo,))
    ask = seeded.as_person()
    assert ask.get(f"/report/{NUMBER}/codes.csv").status_code == 404
    seeded.update(chosen={"terminologies": [obo]})
    page = ask.get(f"/report/{NUMBER}").text
    assert f"report/{NUMBER}/codes.csv" in page
    assert "They know 6 of 9 different texts, which are 67% of the texts given." in page
    assert 'id="h-codes"' in page and 'data-concepts="krippendorff_alpha"' in page
    answer = ask.get(f"/report/{NUMBER}/codes.csv")
    assert "attachment" in answer.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text.lstrip("\ufeff"))))
    concepts = {(row["task"], row["text"]): (row["concept"], row["how"]) for row in rows}
    assert rows[0]["annotator"] == "Ann Example"
    assert concepts["101", "fever"] == ("HP:0001945", "name")
    assert concepts["102", "coughs"] == ("HP:0012735", "variant")
    assert concepts["104", "severe fever"] == ("HP:0001945", "name, without severe")
    assert concepts["103", "rash"] == ("", "not known")
    assert concepts["104", "'=1+1"] == ("", "not known"), "spreadsheets take it for text"
    Path(obo).unlink()
    gone = ask.get(f"/report/{NUMBER}/codes.csv")
    assert gone.status_code == 503 and obo not in gone.text


def test_without_terminologies_there_are_no_codes(seeded: Seeded) -> None:
    seeded.score()
    assert "codes.csv" not in seeded.as_person().get(f"/report/{NUMBER}").text


def test_the_terminologys_content_is_part_of_the_provenance(seeded: Seeded, obo: str) -> None:
    scorer = seeded.services.scorer
    before = scorer.provenance("indel", terminologies=(obo,))
    assert [one["name"] for one in before["terminologies"]] == ["hp"]
    Path(obo).write_text(OBO.replace("Pyrexia", "Febris"))
    after = scorer.provenance("indel", terminologies=(obo,))
    assert before["terminologies"] != after["terminologies"], "a changed file is read again, and tasks are scored anew"
    assert "terminologies" not in scorer.provenance("indel")


def test_projects_without_terminologies_keep_their_scores() -> None:
    assert ProjectSettings().fingerprint() == "71b718ab8f799b34"


def test_only_the_operator_names_files(obo: str) -> None:
    asked = checked_options({"terminologies": [obo]}, source="the connection")
    settings = Settings.from_environment({})
    assert set(refused(settings, asked)) == {"terminologies"}
    assert effective(settings, connection=asked).values.terminologies == ()
    assert not settings.allows_measure(f"terminology:{obo}")
    assert not settings.allows_measure("terminology:/etc/passwd")
    chosen = effective(settings, chosen=asked)
    assert chosen.values.terminologies == (obo,)
    assert chosen.to_dict()["terminologies"]["value"] == ["hp"], "pages show names, no folders"


@pytest.mark.parametrize("value", ["hp.obo", [3], [""], {"a": "b"}])
def test_what_is_no_list_of_paths_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="a list of paths"):
        checked_options({"terminologies": value}, source="x")


def test_the_command_reads_the_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("SOFTIRR_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "x")
    (tmp_path / "bad.obo").write_text("<html>")
    for path, problem in ((tmp_path / "none.obo", "does not exist"), (tmp_path / "bad.obo", "bad.obo, line 1")):
        assert main(["sync", "--project", "1", "--terminology", str(path)]) == 2
        assert problem in capsys.readouterr().err
