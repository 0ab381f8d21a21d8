"""``import softirr`` is enough for the common work, and loads nothing that is not used."""

from __future__ import annotations

import dataclasses
import inspect
import io
import operator
import re
import sys
from pathlib import Path

import pytest

import softirr
from softirr.meaning.measures import cache as caches
from softirr.meaning.measures.known_pairs import Decisions
from softirr.meaning.measures.pairs import cache_and_progress
from tests.meaning.measures.function_measures import FunctionMeasure
from tests.programs import run_python


class TestNames:
    def test_importing_loads_nothing_else(self) -> None:
        assert run_python("import sys, softirr; print({'numpy', 'scipy', 'torch'} & set(sys.modules))") == "set()"

    def test_scipy_waits_for_the_first_score(self) -> None:
        assert run_python("import sys, softirr.report.agreement; print('scipy' in sys.modules)") == "False"

    def test_all_are_there(self) -> None:
        assert {name for name in softirr.__all__ if getattr(softirr, name, None) is None} == set()
        assert set(softirr.__all__) <= set(dir(softirr))


@pytest.mark.parametrize("name", [*softirr.__all__, *(f"audit.{name}" for name in softirr.audit.__all__)])
def test_help_describes_parameters_and_attributes(name: str) -> None:
    value = operator.attrgetter(name)(softirr)
    text = inspect.getdoc(value) or ""
    if inspect.isfunction(value):
        assert "Examples\n--------" in text and "Parameters\n----------" in text
        assert [
            parameter for parameter in inspect.signature(value).parameters if not re.search(rf"\b{parameter}\b", text)
        ] == []
    elif dataclasses.is_dataclass(value):
        assert [field.name for field in dataclasses.fields(value) if not re.search(rf"\b{field.name}\b", text)] == []


def test_a_matrix_has_coefficients_with_intervals() -> None:
    result = softirr.matrix_agreement([[0, 0], [1, 1], [0, 1], [2, 2]])
    assert result.coefficients["cohen_kappa"].value == pytest.approx(7 / 11)
    assert result.coefficients["cohen_kappa"].ci95 is not None
    assert "Krippendorff's alpha 0." in repr(result) and "\n" not in repr(result)


class Model(FunctionMeasure):
    """A measure that the cache takes for one with a model."""

    def __init__(self) -> None:
        super().__init__(lambda a, b: 0.5, "model")


TEXTS = (["fever", "cough"], ["rash", "itch"])


class TestCacheAndProgress:
    def test_a_model_uses_the_cache_of_the_command_line(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOFTIRR_CACHE", str(tmp_path / "pairs.sqlite"))
        first, second = Model(), Model()
        cohen_kappa = softirr.cohen_kappa(*TEXTS, first)
        assert first.asked
        assert softirr.cohen_kappa(*TEXTS, second) == cohen_kappa
        assert not second.asked

    def test_none_keeps_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOFTIRR_CACHE", str(tmp_path / "pairs.sqlite"))
        softirr.cohen_kappa(*TEXTS, Model(), cache=None)
        assert not (tmp_path / "pairs.sqlite").exists()

    def test_a_cache_by_its_name(self, tmp_path: Path) -> None:
        softirr.cohen_kappa(*TEXTS, Model(), cache=str(tmp_path / "mine.sqlite"))
        assert (tmp_path / "mine.sqlite").exists()

    def test_a_measure_without_a_model_opens_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("softirr.meaning.measures.pairs.open_cache", lambda url: pytest.fail("opened"))
        softirr.cohen_kappa(*TEXTS, "indel")
        with cache_and_progress(softirr.measure("indel").with_stage(Decisions({})), "auto", None) as scorer:
            assert scorer == (None, None)

    def test_a_given_cache_stays_open(self) -> None:
        memory_cache = caches.PairCache()
        softirr.cohen_kappa(*TEXTS, Model(), cache=memory_cache)
        second_model = Model()
        softirr.cohen_kappa(*TEXTS, second_model, cache=memory_cache)
        assert not second_model.asked

    def test_no_progress_without_a_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        softirr.cohen_kappa(*TEXTS, Model())
        assert capsys.readouterr() == ("", "")

    def test_a_bar_on_a_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        softirr.cohen_kappa(*TEXTS, Model(), progress=None)
        assert terminal.getvalue() == ""
        softirr.cohen_kappa(*TEXTS, Model())
        assert "scoring pairs: 100%" in terminal.getvalue()

    def test_progress_is_reported(self) -> None:
        calls: list[tuple[int, int]] = []
        softirr.cohen_kappa(*TEXTS, Model(), progress=lambda done, total: calls.append((done, total)))
        assert calls and calls[-1][0] == calls[-1][1]
