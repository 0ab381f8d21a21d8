"""Projects for tests of faults, and changes of their answers."""

from __future__ import annotations

import os
import random

from tests.labelstudio.conftest import Harness, User

KILLS = int(os.environ.get("SOFTIRR_KILLS", "4"))
SECRET = "unmistakable finding"


def filled(ls: Harness, n: int = 40) -> tuple[int, list[int], list[User]]:
    """Project, tasks and the users who answered them."""
    words = [f"{SECRET} {k % 7 * 'x '}{k}" for k in range(n)]
    return ls.answered([([text], [SECRET]) for text in words])


def change_something(ls: Harness, tasks: list[int], users: list[User], source: random.Random) -> None:
    """An edit, a deletion and a new answer somewhere."""
    task = source.choice(tasks)
    listed = ls.api.get(f"/api/tasks/{task}/annotations/")
    user = source.choice(users)
    annotations_of_user = [a for a in listed if a["completed_by"] in (user.id, {"id": user.id})]
    if annotations_of_user and source.random() < 0.3:
        ls.api.delete(f"/api/annotations/{annotations_of_user[0]['id']}/")
    elif annotations_of_user:
        ls.edit(annotations_of_user[0]["id"], user, [f"{SECRET} {source.random()}"])
    else:
        ls.annotate(task, user, [f"{SECRET} again"])
