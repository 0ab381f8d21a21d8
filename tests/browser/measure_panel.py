"""How long a reviewer waits for the panel in a project of 50,000 tasks.

``python -m tests.browser.measure_panel [TASKS] [FRAMES]``.

A store is seeded with scored tasks, the production web server is started over it, and a page that holds the panel in a
frame, as Label Studio does, opens one task after the other in Chromium. Printed are milliseconds from the frame's first
request to the drawn panel.
"""

from __future__ import annotations

import http.server
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

from ml_backend.auth.browser_auth import PERSON_COOKIE
from ml_backend.demo import example
from tests.browser.browsers import launched
from tests.ml_backend.seeded_store import NUMBER, RATERS, Seeded

HERE = Path(__file__).resolve().parent
PARENT = b"<!doctype html><title>Label Studio</title><body></body>"
OPEN = """(address) => new Promise((ready) => {
  document.querySelector('iframe')?.remove();
  const frame = document.createElement('iframe');
  frame.referrerPolicy = 'unsafe-url';
  frame.style.cssText = 'width:900px;height:320px';
  frame.src = address;
  document.body.append(frame);
  ready();
})"""


def seed(folder: Path, n: int, label_studio: str) -> Seeded:
    """A project of `n` tasks with the demo's answers over and over, scored."""
    seeded = Seeded(folder)
    store = seeded.store
    row = store.ensure_project(label_studio, 12)
    seeded.project = row["id"]
    store.update_project(
        row["id"],
        title="Large",
        raters=RATERS,
        required=2,
        pulled_at=1.0,
        controls=[{"name": "findings"}],
        connection={"mode": "connected"},
    )
    narratives = [n for n in example.narratives() if sum(bool(t) for t in n.answers.values()) > 1]
    random.seed(1)
    first_tasks = {k + 1: _answers(narrative) for k, narrative in enumerate(narratives)}
    seeded.put(first_tasks)
    seeded.score()
    rows = store.get_tasks(seeded.project, list(first_tasks))
    kept_rows = [rows[number] for number in first_tasks]
    for start in range(len(first_tasks) + 1, n + 1, 5000):
        numbers = range(start, min(n + 1, start + 5000))
        put_copies(seeded, {number: kept_rows[number % len(kept_rows)] for number in numbers})
    return seeded


def put_copies(seeded: Seeded, rows: dict[int, Any]) -> None:
    """Store tasks with the answers and results of others, and agreements that differ a little."""
    read = ("updated_at", "n_annotations", "answers", "answers_hash", "prediction_hash")
    seeded.store.put_read(
        seeded.project, [{key: row[key] for key in read} | {"number": number} for number, row in rows.items()]
    )
    seeded.store.put_scored(
        seeded.project,
        [
            {
                "number": number,
                "answers_hash": row["answers_hash"],
                "agreement": min(1.0, max(0.0, row["agreement"] + random.uniform(-0.05, 0.05))),
                "details": row["details"],
                "desired": None,
            }
            for number, row in rows.items()
        ],
    )


def _answers(narrative: Any) -> dict[str, list[str]]:
    given_texts = [list(texts) for texts in narrative.answers.values() if texts]
    return dict(zip(RATERS, given_texts, strict=False))


class Parent(http.server.BaseHTTPRequestHandler):
    """Stands for Label Studio's page: an address with project and task, and nothing else.

    The backend can't read it and reports that ("no JSON"): the store stays as it was seeded, and the panel is
    answered from the store.
    """

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PARENT)

    def log_message(self, *_: Any) -> None:
        pass


def main(n: int, frames: int) -> None:
    """Print the figures as JSON."""
    with tempfile.TemporaryDirectory() as scratch, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Parent) as parent:
        threading.Thread(target=parent.serve_forever, daemon=True).start()
        label_studio = f"http://127.0.0.1:{parent.server_port}"
        seeded = seed(Path(scratch), n, label_studio)
        key, token = seeded.key(), seeded.token("reviewer")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment = os.environ | {
            "LABEL_STUDIO_URL": label_studio,
            "LABEL_STUDIO_API_KEY": "none",
            "SOFTIRR_DATABASE_URL": seeded.settings.database_url,
            "SOFTIRR_DATA": scratch,
            "LOG_LEVEL": "ERROR",
        }
        server = subprocess.Popen(
            [sys.executable, "-m", "ml_backend", "serve", "--port", str(port)], env=environment, cwd=HERE.parents[1]
        )
        try:
            base = f"http://127.0.0.1:{port}"
            for _ in range(300):
                try:
                    urllib.request.urlopen(f"{base}/health", timeout=2)
                    break
                except OSError:
                    time.sleep(0.2)
            print(json.dumps({"tasks": n, "frames": frames, **_measured(base, label_studio, key, token, n, frames)}))
        finally:
            server.terminate()
            server.wait(30)
            parent.shutdown()


def _measured(base: str, label_studio: str, key: str, token: str, n: int, frames: int) -> dict[str, float]:
    random.seed(2)
    with launched() as browser:
        context = browser.new_context()
        context.add_cookies([{"name": f"{PERSON_COOKIE}-{NUMBER}", "value": token, "url": base}])
        page = context.new_page()
        drawing_times, answer_times = [], []
        for turn in range(frames + 1):
            page.goto(f"{label_studio}/projects/12/data?tab=1&task={random.randint(1, n)}")
            page.evaluate(OPEN, f"{base}/panel?k={key}")
            frame = next(f for f in page.frames if f is not page.main_frame)
            frame.wait_for_selector("[data-agreement]")
            milliseconds = frame.evaluate(
                "() => [performance.getEntriesByName('softirr-panel')[0].startTime,"
                " performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/panel'))[0].duration]"
            )
            if turn:  # the first one fills the browser's cache, as the first task of the day does
                drawing_times.append(milliseconds[0])
                answer_times.append(milliseconds[1])
    return {
        "drawn_median_ms": round(statistics.median(drawing_times), 1),
        "drawn_p95_ms": round(float(np.percentile(drawing_times, 95)), 1),
        "answer_median_ms": round(statistics.median(answer_times), 1),
    }


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    main(*(arguments + [50_000, 40][len(arguments) :]))
