"""The same answers in every format that is read, each file after the format's documentation, and damaged ones."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

from tests.answers.formats import (
    annotation_tools,
    coders,
    language_tools,
    model_logs,
    statistics_files,
    surveys,
    table_files,
)

__all__ = ["COMMANDS", "DAMAGED", "FORMATS", "options"]

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
COMMANDS = dict(re.findall(r"^\| ([^|]+) \|[^|]*\| `(softirr score [^`]+)` \|", PAGE, flags=re.MULTILINE))
"""What the documentation shows for each format."""


def options(name: str) -> dict[str, str]:
    """The options of the documented command, for :func:`softirr.read`."""
    words = shlex.split(COMMANDS[name])[3:]
    return {option.removeprefix("--"): value for option, value in zip(words[::2], words[1::2], strict=True)}


FORMATS: dict[str, Callable[[Path], Path]] = {
    "CSV item,rater,text": table_files.long_csv,
    "long table": table_files.long_other_names,
    "wide CSV": table_files.wide_csv,
    "wide TSV": table_files.wide_tsv,
    "wide XLSX": table_files.wide_xlsx,
    "wide Parquet": table_files.wide_parquet,
    "JSONL item, rater, texts": table_files.jsonl,
    "JSON list": table_files.json_list,
    "log of language models": table_files.model_log,
    "REDCap": surveys.redcap,
    "Qualtrics": surveys.qualtrics,
    "SurveyMonkey": surveys.surveymonkey,
    "LimeSurvey": surveys.limesurvey,
    "KoBoToolbox": surveys.kobo,
    "Google Forms": surveys.google_forms,
    "Microsoft Forms": surveys.microsoft_forms,
    "Label Studio JSON": annotation_tools.label_studio,
    "Label Studio JSON_MIN": annotation_tools.json_min,
    "Label Studio CSV": annotation_tools.label_studio_csv,
    "Prodigy": annotation_tools.prodigy,
    "Argilla": annotation_tools.argilla_flat,
    "Argilla JSON": annotation_tools.argilla_json,
    "Hugging Face": annotation_tools.hugging_face,
    "doccano": annotation_tools.doccano_zip,
    "Labelbox": annotation_tools.labelbox,
    "Inspect": model_logs.inspect_logs,
    "OpenAI evals": model_logs.openai_items,
    "OpenAI evals, oaieval": model_logs.oaieval,
    "MLflow": model_logs.mlflow_tables,
    "LangSmith": model_logs.langsmith,
    "LangSmith with feedback": model_logs.langsmith_feedback,
    "Langfuse": model_logs.langfuse,
    "LightTag": annotation_tools.lighttag,
    "Datasaur": annotation_tools.datasaur,
    "doccano 1.0": annotation_tools.doccano_users,
    "INCEpTION agreement": language_tools.inception_csv,
    "INCEpTION project": language_tools.inception_zip,
    "UIMA CAS XMI": language_tools.uima_xmi,
    "Potato": language_tools.potato_states,
    "Potato 1": language_tools.potato_lines,
    "brat": language_tools.brat,
    "AnnData": statistics_files.anndata,
    "wide ODS": table_files.wide_ods,
    "long XLS": table_files.long_xls,
    "SPSS": statistics_files.spss,
    "Stata": statistics_files.stata,
    "SAS": statistics_files.sas,
    "R": statistics_files.rds,
    "REFI-QDA project": coders.refi_qda,
    "REFI-QDA, a project for each coder": coders.refi_qda_folder,
    "QualCoder": coders.qualcoder,
    "Taguette": coders.taguette,
    "Taguette highlights": coders.taguette_highlights,
    "ATLAS.ti quotations": coders.atlas_ti,
    "MAXQDA coded segments": coders.maxqda,
    "NVivo coding references": coders.nvivo,
    "Dedoose excerpts": coders.dedoose,
    "QualCoder coding report": coders.qualcoder_report,
    "coded passages with places": coders.coded_places,
    "folder": table_files.folder_of_raters,
}
"""What writes the file of each format."""
DAMAGED = [
    ("CSV item,rater,text", "\r\n2,ann,fever", "\r\n2,fever", "expected item, rater and text"),
    ("long table", "remark", "said", "has no column 'remark'"),
    ("wide CSV", "fever,high fever", "fever,high fever,x,y", "6 cells where the header has 4"),
    ("JSONL item, rater, texts", '"texts": ["fever"]', '"texts": "fever"', "texts is not a list"),
    ("JSON list", '"answer": "fever"', '"answer": 5', "has 5, which is not a text"),
    ("log of language models", '"model": "bob"', '"model": ""', "model is missing"),
    ("REDCap", "visit_arm_1,reading,1,ann,fever,2", "visit_arm_1,reading,1,,fever,2", "reader is missing"),
    ("Qualtrics", "IP Address,True,ann", "IP Address,True,", "ResponseId is missing"),
    ("LimeSurvey", ";12345;ann", ";12345;", "token is missing"),
    ("KoBoToolbox", "05:00.000+01:00;ann", "05:00.000+01:00;", "Your name is missing"),
    ("Google Forms", "GMT+1,ann", "GMT+1,bob", "rater 'bob' has two answers"),
    ("Label Studio JSON", '"result":', '"reslt":', "result is missing"),
    ("Label Studio JSON_MIN", '"finding": "fever"', '"finding": 5', "finding has no texts"),
    ("Label Studio CSV", '"fever",2,', '"fever","",', "expected id, annotator and annotation_id"),
    (
        "Prodigy",
        '"_annotator_id": "findings-bob", "_session_id": "findings-bob"',
        '"_annotator_id": ""',
        "names an annotator",
    ),
    ("Prodigy", '"_input_hash": 1002,', "", "expected _input_hash"),
    ("Prodigy", '"_timestamp": ', '"_timestamp": "today", "at": ', "_timestamp is not a number"),
    ("Argilla", '"finding.responses.users": ', '"finding.responses.users": 1.5, "of": ', "not as Argilla writes them"),
    ("Labelbox", '"label_details": ', '"label_details": "ann", "of": ', "does not name its labeler"),
    ("Argilla", '["uuid-ann", "uuid-bob"]', '["uuid-ann"]', "differ in number from their users"),
    ("Argilla JSON", '"user_id": "uuid-bob"', '"user": 1', "has no user_id"),
    ("Labelbox", '"created_by": "bob@example.org"', '"created_by": null', "does not name its labeler"),
    ("Labelbox", '"labels": [', '"label": [', "has no list of labels"),
    ("OpenAI evals", '"model": "bob"', '"model": null', "does not name its model"),
    ("OpenAI evals", '"datasource_item": {', '"datasource": {', "no sample or no datasource_item"),
    ("LangSmith", '"session_id": "session-bob"', '"session": ""', "does not name its experiment"),
    ("LightTag", '"annotator": "bob"', '"annotator": " "', "names no annotator"),
    ("LightTag", '"classname": "fever"', '"classname": 5', "classname is no text"),
    ("LightTag", '"example_id": "uuid-2",\n', '"id": 2,\n', "expected an example of LightTag"),
    ("doccano 1.0", '"user": 2', '"users": 2', "names no user"),
    ("INCEpTION agreement", "0-4,fever,high fever,null", "0-4,fever,high fever,null,x", "10 cells"),
    ("coded passages with places", "Interview 1;201;", "Interview 1;;", "without their words or places in characters"),
]
"""Format, what is replaced in the text of its file, by what, and what the message then says."""
