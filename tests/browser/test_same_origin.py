"""Label Studio and the backend behind one nginx, with the configuration that plugin/nginx.conf ships.

nginx enforces the Content-Security-Policy that Label Studio only reports, as `LS_CSP_REPORT_ONLY=false` does: no inline
script runs in Label Studio's page, so the panel does without its hidden frame.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ml_backend.demo import Demo, example
from ml_backend.demo.processes import free_port
from ml_backend.demo.project import LABEL_CONFIG
from tests.browser.browsers import ROOT, panel, task_address, wait_for
from tests.browser.projects import MEASURE, annotation, connected_project, text_result

ENFORCED = """
      proxy_hide_header Content-Security-Policy-Report-Only;
      add_header Content-Security-Policy $upstream_http_content_security_policy_report_only;"""
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")


@pytest.fixture(scope="module")
def proxy(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the proxy."""
    if NGINX is None:
        pytest.skip("nginx is not installed")
    folder = tmp_path_factory.mktemp("nginx")
    port = free_port()
    text = (ROOT / "plugin" / "nginx.conf").read_text(encoding="utf-8")
    backend = demo.url.rpartition(":")[2]
    for old, new in (
        ("listen 8090", f"listen 127.0.0.1:{port}"),
        (":9090/", f":{backend}/"),
        (":8080;", f":{demo.server.port};{ENFORCED}"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(text)
    files = ["-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"]
    command = [NGINX, *map(str, files), "-g", "daemon off;"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def project(demo: Demo, proxy: str) -> Iterator[int]:
    """A small project with a panel that comes through the proxy."""
    users = [demo.files.state["users"][name] for name in example.annotators()[:2]]
    annotations = [annotation(user, text_result(["fever", "rash"])) for user in users]
    tasks = [
        {"data": {"narrative": "A fever and a rash."}, "annotations": annotations},
        {"data": {"narrative": "Nothing yet."}},
    ]
    options = ["--panel-url", f"{proxy}/agreement", "--measure", MEASURE]
    with connected_project(demo, "Behind a proxy", LABEL_CONFIG, tasks, *options, overlap=2) as (number, _, _):
        yield number


@pytest.fixture
def page(people: Any, proxy: str) -> Iterator[Any]:
    context = people.context(base=proxy)
    yield context.new_page()
    context.close()


def test_answer_is_accepted_by_a_click(demo: Demo, page: Any, proxy: str, project: int, pictures: Path) -> None:
    task = demo.api.tasks(project)[0]["id"]
    page.goto(task_address(demo, task, base=proxy, project=project))
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    # the frame is as high as the panel
    wait_for(
        lambda: frame.locator("#panel").evaluate("e => Math.abs(innerHeight - e.getBoundingClientRect().bottom) < 12"),
        "the frame has not the panel's height",
    )
    page.screenshot(path=pictures / "same-origin.png")
    frame.get_by_role("button", name="Accept and next").click()
    wait_for(
        lambda: [entry for entry in demo.api.get(f"/api/tasks/{task}/annotations/") if entry["ground_truth"]],
        "no ground truth is saved",
    )


def test_the_label_stream_stays_neutral_although_the_task_is_known(
    demo: Demo, people: Any, proxy: str, project: int
) -> None:
    context = people.context("chiara.rossi@example.org", base=proxy)
    page = context.new_page()
    page.goto(f"{proxy}/projects/{project}/data?labeling=1")
    page.locator(".lsf-main-view").first.wait_for()
    page.wait_for_timeout(2500)
    assert not page.locator(".softirr-agreement").first.is_visible()
    context.close()


def test_the_login_opens_the_report_through_the_proxy(
    page: Any, proxy: str, project: int, people: Any, chromium: Any
) -> None:
    assert page.goto(f"{proxy}/agreement/report/{project}").status == 200
    page.locator("#verdict").wait_for()
    stranger = chromium.new_context()
    assert stranger.new_page().goto(f"{proxy}/agreement/report/{project}").status == 403
    stranger.close()


def test_the_panel_takes_the_theme_of_label_studio(demo: Demo, page: Any, proxy: str, project: int) -> None:
    task = demo.api.tasks(project)[0]["id"]
    page.goto(task_address(demo, task, base=proxy, project=project))
    frame = panel(page)
    frame.locator("[data-agreement]").wait_for()
    light = frame.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
    page.evaluate("document.documentElement.dataset.colorScheme = 'dark'")
    wait_for(
        lambda: frame.locator("body").evaluate("e => getComputedStyle(e).backgroundColor") != light,
        "the panel keeps its colours",
    )
