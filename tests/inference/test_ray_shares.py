"""Which share counts as the cause if workers end: with a stand-in for Ray that can lose replies."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softirr.errors import SoftirrError
from softirr.inference import ray_engine
from softirr.inference.classifier import Outputs
from softirr.inference.models import ClassifierOptions

ABOUT = ray_engine.About(3, {}, "float32", 128, "cpu")


class Reference:
    """A request to an actor; `texts` is None for a request of its properties."""

    def __init__(self, actor: Actor, texts: list[str] | None, count: int = 0) -> None:
        self.actor, self.texts, self.count = actor, texts, count


class Actor:
    """An actor of one process; where it meets a deadly text, the reply of the share before is lost with it."""

    def __init__(self, *_: Any) -> None:
        self.waiting: list[Reference] = []
        self.about = SimpleNamespace(remote=lambda: Reference(self, None))
        self.run = SimpleNamespace(remote=self._run)

    def _run(self, texts: list[str], left_texts: Any, right_texts: Any) -> Reference:
        self.waiting.append(Reference(self, texts, len(left_texts)))
        return self.waiting[-1]

    def dead(self) -> bool:
        return any(reference.texts and "deadly" in reference.texts for reference in self.waiting)


class Ray:
    """The calls of Ray that the engine makes."""

    def __init__(self) -> None:
        error = type("RayError", (Exception,), {})
        self.exceptions = SimpleNamespace(RayError=error, RayTaskError=type("RayTaskError", (error,), {}))
        self.kill = self.cancel = lambda *_: None

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 1.0}

    def remote(self, **_: Any) -> Any:
        return lambda worker: SimpleNamespace(remote=Actor)

    def wait(self, references: list[Reference], **_: Any) -> tuple[list[Reference], list[Reference]]:
        return references[:1], references[1:]

    def get(self, reference: Reference, **_: Any) -> Any:
        if reference.texts is None:
            return ABOUT
        if reference.actor.dead():
            raise self.exceptions.RayError
        reference.actor.waiting.remove(reference)
        return Outputs(np.zeros((reference.count, 3), dtype=np.float32), np.zeros(reference.count, dtype=bool))


@pytest.mark.parametrize("shares", [1, 2, 3, 4])
def test_only_the_deadly_share_is_given_up(monkeypatch: pytest.MonkeyPatch, shares: int) -> None:
    monkeypatch.setattr(ray_engine, "connect", Ray)
    texts = ["acute and chronic renal failure", "deadly"]
    numbers = np.zeros(10 * (shares - 1) + 2, dtype=np.int64)
    numbers[-2:] = 1  # pairs of short texts come last
    engine = ray_engine.RayEngine(Path("model"), ClassifierOptions(device="cpu", workers=1))
    done: list[Any] = []
    with pytest.raises(SoftirrError, match=r"^2 comparisons of texts of up to 6 characters ended 3 workers") as raised:
        done.extend(where for where, _ in engine._map(ray_engine._shares(texts, numbers, numbers, 10)))
    assert "such parts" not in str(raised.value)
    assert sorted(number for where in done for number in where.tolist()) == list(range(10 * (shares - 1)))


@pytest.mark.parametrize(("pairs", "sizes"), [(100, [100]), (2_000, [500] * 4), (20_000, [4_096] * 4 + [3_616])])
def test_few_pairs_are_spread_over_all_workers(pairs: int, sizes: list[int]) -> None:
    shares: list[int] = []

    class Recorder(ray_engine.RayEngine):
        workers, n_labels = 2, 3

        def __init__(self) -> None:
            """Without a cluster."""

        def _map(self, shares_of_job: Any) -> Any:
            for share in shares_of_job:
                shares.append(len(share.where))
                yield share.where, Outputs(np.ones((len(share.where), 3), dtype=np.float32), share.left_texts > 0)

    numbers = np.zeros(pairs, dtype=np.int64)
    assert Recorder().run(["a"], numbers, numbers).logits.all()
    assert shares == sizes
