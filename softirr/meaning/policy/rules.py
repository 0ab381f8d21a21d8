"""Policies: which attributes of a text count in a project, and whether a more general text counts as the same."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from softirr.answers.splitting import check_split
from softirr.errors import InputError, writing
from softirr.meaning.policy.attributes import KIND_NAMES, KINDS, kinds_of, without

MoreGeneral = Literal["strict", "graded", "lenient"]
MORE_GENERAL: Mapping[str, str] = {
    "strict": "a more general text does not count as the same",
    "graded": "a more general text counts in part",
    "lenient": "a more general text counts as the same",
}
"""Descriptions of the rules for a more general text."""


@dataclass(frozen=True)
class Policy:
    """Definition of sameness in a project.

    Attributes
    ----------
    name : str
        For reports.
    ignore : frozenset of str
        Attributes that do not count, of :data:`softirr.meaning.policy.attributes.KINDS`; any collection may be given.
        They are removed from both texts before a measure compares them.
    more_general : {"graded", "strict", "lenient"}
        Whether "pain" counts as the same as "chest pain": the geometric mean of both directions, the smaller or the
        larger one.
    split : str, optional
        How one text is split into a set of texts, see :class:`softirr.ReadOptions`. ``none`` compares each text as a
        whole; without a choice, models compare texts of several sentences sentence by sentence.
    count : frozenset of str
        Attributes that decide. If both texts have such an attribute and its values differ, the texts are different
        under any measure. If the values are equal, the remaining text is compared. If only one text has the attribute,
        or a value is not understood, the measure decides. Different texts get the score of unrelated texts: 0 with a
        model that gives probabilities, 0.29 with ``indel``.

    Examples
    --------
    >>> policy = Policy("findings", ignore={"severity", "time"})
    >>> policy.rewrite("severe chest pain for 3 days")
    'chest pain'
    >>> policy.describe()
    'findings: severity, course and time do not count'
    """

    name: str = ""
    ignore: frozenset[str] = frozenset()
    more_general: MoreGeneral = "graded"
    split: str | None = None
    count: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if isinstance(self.ignore, str) or isinstance(self.count, str):
            raise InputError("ignore and count of a policy must be collections of attribute names, not one text.")
        object.__setattr__(self, "ignore", kinds_of(self.ignore))
        object.__setattr__(self, "count", kinds_of(self.count))
        if overlap := sorted(self.ignore & self.count):
            raise InputError(f"The policy both ignores and counts {overlap[0]}: name it once.")
        if self.more_general not in MORE_GENERAL:
            raise InputError(
                f"The policy's more_general is {self.more_general!r}, but can be {', '.join(MORE_GENERAL)}."
            )
        check_split(self.split)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The ignored attributes, in a fixed order."""
        return tuple(kind for kind in KINDS if kind in self.ignore)

    @property
    def changes_scores(self) -> bool:
        """Whether two texts can score differently under this policy than without one."""
        return bool(self.mark())

    @property
    def is_default(self) -> bool:
        """Whether texts are compared as they are written."""
        return not self.changes_scores and self.split is None

    @property
    def deciding(self) -> tuple[str, ...]:
        """The attributes that decide, in a fixed order."""
        return tuple(kind for kind in KINDS if kind in self.count)

    def rewrite(self, text: str, shared: Collection[str] = ()) -> str:
        """A text without the attributes that do not count.

        It loses the attributes of `shared` too, which are the same in the other text of a pair.
        """
        kinds = self.ignore.union(shared)
        return without(text, kinds) if kinds else text

    def changed(
        self,
        *,
        ignore: Collection[str] | None = None,
        more_general: str | None = None,
        split: str | None = None,
        count: Collection[str] | None = None,
    ) -> Policy:
        """The policy with other parts; it loses its name if a part changes.

        Newly ignored attributes stop counting, and the other way round.
        """
        policy = replace(
            self,
            ignore=self.ignore.difference(count or ()) if ignore is None else frozenset(ignore),
            count=self.count.difference(ignore or ()) if count is None else frozenset(count),
            more_general=cast(MoreGeneral, more_general or self.more_general),
            split=split or self.split,
        )
        return policy if policy == self else replace(policy, name="")

    def describe(self) -> str:
        """The policy in one line of words."""
        names = [KIND_NAMES[kind] for kind in self.kinds]
        clauses = [f"{', '.join(names)} do{'es' if len(names) == 1 else ''} not count"] if names else []
        deciding = [KIND_NAMES[kind] for kind in self.deciding]
        clauses += [f"{', '.join(deciding)} decide{'s' if len(deciding) == 1 else ''}"] if deciding else []
        if self.more_general != "graded":
            clauses.append(MORE_GENERAL[self.more_general])
        if self.split is not None:
            clauses.append("answers are not split" if self.split == "none" else f"answers are split ({self.split})")
        if not clauses:
            return self.name or AS_WRITTEN.name
        return f"{self.name}: {'; '.join(clauses)}" if self.name else "; ".join(clauses)

    def mark(self) -> str:
        """Changes of scores by the policy, in a few words for the name of a measure.

        "" where it changes nothing.
        """
        without = f"without {', '.join(self.kinds)}" if self.ignore else ""
        count = f"counting {', '.join(self.deciding)}" if self.count else ""
        return "; ".join(filter(None, (without, count, self.more_general if self.more_general != "graded" else "")))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "ignore": list(self.kinds),
            "more_general": self.more_general,
            "split": self.split,
            **({"count": list(self.deciding)} if self.count else {}),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Policy:
        """The policy of a JSON object with any of the keys name, ignore, more_general, split and count.

        Raises
        ------
        InputError
            If the object does not describe a policy.
        """
        if not isinstance(content, Mapping):
            raise InputError("A policy is a JSON object with the keys name, ignore, more_general, split and count.")
        settings = {str(key): value for key, value in content.items() if key != "softirr_policy"}
        if unknown := sorted(settings.keys() - {"name", "ignore", "more_general", "split", "count"}):
            raise InputError(
                f"A policy has no key {unknown[0]!r}; its keys are name, ignore, more_general, split and count."
            )
        for key in ("ignore", "count"):
            kinds = settings.get(key, [])
            if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
                raise InputError(f"The policy's {key} is no list of attributes.")
        if content.get("softirr_policy") == 1 and settings.get("split") == "none":
            settings["split"] = None  # earlier releases wrote it if nothing was chosen
        return cls(**settings | {"name": str(settings.get("name", ""))})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a JSON file.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        with writing(path), open(path, "w", encoding="utf-8") as file:
            json.dump({"softirr_policy": 2, **self.to_dict()}, file, allow_nan=False, indent=1)
            file.write("\n")


AS_WRITTEN = Policy("as written")
"""The policy of a project that has chosen none."""

PRESETS: Mapping[str, Policy] = {
    "as-written": AS_WRITTEN,
    "exact-concept": Policy("exact concept", more_general="strict"),
    "any-severity": Policy("clinical finding, any severity", ignore=frozenset({"severity"})),
    "finding": Policy("clinical finding", ignore=frozenset({"severity", "time", "number", "cause"})),
    "adverse-event": Policy(
        "adverse event term", ignore=frozenset({"severity", "side", "time", "number", "certainty", "cause"})
    ),
}
"""Policies with names."""


def find_policy(name: str | os.PathLike[str]) -> Policy:
    """A preset by its name, or the policy of a JSON file.

    Parameters
    ----------
    name : str or path
        One of :data:`PRESETS`, or a file that :meth:`Policy.save` wrote.

    Raises
    ------
    InputError
        If there is neither.

    Examples
    --------
    >>> find_policy("any-severity").kinds
    ('severity',)
    """
    if isinstance(name, str) and name in PRESETS:
        return PRESETS[name]
    if not os.path.exists(name):
        raise InputError(f"There is no policy and no file {os.fspath(name)!r}; the policies are {', '.join(PRESETS)}.")
    from softirr.answers.source import contents

    file, text = contents(name)
    try:
        return Policy.from_dict(json.loads(text))
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{file} is not valid JSON, so it is not a policy.") from None
