"""The development set, its measures, and the calibration of a model's outputs on it.

Cohen's kappa is computed from means of P. So P has to be near 1 for synonyms, near 0 for texts of different meaning,
and nearer to 0 for chance pairs, which outnumber all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.train.sources import Sources
from lab.train.stream import PairStream

Floats = NDArray[np.float64]

SAME_KINDS = ("synonym", "same words")
NEGATIVE_KINDS = ("random", "sibling", "neighbor", "hypernym")
CHANGED_KINDS = ("modifier", "opposite", "other word", "number", "initials", "joined")
IDENTICAL = 1 / 3
"""About this share of the true pairs is the same string in the synthetic populations of Wullschleger et al. 2026."""


@dataclass(frozen=True, eq=False)
class DevelopmentSet:
    """Pairs to measure and calibrate a model by, mostly of concepts that no training pair comes from.

    Attributes
    ----------
    pairs
        (premise, hypothesis).
    kinds
        Kind of each.
    entails : shape (n,)
        Whether the first text entails the second.
    same : shape (n,)
        1 where both mean the same, 0 where not, -1 where only one direction is known.
    """

    pairs: tuple[tuple[str, str], ...]
    kinds: tuple[str, ...]
    entails: Floats
    same: Floats

    @classmethod
    def of_calibration(cls, sources: Sources, size: int, seed: int = 0) -> DevelopmentSet:
        """The set that a finished model is calibrated on.

        Half of the pairs are of learned concepts, half of concepts kept for development.

        Raters use both. Calibrated on unknown names alone, P is too high for learned names and long sentences. Half of
        each half comes from the terminologies alone (:meth:`of_terminologies`).
        """
        unseen_pairs = cls.of(sources, size, seed) + cls.of_terminologies(sources, size, seed)
        learned = cls.of(sources, size, seed, learned=True) + cls.of_terminologies(sources, size, seed, learned=True)
        return unseen_pairs + learned

    @classmethod
    def of_terminologies(cls, sources: Sources, size: int, seed: int = 0, *, learned: bool = False) -> DevelopmentSet:
        """`size` pairs of each kind from the terminologies alone, synonyms of concepts with three names or more.

        Word lists, composed terms and concepts with two names are easier: a calibration by them alone makes P of
        synonyms too small on a terminology that the model never saw. If a kind is missing, :meth:`of` is used.
        """
        graphs = tuple(graph for graph in sources.graphs if any(graph.parents) and all(graph.clinical))
        dev = cls.of(replace(sources, graphs=graphs), size, seed, fewest_names=3, learned=learned)
        return dev if {"synonym", *NEGATIVE_KINDS} <= set(dev.kinds) else cls.of(sources, size, seed, learned=learned)

    @classmethod
    def of(
        cls, sources: Sources, size: int, seed: int = 0, *, fewest_names: int = 2, learned: bool = False
    ) -> DevelopmentSet:
        """`size` pairs of each kind that the sources have, of concepts kept for development or of the learned ones.

        Synonyms are of concepts with at least `fewest_names` names.
        """
        stream = PairStream(sources, seed=seed, development=not learned, fewest_names=fewest_names)
        pairs: list[tuple[str, str]] = []
        kinds: list[str] = []
        entails: list[float] = []
        same: list[float] = []
        for kind in (*SAME_KINDS, *NEGATIVE_KINDS, *CHANGED_KINDS):
            for e in stream.of_kind(kind, size):
                pairs.append((e.premise, e.hypothesis))
                kinds.append(kind)
                entails.append(float(e.entails))
                # where a changed text still entails the other, the reverse is not known
                same.append(1.0 if kind in SAME_KINDS else 0.0 if kind in NEGATIVE_KINDS or not e.entails else -1.0)
        return cls(tuple(pairs), tuple(kinds), np.array(entails), np.array(same))

    def __len__(self) -> int:
        return len(self.pairs)

    def __add__(self, further: DevelopmentSet) -> DevelopmentSet:
        return DevelopmentSet(
            self.pairs + further.pairs,
            self.kinds + further.kinds,
            np.concatenate([self.entails, further.entails]),
            np.concatenate([self.same, further.same]),
        )

    def of_kind(self, kind: str) -> NDArray[np.bool_]:
        """Which pairs are of this kind, shape (n,)."""
        return self._places.get(kind, np.zeros(len(self), dtype=np.bool_))

    @cached_property
    def _places(self) -> dict[str, NDArray[np.bool_]]:
        names = np.array(self.kinds, dtype=np.str_)
        return {kind: names == kind for kind in dict.fromkeys(self.kinds)}


@dataclass(frozen=True)
class Calibration:
    """P = sigmoid(scale × margin + shift), margin = logit of entailment minus logit of its absence."""

    scale: float = 1.0
    shift: float = 0.0

    def __call__(self, margin: Floats) -> Floats:
        """Probabilities."""
        return np.asarray(1 / (1 + np.exp(-np.clip(self.scale * margin + self.shift, -40, 40))))


def kappa_error(same: float, negative: float, chance: float) -> float:
    """Mean absolute error of Cohen's kappa over all levels of true agreement, from mean probabilities.

    With a share α of true pairs, the soft observed agreement is α P(same) + (1 - α) P(negative), expected agreement is
    P(chance), and the true kappa is α (many labels, each of them rare).

    Parameters
    ----------
    same, negative, chance
        Mean P of pairs that mean the same (identical strings among them), of two raters who differ, and of pairs by
        chance.
    """
    alpha = np.linspace(0, 1, 51)
    kappa = (alpha * same + (1 - alpha) * negative - chance) / max(1 - chance, 1e-6)
    return float(np.abs(kappa - alpha).mean())


def measures(dev: DevelopmentSet, margins: Floats, calibration: Calibration) -> dict[str, float]:
    """Measures of a model on the development set.

    Parameters
    ----------
    margins : shape (n, 2)
        Of both directions: first to second, second to first.

    Returns
    -------
    dict
        Mean P by kind, ``kappa error`` by kind of negative, and ``log loss``.
    """
    p = calibration(margins)
    mutual = np.sqrt(p[:, 0] * p[:, 1])
    values: dict[str, float] = {}
    for kind in dict.fromkeys(dev.kinds):
        is_known = dev.of_kind(kind) & (dev.same >= 0)
        if is_known.any():
            values[f"P {kind}"] = float(mutual[is_known].mean())
    same = IDENTICAL + (1 - IDENTICAL) * values.get("P synonym", values.get("P same words", 1.0))
    chance = values.get("P random", 0.0)
    errors = {
        f"kappa error {kind}": kappa_error(same, values[f"P {kind}"], chance)
        for kind in NEGATIVE_KINDS
        if f"P {kind}" in values
    }
    return {**values, **errors, "log loss": loss(dev, margins, calibration)}


def loss(dev: DevelopmentSet, margins: Floats, calibration: Calibration) -> float:
    """Log loss with half of the weight on pairs that hold and half on the others.

    Within each half all kinds have the same weight.
    """
    p = np.clip(calibration(margins), 1e-6, 1 - 1e-6)
    mutual = np.sqrt(p[:, 0] * p[:, 1])
    yes, no = [], []
    for kind in dict.fromkeys(dev.kinds):
        rows = dev.of_kind(kind)
        is_same = rows & (dev.same == 1)
        is_different = rows & (dev.same == 0)
        forward = rows & (dev.entails == 1) & (dev.same != 1)
        if is_same.any():
            yes.append(-np.log(mutual[is_same]).mean())
        if forward.any():
            yes.append(-np.log(p[forward, 0]).mean())
        if is_different.any():
            no.append(-np.log(1 - mutual[is_different]).mean())
    return float(np.mean(yes) + np.mean(no)) / 2 if yes and no else float(np.mean(yes or no or [0.0]))


def calibrate(dev: DevelopmentSet, margins: Floats) -> Calibration:
    """Scale and shift with the smallest log loss plus error of kappa.

    Synonyms and same-item errors of the set have the base rate of raters' pairs; chance pairs enter through the error
    of kappa.
    """
    from scipy.optimize import minimize

    def cost(calibration: Calibration) -> float:
        values = measures(dev, margins, calibration)
        error = 0.0
        if {"P synonym", "P random"} <= values.keys():
            error = float(np.mean([value for name, value in values.items() if name.startswith("kappa error")]))
        return values["log loss"] + 2 * error

    spread = float(np.std(margins)) or 1.0
    # steps as large as the spread of the margins: with the tiny default steps the search never leaves a flat start
    first = np.array([[0.0, 0.0], [np.log(2.0), 0.0], [0.0, spread]])
    options = {"xatol": 1e-3, "fatol": 1e-5, "maxiter": 300, "initial_simplex": first}
    best = minimize(
        lambda x: cost(Calibration(float(np.exp(x[0])), float(x[1]))),
        np.zeros(2),
        method="Nelder-Mead",
        bounds=[(-3.0, 3.0), (-20.0, 20.0)],
        options=options,
    )
    return Calibration(float(np.exp(best.x[0])), float(best.x[1]))


def mean(values: NDArray[Any]) -> float | None:
    """Mean, or share of true values; None if there are none."""
    return float(values.mean()) if len(values) else None


def auroc(positive: Floats, negative: Floats) -> float | None:
    """Probability that a pair of the first kind scores above one of the second, ties counted half.

    None if a kind is missing.
    """
    from scipy.stats import mannwhitneyu

    if not len(positive) or not len(negative):
        return None
    return float(mannwhitneyu(positive, negative, method="asymptotic").statistic / (len(positive) * len(negative)))
