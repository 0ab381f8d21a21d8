"""The meaning of each output of an entailment model.

Models differ, many have no label names, and a wrong order inverts every score.

The order is taken from the first of: the caller, the pinned table of known hub models, the names in the configuration,
the model's behavior on fixed texts. Names that the model's behavior clearly contradicts are an error, and so is a model
with an unknown order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softirr.errors import InputError
from softirr.meaning.lexicon import rows

_LETTERS = {"e": "entailment", "n": "neutral", "c": "contradiction", "o": "not entailment", "?": "unknown"}

_MOST, _FEW = 10, 3
"""Of twelve answers: fewest that agree and most that disagree for clear behavior."""
PINNED: Mapping[str, str] = dict(rows("label_orders", __package__))
"""Order of the outputs by the folded name on the hub, from its card: e entailment, n neutral, c contradiction."""
PROBES = tuple((first, second) for _, first, second in rows("label_probes", __package__))
"""Pairs of texts that any entailment model knows: twelve are the same, twelve are opposite, twelve are unrelated."""


@dataclass(frozen=True)
class LabelOrder:
    """The meaning of a model's outputs.

    Attributes
    ----------
    letters
        One of e, n, c, o (not entailment), ? (not known, and not needed) for each output.
    source
        ``given``, ``pinned``, ``names`` or ``behavior``.
    """

    letters: tuple[str, ...]
    source: str

    @property
    def entailment(self) -> int:
        """Index of the output that means entailment."""
        return self.letters.index("e")

    def __str__(self) -> str:
        return f"{', '.join(_LETTERS[letter] for letter in self.letters)} ({self.source})"


def given_order(text: str | Sequence[str], n_labels: int) -> LabelOrder:
    """The order that a caller states, such as ``"c,n,e"`` or ``["contradiction", "neutral", "entailment"]``.

    Parameters
    ----------
    n_labels : int
        Number of the model's outputs.

    Raises
    ------
    InputError
        If it is not one name for each output with exactly one entailment.
    """
    words = [word.strip() for word in (text.split(",") if isinstance(text, str) else text)]
    letters = tuple(word if word in _LETTERS else letter_of(word) for word in words)
    known_letters = [letter for letter in letters if letter != "?"]
    if len(letters) != n_labels or known_letters.count("e") != 1 or len(set(known_letters)) != len(known_letters):
        raise InputError(
            f"The label order {', '.join(words)!r} does not fit the model: it has {n_labels} outputs, and exactly one "
            "has to be entailment; write one of e, n, c (or o for not entailment) for each, such as c,n,e."
        )
    return LabelOrder(letters, "given")


def letter_of(name: str) -> str:
    """e, n, c or o for a label's name; ? where the name has no known meaning."""
    folded = re.sub(r"[\W_]+", " ", name.casefold()).strip()
    if re.match(r"(not|non|no|un) ?entail", folded):
        return "o"
    for pattern, letter in ((r"^entail", "e"), (r"^contradict", "c"), (r"^(neutral|unrelated|undetermined)", "n")):
        if re.search(pattern, folded):
            return letter
    return "?"


def resolve(
    n_labels: int,
    id2label: Mapping[int, str],
    hub: str | None,
    logits: Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]],
    where: str,
) -> LabelOrder:
    """Find the order of a model's outputs from the pinned table, the names or the model's behavior.

    Parameters
    ----------
    id2label : mapping of int to str
        From the model's configuration.
    hub : str or None
        The model's hub name if it came from the hub, else None.
    logits : callable
        Gives the logits of directed pairs, shape (n, n_labels).
    where : str
        Name of the model in messages.

    Raises
    ------
    InputError
        If the order can't be found, or the model's behavior contradicts the names.
    """
    if n_labels < 2:
        raise InputError(
            f"The model {where} has a single output and can't tell entailment from the rest; "
            "use a model with two or three classes."
        )
    observed = _behavior(logits, n_labels)
    order = stated(n_labels, id2label, hub)
    if order is not None:
        if observed is not None and observed.entailment != order.entailment:
            raise InputError(
                f"The model {where} calls output {order.entailment} entailment but answers identical texts with output "
                f"{observed.entailment}; say which is right behind its name, such as "
                f"nli:{where}?labels={','.join(observed.letters)}."
            )
        return order
    if observed is not None:
        return observed
    raise InputError(
        f"The model {where} does not name its {n_labels} outputs and does not show which one means entailment; "
        f"say so behind its name, such as nli:{where}?labels=c,n,e (c contradiction, n neutral, e entailment)."
    )


def stated(n_labels: int, id2label: Mapping[int, str], hub: str | None) -> LabelOrder | None:
    """The order of the pinned table, else of the names of the outputs; None if neither has it."""
    if hub is not None and (order := PINNED.get(hub.casefold())) is not None:
        letters = tuple(order.split(","))
        if len(letters) == n_labels:
            return LabelOrder(letters, "pinned")
    letters = tuple(letter_of(str(id2label.get(i, ""))) for i in range(n_labels))
    full = {2: ({"e", "o"}, {"e", "c"}, {"e", "n"}), 3: ({"e", "n", "c"},)}.get(n_labels, ())
    return LabelOrder(letters, "names") if set(letters) in full else None


def _behavior(logits: Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]], n_labels: int) -> LabelOrder | None:
    """The order that the model's answers to fixed pairs show; None unless they are clear.

    Clear is one output for nearly all identical texts that nearly no contradiction and no unrelated pair gets.
    """
    answers = np.asarray(logits(PROBES)).argmax(axis=1)
    same, opposite, unrelated = (np.bincount(group, minlength=n_labels) for group in np.split(answers, 3))
    e = int(same.argmax())
    if same[e] < _MOST or opposite[e] > _FEW or unrelated[e] > _FEW:
        return None
    letters = ["?"] * n_labels
    letters[e] = "e"
    if n_labels == 2:
        letters[1 - e] = "o"
    else:
        c, n = int(opposite.argmax()), int(unrelated.argmax())
        if c != n:
            letters[c], letters[n] = "c", "n"
    return LabelOrder(tuple(letters), "behavior")
