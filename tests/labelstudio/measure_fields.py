"""Processor time of a first sync of tasks with texts and six fields, divided by that of the texts alone.

``python -m tests.labelstudio.measure_fields --tasks 5000`` takes about a minute. Label Studio is a fake in this
process; its tasks are hidden from the garbage collector, because a server's are in another process.
"""

from __future__ import annotations

import argparse
import gc
import random
import tempfile
import time
from pathlib import Path

from tests.ml_backend.answered_fields import CONFIG, answers
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import LABEL_CONFIG, region

_WORDS = ("fever", "cough", "rash", "pain", "itch", "nausea", "vertigo", "headache", "fatigue", "chills", "sweat")


def seconds(n_tasks: int, *, fields: bool) -> float:
    """Processor time of the first sync of tasks with three annotators each."""
    fake, rng = FakeLabelStudio(CONFIG if fields else LABEL_CONFIG), random.Random(1)
    for _ in range(n_tasks):
        task = fake.add_task()
        for user in (1, 2, 3):
            given_answers = answers(task + rng.randrange(3), user)[1:7]
            texts = [" ".join(rng.sample(_WORDS, 3)), " ".join(rng.sample(_WORDS, 2))]
            fake.annotate(task, user, [], result=[region(texts), *(given_answers if fields else [])])
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), fake)
        gc.collect()
        gc.freeze()
        started = time.process_time()
        bench.sync()
        taken = time.process_time() - started
        gc.unfreeze()
        bench.store.close()
    return taken


def main() -> None:
    """Print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=5000)
    n_tasks = parser.parse_args().tasks
    for fields in (False, True):
        seconds(50, fields=fields)  # imports
    texts, texts_and_fields = (seconds(n_tasks, fields=fields) for fields in (False, True))
    print(f"texts {texts:.1f} s, texts and six fields {texts_and_fields:.1f} s: {texts_and_fields / texts:.2f} times")


if __name__ == "__main__":
    main()
