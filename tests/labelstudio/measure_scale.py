"""How the backend stands up to big projects.

``python -m tests.labelstudio.measure_scale [--tasks 5000] [--large 50000]``.

Prints a table. Each comparison is within one run: a sync with bare pulling and bare writing, on the same
server. ``--parts`` runs the parts one by one, each on a separate server.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ml_backend.demo.server import label_studio
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.tasks import TASK_FIELDS
from tests.labelstudio.backend import Commands, Serving, descendants, wrong
from tests.labelstudio.conftest import Harness, annotation, textarea
from tests.labelstudio.measure_protocol import protocol, quiet
from tests.labelstudio.measure_report import first_report
from tests.labelstudio.measured_rows import Table, timed
from tests.ml_backend.store_calls import n_scored, scored_at

WORDS = """
acute chronic mild severe left right bilateral recurrent sudden partial total early late slow painful
head chest knee skin liver kidney heart stomach eye ear hand foot back neck shoulder hip throat lung
pain swelling rash failure bleeding infection weakness numbness spasm burning fracture itching
"""
ADJECTIVES, PARTS, NOUNS = (line.split() for line in WORDS.split("\n") if line)
PARTS_OF_IT = ["live", "report", "crowd", "memory"]


def texts(source: random.Random) -> list[str]:
    """Some three short findings."""
    return [
        f"{source.choice(ADJECTIVES)} {source.choice(PARTS)} {source.choice(NOUNS)}"
        for _ in range(source.choice((2, 3, 3, 4)))
    ]


def fill(ls: Harness, project: int, raters: Sequence[int], n: int) -> None:
    """Import `n` tasks with one answer of each rater; two raters of three mostly take over what the first wrote."""
    for start in range(0, n, 1000):
        source = random.Random(start)
        tasks = []
        for number in range(start, min(n, start + 1000)):
            first = texts(source)
            answers = [first] + [
                [text if source.random() < 0.5 else texts(source)[0] for text in first] for _ in raters[1:]
            ]
            given_annotations = [annotation(rater, answer) for rater, answer in zip(raters, answers, strict=True)]
            tasks.append({"data": {"text": f"Narrative {number}"}, "annotations": given_annotations})
        ls.import_tasks(project, tasks)


def bare(ls: Harness, project: int) -> tuple[float, float]:
    """Seconds for reading every task with its annotations and for writing one prediction for each, and nothing else."""

    def pull() -> list[int]:
        ids: list[int] = []
        page = 1
        while True:
            reply = ls.api.get(
                "/api/tasks", project=project, page=page, page_size=1000, fields="all", include=TASK_FIELDS
            )
            ids += [task["id"] for task in reply["tasks"]]
            if len(ids) >= reply["total"]:
                return ids
            page += 1

    pulled, numbers = timed(pull)
    region = {**textarea(["one finding", "another finding"])[0], "id": "bare"}
    body = [{"task": n, "model_version": "bare", "score": 0.5, "result": [region]} for n in numbers]
    wrote, reply = timed(lambda: ls.api.post(f"/api/projects/{project}/import/predictions", body))
    assert reply["created"] == len(numbers)
    ls.api.delete(f"/api/projects/{project}/model-versions/", {"model_version": "bare"})
    return pulled, wrote


@contextlib.contextmanager
def peak_memory(pid: Callable[[], int | None]) -> Iterator[dict[str, float]]:
    """Resident memory in MB of a process while the block runs: at the beginning and at most."""
    observed: dict[str, float] = {}
    finished = threading.Event()

    def watch() -> None:
        while not finished.wait(0.05):
            number = pid()
            with contextlib.suppress(OSError, IndexError):
                if number:
                    pages = int(Path(f"/proc/{number}/statm").read_text().split()[1])
                    megabytes = pages * os.sysconf("SC_PAGESIZE") / 1e6
                    observed.setdefault("first", megabytes)
                    observed["most"] = max(observed.get("most", 0.0), megabytes)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield observed
    finally:
        finished.set()
        thread.join()


def first_sync(table: Table, ls: Harness, folder: Path, project: int, n: int) -> Commands:
    initial = bare(ls, project)
    commands = Commands(folder, ls.url, ls.token)
    took, result = timed(lambda: json.loads(commands.run("sync", "--project", str(project), "--json").stdout))
    final = bare(ls, project)
    pull, write = (min(a, b) for a, b in zip(initial, final, strict=True))
    spread = f"{sum(initial):.1f} and {sum(final):.1f} s"
    table.row(f"{n} tasks x 3: bare pull, bare bulk write", f"{pull:.1f} s, {write:.1f} s (together {spread})")
    table.row(
        f"{n} tasks x 3: first sync, indel", f"{took:.1f} s: {took / (pull + write):.2f} times", "at most 2 times"
    )
    assert result["created"] == n, result
    second_took, result = timed(lambda: commands.sync(project))
    table.row(
        "second sync, everything read again",
        f"{second_took:.1f} s, {result['created'] + result['updated']} writes",
        "0 writes",
    )
    changes, _ = timed(lambda: commands.sync(project, "--changes"))
    table.row("sync --changes, nothing changed", f"{changes:.1f} s")
    return commands


def live(table: Table, ls: Harness, commands: Commands, serving: Serving, project: int, edits: int) -> None:
    commands.json("connect", "--project", str(project), "--url", serving.url)
    store = commands.store()
    quiet(store)
    tasks = ls.api.get("/api/tasks", project=project, page_size=edits, page=1, fields="all", include=TASK_FIELDS)
    waits, scored = [], []
    for number, task in enumerate(tasks["tasks"]):
        times_before = scored_at(store, 1)
        had = [p["score"] for p in ls.api.get("/api/predictions/", task=task["id"])]
        ls.api.patch(
            f"/api/annotations/{task['annotations'][0]['id']}/", {"result": textarea([f"unheard of {number}"])}
        )
        start = time.perf_counter()
        while [p["score"] for p in ls.api.get("/api/predictions/", task=task["id"])] == had:
            time.sleep(0.02)
            assert time.perf_counter() - start < 120, "the edit never showed"
        waits.append(time.perf_counter() - start)
        quiet(store)
        scored.append(n_scored(store, 1, times_before))
    table.row(
        f"edited annotation to prediction ({edits} edits)",
        f"median {statistics.median(waits):.2f} s, longest {max(waits):.2f} s",
        "within 3 s",
    )
    table.row("tasks scored for one edit", f"{max(scored)}", "1")
    store.close()


def memory(table: Table, ls: Harness, folder: Path, raters: Sequence[int], n: int) -> None:
    small, large = ls.create_project(), ls.create_project()
    fill(ls, small, raters, 200)
    fill(ls, large, raters, n)
    commands = Commands(folder, ls.url, ls.token)
    maximum = {}
    for name, project in (("small", small), ("large", large)):
        process: list[subprocess.Popen[bytes]] = []
        with peak_memory(lambda process=process: process[0].pid if process else None) as observed:
            start = time.perf_counter()
            process.append(
                subprocess.Popen(
                    commands.command("sync", "--project", str(project), "--json"),
                    env=commands.environment,
                    stdout=subprocess.DEVNULL,
                )
            )
            assert process[0].wait() == 0
            took = time.perf_counter() - start
        maximum[name] = observed["most"]
    table.row(f"{n} tasks x 3: first sync", f"{took:.0f} s")
    grows = maximum["large"] - maximum["small"]
    table.row(
        f"resident memory, {n} tasks against 200",
        f"{maximum['large']:.0f} against {maximum['small']:.0f} MB: +{grows:.0f} MB",
        "under +300 MB",
    )
    client = Client(ls.url, ls.token)
    model_versions = client.model_versions(large)
    table.row(f"predictions of {n} tasks", str(model_versions.get("agreement", 0)))
    client.close()


def crowd(table: Table, ls: Harness, folder: Path, people: int) -> None:
    """A project with three of many people on each task, and a task that was annotated again and again."""
    names = [
        {"email": f"person{k}@example.org", "username": f"person{k}", "first_name": f"P{k}"} for k in range(people)
    ]
    raters = [int(ls.api.post("/api/users/", name)["id"]) for name in names]
    source = random.Random(0)
    wide, deep = ls.create_project(), ls.create_project()
    for _ in range(4):
        given_annotations = [
            [annotation(rater, texts(source)) for rater in source.sample(raters, 3)] for _ in range(500)
        ]
        ls.import_tasks(
            wide,
            [
                {"data": {"text": "Narrative"}, "annotations": task_annotations}
                for task_annotations in given_annotations
            ],
        )
    answers = [annotation(raters[k % 4], texts(source)) for k in range(5000)]
    ls.import_tasks(deep, [{"data": {"text": "Narrative"}, "annotations": answers}])
    for name, project in ((f"2000 tasks x 3 of {people} people", wide), ("one task with 5000 annotations", deep)):
        commands = Commands(folder / str(project), ls.url, ls.token)
        took, _ = timed(lambda commands=commands, project=project: commands.sync(project))
        changes, _ = timed(lambda commands=commands, project=project: commands.sync(project, "--changes"))
        table.row(f"{name}: first sync, sync --changes", f"{took:.1f} s, {changes:.1f} s")
        check(ls, folder, project)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.labelstudio.measure_scale", description=__doc__)
    parser.add_argument("--tasks", type=int, default=5000)
    parser.add_argument(
        "--large", type=int, default=50_000, help="tasks for the measurement of memory; 0 leaves it out"
    )
    parser.add_argument("--edits", type=int, default=10)
    parser.add_argument("--people", type=int, default=1200, help="users for the measurement of crowds")
    parser.add_argument("--parts", nargs="+", choices=PARTS_OF_IT, default=PARTS_OF_IT)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, label_studio(Path(folder) / "server") as server:
        ls, scratch = Harness(server), Path(folder)
        raters = [ls.create_user().id for _ in range(3)]
        table = Table()
        if "live" in options.parts:
            project = ls.create_project()
            fill(ls, project, raters, options.tasks)
            commands = first_sync(table, ls, scratch / "state", project, options.tasks)
            with commands.serve() as serving:
                live(table, ls, commands, serving, project, options.edits)
                protocol(table, ls, commands, serving, project)
                memory_of(table, serving)
            check(ls, scratch, project)
        if "report" in options.parts:
            first_report(table, ls, scratch / "report", raters, texts)
        if "crowd" in options.parts:
            crowd(table, ls, scratch, options.people)
        if "memory" in options.parts and options.large:
            memory(table, ls, scratch / "large", raters, options.large)
    return 0


def memory_of(table: Table, serving: Serving) -> None:
    for pid in descendants(serving.process.pid):
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[-40:].strip()
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            table.row(f"resident memory of …{name}", f"{pages * os.sysconf('SC_PAGESIZE') / 1e6:.0f} MB")


def check(ls: Harness, folder: Path, project: int) -> None:
    """All of it is worth nothing unless the predictions are right."""
    differences = wrong(ls, project, folder)
    assert not differences, json.dumps(differences[:5])


if __name__ == "__main__":
    raise SystemExit(main())
