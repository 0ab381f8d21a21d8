"""Exports of survey tools as people have them: the suggested command is right, and names no private column."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import softirr
from softirr.cli.main import main
from tests import Cli
from tests.answers.formats.common import text_table, workbook
from tests.answers.plain_rows import left_out, refusal, rows

ANSWERS = {
    "ann": ("high blood pressure", "fever", "left knee pain"),
    "ben": ("hypertension", "high fever", "pain in the left knee"),
    "cy": ("raised pressure", "fever", "knee pain"),
}
PICTURES = [f"What do you see in picture {n}?" for n in (1, 2, 3)]
AT = "2026-01-05 10:00:00"


def survey(head: list[str], before: Any, after: tuple[str, ...] = ()) -> list[list[str]]:
    """A row for each respondent; `before` gives the cells before the answers."""
    return [head, *([*before(n, who), *own, *after] for n, (who, own) in enumerate(ANSWERS.items(), start=1))]


def qualtrics(
    questions: list[str], texts: list[str], ids: list[str], answers: list[list[str]], has_ids: bool = True
) -> list[list[str]]:
    """The three header rows of Qualtrics and its responses."""
    names = ["StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished"]
    names += ["RecordedDate", "ResponseId", "RecipientLastName", "RecipientFirstName", "RecipientEmail"]
    names += ["ExternalReference", "LocationLatitude", "LocationLongitude", "DistributionChannel", "UserLanguage"]
    words = ["Start Date", "End Date", "Response Type", "IP Address", "Progress", "Duration (in seconds)", "Finished"]
    words += ["Recorded Date", "Response ID", "Recipient Last Name", "Recipient First Name", "Recipient Email"]
    words += ["External Data Reference", "Location Latitude", "Location Longitude"]
    words += ["Distribution Channel", "User Language"]
    imported = [json.dumps({"ImportId": one}) for one in (*names, *ids)]
    table = [[*names, *questions], [*words, *texts], *([imported] if has_ids else [])]
    for n, own in enumerate(answers):
        row = [AT, AT, "IP Address", f"84.2.1.{n}", "100", "300", "True", AT, f"R_3abc{n}", "Doe", "Jo", "jo@x.org"]
        table.append([*row, "", "47.5", "7.6", "anonymous", "EN", *own])
    return table


ROLE = ["Q1", "Q2", "Q3", "Q4", "Q4_3_TEXT"]
ROLE_TEXTS = [*PICTURES, "What is your role? - Selected Choice", "What is your role? - Other - Text"]
ROLE_IDS = ["QID1_TEXT", "QID2_TEXT", "QID3_TEXT", "QID4", "QID4_3_TEXT"]
NURSES = [[*own, "Nurse", ""] for own in ANSWERS.values()]
KOBO = ["_id", "_uuid", "_submission_time", "_validation_status", "_notes", "_status", "_submitted_by", "__version__"]
SUBMITTED = ("3001", "u-1", AT, "", "", "submitted_via_web", "", "vX")
LIME = ["id", "submitdate", "lastpage", "startlanguage", "seed"]
LISTED = shlex.quote(",".join(PICTURES))

FORMS: dict[str, tuple[list[list[str]], str]] = {
    "Qualtrics": (qualtrics(ROLE, ROLE_TEXTS, ROLE_IDS, NURSES), "--rater ResponseId --items Q1,Q2,Q3"),
    "Qualtrics, line breaks in the questions": (
        qualtrics(ROLE, [one.replace(" in ", "\nin ") for one in ROLE_TEXTS], ROLE_IDS, NURSES),
        "--rater ResponseId --items Q1,Q2,Q3",
    ),
    "Qualtrics with two header rows": (
        qualtrics(ROLE[:3], ROLE_TEXTS[:3], [], [list(own) for own in ANSWERS.values()], has_ids=False),
        "--rater ResponseId --items Q1,Q2,Q3",
    ),
    "Qualtrics, coded by two people": (
        qualtrics(
            ["Q1", "Coder_Ann", "Coder_Ben"],
            ["What was hard?", "", ""],
            ["QID1_TEXT", "", ""],
            [["I was so stressed", "stress", "work stress"], ["My boss", "boss", "conflict with boss"]],
        ),
        "--item ResponseId --raters Coder_Ann,Coder_Ben",
    ),
    "KoBoToolbox": (
        survey(
            ["start", "end", "Your name", "Picture 1", "Picture 2", "Picture 3", *KOBO],
            lambda n, who: [AT, AT, who],
            SUBMITTED,
        ),
        "--rater 'Your name' --items 'Picture 1,Picture 2,Picture 3'",
    ),
    "KoBoToolbox, a response for each case": (
        [
            ["start", "end", "username", "Coder name", "Case number", "What do you see?", "group_x/notes", *KOBO],
            *(
                [AT, AT, who, who, str(n), text, "", *SUBMITTED]
                for who, own in ANSWERS.items()
                for n, text in enumerate(own)
            ),
        ],
        "--item 'Case number' --rater 'Coder name' --text 'What do you see?'",
    ),
    "KoBoToolbox, several choices": (
        [
            ["Coder", "Case", "Signs", "Signs/fever", "Signs/rash", *KOBO],
            *(
                [who, case, signs, str(int("fever" in signs)), str(int("rash" in signs)), *SUBMITTED]
                for who, case, signs in (
                    *(("ann", "c1", "fever rash"), ("ben", "c1", "fever"), ("ann", "c2", "rash")),
                    *(("ben", "c2", "rash"), ("ann", "c3", "itch"), ("ben", "c3", "itch")),
                )
            ),
        ],
        "--item Case --rater Coder --text Signs",
    ),
    "LimeSurvey, codes": (
        survey(
            [*LIME, "ipaddr", "name", "pic[SQ1]", "pic[SQ2]", "pic[SQ3]"],
            lambda n, who: [str(n), AT, "3", "en", "77", "10.0.0.1", who],
        ),
        "--rater name --items 'pic[SQ1],pic[SQ2],pic[SQ3]'",
    ),
    "LimeSurvey, questions": (
        survey(
            ["Response ID", "Date submitted", "Last page", "Start language", "Seed", "Access code", *PICTURES],
            lambda n, who: [str(n), AT, "3", "en", "77", who],
        ),
        f"--rater 'Access code' --items {LISTED}",
    ),
    "LimeSurvey, German": (
        survey(
            ["Antwort ID", "Datum Abgeschickt", "Letzte Seite", "Start-Sprache", "Zufallsstartwert", *PICTURES],
            lambda n, who: [str(n), AT, "3", "de", "77"],
        ),
        f"--rater 'Antwort ID' --items {LISTED}",
    ),
    "Microsoft Forms, German": (
        survey(
            ["ID", "Startzeit", "Fertigstellungszeit", "E-Mail", "Name", *PICTURES],
            lambda n, who: [str(n), AT, AT, f"{who}@example.org", who],
        ),
        f"--rater Name --items {LISTED}",
    ),
    "LimeSurvey, codes and questions": (
        survey(
            ["id. Response ID", "submitdate. Date submitted", "lastpage. Last page", "seed. Seed", "token. Access code"]
            + [f"case{n}. {text}" for n, text in enumerate(PICTURES)],
            lambda n, who: [str(n), AT, "3", "77", who],
        ),
        "--rater 'token. Access code' --items "
        + shlex.quote(",".join(f"case{n}. {text}" for n, text in enumerate(PICTURES))),
    ),
    "LimeSurvey without names": (
        survey([*LIME, "case1", "case2", "case3"], lambda n, who: [str(n), AT, "3", "en", "77"]),
        "--rater id --items case1,case2,case3",
    ),
    "Google Forms": (
        survey(["Timestamp", "Email Address", "Your name", *PICTURES], lambda n, who: [AT, f"{who}@x.org", who]),
        f"--rater 'Your name' --items {LISTED}",
    ),
    "Google Forms, a response for each case": (
        [
            ["Timestamp", "Coder", "Case ID", "What is the main finding?"],
            *([AT, who, f"C{n}", text] for who, own in ANSWERS.items() for n, text in enumerate(own)),
        ],
        "--item 'Case ID' --rater Coder --text 'What is the main finding?'",
    ),
    "Microsoft Forms": (
        survey(
            ["Id", "Start time", "Completion time", "Email", "Name", *PICTURES],
            lambda n, who: [str(n), AT, AT, f"{who}@x.org", who],
        ),
        f"--rater Name --items {LISTED}",
    ),
    "Microsoft Forms without names": (
        survey(
            ["Id", "Start time", "Completion time", "Email", "Name", *PICTURES],
            lambda n, who: [str(n), AT, AT, "anonymous", ""],
        ),
        f"--rater Id --items {LISTED}",
    ),
}


def written(table: list[list[str]], path: Path) -> Path:
    return workbook(table, path) if path.suffix == ".xlsx" else text_table(table, path, encoding="utf-8-sig")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("name", FORMS)
def test_the_suggested_command_reads_the_answers(
    name: str, ending: str, tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    table, words = FORMS[name]
    path = written(table, tmp_path / f"a.{ending}")
    assert main(["inspect", str(path)]) == 2
    assert capsys.readouterr().err.endswith(f": use {words}.\n")
    coefficients = cli("score", path, "--measure", "indel", "--json", *shlex.split(words))["coefficients"]
    given = (
        table[3:]
        if name.startswith("Qualtrics") and "two header" not in name
        else table[2 if "two header" in name else 1 :]
    )
    option, column, _, *_ = shlex.split(words)
    keys = {row[table[0].index(column)] for row in given}
    read = softirr.read(path, **{one[2:]: value for one, value in zip(*[iter(shlex.split(words))] * 2, strict=True)})
    assert set(read.raters if option == "--rater" else read.items) == keys
    assert coefficients


NO_NAMES = {
    "anonymous form": survey(["Timestamp", *PICTURES], lambda n, who: [AT]),
    "form with addresses": survey(["Timestamp", "Email Address", *PICTURES], lambda n, who: [AT, f"{who}@x.org"]),
    "form without names and ids": survey(
        ["StartDate", "EndDate", "IPAddress", "Progress", "RecipientEmail", "DistributionChannel", "UserLanguage"]
        + PICTURES,
        lambda n, who: [AT, AT, "10.0.0.1", "100", f"{who}@x.org", "email", "EN"],
    ),
}


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_form_without_names_asks_for_a_column_of_them(name: str, tmp_path: Path, cli: Cli) -> None:
    table = NO_NAMES[name]
    path = written(table, tmp_path / "a.csv")
    message = cli("inspect", path, status=2)
    assert "add a column of names or numbers, and name it with --rater COLUMN --items" in message
    assert "use --" not in message
    words = message.split("--rater COLUMN ")[1].rstrip(".")
    named = [[*row, "Nr" if n == 0 else str(n)] for n, row in enumerate(table)]
    assert main(["score", str(written(named, path)), "--rater", "Nr", *shlex.split(words), "--measure", "indel"]) == 0


def test_ids_of_responses_are_no_respondents_where_somebody_answered_twice(tmp_path: Path) -> None:
    path = tmp_path / "kobo.csv"
    head = "_id,_uuid,_submission_time,Your name,Picture 1,Picture 2"
    path.write_text(
        f"{head}\n1,u,2026-01-01,ann,fever,rash\n2,v,2026-01-01,bob,hot,itch\n3,x,2026-01-02,bob,hot,itch\n"
    )
    with pytest.raises(softirr.InputError) as caught:
        softirr.read(path)
    assert "_uuid," in str(caught.value) and "use rater" not in str(caught.value)
    assert "no column that names the respondent" not in str(caught.value)


def test_columns_of_people_are_no_items_of_qualtrics(tmp_path: Path) -> None:
    path = written(FORMS["Qualtrics"][0], tmp_path / "a.csv")
    table = softirr.read(path, rater="ResponseId", items="Q*")
    assert set(table.items) == {*ROLE}
    assert any("were left out: StartDate, EndDate, Status, IPAddress" in one for one in table.warnings)
    assert "no column like 'Recipient" in refusal(path, rater="ResponseId", items="Recipient*")
    assert set(softirr.read(path, rater="IPAddress", items="Q1,Q2").raters) == {f"84.2.1.{n}" for n in range(3)}


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_rows_below_a_table_are_left_out_with_a_note(ending: str, tmp_path: Path) -> None:
    table = [["Round 1", "", ""], ["case", "ann", "ben"], ["1", "fever", "high fever"], ["2", "rash", "rash"]]
    plain = softirr.read(written(table, tmp_path / f"plain.{ending}"), item="case", raters="ann,ben")
    below = [*table, ["", "", ""], ["Source: ward 7", "", ""], ["Exported in January", "", ""]]
    read = softirr.read(written(below, tmp_path / f"below.{ending}"), item="case", raters="ann,ben")
    assert rows(read) == rows(plain) and read.items == plain.items
    assert any(
        "2 rows below the table were left out: Source: ward 7, Exported in January." in one for one in read.warnings
    )


def test_an_item_that_nobody_answered_is_no_footer(tmp_path: Path) -> None:
    table = [["case", "ann", "ben"], ["case 1", "fever", "high fever"], ["case 2", "", ""]]
    read = softirr.read(written(table, tmp_path / "a.csv"), item="case", raters="ann,ben")
    assert read.items == ("case 1", "case 2")
    table = [*table[:2], ["", "", ""], ["case 2", "", ""], ["case 3", "rash", "rash"]]
    assert len(softirr.read(written(table, tmp_path / "b.csv"), item="case", raters="ann,ben").items) == 3


def test_previews_of_a_survey_are_left_out(tmp_path: Path) -> None:
    table = qualtrics(ROLE, ROLE_TEXTS, ROLE_IDS, NURSES)
    place = table[0].index("Status")
    for number, kind in ((3, "Survey Preview"), (4, "2")):
        table[number][place] = kind
    path = text_table(table, tmp_path / "q.csv")
    one = softirr.read(path, rater="ResponseId", items="Q*")
    assert len(one.raters) == len(table) - 5
    assert "2 responses of the survey's preview or test were left out." in one.warnings


@pytest.mark.parametrize("value", ["False", "0", "FALSE"])
def test_unfinished_responses_of_qualtrics_count_with_a_note(value: str, tmp_path: Path) -> None:
    table = qualtrics(ROLE, ROLE_TEXTS, ROLE_IDS, NURSES)
    table[3][table[0].index("Finished")] = value
    read = softirr.read(written(table, tmp_path / "q.csv"), rater="ResponseId", items="Q*")
    assert len(read.raters) == 3
    note = "1 unfinished response counts (Finished is False): to leave it out, remove the row."
    assert note in read.warnings
    coded = softirr.read(tmp_path / "q.csv", item="ResponseId", raters="Q1,Q2")
    assert note not in coded.warnings


LIME_ANSWERS = [["ann", "fever", "rash"], ["ben", "hot", "itch"], ["cy", "high fever", ""]]


@pytest.mark.parametrize("column", ["submitdate", "submitdate. Date submitted", "Date submitted", "Datum Abgeschickt"])
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_unfinished_responses_of_limesurvey_are_drafts(column: str, ending: str, tmp_path: Path) -> None:
    head = ["id", column, "lastpage", "seed", "token", "case1", "case2"]
    dates = [AT, AT, ""]
    table = [head, *([str(n), at, "3", "7", *own] for n, (at, own) in enumerate(zip(dates, LIME_ANSWERS, strict=True)))]
    read = softirr.read(written(table, tmp_path / f"a.{ending}"), rater="token", items="case*")
    assert read.raters == ("ann", "ben")
    assert left_out(read) == [("case1", "cy", "draft, not submitted")]
    assert any(f"1 unfinished response without a date in {column!r} was left out." in one for one in read.warnings)


def test_a_finished_response_counts_beside_an_unfinished_one_of_the_same_person(tmp_path: Path) -> None:
    head = ["id", "submitdate", "lastpage", "token", "case1"]
    table = [head, ["1", AT, "3", "ann", "fever"], ["2", AT, "3", "ben", "hot"], ["3", "", "1", "ann", "rash"]]
    read = softirr.read(written(table, tmp_path / "a.csv"), rater="token", items="case1")
    assert sorted(rows(read)) == sorted(
        rows(softirr.read(written(table[:3], tmp_path / "b.csv"), rater="token", items="case1"))
    )
    assert [one.rater for one in read.excluded] == ["ann"]


def test_drafts_of_a_response_for_each_case_are_left_out(tmp_path: Path) -> None:
    head = ["id", "submitdate", "lastpage", "who", "case", "finding"]
    given = [("ann", "1", AT), ("ben", "1", AT), ("ann", "2", AT), ("ben", "2", "")]
    table = [head, *([str(n), at, "3", who, case, "fever"] for n, (who, case, at) in enumerate(given))]
    read = softirr.read(written(table, tmp_path / "a.csv"), item="case", rater="who", text="finding")
    assert read.items == ("1", "2") and [(one.item, one.rater) for one in read.excluded] == [("2", "ben")]


def test_responses_that_coders_judge_count_though_unfinished(tmp_path: Path) -> None:
    head = ["id", "submitdate", "lastpage", "seed", "Ann", "Ben"]
    table = [head, ["1", AT, "3", "7", "stress", "work stress"], ["2", "", "1", "7", "boss", "conflict"]]
    read = softirr.read(written(table, tmp_path / "a.csv"), item="id", raters="Ann,Ben")
    assert read.items == ("1", "2") and not read.excluded


def test_where_no_response_has_a_date_all_count_with_a_note(tmp_path: Path) -> None:
    head = ["id", "submitdate", "lastpage", "token", "case1"]
    table = [head, ["1", "", "3", "ann", "fever"], ["2", "", "3", "ben", "hot"]]
    read = softirr.read(written(table, tmp_path / "a.csv"), rater="token", items="case1")
    assert read.raters == ("ann", "ben") and not read.excluded
    assert "No response has a date in 'submitdate', so unfinished responses count." in read.warnings
