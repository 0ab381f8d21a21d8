"""A project with answers to a text and to fields of every other kind."""

from __future__ import annotations

import time
from typing import Any

from ml_backend.app import create_app
from ml_backend.auth.keys import Keys, Person, PersonalLinks
from tests.ml_backend.bench import Bench
from tests.ml_backend.fake_label_studio import FakeLabelStudio
from tests.ml_backend.fake_project import NUMBER, region

CONFIG = """<View><Text name="text" value="$text"/><TextArea name="findings" toName="text"/>
<Choices name="side" toName="text"><Choice value="left"/><Choice value="right"/></Choices>
<Choices name="signs" toName="text" choice="multiple"><Choice value="red"/><Choice value="wet"/></Choices>
<Rating name="stars" toName="text"/><Number name="size" toName="text"/><DateTime name="seen" toName="text"/>
<Taxonomy name="site" toName="text"><Choice value="Heart"><Choice value="Valve"/></Choice></Taxonomy>
<Pairwise name="better" toName="text,text"/><Ranker name="rank" toName="text"/>
<Choices name="of_region" toName="text" perRegion="true"><Choice value="x"/></Choices></View>"""
KINDS = {
    "side": "nominal",
    "signs": "set",
    "stars": "ordinal",
    "size": "interval",
    "seen": "date",
    "site": "path",
    "better": "nominal",
    "rank": "ranking",
    "of_region": "nominal",
}
ANSWERED = [name for name in KINDS if name != "of_region"]


def result(control: str, type_: str, value: Any, key: str | None = None) -> dict[str, Any]:
    return {"from_name": control, "to_name": "text", "type": type_, "origin": "manual", "value": {key or type_: value}}


def answers(task: int, user: int) -> list[dict[str, Any]]:
    """All controls, answered differently by some."""
    n = task + user * (task % 3 == 0)
    return [
        region(["fever" if n % 2 else "cough"]),
        result("side", "choices", ["left" if n % 2 else "right"]),
        result("signs", "choices", [["red"], ["red", "wet"], ["wet"]][n % 3]),
        result("stars", "rating", 1 + n % 5),
        result("size", "number", n * 1.5),
        result("seen", "datetime", f"2026-03-{1 + n % 20:02d}"),
        result("site", "taxonomy", [["Heart", "Valve"] if n % 2 else ["Heart"]]),
        result("better", "pairwise", "left" if n % 2 else "right", "selected"),
        result("rank", "ranker", ["a", "b", "c"] if n % 2 else ["b", "a", "c"]),
    ]


def answered_project() -> FakeLabelStudio:
    """A project of twelve tasks, each answered by three."""
    fake = FakeLabelStudio(CONFIG)
    for _ in range(12):
        task = fake.add_task()
        for user in (1, 2, 3):
            fake.annotate(task, user, [], result=answers(task, user))
    return fake


def panel_of(bench: Bench, user: str, role: str, *, position: int = 2) -> Any:
    """The panel of a task, by default the third one, for a person, whom a link identifies."""
    bench.connect()
    person = Person(user, "Kim", role, "link")
    token = PersonalLinks(bench.store.secret()).make(
        person, NUMBER, generation=bench.row["key_round"], until=time.time() + 900
    )
    client = create_app(services=bench.services).test_client()
    assert client.get(f"/enter/{NUMBER}?t={token}").status_code in (200, 302)
    return client.get(f"/api/panel?project={NUMBER}&task={list(bench.fake.tasks)[position]}").json


def app_of(bench: Bench) -> Any:
    """A browser with the report's key."""
    bench.connect()
    client = create_app(services=bench.services).test_client()
    client.environ_base["HTTP_X_SOFTIRR_KEY"] = Keys(bench.store.secret()).key(
        NUMBER, "report", generation=bench.row["key_round"]
    )
    return client
