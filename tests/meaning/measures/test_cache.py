"""Stores of scored pairs: in memory and in a file; many writers, damage, a second run that scores nothing."""

from __future__ import annotations

import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softirr.errors import InputError
from softirr.meaning.measures.cache import PairCache, open_cache, text_hash
from softirr.meaning.measures.pairs import PairScorer
from tests.meaning.measures.function_measures import DirectedFunction

Open = Callable[[], PairCache]
IN_MEMORY = Path(":memory:")


@pytest.fixture(params=["memory", "sqlite"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens a store of each kind."""
    if request.param == "memory":
        store = PairCache()
        return lambda: store
    return lambda: PairCache(tmp_path / "deep" / "er" / "pairs.sqlite")


def pair(a: str, b: str) -> tuple[bytes, bytes]:
    first, second = sorted((text_hash(a), text_hash(b)))
    return first, second


KEYS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("ijklmnop")), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(model=st.sampled_from(["m1", "m2", "µ"]), puts=st.lists(KEYS, max_size=3), seed=st.integers(0, 99))
def test_a_store_is_a_dictionary(open_store: Open, model: str, puts: list[list[tuple[str, str]]], seed: int) -> None:
    store, rng, model = open_store(), np.random.default_rng(seed), f"{model} {seed} {puts}"
    expected: dict[tuple[str, str], tuple[float, float]] = {}
    for keys in puts:
        values = rng.random((len(keys), 2))
        store.put(model, [pair(*key) for key in keys], values)
        expected.update(zip(keys, map(tuple, values.tolist()), strict=True))
    requested = [(a, b) for a in "abcdefgh" for b in "ijklmnop"] * 2
    values, is_stored = store.get(model, [pair(*key) for key in requested])
    assert is_stored.tolist() == [key in expected for key in requested]
    assert [tuple(v) for v in values.tolist()] == [expected.get(key, (0.0, 0.0)) for key in requested]
    assert not store.get(model + "x", [pair(*key) for key in requested])[1].any(), (
        "another model's scores are not these"
    )


@pytest.mark.slow
def test_many_pairs_survive_closing(open_store: Open) -> None:
    pairs = [pair(f"a{i}", f"b{i}") for i in range(23_000)]
    values = np.random.default_rng(1).random((len(pairs), 2))
    store = open_store()
    store.put("many", pairs, values)
    if store.path != IN_MEMORY:
        store.close()
    stored_values, is_stored = open_store().get("many", pairs)
    assert is_stored.all() and np.array_equal(stored_values, values)
    values, is_stored = open_store().get("many", [])
    assert values.shape == (0, 2) and is_stored.shape == (0,)


WRITER = """
import sys, numpy as np
from softirr.meaning.measures.cache import open_cache
from softirr.meaning.measures.cache import text_hash
url, me, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open_cache(url) as cache:
    for r in range(rounds):
        own = [tuple(sorted((text_hash(f"{me} {r} {i}"), text_hash("x")))) for i in range(40)]
        shared = [tuple(sorted((text_hash(f"all {r} {i}"), text_hash("y")))) for i in range(40)]
        pairs = own + (shared if me % 2 else shared[::-1])
        cache.put("m", pairs, np.full((80, 2), me + r / 100))
        values, known = cache.get("m", own)
        assert known.all()
"""


def eight_writers(url: str) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, url, str(me), "15"], stderr=subprocess.PIPE) for me in range(8)
    ]
    for writer in writers:
        _, complaint = writer.communicate(timeout=200)
        assert writer.returncode == 0, complaint.decode()
    with open_cache(url) as cache:
        for me in range(8):
            for r in range(15):
                pairs = [pair(f"{me} {r} {i}", "x") for i in range(40)]
                values, is_stored = cache.get("m", pairs)
                assert is_stored.all() and np.all(values == me + r / 100)
        assert cache.get("m", [pair(f"all {r} {i}", "y") for r in range(15) for i in range(40)])[1].all()


@pytest.mark.slow
def test_eight_writers_on_one_file_lose_nothing(tmp_path: Path) -> None:
    eight_writers(str(tmp_path / "pairs.sqlite"))


def damage(path: Path, damage_kind: str) -> None:
    if damage_kind == "not a database":
        path.write_bytes(b"something else entirely, " * 400)
    elif damage_kind == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        body = bytearray(path.read_bytes())
        body[100:] = os.urandom(len(body) - 100)
        path.write_bytes(bytes(body))


@pytest.mark.parametrize("damage_kind", ["not a database", "cut", "overwritten"])
def test_damaged_file_causes_a_warning_and_is_rebuilt(
    tmp_path: Path, damage_kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "pairs.sqlite"
    pairs = [pair(f"a{i}", "b") for i in range(3000)]
    with PairCache(path) as cache:
        cache.put("m", pairs, np.ones((3000, 2)))
    damage(path, damage_kind)
    with caplog.at_level(logging.WARNING), PairCache(path) as cache:
        _, is_stored = cache.get("m", pairs)
        assert not is_stored.all()
        cache.put("m", pairs, np.full((3000, 2), 0.5))
        values, is_stored = cache.get("m", pairs)
        assert is_stored.all() and np.all(values == 0.5)
    assert [record.getMessage() for record in caplog.records] == [
        f"The cache file {path} is damaged; it is put aside, and pairs are scored anew."
    ]
    assert path.with_name("pairs.sqlite.damaged").exists()
    with PairCache(path) as cache:
        assert cache.get("m", pairs)[1].all()


def test_damage_while_the_file_is_open(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "pairs.sqlite"
    pairs = [pair(f"a{i}", "b") for i in range(20_000)]
    cache = PairCache(path)
    cache.put("m", pairs, np.ones((20_000, 2)))
    cache._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    cache._connection.execute("PRAGMA cache_size = 1")
    damage(path, "overwritten")
    cache.get("m", pairs)
    cache.put("m", pairs[:10], np.ones((10, 2)))
    assert cache.get("m", pairs[:10])[1].all()
    assert len(caplog.records) == 1 and "is damaged" in caplog.text


def test_full_disk_warns_once_and_keeps_scoring(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = PairCache(tmp_path / "pairs.sqlite")
    cache._connection.execute("PRAGMA max_page_count = 4")
    pairs = [pair(f"a{i}", "b") for i in range(5000)]
    cache.put("m", pairs, np.ones((5000, 2)))
    cache.put("m", pairs, np.ones((5000, 2)))
    assert len(caplog.records) == 1 and "can't be written" in caplog.text
    assert not cache.get("m", pairs)[1].any()


def test_which_store_a_url_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOFTIRR_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with open_cache() as cache:
        assert cache.path.is_file()
    assert (tmp_path / "cache" / "softirr" / "pairs.sqlite").is_file()
    assert open_cache("none").path == IN_MEMORY
    for url in (f"sqlite:///{tmp_path}/one.sqlite", str(tmp_path / "two.sqlite")):
        open_cache(url).close()
    assert (tmp_path / "one.sqlite").is_file() and (tmp_path / "two.sqlite").is_file()
    monkeypatch.setenv("SOFTIRR_CACHE", "none")
    assert open_cache().path == IN_MEMORY
    with pytest.raises(InputError, match="can't be at redis://"):
        open_cache("redis://localhost")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="can't be opened"):
        open_cache(str(tmp_path / "file" / "pairs.sqlite"))
    with pytest.raises(InputError, match="can't be at postgresql://\\.\\.\\.; use none"):
        open_cache("postgresql://nobody@127.0.0.1:1/none")


def test_without_a_writable_home_scores_are_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("SOFTIRR_CACHE", raising=False)
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert open_cache().path == IN_MEMORY
    assert "kept in memory only" in caplog.text


def test_texts_are_not_in_the_file(tmp_path: Path) -> None:
    with PairCache(tmp_path / "pairs.sqlite") as cache:
        cache.put("m", [pair("secret diagnosis", "another secret")], np.ones((1, 2)))
    assert b"secret" not in (tmp_path / "pairs.sqlite").read_bytes()
    columns = sqlite3.connect(tmp_path / "pairs.sqlite").execute("SELECT * FROM scored_pairs").description
    assert [column[0] for column in columns] == ["pair", "forward", "backward"]


def lengths(name: str = "lengths") -> DirectedFunction:
    """A measure that scores a pair by the length of its first text."""
    measure = DirectedFunction(lambda a, b: len(a) / 100, name)
    measure.unreadable = ["bad"]
    return measure


def test_a_second_run_scores_nothing(open_store: Open) -> None:
    texts = [f"{'long ' * (i % 5)}text {i}" for i in range(60)]
    rng = np.random.default_rng(0)
    left_texts, right_texts = rng.integers(0, 60, 400), rng.integers(0, 60, 400)
    first, second = lengths(), lengths()
    scores = PairScorer(first, texts, cache=open_store()).directions(left_texts, right_texts)
    assert first.asked
    shuffled = rng.permutation(60)
    positions = np.argsort(shuffled)
    cached_scores = PairScorer(second, [texts[i] for i in shuffled], cache=open_store()).directions(
        positions[right_texts], positions[left_texts]
    )
    assert not second.asked
    assert np.array_equal(scores, cached_scores[:, ::-1])


def test_failed_answers_are_not_kept(open_store: Open) -> None:
    texts, name = ["bad", "good", "fine"], f"lengths {os.urandom(4).hex()}"
    left_texts, right_texts = np.array([0, 1]), np.array([1, 2])
    PairScorer(lengths(name), texts, cache=open_store()).score(left_texts, right_texts)
    second_lengths = lengths(name)
    PairScorer(second_lengths, texts, cache=open_store()).score(left_texts, right_texts)
    assert len(second_lengths.asked) == 1
