"""What reasons add to the first sync: ``python -m tests.labelstudio.measure_reasons [--tasks 50000] [--rounds 1]``.

Syncs the same project with and without reasons, in turn, each time in a new process with a new store. Label Studio is
the fake server of ``tests/ml_backend``, in the same process: it takes much less time than a real one, so the share that
reasons have of the whole is higher here. Prints processor time, wall time and peak memory.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def one_sync(n: int, *, reasons: bool) -> dict[str, float]:
    """Seconds and megabytes of one first sync of `n` tasks with three answers each."""
    from tests.labelstudio.measure_scale import texts
    from tests.ml_backend.bench import Bench

    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        source = random.Random(0)
        for _ in range(n):
            first = texts(source)
            other_texts = [[text if source.random() < 0.5 else texts(source)[0] for text in first] for _ in range(2)]
            bench.fake.add_task(dict(enumerate([first, *other_texts], start=1)))
        if not reasons:
            leave_out_reasons()
        gc.collect()
        gc.freeze()  # the fake server's objects are none of the backend's
        initial = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        wall, cpu = time.perf_counter(), time.process_time()
        result = bench.sync()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert result.created == n, result
        pairs = (bench.row["summary"]["controls"]["findings"]["reasons"] or {"pairs": 0})["pairs"]
        bench.store.close()
    maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"cpu": cpu, "wall": wall, "memory": maximum / 1024, "before": initial / 1024, "pairs": pairs}


def leave_out_reasons() -> None:
    """Score tasks and the project without reasons."""
    import ml_backend.review.project_summary as summary
    from softirr.report import agreement, item_agreement

    item_agreement.explainer = agreement.explainer = lambda *_, **__: None
    summary.counted_reasons = lambda *_: (None, [])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.labelstudio.measure_reasons", description=__doc__)
    parser.add_argument("--tasks", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--one", choices=("with", "without"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(one_sync(options.tasks, reasons=options.one == "with")))
        return 0
    print(
        "| first sync, indel | processor | wall | peak memory | pairs with a reason |\n|---|---|---|---|---|",
        flush=True,
    )
    best: dict[str, float] = {}
    for _ in range(options.rounds):
        for which in ("without", "with"):
            command = [
                sys.executable,
                "-m",
                "tests.labelstudio.measure_reasons",
                "--tasks",
                str(options.tasks),
                "--one",
                which,
            ]
            usage: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            best[which] = min(usage["cpu"], best.get(which, usage["cpu"]))
            print(
                f"| {options.tasks} tasks x 3, {which} reasons | {usage['cpu']:.1f} s | {usage['wall']:.1f} s | "
                f"{usage['memory']:.0f} MB (before: {usage['before']:.0f}) | {usage['pairs']:,} |",
                flush=True,
            )
    print(f"Reasons add {best['with'] / best['without'] - 1:.0%} of processor time.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
