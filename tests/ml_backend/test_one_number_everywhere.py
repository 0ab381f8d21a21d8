"""Report, page, panel, terminal and audit page of a project show one value and one interval, before and after judgments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ml_backend.report.on_demand import run_wanted
from ml_backend.review.headline import headline_lines
from ml_backend.settings import ProjectSettings
from softirr.policy.rules import AS_WRITTEN, PRESETS, Policy
from softirr.report.page.formats import interval, number
from tests.ml_backend.seeded_store import NUMBER, Seeded

WORDS = ("fever", "high fever", "pyrexia", "cough", "dry cough", "rash", "itch", "itching")


@pytest.fixture
def seeded(tmp_path: Path) -> Iterator[Seeded]:
    made = Seeded(tmp_path)
    steps = {"2": 1, "3": 3, "4": 5}
    made.put({task: {who: [WORDS[(task * k + task // 8) % 8]] for who, k in steps.items()} for task in range(101, 141)})
    made.score()
    yield made
    made.services.store.close()


def send(seeded: Seeded, method: str, path: str, **body: Any) -> Any:
    given = {"query_string" if method == "GET" else "json": {"project": NUMBER, **body}}
    headers = {"X-Softirr-Key": seeded.key("report")}
    return seeded.client.open(path, method=method, headers=headers, **given)


def work(seeded: Seeded, policy: Policy = AS_WRITTEN) -> None:
    services = seeded.services
    run_wanted(services.store, services.scorer, seeded.row, ProjectSettings(measure="indel", policy=policy))


def check(seeded: Seeded, judgments: int) -> dict[str, Any]:
    summary = seeded.row["summary"]["controls"]["findings"]
    coefficient = dict(summary["coefficients"]["krippendorff_alpha"])
    value, ci95 = coefficient["value"], coefficient["ci95"]
    assert coefficient["judgments"] == judgments

    headline = send(seeded, "GET", "/api/report").json["headline"]
    assert (headline["value"], headline["ci95"], headline["judgments"]) == (value, ci95, judgments)

    page = send(seeded, "GET", f"/report/{NUMBER}").get_data(as_text=True)
    figure = page.partition('class="headline"')[2].partition("</section>")[0]
    assert number(value) in figure and interval(ci95) in figure
    assert "Next: " in figure

    query = {"project": NUMBER, "task": 101, "k": seeded.key()}
    panel = seeded.as_person().get("/api/panel", query_string=query).json["project"]["coefficient"]
    assert (panel["value"], panel["ci95"], panel["judgments"]) == (value, ci95, judgments)

    assert (
        f"Krippendorff's alpha {value:z.2f}, 95% interval {ci95[0]:z.2f} to {ci95[1]:z.2f}"
        in headline_lines(seeded.row)[0]
    )
    return coefficient


def test_one_number(seeded: Seeded) -> None:
    before = check(seeded, 0)
    audit = send(seeded, "POST", "/api/audit", judgements=20, who="Rae").json["audit"]
    work(seeded)
    for n in (1, 7):
        place = n - 1
        reply = send(
            seeded, "POST", f"/api/audit/{audit}/judgements", judge="Rae", places=list(range(n)), verdict="different"
        )
        assert reply.status_code == 201, place
        work(seeded)
        now = check(seeded, n)
        look = send(seeded, "GET", f"/api/audit/{audit}", judge="Rae").json["looks"][-1]
        assert (look["value"], look["ci95"]) == (now["value"], now["ci95"])
    assert now["value"] != before["value"]
    # the next summary of the whole project has the same number
    seeded.score()
    again = check(seeded, 7)
    assert (again["value"], again["ci95"]) == (now["value"], now["ci95"])


def test_another_policy_after_the_judgments(seeded: Seeded) -> None:
    """No surface keeps the old policy's value under the new one's name; the judgments count under both."""
    audit = send(seeded, "POST", "/api/audit", judgements=20, who="Rae").json["audit"]
    work(seeded)
    places = list(range(12))
    reply = send(seeded, "POST", f"/api/audit/{audit}/judgements", judge="Rae", places=places, verdict="same")
    assert reply.status_code == 201
    work(seeded)
    before = check(seeded, 12)
    policy = PRESETS["any-severity"]
    seeded.services.store.update_project(seeded.project, chosen={"policy": policy.to_dict()})
    seeded.score(policy=policy)
    work(seeded, policy)
    after = check(seeded, 12)
    assert (after["value"], after["ci95"]) != (before["value"], before["ci95"])
    report = send(seeded, "GET", "/api/report").json
    assert report["provenance"]["policy"] == policy.to_dict()
