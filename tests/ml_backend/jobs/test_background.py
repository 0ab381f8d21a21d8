"""The background thread runs actions in order, each after its time."""

from __future__ import annotations

import pytest

from ml_backend.services import Background
from tests.ml_backend.fake_label_studio import drain
from tests.ml_backend.jobs.worker_runs import TEXT


class TestBackground:
    def test_in_order_and_each_after_its_time(self) -> None:
        background, done = Background(), []
        background.do(lambda: done.append("later"), delay=60)
        background.do(lambda: done.append("first"))
        background.do(lambda: done.append("second"))
        drain(background)
        assert done == ["first", "second"]

    def test_one_that_fails_stops_no_other(self, caplog: pytest.LogCaptureFixture) -> None:
        background, done = Background(), []
        background.do(lambda: (_ for _ in ()).throw(ValueError(TEXT)))
        background.do(lambda: done.append("second"))
        drain(background)
        assert done == ["second"]
        assert "ValueError" in caplog.text
        assert TEXT not in caplog.text

    def test_excess_actions_are_dropped_with_a_warning(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr("ml_backend.services.MOST_WAITING", 3)
        background = Background()
        for _ in range(5):
            background.do(lambda: None, delay=60)
        assert "one is dropped" in caplog.text
