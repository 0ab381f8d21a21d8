"""Settings that turn raw answers into a table, and the answers on their way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from softirr.answers.kinds import AUTO, Kind
from softirr.answers.missing import MissingMarks
from softirr.answers.raw import RawAnswer, RawField
from softirr.answers.table import Excluded

Key = tuple[str, str]
"""Item and rater of an answer."""


@dataclass(frozen=True)
class Preparation:
    """Settings that turn raw answers into a table.

    Attributes
    ----------
    missing : MissingMarks
        Texts that mark a missing answer.
    casefold, ignore_harakat : bool
        Options of the normal form of texts.
    empty : {"missing", "none"}, optional
        Meaning of a blank answer; by default as usual for the input.
    repeats : {"set", "first", "last", "refuse"}, optional
        Meaning of several answers of a rater to an item; by default as usual for the input.
    split : str, optional
        How texts that contain a list are split, see :func:`softirr.answers.splitting.split_text`.
    kind : str, optional
        Kind of the field; by default the kind that the input shows.
    regions : {"pooled", "matched"}
        Whether all texts of an annotation are one answer, or each matched region is an item.
    rater_names : mapping of str to str
        Other names of raters.
    ignored_raters : frozenset of str
        Raters to leave out, by either name.
    """

    missing: MissingMarks = field(default_factory=lambda: MissingMarks.of(AUTO))
    casefold: bool = False
    ignore_harakat: bool = False
    empty: str | None = None
    repeats: str | None = None
    split: str | None = None
    kind: str | None = None
    regions: str = "pooled"
    rater_names: Mapping[str, str] = field(default_factory=dict)
    ignored_raters: frozenset[str] = frozenset()


@dataclass
class Work:
    """Answers on their way from raw to prepared."""

    raw: RawField
    settings: Preparation
    location: Callable[[int], str]
    names: Mapping[str, str]
    kind: Kind
    answers: dict[Key, RawAnswer] = field(default_factory=dict)
    texts_before_split: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    items: dict[str, None] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    marks: MissingMarks = field(default_factory=MissingMarks)
    n_split: int = 0
    n_blank: int = 0
    n_repeated: int = 0
    is_one_of_several: bool = False

    @property
    def empty(self) -> str:
        """Meaning of a blank answer."""
        return self.settings.empty or self.raw.blank

    def name_of(self, rater: str) -> tuple[str, str]:
        """Return the name of a rater under the settings, and the name that the input has for them."""
        input_name, names = self.names.get(rater, rater), self.settings.rater_names
        return names.get(rater, names.get(input_name, input_name)), input_name

    def put(self, key: Key, answer: RawAnswer, texts: tuple[str, ...] | None) -> None:
        """Replace the texts of an answer, or leave it out if they are None."""
        if texts is None:
            del self.answers[key]
        else:
            self.answers[key] = answer._replace(texts=texts)
