"""A run opens no model if the cache has all pairs, and else uses the number format of the cached pairs."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softirr.errors import InputError
from softirr.inference.models import PRECISIONS, ClassifierOptions
from softirr.meaning.measures import engines
from softirr.meaning.measures.cache import PairCache
from softirr.meaning.measures.engines import OpenedLater, runs_on_processor
from tests.programs import run_python

ROWS = "item,rater,text\n1,a,mild fever\n1,b,fever\n2,a,cough\n2,b,dry cough\n3,a,rash\n3,b,red skin\n"
SCORE = (
    "import atexit, sys\n"
    "atexit.register(lambda: print(sorted({'torch', 'tokenizers', 'safetensors'} & set(sys.modules))))\n"
    "from softirr.cli.main import main\n"
    "main(['score', sys.argv[1], '--cache', sys.argv[2], '--device', 'cpu', '--json'])"
)


@pytest.fixture
def opened() -> list[str]:
    return []


@pytest.fixture
def later(opened: list[str]) -> Any:
    def open_engine(options: ClassifierOptions) -> Any:
        opened.append(options.precision)
        kind = "bfloat16" if options.precision == "auto" else options.precision
        return SimpleNamespace(
            precision=kind, max_length=128, device_name="cpu", run=lambda *_: kind, close=lambda: None
        )

    return lambda: OpenedLater(open_engine, ClassifierOptions())


@pytest.mark.slow
def test_second_run_loads_nothing_and_a_new_pair_loads_the_model(tmp_path: Path) -> None:
    def score(rows: str) -> tuple[Any, list[str]]:
        (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
        printed, loaded = run_python(SCORE, tmp_path / "rows.csv", store).rsplit("\n", 1)
        return json.loads(printed), json.loads(loaded.replace("'", '"'))

    store = tmp_path / "pairs.sqlite"
    first, loaded = score(ROWS)
    assert loaded == ["safetensors", "tokenizers", "torch"]
    second, loaded = score(ROWS)
    assert second == first and loaded == []
    changed_rows = ROWS.replace("red skin", "a red and itchy skin")
    changed, loaded = score(changed_rows)
    assert loaded == ["safetensors", "tokenizers", "torch"]
    store = tmp_path / "other.sqlite"
    assert score(changed_rows)[0] == changed


def test_known_format_opens_nothing_until_a_pair_comes(later: Any, opened: list[str]) -> None:
    cache = PairCache()
    later().recall(cache, "model")
    assert opened == ["auto"]
    engine = later()
    engine.recall(cache, "model")
    assert engine.format() == ("bfloat16", 128, "cpu")
    engine.close()
    assert opened == ["auto"]
    assert engine.run([], np.zeros(0), np.zeros(0)) == "bfloat16" and opened == ["auto", "bfloat16"]


@pytest.mark.parametrize("change", ["model", "torch", "processor", "switch"])
def test_another_model_or_machine_is_tried_again(
    later: Any, opened: list[str], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    cache = PairCache()
    later().recall(cache, "model")
    if change == "torch":
        monkeypatch.setattr(engines.metadata, "version", lambda _: "99.0")
    elif change == "processor":
        monkeypatch.setattr(engines.platform, "machine", lambda: "riscv64")
    elif change == "switch":
        monkeypatch.setenv("SOFTIRR_CPU_BFLOAT16", "0")
    later().recall(cache, "other model" if change == "model" else "model")
    assert opened == ["auto", "auto"]


def test_only_a_model_that_is_certain_to_run_on_the_processor_waits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(engines, "_DRIVERS", (str(tmp_path / "driver"),))
    monkeypatch.setattr(engines.sys, "platform", "linux")
    assert runs_on_processor(ClassifierOptions()) and runs_on_processor(ClassifierOptions(device="cpu"))
    assert not runs_on_processor(ClassifierOptions(device="cuda"))
    (tmp_path / "driver").touch()
    assert not runs_on_processor(ClassifierOptions()) and runs_on_processor(ClassifierOptions(device="cpu"))


def test_every_number_format_is_kept(later: Any, opened: list[str]) -> None:
    for precision in PRECISIONS[1:]:
        cache = PairCache()
        opened_engine = SimpleNamespace(precision=precision, max_length=7, device_name="cpu")
        OpenedLater(lambda _, engine=opened_engine: engine, ClassifierOptions()).recall(cache, "model")
        engine = later()
        engine.recall(cache, "model")
        assert engine.format() == (precision, 7, "cpu") and not opened


def test_engines_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no engine 'steam'; use local or ray"):
        engines.open_engine(tmp_path, ClassifierOptions(engine="steam"))
    if importlib.util.find_spec("ray") is None:
        with pytest.raises(InputError, match=r"install softirr\[ray\]"):
            engines.open_engine(tmp_path, ClassifierOptions(engine="ray"))
