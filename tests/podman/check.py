"""docker-compose.yml, built and run: from `up` to an audited edit, with Podman as root.

    make podman                                  or: python tests/podman/check.py [--folder FOLDER] [--keep]

Needs Debian's packages podman, debootstrap, docker-compose, openssl, netavark, aardvark-dns, catatonit, iptables and
runc; missing packages are named before anything is built. No registry is used: the backend's image is built by its
Dockerfile, the images around it are stand-ins made of Debian's packages and PyPI (tests/podman/recipes). The first
run takes some 15 minutes, nearly all of it for building; the folder keeps the layers.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests
import yaml
from engine import Compose, Engine, printed, why_not
from images import ROOT, build_all
from progress import PATIENCE, eventually, say, seen

from ml_backend.demo import example
from ml_backend.demo.server import Api, LabelStudio

FILE = ROOT / "docker-compose.yml"
ADDRESS = "127.0.0.77"  # of this machine, and nobody else's: the ports of the compose file may be taken on 127.0.0.1
ADMIN = "admin@example.org"


class Server(LabelStudio):
    """The Label Studio of the compose file, which is not ours to start."""

    def __init__(self, url: str) -> None:
        self.url = url

    def healthy(self) -> bool:
        return requests.get(f"{self.url}/health", timeout=5).ok


class Check:
    """One run of the whole file."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder = engine, folder
        self.file = folder / ".env"
        self._make_secrets()
        self.compose = Compose(engine, folder, [FILE], name="softirr-check")
        self.server = Server(f"http://{ADDRESS}:8080")
        self.backend = f"http://{ADDRESS}:9090"

    def _make_secrets(self) -> None:
        """Make the secrets with the command in the compose file's comment."""
        (command,) = re.findall(r"^#\s+(for name in .* > \.env)$", FILE.read_text(), re.M)
        printed(["sh", "-c", command], folder=self.folder)
        self.note(PUBLISH_ON=ADDRESS, LABEL_STUDIO_HOST=f"http://{ADDRESS}:8080", SOFTIRR_MEASURE="nli")

    def note(self, **variables: str) -> None:
        with self.file.open("a") as env:
            env.writelines(f"{name}={value}\n" for name, value in variables.items())

    def secret(self, name: str) -> str:
        (value,) = re.findall(rf"^{name}=(.*)$", self.file.read_text(), re.M)
        return str(value)

    def softirr(self, *arguments: str) -> Any:
        """A softirr-ls command in the container."""
        return json.loads(self.compose.run("exec", "-T", "softirr", "softirr-ls", *arguments, "--json"))

    # --- the steps ----------------------------------------------------------------------------------------------------

    def up(self) -> None:
        self.compose.run("up", "--detach", "--no-build", timeout=PATIENCE * 2)
        eventually("Label Studio answers", self.server.healthy)
        # Both start at once, on few processors.
        eventually("the backend answers", lambda: requests.get(f"{self.backend}/health", timeout=5).ok)

    def token(self) -> None:
        session = self.server.login(ADMIN, self.secret("LABEL_STUDIO_PASSWORD"))
        token = self.server.new_token(session)
        self.api = Api(self.server.url, token)
        self.note(LABEL_STUDIO_API_KEY=token)
        self.up()

    def project(self) -> None:
        """The demo's example project."""
        me = int(self.api.get("/api/current-user/whoami")["id"])
        people = {}
        for number, name in enumerate(example.annotators()):
            first, _, last = name.partition(" ")
            body = {
                "email": f"annotator{number}@example.org",
                "first_name": first,
                "last_name": last,
                "username": f"a{number}",
            }
            people[name] = int(self.api.post("/api/users/", body)["id"])
        config = (
            '<View><Text name="text" value="$text"/>'
            '<TextArea name="findings" toName="text" maxSubmissions="20" editable="true"/></View>'
        )
        self.number = int(self.api.post("/api/projects/", {"title": "Check", "label_config": config})["id"])
        tasks = [
            {
                "data": {"text": narrative.text},
                "annotations": [
                    {"completed_by": people.get(name, me), "result": textarea(texts)}
                    for name, texts in narrative.answers.items()
                    if texts is not None  # has not seen this one
                ],
            }
            for narrative in example.narratives()
        ]
        self.api.post(f"/api/projects/{self.number}/import", tasks)
        say(f"      a project of {len(tasks)} tasks and {len(people)} annotators")

    def connect(self) -> None:
        options = ("--panel-url", self.backend, "--label-studio-url", self.server.url)
        number = str(self.number)
        status, output = self.compose.status(
            *("exec", "-T", "softirr", "softirr-ls", "connect", "--project", number, "--url", "http://softirr:9090"),
            *options,
        )
        seen("connect refuses a host name without a dot", status == 2 and "softirr.internal" in output)
        seen("and leaves no connection", self.api.get("/api/ml/", project=self.number) == [])
        connected = self.softirr("connect", "--project", number, "--url", "http://softirr.internal:9090", *options)
        self.report_url = connected["links"]["report"]
        (connection,) = self.api.get("/api/ml/", project=self.number)
        seen("connect with the documented address", connection["state"] == "CO", connection["url"])
        (webhook,) = self.api.get("/api/webhooks/", project=self.number)
        seen("its webhook", webhook["url"] == "http://softirr.internal:9090/webhook", webhook["url"])

    def scores(self) -> dict[int, float]:
        predictions = self.api.get("/api/predictions/", project=self.number)
        return {
            p["task"]: p["score"] for p in predictions if p["model_version"] == "agreement" and p["score"] is not None
        }

    def scored(self) -> None:
        tasks = sum(
            sum(texts is not None for texts in narrative.answers.values()) > 1 for narrative in example.narratives()
        )
        eventually(f"the {tasks} tasks with two answers or more have their score", lambda: len(self.scores()) == tasks)

    def audit(self) -> None:
        """Draw an audit over HTTP, judge it by the demo's key, and wait for the corrected coefficient."""
        session = requests.Session()
        key = self.report_url.partition("?k=")[2]
        session.headers["X-Softirr-Key"] = key

        def call(method: str, path: str, **body: Any) -> Any:
            body["project"] = self.number
            reply = session.request(
                method, self.backend + path, timeout=60, **({"params": body} if method == "GET" else {"json": body})
            )
            reply.raise_for_status()
            return reply.json()

        judge = "Check"
        which = eventually("the report is there", lambda: self._drawn(call, judge))
        pairs = eventually(
            "the audit's pairs are drawn", lambda: call("GET", f"/api/audit/{which}", judge=judge)["pairs"]
        )
        meaning = example.key()
        for pair in pairs:
            a, b = (meaning.get(text, text) for text in pair["texts"])
            call(
                "POST",
                f"/api/audit/{which}/judgments",
                judge=judge,
                rows=[pair["row"]],
                verdict="same" if a == b else "different",
            )
        result = eventually(
            f"the audit of {len(pairs)} judgments is worked out",
            lambda: call("GET", f"/api/audit/{which}", judge=judge, result=1)["result"],
        )
        say(f"      {json.dumps(result)[:300]}")

    @staticmethod
    def _drawn(call: Callable[..., Any], judge: str) -> int | None:
        try:
            return int(call("POST", "/api/audit", judgments=30, who=judge)["audit"])
        except requests.HTTPError as error:
            if error.response.status_code == 409:  # not scored yet
                return None
            raise

    def edit(self) -> None:
        """An annotation changes: the task's score follows by the webhook."""
        scores_before = self.scores()
        task = min(scores_before)
        annotations = self.api.get(f"/api/tasks/{task}/annotations/")
        first = next(a for a in annotations if a["result"])
        new_texts = [
            text for a in annotations if a["id"] != first["id"] for r in a["result"] for text in r["value"]["text"]
        ][:1]
        new_texts = new_texts if new_texts != first["result"][0]["value"]["text"] else ["something else altogether"]
        start = time.monotonic()
        self.api.patch(f"/api/annotations/{first['id']}/", {"result": textarea(new_texts)})
        eventually(
            "the score of an edited task follows", lambda: self.scores().get(task) not in (None, scores_before[task])
        )
        say(f"      after {time.monotonic() - start:.1f} s: {scores_before[task]:.3f} became {self.scores()[task]:.3f}")

    def locked(self) -> None:
        """Privileges of the containers."""
        probe = (
            "import os, pathlib; s = pathlib.Path('/proc/1/status').read_text(); "
            "print(os.getuid(), 'CapEff:\\t0000000000000000' in s, 'NoNewPrivs:\\t1' in s, "
            "os.access('/', os.W_OK), os.access('/opt/softirr', os.W_OK))"
        )
        answers = self.compose.run("exec", "-T", "softirr", "python", "-c", probe).split()
        seen(
            "the backend runs as nobody special, without capabilities",
            answers == ["1000", "True", "True", "False", "False"],
            answers,
        )
        for service in ("softirr", "db"):
            status, _ = self.compose.status("exec", "-T", service, "grep", "-E", "^[^ ]+ / [^ ]+ ro,", "/proc/mounts")
            seen(f"the root of {service} is read-only", status == 0)

    def restart(self) -> None:
        """Tokens outlive a restart of Label Studio, and the backend stops within its grace period."""
        start = time.monotonic()
        self.compose.run("stop", "softirr")
        took = time.monotonic() - start
        seen("the backend stops within 30 s", took < 30, f"{took:.1f} s")
        self.compose.run("stop", "label-studio")
        self.up()
        seen("the token of before the restart still works", bool(self.api.get("/api/current-user/whoami")["id"]))
        self.edit()

    def down(self) -> None:
        self.compose.run("down", "--volumes", check=False)


def textarea(texts: Any) -> list[dict[str, Any]]:
    """A TextArea's result as the labeling screen sends it."""
    text_list = list(texts)
    result = {
        "from_name": "findings",
        "to_name": "text",
        "type": "textarea",
        "origin": "manual",
        "value": {"text": text_list},
    }
    return [result] if text_list else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--folder", type=Path, default=ROOT / ".podman-check", help="where images and containers are kept"
    )
    parser.add_argument("--keep", action="store_true", help="leave the containers running at the end")
    arguments = parser.parse_args()
    reason = why_not()
    if reason:
        print(f"Nothing was built. {reason}", file=sys.stderr)
        return 2
    engine = Engine(arguments.folder.absolute())
    services = yaml.safe_load(FILE.read_text())["services"]
    build_all(engine, {name: service["image"] for name, service in services.items()}, say)
    project = arguments.folder.absolute() / "project"
    project.mkdir(exist_ok=True)
    with engine.service():
        check = Check(engine, project)
        check.down()
        try:
            check.up()
            for step in (
                check.token,
                check.project,
                check.connect,
                check.scored,
                check.locked,
                check.audit,
                check.edit,
                check.restart,
            ):
                step()
        except BaseException:
            print(check.compose.run("logs", "--tail", "40", "softirr", "label-studio", "db", check=False))
            raise
        finally:
            if not arguments.keep:
                check.down()
    say("all as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
