"""Logs of evaluations of language models."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.answers.formats.common import ANSWERS, ITEMS, by_item, json_lines


def of_model(rater: str) -> list[tuple[str, str, str | None]]:
    """Item, answer of a model, and the reference, which is what cy wrote."""
    return [(item, ANSWERS[item, rater], ANSWERS.get((item, "cy"))) for item in ITEMS if (item, rater) in ANSWERS]


def inspect_logs(folder: Path) -> Path:
    """Inspect, log version 2: an .eval archive of one model, and a JSON log of another."""
    root = folder / "inspect"
    root.mkdir()
    logs = {}
    for rater in ("ann", "bob"):
        samples = [
            {
                "id": int(item),
                "epoch": 1,
                "input": f"Case {item}",
                "target": target or "",
                "messages": [],
                "output": {
                    "model": rater,
                    "choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}],
                    **({"completion": text} if rater == "bob" else {}),
                },
                "scores": {"match": {"value": "C", "answer": text}},
            }
            for item, text, target in of_model(rater)
        ]
        logs[rater] = {"version": 2, "status": "success", "eval": {"task": "findings", "model": rater}}, samples
    header, samples = logs["ann"]
    with zipfile.ZipFile(root / "2026_findings_ann.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": header["eval"]}))
        archive.writestr("summaries.json", json.dumps([{"id": one["id"], "epoch": 1} for one in samples]))
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
    header, samples = logs["bob"]
    last = {"id": 5, "epoch": 1, "target": ANSWERS["5", "cy"], "output": {"choices": []}, "error": {"message": "x"}}
    (root / "2026_findings_bob.json").write_text(json.dumps({**header, "samples": [*samples, last]}))
    return root


def openai_items(folder: Path) -> Path:
    """OpenAI evals, a page of output items of two runs."""
    items = []
    for rater in ("ann", "bob"):
        for item, text, target in of_model(rater):
            ids = {"id": f"outputitem_{rater}{item}", "run_id": f"evalrun_{rater}", "datasource_item_id": int(item)}
            output = [{"role": "assistant", "content": text}]
            sample = {"model": rater, "output": output, "error": {"code": None, "message": None}}
            data = {"input": f"Case {item}", **({"ideal": target} if target else {})}
            results = [{"name": "match", "passed": True, "score": 1.0}]
            own = {"datasource_item": data, "results": results, "sample": sample}
            items.append({"object": "eval.run.output_item", **ids, **own})
    path = folder / "output_items.json"
    path.write_text(json.dumps({"object": "list", "data": items, "has_more": False}, indent=1), encoding="utf-8")
    return path


def oaieval(folder: Path) -> Path:
    """oaieval: the specification, then events."""
    root = folder / "evallogs"
    root.mkdir()
    for rater in ("ann", "bob"):
        lines: list[Any] = [{"spec": {"completion_fns": [rater], "eval_name": "findings.dev.v0", "run_id": rater}}]
        for item, text, target in of_model(rater):
            event = {"run_id": rater, "event_id": len(lines), "sample_id": f"findings.dev.{item}"}
            lines.append({**event, "type": "sampling", "data": {"prompt": [], "sampled": [text]}})
            data = {"correct": False, "expected": target, "picked": None, "sampled": text}
            lines.append({**event, "type": "match", "data": data})
        json_lines([*lines, {"final_report": {"accuracy": 0.0}}], root / f"{rater}.jsonl")
    return root


def mlflow_tables(folder: Path) -> Path:
    """MLflow, eval_results_table.json of two models."""
    root = folder / "mlflow"
    root.mkdir()
    for rater in ("ann", "bob"):
        data = [[f"Case {item}", target, text, 1] for item, text, target in of_model(rater)]
        table = {"columns": ["inputs", "ground_truth", "outputs", "token_count"], "data": data}
        (root / f"{rater}.json").write_text(json.dumps(table), encoding="utf-8")
    return root


def langsmith(folder: Path) -> Path:
    """LangSmith, examples of a dataset with the runs of two experiments."""
    given = {item: dict(answers) for item, answers in by_item()}
    examples = [
        {
            "id": f"3f1c-{item}",
            "dataset_id": "d",
            "inputs": {"question": f"Case {item}"},
            "outputs": {"answer": given[item]["cy"]} if "cy" in given[item] else {},
            "runs": [
                {"id": "r", "session_id": f"session-{rater}", "outputs": {"answer": text}, "error": None}
                for rater, text in given[item].items()
                if rater != "cy"
            ],
        }
        for item in ITEMS
    ]
    (folder / "langsmith.json").write_text(json.dumps(examples), encoding="utf-8")
    return folder / "langsmith.json"


def langsmith_feedback(folder: Path) -> Path:
    """LangSmith, a page of examples with the runs of two experiments, and people's feedback on them."""
    root = folder / "langsmith"
    root.mkdir()
    examples, feedback = [], []
    for item, answers in by_item():
        given = dict(answers)
        runs = [
            {"id": f"r-{rater}-{item}", "project_id": f"session-{rater}", "outputs": {"answer": given[rater]}}
            for rater in ("ann", "bob")
            if rater in given
        ]
        examples.append({"id": f"3f1c-{item}", "inputs": {"question": f"Case {item}"}, "outputs": {}, "runs": runs})
        if "cy" in given:
            who = {"type": "app", "user_id": "uuid-cy", "user_name": "reviewer cy"}
            about = {"id": f"f-{item}", "run_id": runs[-1]["id"], "modified_at": f"2026-03-0{item}T11:00:00"}
            values = {"key": "finding", "score": None, "value": given["cy"], "comment": None, "correction": None}
            feedback.append({**about, **values, "feedback_source": who})
    (root / "examples.json").write_text(json.dumps({"items": examples, "next_cursor": None}), encoding="utf-8")
    json_lines(feedback, root / "feedback.jsonl")
    return root


def langfuse(folder: Path) -> Path:
    """Langfuse, blob storage: a trace with a generation for each answer of a model, and text scores by an annotator."""
    root = folder / "langfuse"
    generations, scores = [], []
    for item, answers in by_item():
        given = dict(answers)
        for rater in ("ann", "bob"):
            if rater in given:
                ids = {"id": f"o-{rater}-{item}", "trace_id": f"t-{rater}-{item}", "project_id": "p"}
                kind = {"type": "GENERATION", "name": "find", "level": "DEFAULT", "provided_model_name": rater}
                times = {"start_time": f"2026-03-0{item} 10:00:00.000000", "end_time": None}
                texts = {"input": f"Case {item}", "output": json.dumps({"role": "assistant", "content": given[rater]})}
                generations.append({**ids, **kind, **times, **texts})
        if "cy" in given:
            about = {"trace_id": generations[-1]["trace_id"], "observation_id": None, "session_id": None}
            value = {"name": "finding", "value": 0, "data_type": "TEXT", "string_value": given["cy"]}
            who = {"source": "ANNOTATION", "author_user_id": "user-cy", "comment": None}
            scores.append({"id": f"s-{item}", "timestamp": f"2026-03-0{item} 11:00:00.000000", **about, **value, **who})
    for name, entries in (("observations_v2", generations), ("scores", scores)):
        (root / "p" / name).mkdir(parents=True)
        json_lines(entries, root / "p" / name / "2026-03-09.jsonl")
    return root
