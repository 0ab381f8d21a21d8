"""Calibration on both directions: what it learns, where it stays with few judgements, and that every way to score agrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softirr.errors import InputError
from softirr.measures.calibration import JudgedPairs, calibrate
from softirr.measures.calibration_curves import Calibration, cross_validated, fit
from softirr.measures.corrected import corrected
from softirr.measures.pairs import PairScorer
from softirr.provenance import Provenance


def simulated(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Pairs whose smaller direction alone says whether they mean the same."""
    rng = np.random.default_rng(seed)
    directions = rng.uniform(0.02, 0.98, (n, 2))
    return directions, (rng.random(n) < directions.min(axis=1)).astype(float)


def loss(p: Any, y: Any) -> float:
    return float(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))


def test_it_learns_that_the_smaller_direction_counts() -> None:
    directions, judged = simulated(3000)
    made = fit(directions, judged, measure="m")
    assert made.method == "directions"
    assert made.weaker > 0.8 > 0.3 > made.stronger
    fresh, same = simulated(3000, seed=1)
    mean = np.sqrt(fresh.prod(axis=1))
    former = fit(np.sqrt(directions.prod(axis=1)), judged, method="platt")
    assert loss(made.of_pairs(fresh), same) < loss(former.apply(mean), same)
    assert made.of_pairs(fresh[:, ::-1]) == pytest.approx(made.of_pairs(fresh))


def test_few_judgements_move_it_little() -> None:
    directions, judged = simulated(3000)
    few = fit(directions[:12], judged[:12])
    many = fit(directions, judged)
    start = np.array([0.5, 0.5])
    moved = [np.abs(np.array([one.weaker, one.stronger]) - start).sum() for one in (few, many)]
    assert moved[0] < 0.5 * moved[1]


def test_a_symmetric_score_has_the_same_value_either_way() -> None:
    made = Calibration("directions", "m", 30, weaker=0.8, stronger=0.3, intercept=-0.4)
    p = np.linspace(0, 1, 11)
    assert made.apply(p) == pytest.approx(made.of_pairs(np.column_stack([p, p])))
    assert np.all(np.diff(made.apply(p)) >= 0)


def test_it_is_kept_and_moved_to_another_prior() -> None:
    directions, judged = simulated(200)
    made = fit(directions, judged, measure="m")
    assert Calibration.from_dict(made.to_dict()) == made
    rare = made.at(made.prior_of(directions**3))
    assert rare.prior < made.prior
    assert np.all(rare.of_pairs(directions) < made.of_pairs(directions))


@pytest.mark.parametrize(
    "change", [{"weaker": -1.0}, {"weaker": "x"}, {"method": "other"}, {"intercept": float("inf")}]
)
def test_what_is_no_calibration_is_refused(change: dict[str, Any]) -> None:
    told = fit(*simulated(50), measure="m").to_dict() | change
    with pytest.raises(InputError, match="no calibration"):
        Calibration.from_dict(told)


def test_a_measure_without_directions_is_told() -> None:
    with pytest.raises(InputError, match="needs both directions, but indel has none"):
        fit(np.linspace(0, 1, 20), [0, 1] * 10, method="directions", measure="indel")
    with pytest.raises(InputError, match="20 scores but 10 judgements"):
        fit(np.ones((20, 2)), [0, 1] * 5)


def test_the_other_methods_use_the_geometric_mean() -> None:
    directions, judged = simulated(60)
    mean = np.sqrt(directions.prod(axis=1))
    assert fit(directions, judged, method="platt") == fit(mean, judged, method="platt")
    assert cross_validated(directions, judged, method="platt") == pytest.approx(
        cross_validated(mean, judged, method="platt")
    )


class Directed:
    """Entailment by the share of words; as a model, it is asked for pairs, not for blocks."""

    name = "directed"

    def entail_both(self, pairs: Any) -> Any:
        return np.array([[self._share(b, a), self._share(a, b)] for a, b in pairs]).reshape(-1, 2)

    def entail(self, pairs: Any) -> Any:
        return self.entail_both(pairs)[:, 0]

    def score(self, pairs: Any) -> Any:
        both = self.entail_both(pairs)
        return np.sqrt(both[:, 0] * both[:, 1])

    def provenance(self) -> Provenance:
        return Provenance("directed")

    @staticmethod
    def _share(whole: str, part: str) -> float:
        return len(set(whole.split()) & set(part.split())) / len(set(whole.split()))


def test_calibrate_takes_the_directions_of_a_measure_that_has_them() -> None:
    pairs = tuple((f"left knee pain {n}", f"knee pain {n}") for n in range(15)) + tuple(
        (f"pain {n}", f"knee pain {n} today") for n in range(15)
    )
    judged = tuple(float(n < 15) for n in range(30))
    found = calibrate(JudgedPairs(pairs, judged), Directed(), progress=None)
    assert found.calibration.method == "directions"
    assert (
        calibrate(JudgedPairs(pairs, judged), Directed(), method="platt", progress=None).calibration.method == "platt"
    )
    made = corrected(Directed(), found.calibration)
    texts = [text for pair in pairs for text in pair]
    left, right = np.arange(0, 60, 2), np.arange(1, 60, 2)
    wanted = found.calibration.of_pairs(Directed().entail_both(pairs))
    assert made.score(pairs) == pytest.approx(wanted)
    assert PairScorer(made, texts).score(left, right) == pytest.approx(wanted)
    assert "weaker" in found.to_dict()["calibration"]
