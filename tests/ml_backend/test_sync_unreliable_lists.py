"""Lists of tasks that are empty or short for a moment lose nothing."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from ml_backend.labelstudio.errors import LabelStudioError
from tests.ml_backend.bench import Bench, answered


def lists(request: httpx.Request) -> bool:
    """Whether a request is for a list of tasks."""
    return request.method == "GET" and request.url.path == "/api/tasks/"


class TestListsThatAreNotToBeTrusted:
    """Label Studio, or a proxy before it, gives an empty or short list for a moment: nothing is lost for that."""

    def test_tasks_imported_after_the_first_run_are_scored(self, bench: Bench) -> None:
        assert bench.sync().items == 0
        answered(bench.fake)
        assert bench.sync().created == 5
        assert bench.fake.wrong() == []

    @pytest.mark.parametrize("full", [False, True])
    @pytest.mark.parametrize(
        "reply",
        [
            pytest.param(httpx.Response(404, json={"detail": "Not found."}), id="404"),
            pytest.param(httpx.Response(200, json={"tasks": [], "total": 0}), id="empty list"),
        ],
    )
    def test_a_list_that_is_empty_for_a_moment(self, bench: Bench, full: bool, reply: httpx.Response) -> None:
        tasks = answered(bench.fake, 5)
        bench.sync()
        initial = {number: p["id"] for number, (p,) in bench.fake.predictions().items()}
        del bench.fake.tasks[tasks[0]]  # so that there is something to look for
        bench.fake.before = lambda request: reply if lists(request) else None
        try:
            result = bench.sync(full=full)
        except LabelStudioError as error:
            problem = str(error)
        else:
            problem = ""
            assert result.items == 5
            if full:
                assert "did not list all tasks" in result.notes[0].what
        assert ("404 when asked for the tasks" in problem) is (reply.status_code == 404)
        assert bench.store.totals(bench.row["id"])["tasks"] == 5, "nothing is forgotten"
        bench.fake.before = lambda request: None
        result = bench.sync()
        assert result.items == 4
        assert result.notes == ()
        assert bench.fake.wrong() == []
        assert {number: p["id"] for number, (p,) in bench.fake.predictions().items()} == {
            number: initial[number] for number in tasks[1:]
        }

    @pytest.mark.parametrize("first", [True, False])
    def test_a_list_that_ends_too_early(self, tmp_path: Path, first: bool) -> None:
        """The second of three pages comes empty, in the first complete reading or in a later one."""
        bench = Bench(tmp_path, page_size=10)
        answered(bench.fake, 30)
        if not first:
            bench.sync()
        pages: list[int] = []

        def short(request: httpx.Request) -> httpx.Response | None:
            if lists(request) and "fields=all" in str(request.url):
                pages.append(1)
                return httpx.Response(200, json={"tasks": [], "total": 0}) if len(pages) == 2 else None
            return None

        bench.fake.before = short
        assert bench.sync(full=True).items == 30
        assert bench.fake.wrong() == []

    def test_the_first_reading_of_a_project_is_done_again_if_it_was_empty(self, bench: Bench) -> None:
        answered(bench.fake, 5)
        bench.fake.before = lambda r: httpx.Response(200, json={"tasks": [], "total": 0}) if lists(r) else None
        assert "did not list all tasks" in bench.sync().notes[0].what
        bench.fake.before = lambda request: None
        assert bench.sync().created == 5
        assert bench.fake.wrong() == []

    @pytest.mark.slow
    @pytest.mark.parametrize("body", [b"[]", b"{}", b"null", b'"x"', b'{"tasks": [3], "total": 1}', b'[{"id": "x"}]'])
    def test_server_with_constant_replies_ends_in_a_single_sentence(self, bench: Bench, body: bytes) -> None:
        answered(bench.fake, 3)
        bench.sync()
        bench.fake.edit(bench.fake.tasks[1]["annotations"][0]["id"], ["something else"])
        observed: list[str] = []
        errors: list[str] = []
        for path in ("", *{path for _, path in bench.fake.calls}):

            def odd(request: httpx.Request, path: str = path) -> httpx.Response | None:
                same = path in ("", request.url.path)
                observed.append(request.url.path) if same else None
                return httpx.Response(200, content=body) if same else None

            bench.fake.before = odd
            bench.fake.add_task({1: ["fever"], 2: ["fevers"]})
            try:
                bench.sync(full=True)
            except LabelStudioError as error:
                errors.append(str(error))
        assert errors
        assert not any(". " in sentence for sentence in errors)
        assert len(set(observed)) >= 5
        bench.fake.before = lambda request: None
        bench.sync(full=True)
        assert bench.fake.wrong() == []
