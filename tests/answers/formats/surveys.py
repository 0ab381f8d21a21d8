"""Exports of survey forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.answers.formats.common import ANSWERS, ITEMS, RATERS, by_item, text_table, workbook


def redcap(folder: Path) -> Path:
    """REDCap 14, export of all data as CSV (raw).

    A record for each case and reader, ``--1`` and ``--2`` apart by an own field.
    """
    head = ["record_id", "redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance", "reader", "finding"]
    head.append("reading_complete")
    table = [head]
    for item, given in by_item():
        table += [[item, "visit_arm_1", "reading", n, r, t, "2"] for n, (r, t) in enumerate(given, start=1)]
    return text_table(table, folder / "redcap.csv")


def survey(head: list[str], aside: Callable[[str], list[str]]) -> list[list[Any]]:
    """A row for each respondent, a column for each case."""
    return [head] + [[*aside(rater), *(ANSWERS.get((item, rater), "") for item in ITEMS)] for rater in RATERS]


def qualtrics(folder: Path) -> Path:
    """Qualtrics, export as CSV with two further header rows: the question's text and the import id."""
    names = ["StartDate", "Status", "Finished", "ResponseId", "RecipientEmail", *(f"Q{item}" for item in ITEMS)]
    table = survey(names, lambda r: ["2026-01-05 10:00:00", "IP Address", "True", r, ""])
    texts = ["Start Date", "Response Type", "Finished", "Response ID", "Recipient Email", *(f"Case {i}" for i in ITEMS)]
    ids = [json.dumps({"ImportId": name}) for name in names]
    return text_table([names, texts, ids, *table[1:]], folder / "qualtrics.csv", encoding="utf-8-sig")


def surveymonkey(folder: Path) -> Path:
    """SurveyMonkey, all responses as CSV: a second header row, empty but below questions."""
    head = ["Respondent ID", "Collector ID", "IP Address", *(f"What do you see in picture {item}?" for item in ITEMS)]
    head.append("How sure are you?")
    table = survey(head, lambda r: [r, "77", "10.0.0.1"])
    second = ["", "", "", *["Open-Ended Response"] * len(ITEMS), "Response"]
    return text_table([head, second, *([*row, "5"] for row in table[1:])], folder / "surveymonkey.csv")


def limesurvey(folder: Path) -> Path:
    """LimeSurvey 6, export as CSV with question codes; semicolons, as a German Excel wants them."""
    head = ["id", "submitdate", "lastpage", "startlanguage", "seed", "token", *(f"case{item}" for item in ITEMS)]
    table = survey(head, lambda r: [str(RATERS.index(r) + 1), "1980-01-01 00:00:00", "3", "de", "12345", r])
    return text_table(table, folder / "limesurvey.csv", ";", "utf-8-sig")


def kobo(folder: Path) -> Path:
    """KoBoToolbox, all submissions as CSV: semicolons, and the columns of the tool behind the questions."""
    head = ["start", "end", "Your name", *(f"Picture {item}" for item in ITEMS), "_id", "_uuid", "_submission_time"]
    head += ["_validation_status", "_notes", "_status", "_submitted_by", "__version__", "_tags", "_index"]
    table = survey(head, lambda r: ["2026-01-05T10:00:00.000+01:00", "2026-01-05T10:05:00.000+01:00", r])
    after = ["30", "u-1", "2026-01-05T09:05:00", "", "", "submitted_via_web", "", "vX", "", "1"]
    return text_table([head, *([*row, *after] for row in table[1:])], folder / "kobo.csv", ";", "utf-8-sig")


def google_forms(folder: Path) -> Path:
    """Google Forms, responses downloaded as CSV."""
    head = ["Timestamp", "Email Address", *(f"What do you see in picture {item}, in short?" for item in ITEMS)]
    return text_table(survey(head, lambda r: ["2026/01/05 10:00:00 AM GMT+1", r]), folder / "google.csv")


def microsoft_forms(folder: Path) -> Path:
    """Microsoft Forms, responses opened in Excel."""
    head = ["Id", "Start time", "Completion time", "Email", "Name", *(f"Picture {item}" for item in ITEMS)]
    aside = lambda r: [RATERS.index(r) + 1, "2026-01-05", "2026-01-05", "anonymous", r]  # noqa: E731
    return workbook(survey(head, aside), folder / "forms.xlsx")
