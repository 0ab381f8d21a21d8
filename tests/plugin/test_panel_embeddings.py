"""Other ways to embed the panel: the Enterprise plugin, the Community snippet, the proxy's configuration."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from ml_backend.labelstudio import snippet
from tests.plugin.panel_payloads import ready

PLUGIN = Path(__file__).resolve().parents[2] / "plugin"
FOLDER = PLUGIN / "agreement-panel"
BACKEND = "https://agreement.example.org"


def test_plugin_has_the_official_layout() -> None:
    """Each folder that manifest.json names holds plugin.js, view.xml and data.json."""
    for entry in json.loads((PLUGIN / "manifest.json").read_text(encoding="utf-8")):
        assert set(entry) == {"title", "description", "path", "private"} and entry["private"] is False
        assert {path.name for path in (PLUGIN / entry["path"]).iterdir()} == {"plugin.js", "view.xml", "data.json"}


def test_view_ends_with_its_sample() -> None:
    text = (FOLDER / "view.xml").read_text(encoding="utf-8")
    sample = re.search(r"</View>\s*<!--(.*)-->\s*$", text, re.DOTALL)
    assert sample and json.loads(sample[1]) == json.loads((FOLDER / "data.json").read_text(encoding="utf-8"))
    tree = etree.fromstring(text.encode())
    assert tree.xpath("//View[@idAttr='agreement-panel']")
    names = {value[1:] for value in tree.xpath("//@value") if value.startswith("$")}
    assert names == set(json.loads(sample[1])["data"])


def test_connect_writes_the_snippet() -> None:
    text = (PLUGIN / "snippet.xml").read_text(encoding="utf-8")
    assert text.rstrip().endswith(snippet.snippet("http://localhost:9090/panel?k=KEY"))
    assert snippet.present(f"<View>{text}</View>", "http://localhost:9090/panel?k=KEY")


def test_the_helper_is_one_line_that_label_studio_leaves_alone() -> None:
    """Label Studio replaces what follows a dollar sign by a field of the task's data."""
    line = snippet.helper()
    assert "$" not in line and "\n" not in line and "/*" not in line and "//" not in line and "`" not in line
    assert line.startswith("(() => {") and line.endswith("})();")


@pytest.mark.browser
class TestPlugin:
    """plugin.js on a page that offers what Label Studio Enterprise offers to plugins."""

    @pytest.fixture
    def page(self, chromium: Any, panel_url: str) -> Iterator[Any]:
        context = chromium.new_context(bypass_csp=True)
        page = context.new_page()
        page.asked = []
        page.answer = ready(3)

        def backend(route: Any) -> None:
            path = route.request.url.removeprefix(BACKEND)
            headers = {
                "Access-Control-Allow-Origin": "http://ls.example",
                "Access-Control-Allow-Credentials": "true",
                "Access-Control-Allow-Headers": "X-Softirr-Key",
            }
            if path.startswith("/panel/static/current/"):
                route.fulfill(path=PLUGIN / "panel" / path.rpartition("/")[2], headers=headers)
            elif route.request.method == "OPTIONS":
                route.fulfill(status=204, headers=headers)
            else:
                page.asked.append((path, route.request.headers.get("x-softirr-key")))
                route.fulfill(json=page.answer, headers=headers)

        context.route(f"{BACKEND}/**", backend)
        context.route(
            "http://ls.example/**",
            lambda route: route.fulfill(
                body="<!doctype html><div id='agreement-panel'></div>", content_type="text/html"
            ),
        )
        yield page
        context.close()

    def run(self, page: Any, address: str, task: int = 5271) -> None:
        page.goto(f"http://ls.example{address}")
        page.evaluate(f"window.LSI = {{ task: {{ id: {task} }} }}")
        page.add_script_tag(type="module", content=(FOLDER / "plugin.js").read_text(encoding="utf-8"))

    @pytest.mark.slow
    def test_draws_the_open_task(self, page: Any) -> None:
        self.run(page, "/projects/12/data?tab=3&task=5271")
        page.wait_for_selector("#agreement-panel [data-agreement]")
        assert page.asked[0] == ("/api/panel?project=12&task=5271", "KEY")
        assert page.evaluate("getComputedStyle(document.querySelector('.sirr')).containerType") == "inline-size"

    @pytest.mark.slow
    def test_stays_neutral_where_annotators_label(self, page: Any) -> None:
        page.answer = {"status": "hidden", "message": "", "project": {"id": 12}, "task": {"id": 5}}
        for address in (
            "/projects/12/data?tab=3&labeling=1",
            "/projects/12/labeling",
            "/projects/12/data?tab=3&task=5&labeling=1",
        ):
            page.asked.clear()
            self.run(page, address)
            page.wait_for_selector("#agreement-panel .sirr", state="attached")
            assert "labeling=1" in page.asked[0][0]

    def test_a_backend_that_is_away_leaves_the_form_alone(self, page: Any) -> None:
        page.context.unroute(f"{BACKEND}/**")
        page.context.route(f"{BACKEND}/**", lambda route: route.abort())
        self.run(page, "/projects/12/data?task=5271")
        page.wait_for_function("document.getElementById('agreement-panel').textContent.includes('not affected')")
