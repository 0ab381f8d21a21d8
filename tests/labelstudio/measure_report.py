"""Waiting for the first scores of a project, and for its report."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.labelstudio.backend import Commands
from tests.labelstudio.conftest import Harness, annotation
from tests.labelstudio.measured_rows import Table


def first_report(
    table: Table, ls: Harness, folder: Path, raters: Sequence[int], texts: Callable[[random.Random], list[str]]
) -> None:
    """From connecting a project, with the bundled model and an empty store, to its first scores and its report."""

    def paragraph(source: random.Random) -> str:
        sentences = (" ".join(texts(source)[:2]).capitalize() for _ in range(5))
        return " ".join(f"{sentence} since {source.randint(2, 30)} days." for sentence in sentences)

    for name, n_tasks, n_raters, write in (
        ("40 tasks x 3, paragraphs", 40, 3, paragraph),
        ("2000 tasks x 2, short texts", 2000, 2, lambda source: texts(source)[0]),
    ):
        source, project = random.Random(n_tasks), ls.create_project()
        tasks = []
        for number in range(n_tasks):
            answers = [write(source) for _ in range(n_raters)]
            answers[1:] = [answers[0] if source.random() < 0.25 else answer for answer in answers[1:]]
            answered = [annotation(rater, [text]) for rater, text in zip(raters, answers, strict=False)]
            tasks.append({"data": {"text": f"Narrative {number}"}, "annotations": answered})
        ls.import_tasks(project, tasks)
        commands = Commands(
            folder / str(project),
            ls.url,
            ls.token,
            environment={"SOFTIRR_MEASURE": "nli", "OMP_NUM_THREADS": str(os.cpu_count())},
        )
        with commands.serve() as serving:
            began = time.perf_counter()
            commands.json("connect", "--project", str(project), "--url", serving.url)
            store = commands.store()
            while not ls.api.get("/api/predictions/", project=project):
                time.sleep(0.1)
            scores_after = time.perf_counter() - began
            while not (row := store.project_by_id(1)) or not (row["summary"] or {}).get("controls"):
                time.sleep(0.1)
            table.row(f"{name}: first scores, report", f"{scores_after:.1f} s, {time.perf_counter() - began:.1f} s")
            store.close()
