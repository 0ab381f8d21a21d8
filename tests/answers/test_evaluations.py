"""Logs of evaluations of models: single logs, epochs as raters, failures, several targets, and what is refused."""

from __future__ import annotations

import json
import re
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import softirr
from tests import Cli
from tests.answers.formats import common, model_logs
from tests.answers.plain_rows import answers, json_file, left_out, refusal

ZSTANDARD = bytes.fromhex("28b52ffd")
"""What data that is compressed with Zstandard begins with."""


def sample(id: int, text: Any, epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": id, "epoch": epoch, "target": "fever", "output": {"completion": text}, **more}


def log(path: Path, *samples: dict[str, Any], model: str = "lab/one") -> Path:
    path.write_text(json.dumps({"version": 2, "eval": {"task": "t", "model": model}, "samples": list(samples)}))
    return path


def test_one_eval_archive_is_a_log(tmp_path: Path) -> None:
    folder = model_logs.inspect_logs(tmp_path)
    table = softirr.read(next(folder.glob("*.eval")))
    assert set(table.raters) == {"model:ann", "reference"}
    assert answers(table)["1", "model:ann"] == ("high blood pressure",)


def zstandard(archive: Path, path: Path) -> Path:
    """The same archive as Inspect writes it: its files compressed with Zstandard, which zipfile can't write."""
    codec, written, directory = pyarrow.Codec("zstd"), b"", b""
    with zipfile.ZipFile(archive) as plain:
        for info in plain.infolist():
            content, name = plain.read(info), info.filename.encode()
            packed = codec.compress(content).to_pybytes()
            sizes = info.CRC, len(packed), len(content), len(name)
            directory += struct.pack(
                "<IHHHHHHIIIHHHHHII", 0x02014B50, 63, 63, 0, 93, 0, 0, *sizes, *[0] * 5, len(written)
            )
            directory += name
            written += struct.pack("<IHHHHHIIIHH", 0x04034B50, 63, 0, 93, 0, 0, *sizes, 0) + name + packed
        n = len(plain.infolist())
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, n, n, len(directory), len(written), 0)
    path.write_bytes(written + directory + end)
    return path


def test_an_archive_compressed_with_zstandard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = next(model_logs.inspect_logs(tmp_path).glob("*.eval"))
    packed = zstandard(plain, tmp_path / "packed.eval")
    assert answers(softirr.read(packed)) == answers(softirr.read(plain))
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(packed.read_bytes().replace(ZSTANDARD, b"nope", 1))
    assert "which is damaged or encrypted" in refusal(damaged)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "Zstandard, which needs pip install 'softirr[tables]'" in refusal(packed)


def test_an_interrupted_archive_has_the_model_in_its_journal(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample(1, "cough")))
    assert answers(softirr.read(path)) == {("1", "model:m"): ("cough",), ("1", "reference"): ("fever",)}


def test_epochs_are_raters_and_failures_are_listed(tmp_path: Path) -> None:
    path = log(
        tmp_path / "log.json",
        sample(1, "fever", attachments={}),
        sample(1, "cough", 2),
        sample(2, None, error={"message": "x"}),
        sample(2, "", 2),
        sample(3, "attachment://a", attachments={"a": "rash"}, target=["rash", "exanthema"]),
        sample(4, [{"type": "text", "text": "itch"}], target=""),
    )
    table = softirr.read(path)
    assert answers(table) == {
        ("1", "model:lab/one#1"): ("fever",),
        ("1", "model:lab/one#2"): ("cough",),
        ("2", "model:lab/one#2"): (),
        ("3", "model:lab/one#1"): ("rash",),
        ("4", "model:lab/one#1"): ("itch",),
        **{(item, "reference"): (text,) for item, text in (("1", "fever"), ("2", "fever"), ("3", "rash"))},
    }
    assert left_out(table) == [("2", "model:lab/one#1", "the model failed")]


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        ([sample(1, 5)], "an answer is not text"),
        ([sample(1, "a"), sample(1, "b", 2, target="rash")], "two references"),
        ([{"id": 1}], "has no output"),
        ([{**sample(1, "a"), "id": None}], "does not name its item"),
        ([{**sample(1, "a"), "epoch": "two"}], "epoch of a sample is no number"),
        ([{**sample(1, "a"), "output": {"choices": [{}]}}], "first choice of an output has no message"),
        ([{**sample(1, "a"), "output": {"choices": "x"}}], "first choice of an output has no message"),
        ([sample(1, "attachment://a", attachments=["a"])], "attachment that is not in the log"),
        ([sample(1, "attachment://a", attachments={})], "attachment that is not in the log"),
    ],
)
def test_what_is_no_log_is_refused(samples: list[dict[str, Any]], why: str, tmp_path: Path) -> None:
    assert re.search(why, refusal(log(tmp_path / "log.json", *samples)))


def test_a_table_of_mlflow_without_inputs_numbers_its_rows(tmp_path: Path) -> None:
    path = json_file(
        tmp_path / "eval_results_table.json", {"columns": ["outputs", "targets"], "data": [["a", "b"], [None, "c"]]}
    )
    assert answers(softirr.read(path)) == {
        ("1", "model:outputs"): ("a",),
        ("1", "reference"): ("b",),
        ("2", "reference"): ("c",),
    }
    path.write_text(json.dumps({"columns": ["outputs", "targets"], "data": [["a"]]}))
    assert "not as many values" in refusal(path)


def test_repetitions_in_langsmith_are_raters_and_an_output_is_chosen(tmp_path: Path) -> None:
    runs = [
        {"session_id": "s", "session_name": "gpt", "outputs": {"answer": text, "why": "x"}, "error": None}
        for text in ("fever", "cough")
    ]
    path = json_file(tmp_path / "runs.json", [{"id": "e", "inputs": {}, "outputs": {"answer": "rash"}, "runs": runs}])
    assert set(softirr.read(path, text="answer").raters) == {"model:gpt#1", "model:gpt#2", "reference"}
    assert "several outputs" in refusal(path)


def feedback(value: Any = None, user: str | None = "Ann", run: str = "r1", **more: Any) -> dict[str, Any]:
    """Feedback as the API of LangSmith gives it."""
    source = {"type": "app", "user_id": "u1", "user_name": user} if user else {"type": "api", "user_id": None}
    about = {"id": "f", "run_id": run, "key": "finding", "modified_at": "2026-03-02"}
    texts = {"score": None, "value": value, "comment": None, "correction": None}
    return {**about, **texts, "feedback_source": source, **more}


def reviewed(path: Path, *entries: dict[str, Any], **outputs: str) -> Path:
    """An example with the runs of two experiments, and feedback on them."""
    answers = outputs or {"answer": "fever"}
    runs = [{"id": f"r{n}", "session_id": f"s{n}", "outputs": answers} for n in (1, 2)]
    path.write_text(json.dumps([{"id": "e", "inputs": {}, "outputs": {}, "runs": runs}, *entries]))
    return path


def test_people_who_give_feedback_in_langsmith_are_raters(tmp_path: Path) -> None:
    evaluator = {"feedback_source": {"type": "model"}}
    path = reviewed(
        tmp_path / "runs.json",
        feedback("rash", run="r2"),
        feedback("itch", modified_at="2026-03-01"),
        feedback(user="Ben", key="fix", correction={"answer": "cough"}, comment="wrong", score=0),
        feedback(user="Cleo", correction="hot"),
        feedback(user="Dan", comment="warm"),
        feedback("yes", score=1, comment="a category"),
        feedback(score=0.5),
        feedback("a reason", **evaluator),
        feedback("elsewhere", run="r9"),
    )
    table = softirr.read(path)
    people = {"Ann": ("rash",), "Ben": ("cough",), "Cleo": ("hot",), "Dan": ("warm",)}
    models = {"model:s1": ("fever",), "model:s2": ("fever",)}
    assert answers(table) == {("e", rater): texts for rater, texts in (people | models).items()}
    assert [(one.rater, one.reason) for one in table.excluded] == [("Ann", "older answer of the same rater")]
    seen, *left_out = table.warnings
    assert "with the output of a model in view" in seen
    assert left_out == [
        "Feedback without a text, left out: 2.",
        "Feedback of evaluators, left out: 1.",
        "Feedback on other runs, left out: 1.",
    ]


def test_an_output_of_langsmith_goes_with_its_corrections_and_a_key_with_its_texts(tmp_path: Path) -> None:
    path = reviewed(tmp_path / "runs.json", feedback("rash"), feedback("rude", "Ben", key="tone"))
    assert "several keys (finding, tone): choose with" in refusal(path)
    assert answers(softirr.read(path, text="tone"))["e", "Ben"] == ("rude",)
    alone = softirr.read(path, text="answer")
    assert alone.raters == ("model:s1", "model:s2")
    assert alone.warnings == ("Feedback under other keys, left out: 2.",)
    reviewed(path, feedback("rash"), answer="fever", why="hot")
    assert "none is named 'finding' like the feedback" in refusal(path)
    assert "Ann" in softirr.read(reviewed(path, feedback("rash"), finding="fever", why="hot")).raters


def test_feedback_that_a_program_sent_to_langsmith_without_a_name(tmp_path: Path) -> None:
    path = reviewed(tmp_path / "runs.json", feedback("rash", None))
    assert answers(softirr.read(path))["e", "api"] == ("rash",)
    assert "several answers of people, and the feedback names none" in refusal(
        reviewed(path, feedback("rash", None), feedback("itch", None))
    )


def test_feedback_inside_of_a_run_of_langsmith_and_feedback_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    run = {"id": "r1", "session_id": "s", "outputs": {"answer": "fever"}, "feedback": [feedback("rash")]}
    path.write_text(json.dumps([{"id": "e", "inputs": {}, "outputs": {}, "runs": [run]}]))
    assert answers(softirr.read(path)) == {("e", "model:s"): ("fever",), ("e", "Ann"): ("rash",)}
    path.write_text(json.dumps([feedback("rash")]))
    assert "not the examples and runs that it is about" in refusal(path)


_RUN = {"session_id": "s", "session_name": "gpt", "outputs": {"answer": "fever"}}
_EXAMPLE = {"id": "e", "inputs": {}, "outputs": {"answer": "rash"}, "runs": [_RUN]}
_OUTPUT_ITEM = {
    "object": "eval.run.output_item",
    "datasource_item_id": 1,
    "datasource_item": {"ideal": "fever"},
    "sample": {"model": "gpt", "output": [{"role": "assistant", "content": "fever"}]},
}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ([{**_EXAMPLE, "outputs": ["rash"]}], "outputs of a run or an example have no names"),
        ([{**_EXAMPLE, "runs": [{**_RUN, "outputs": ["fever"]}]}], "outputs of a run or an example have no names"),
        ([{**_EXAMPLE, "runs": [{**_RUN, "session_name": {"a": 1}}]}], "does not name its experiment"),
        ({"columns": ["inputs", {}, "outputs"], "data": [["q", 1, "fever"]]}, "is one JSON object"),
        ({"columns": ["inputs", "outputs", "outputs"], "data": [["q", "a", "b"]]}, "two columns have the same name"),
        ([{**_OUTPUT_ITEM, "sample": {"model": "gpt", "output": 5}}], "output of a sample is not a list of messages"),
        ({"object": "list", "data": [_OUTPUT_ITEM, {"object": "x"}]}, "an entry of the list is no output item"),
    ],
)
def test_damaged_logs_are_refused_in_one_sentence(content: Any, why: str, tmp_path: Path) -> None:
    path = json_file(tmp_path / "log.json", content)
    assert re.search(why, refusal(path))


def test_one_completion_function_is_the_model(tmp_path: Path) -> None:
    match = {"type": "match", "sample_id": "a.1", "data": {"sampled": "fever", "expected": "fever"}}
    path = common.json_lines([{"spec": {"completion_fns": "gpt"}}, match], tmp_path / "log.jsonl")
    assert set(softirr.read(path).raters) == {"model:gpt", "reference"}


def test_lines_of_output_items(tmp_path: Path) -> None:
    page = json.loads(model_logs.openai_items(tmp_path).read_text())
    path = common.json_lines(page["data"], tmp_path / "items.jsonl")
    assert softirr.read(path).raters == softirr.read(tmp_path / "output_items.json").raters


def score(text: str, **more: Any) -> dict[str, Any]:
    """A score as the API of Langfuse gives it."""
    about = {"traceId": "t1", "name": "finding", "dataType": "TEXT", "source": "ANNOTATION"}
    return {**about, "stringValue": text, "timestamp": "2026-03-01", "authorUserId": "ann", **more}


def generation(output: Any, **more: Any) -> dict[str, Any]:
    about = {"id": "o1", "traceId": "t1", "type": "GENERATION", "model": "m", "startTime": "2026-03-01"}
    return {**about, "input": "Case 1", "output": output, **more}


def page(path: Path, *entries: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"data": list(entries), "meta": {"page": 1}}))
    return path


def test_pages_of_langfuse_have_annotators_evaluators_and_repeated_runs(tmp_path: Path) -> None:
    path = page(
        tmp_path / "page.json",
        generation("fever"),
        generation({"role": "assistant", "content": "cough"}, id="o2", traceId="t2", startTime="2026-03-02"),
        generation(None, id="o3", level="ERROR"),
        generation("lookup", type="TOOL"),
        score("rash"),
        score("itch", timestamp="2026-02-01"),
        score("hot", traceId="t2", authorUserId="ben"),
        score("warm", source="EVAL", authorUserId=None, evaluatorId="judge"),
        score("x", name="tone", dataType="NUMERIC"),
        score("no target", traceId="t9"),
    )
    table = softirr.read(path)
    assert answers(table) == {
        ("Case 1", "model:m#1"): ("fever",),
        ("Case 1", "model:m#2"): ("cough",),
        ("Case 1", "model:judge"): ("warm",),
        ("Case 1", "ann"): ("rash",),
        ("Case 1", "ben"): ("hot",),
        ("t9", "ann"): ("no target",),
    }
    reasons = {(one.rater, one.reason) for one in table.excluded}
    assert reasons == {("model:m#3", "the model failed"), ("ann", "older answer of the same rater")}


def test_langfuse_counts_scores_that_are_not_texts_and_takes_any_output(tmp_path: Path) -> None:
    path = page(
        tmp_path / "page.json", generation("[" * 100_000), score("rash"), score("x", name="tone", dataType="NUMERIC")
    )
    table = softirr.read(path)
    assert table.warnings == ("Scores that are not texts, left out: 1.",) and len(table.texts) == 2
    assert "does not name its annotator" in refusal(page(path, score("rash", authorUserId=["ann"])))


def test_files_of_langfuse_that_are_not_read_are_named(tmp_path: Path) -> None:
    folder = model_logs.langfuse(tmp_path)
    (folder / "scores.csv").write_text("id,name\n1,finding\n")
    assert softirr.read(folder).warnings == ("Only JSON and JSONL are read; left out: scores.csv.",)


def test_long_inputs_as_items_are_cut_on_the_terminal(tmp_path: Path, cli: Cli) -> None:
    """An item of Langfuse is a prompt."""
    path = page(tmp_path / "page.json", generation("fever", input="w" * 50_000), score("fever"))
    for command in (["inspect"], ["score", "--measure", "exact"]):
        out = cli(*command, path)
        assert "w…" in out and max(map(len, out.splitlines())) < 300


def test_langfuse_asks_for_a_score_and_for_names_of_annotators(tmp_path: Path) -> None:
    path = page(tmp_path / "page.json", score("rash"), score("sad", name="tone"))
    assert "several scores" in refusal(path)
    assert answers(softirr.read(path, text="tone")) == {("t1", "ann"): ("sad",)}
    page(path, score("rash", authorUserId=None), score("itch", authorUserId=None))
    assert "score_provenance" in refusal(path)
    page(path, score("rash", dataType="NUMERIC"))
    assert "no scores with texts and no generations" in refusal(path)
    page(path, score("rash"), {"id": "x"})
    assert "expected scores, observations or traces" in refusal(path)
