"""The same answers in every format that is read, each file after the format's documentation, and damaged ones."""

from __future__ import annotations

from tests.tables.formats import (
    annotation_tools,
    coders,
    language_tools,
    model_logs,
    statistics_files,
    surveys,
    table_files,
)
from tests.tables.formats.common import RATERS, Format

__all__ = ["FORMATS"]

WIDE = {"item": "id", "raters": RATERS}
LONG = {"item": "case", "rater": "nurse", "text": "remark"}
FORMATS: dict[str, Format] = {
    "CSV item,rater,text": Format(
        table_files.long_csv, damaged=(("\r\n2,ann,fever", "\r\n2,fever", "expected item, rater and text"),)
    ),
    "long table": Format(
        table_files.long_other_names,
        {"item": "case", "rater": "nurse", "text": "remark"},
        (("remark", "said", "has no column 'remark'"),),
    ),
    "wide CSV": Format(
        table_files.wide_csv, WIDE, (("fever,high fever", "fever,high fever,x,y", "6 cells where the header has 4"),)
    ),
    "wide TSV": Format(table_files.wide_tsv, WIDE),
    "wide XLSX": Format(table_files.wide_xlsx, WIDE),
    "wide Parquet": Format(table_files.wide_parquet, WIDE),
    "JSONL item, rater, texts": Format(
        table_files.jsonl, damaged=(('"texts": ["fever"]', '"texts": "fever"', "texts is not a list"),)
    ),
    "JSON list": Format(
        table_files.json_list, damaged=(('"answer": "fever"', '"answer": 5', "has 5, which is not a text"),)
    ),
    "log of language models": Format(
        table_files.model_log, damaged=(('"model": "bob"', '"model": ""', "model is missing"),)
    ),
    "REDCap": Format(
        surveys.redcap,
        {"item": "record_id", "rater": "reader", "text": "finding"},
        (("visit_arm_1,reading,1,ann,fever,2", "visit_arm_1,reading,1,,fever,2", "reader is missing"),),
    ),
    "Qualtrics": Format(
        surveys.qualtrics,
        {"rater": "ResponseId", "items": "Q*"},
        (("IP Address,True,ann", "IP Address,True,", "ResponseId is missing"),),
    ),
    "SurveyMonkey": Format(surveys.surveymonkey, {"rater": "Respondent ID", "items": "What do you see*"}),
    "LimeSurvey": Format(
        surveys.limesurvey, {"rater": "token", "items": "case*"}, ((";12345;ann", ";12345;", "token is missing"),)
    ),
    "KoBoToolbox": Format(
        surveys.kobo,
        {"rater": "Your name", "items": "Picture*"},
        (("05:00.000+01:00;ann", "05:00.000+01:00;", "Your name is missing"),),
    ),
    "Google Forms": Format(
        surveys.google_forms,
        {"rater": "Email Address", "items": "What do you see*"},
        (("GMT+1,ann", "GMT+1,bob", "rater 'bob' has two answers"),),
    ),
    "Microsoft Forms": Format(surveys.microsoft_forms, {"rater": "Name", "items": "Picture*"}),
    "Label Studio JSON": Format(
        annotation_tools.label_studio, damaged=(('"result":', '"reslt":', "result is missing"),)
    ),
    "Label Studio JSON_MIN": Format(
        annotation_tools.json_min, damaged=(('"finding": "fever"', '"finding": 5', "finding has no texts"),)
    ),
    "Label Studio CSV": Format(
        annotation_tools.label_studio_csv,
        damaged=(('"fever",2,', '"fever","",', "expected id, annotator and annotation_id"),),
    ),
    "Prodigy": Format(
        annotation_tools.prodigy,
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
        annotation_tools.argilla_flat,
        damaged=(('["uuid-ann", "uuid-bob"]', '["uuid-ann"]', "differ in number from their users"),),
    ),
    "Argilla JSON": Format(
        annotation_tools.argilla_json, damaged=(('"user_id": "uuid-bob"', '"user": 1', "has no user_id"),)
    ),
    "Hugging Face": Format(annotation_tools.hugging_face),
    "doccano": Format(annotation_tools.doccano_zip),
    "Labelbox": Format(
        annotation_tools.labelbox,
        damaged=(
            ('"created_by": "bob@example.org"', '"created_by": null', "does not name its labeler"),
            ('"labels": [', '"label": [', "has no list of labels"),
        ),
    ),
    "Inspect": Format(model_logs.inspect_logs),
    "OpenAI evals": Format(
        model_logs.openai_items,
        damaged=(
            ('"model": "bob"', '"model": null', "does not name its model"),
            ('"datasource_item": {', '"datasource": {', "no sample or no datasource_item"),
        ),
    ),
    "OpenAI evals, oaieval": Format(model_logs.oaieval),
    "MLflow": Format(model_logs.mlflow_tables),
    "LangSmith": Format(
        model_logs.langsmith,
        damaged=(('"session_id": "session-bob"', '"session": ""', "does not name its experiment"),),
    ),
    "LangSmith with feedback": Format(model_logs.langsmith_feedback),
    "Langfuse": Format(model_logs.langfuse),
    "LightTag": Format(
        annotation_tools.lighttag,
        damaged=(
            ('"annotator": "bob"', '"annotator": " "', "names no annotator"),
            ('"classname": "fever"', '"classname": 5', "classname is no text"),
            ('"example_id": "uuid-2",\n', '"id": 2,\n', "expected an example of LightTag"),
        ),
    ),
    "Datasaur": Format(annotation_tools.datasaur),
    "doccano 1.0": Format(annotation_tools.doccano_users, damaged=(('"user": 2', '"users": 2', "names no user"),)),
    "INCEpTION agreement": Format(
        language_tools.inception_csv,
        damaged=(("0-4,fever,high fever,null", "0-4,fever,high fever,null,x", "10 cells"),),
    ),
    "INCEpTION project": Format(language_tools.inception_zip),
    "UIMA CAS XMI": Format(language_tools.uima_xmi),
    "Potato": Format(language_tools.potato_states),
    "Potato 1": Format(language_tools.potato_lines),
    "brat": Format(language_tools.brat),
    "AnnData": Format(statistics_files.anndata, {**WIDE, "item": "index"}),
    "wide ODS": Format(table_files.wide_ods, WIDE),
    "long XLS": Format(table_files.long_xls, LONG),
    "SPSS": Format(statistics_files.spss, LONG),
    "Stata": Format(statistics_files.stata, LONG),
    "SAS": Format(statistics_files.sas, LONG),
    "R": Format(statistics_files.rds, LONG),
    "REFI-QDA project": Format(coders.refi_qda),
    "REFI-QDA, a project for each coder": Format(coders.refi_qda_folder),
    "QualCoder": Format(coders.qualcoder),
    "Taguette": Format(coders.taguette),
    "Taguette highlights": Format(coders.taguette_highlights),
    "ATLAS.ti quotations": Format(coders.atlas_ti),
    "MAXQDA coded segments": Format(coders.maxqda),
    "NVivo coding references": Format(coders.nvivo),
    "Dedoose excerpts": Format(coders.dedoose),
    "QualCoder coding report": Format(coders.qualcoder_report),
    "coded passages with places": Format(
        coders.coded_places,
        damaged=(("Interview 1;201;", "Interview 1;;", "without their words or places in characters"),),
    ),
    "folder": Format(table_files.folder_of_raters, {"item": "case", "text": "finding"}),
}
