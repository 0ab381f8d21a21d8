"""The same answers in every format that is read, each file after the format's documentation, and damaged ones."""

from __future__ import annotations

from tests.tables.formats.annotation_tools import (
    argilla_flat,
    argilla_json,
    datasaur,
    doccano_users,
    doccano_zip,
    hugging_face,
    json_min,
    label_studio,
    label_studio_csv,
    labelbox,
    lighttag,
    prodigy,
)
from tests.tables.formats.coders import (
    atlas_ti,
    coded_places,
    dedoose,
    maxqda,
    nvivo,
    qualcoder,
    qualcoder_report,
    refi_qda,
    refi_qda_folder,
    taguette,
    taguette_highlights,
)
from tests.tables.formats.common import (
    ANSWERS,
    ITEMS,
    RATERS,
    Format,
    json_lines,
    text_table,
    workbook,
)
from tests.tables.formats.language_tools import (
    brat,
    inception_csv,
    inception_zip,
    potato_lines,
    potato_states,
    uima_xmi,
)
from tests.tables.formats.model_logs import (
    inspect_logs,
    langfuse,
    langsmith,
    langsmith_feedback,
    mlflow_tables,
    oaieval,
    openai_items,
)
from tests.tables.formats.statistics_files import anndata, rds, sas, spss, stata
from tests.tables.formats.surveys import (
    google_forms,
    kobo,
    limesurvey,
    microsoft_forms,
    qualtrics,
    redcap,
    surveymonkey,
)
from tests.tables.formats.table_files import (
    folder_of_raters,
    json_list,
    jsonl,
    long_csv,
    long_other_names,
    long_xls,
    model_log,
    wide_csv,
    wide_ods,
    wide_parquet,
    wide_tsv,
    wide_xlsx,
)

__all__ = [
    "ANSWERS",
    "FORMATS",
    "ITEMS",
    "LONG",
    "RATERS",
    "WIDE",
    "Format",
    "anndata",
    "argilla_flat",
    "argilla_json",
    "atlas_ti",
    "brat",
    "coded_places",
    "datasaur",
    "dedoose",
    "doccano_users",
    "doccano_zip",
    "folder_of_raters",
    "google_forms",
    "hugging_face",
    "inception_csv",
    "inception_zip",
    "inspect_logs",
    "json_lines",
    "json_list",
    "json_min",
    "jsonl",
    "kobo",
    "label_studio",
    "label_studio_csv",
    "labelbox",
    "langfuse",
    "langsmith",
    "langsmith_feedback",
    "lighttag",
    "limesurvey",
    "long_csv",
    "long_other_names",
    "long_xls",
    "maxqda",
    "microsoft_forms",
    "mlflow_tables",
    "model_log",
    "nvivo",
    "oaieval",
    "openai_items",
    "potato_lines",
    "potato_states",
    "prodigy",
    "qualcoder",
    "qualcoder_report",
    "qualtrics",
    "rds",
    "redcap",
    "refi_qda",
    "refi_qda_folder",
    "sas",
    "spss",
    "stata",
    "surveymonkey",
    "taguette",
    "taguette_highlights",
    "text_table",
    "uima_xmi",
    "wide_csv",
    "wide_ods",
    "wide_parquet",
    "wide_tsv",
    "wide_xlsx",
    "workbook",
]

WIDE = {"item": "id", "raters": RATERS}
LONG = {"item": "case", "rater": "nurse", "text": "remark"}
FORMATS: dict[str, Format] = {
    "CSV item,rater,text": Format(
        long_csv, damaged=(("\r\n2,ann,fever", "\r\n2,fever", "expected item, rater and text"),)
    ),
    "long table": Format(
        long_other_names,
        {"item": "case", "rater": "nurse", "text": "remark"},
        (("remark", "said", "has no column 'remark'"),),
    ),
    "wide CSV": Format(
        wide_csv,
        WIDE,
        (("2,ann".replace("2,ann", "fever,high fever"), "fever,high fever,x,y", "6 cells where the header has 4"),),
    ),
    "wide TSV": Format(wide_tsv, WIDE),
    "wide XLSX": Format(wide_xlsx, WIDE),
    "wide Parquet": Format(wide_parquet, WIDE),
    "JSONL item, rater, texts": Format(
        jsonl, damaged=(('"texts": ["fever"]', '"texts": "fever"', "texts is not a list"),)
    ),
    "JSON list": Format(json_list, damaged=(('"answer": "fever"', '"answer": 5', "has 5, which is not a text"),)),
    "log of language models": Format(model_log, damaged=(('"model": "bob"', '"model": ""', "model is missing"),)),
    "REDCap": Format(
        redcap,
        {"item": "record_id", "rater": "reader", "text": "finding"},
        (("visit_arm_1,reading,1,ann,fever,2", "visit_arm_1,reading,1,,fever,2", "reader is missing"),),
    ),
    "Qualtrics": Format(
        qualtrics,
        {"rater": "ResponseId", "items": "Q*"},
        (("IP Address,True,ann", "IP Address,True,", "ResponseId is missing"),),
    ),
    "SurveyMonkey": Format(surveymonkey, {"rater": "Respondent ID", "items": "What do you see*"}),
    "LimeSurvey": Format(
        limesurvey, {"rater": "token", "items": "case*"}, ((";12345;ann", ";12345;", "token is missing"),)
    ),
    "KoBoToolbox": Format(
        kobo,
        {"rater": "Your name", "items": "Picture*"},
        (("05:00.000+01:00;ann", "05:00.000+01:00;", "Your name is missing"),),
    ),
    "Google Forms": Format(
        google_forms,
        {"rater": "Email Address", "items": "What do you see*"},
        (("GMT+1,ann", "GMT+1,bob", "rater 'bob' has two answers"),),
    ),
    "Microsoft Forms": Format(microsoft_forms, {"rater": "Name", "items": "Picture*"}),
    "Label Studio JSON": Format(label_studio, damaged=(('"result":', '"reslt":', "result is missing"),)),
    "Label Studio JSON_MIN": Format(
        json_min, damaged=(('"finding": "fever"', '"finding": 5', "finding has no texts"),)
    ),
    "Label Studio CSV": Format(
        label_studio_csv, damaged=(('"fever",2,', '"fever","",', "expected id, annotator and annotation_id"),)
    ),
    "Prodigy": Format(
        prodigy,
        damaged=(
            (
                '"_annotator_id": "findings-bob", "_session_id": "findings-bob"',
                '"_annotator_id": ""',
                "names an annotator",
            ),
            ('"_input_hash": 1002,', "", "expected _input_hash"),
        ),
    ),
    "Argilla": Format(
        argilla_flat, damaged=(('["uuid-ann", "uuid-bob"]', '["uuid-ann"]', "differ in number from their users"),)
    ),
    "Argilla JSON": Format(argilla_json, damaged=(('"user_id": "uuid-bob"', '"user": 1', "has no user_id"),)),
    "Hugging Face": Format(hugging_face),
    "doccano": Format(doccano_zip),
    "Labelbox": Format(
        labelbox,
        damaged=(
            ('"created_by": "bob@example.org"', '"created_by": null', "does not name its labeler"),
            ('"labels": [', '"label": [', "has no list of labels"),
        ),
    ),
    "Inspect": Format(inspect_logs),
    "OpenAI evals": Format(
        openai_items,
        damaged=(
            ('"model": "bob"', '"model": null', "does not name its model"),
            ('"datasource_item": {', '"datasource": {', "no sample or no datasource_item"),
        ),
    ),
    "OpenAI evals, oaieval": Format(oaieval),
    "MLflow": Format(mlflow_tables),
    "LangSmith": Format(
        langsmith, damaged=(('"session_id": "session-bob"', '"session": ""', "does not name its experiment"),)
    ),
    "LangSmith with feedback": Format(langsmith_feedback),
    "Langfuse": Format(langfuse),
    "LightTag": Format(
        lighttag,
        damaged=(
            ('"annotator": "bob"', '"annotator": " "', "names no annotator"),
            ('"classname": "fever"', '"classname": 5', "classname is no text"),
            ('"example_id": "uuid-2",\n', '"id": 2,\n', "expected an example of LightTag"),
        ),
    ),
    "Datasaur": Format(datasaur),
    "doccano 1.0": Format(doccano_users, damaged=(('"user": 2', '"users": 2', "names no user"),)),
    "INCEpTION agreement": Format(
        inception_csv, damaged=(("0-4,fever,high fever,null", "0-4,fever,high fever,null,x", "10 cells"),)
    ),
    "INCEpTION project": Format(inception_zip),
    "UIMA CAS XMI": Format(uima_xmi),
    "Potato": Format(potato_states),
    "Potato 1": Format(potato_lines),
    "brat": Format(brat),
    "AnnData": Format(anndata, {**WIDE, "item": "index"}),
    "wide ODS": Format(wide_ods, WIDE),
    "long XLS": Format(long_xls, LONG),
    "SPSS": Format(spss, LONG),
    "Stata": Format(stata, LONG),
    "SAS": Format(sas, LONG),
    "R": Format(rds, LONG),
    "REFI-QDA project": Format(refi_qda),
    "REFI-QDA, a project for each coder": Format(refi_qda_folder),
    "QualCoder": Format(qualcoder),
    "Taguette": Format(taguette),
    "Taguette highlights": Format(taguette_highlights),
    "ATLAS.ti quotations": Format(atlas_ti),
    "MAXQDA coded segments": Format(maxqda),
    "NVivo coding references": Format(nvivo),
    "Dedoose excerpts": Format(dedoose),
    "QualCoder coding report": Format(qualcoder_report),
    "coded passages with places": Format(
        coded_places,
        damaged=(("Interview 1;201;", "Interview 1;;", "without their words or places in characters"),),
    ),
    "folder": Format(folder_of_raters, {"item": "case", "text": "finding"}),
}
