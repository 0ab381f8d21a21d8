"""Settings of one project (measure, controls, ...), and the layers that they come from."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ml_backend.settings import Settings
from softirr.answers.kinds import named_kinds
from softirr.answers.missing import AUTO
from softirr.defaults import PERMUTATIONS, THRESHOLD
from softirr.meaning.measures import DEFAULT_MEASURE
from softirr.meaning.policy.rules import AS_WRITTEN, Policy
from softirr.meaning.terminology import name_of
from softirr.report.inputs import ChanceMethod

TEXTS, MEAN, LOWEST = "texts", "mean", "lowest"
"""Possible scores of a task in addition to the agreement of one field."""

FORMER_VALUES = {"regions": {"overlap": "matched"}}
"""Values of options that earlier versions wrote, and their present names."""

MISSING_OPTION = "softirr-ls settings --missing"  # what chooses the texts that mean missing, for messages
OPERATOR_ONLY = frozenset({"reviewers", "count_reviewers", "terminologies"})
OF_A_REPORT = ("chance", "permutations")
"""Settings that change the report of a project, but no task."""
_NOT_OF_A_TASK = frozenset(
    {
        *OF_A_REPORT,
        *("hide_names", "target", "policy", "terminologies", "missing", "predictions", "fields", "score"),
    }
)


@dataclass(frozen=True)
class ProjectSettings:
    """How one project is scored.

    Attributes
    ----------
    measure : str
        Name for `softirr.measure`.
    controls : tuple of str or None
        TextArea controls that count; None takes all of the label config.
    chance, permutations
        As in `softirr.agreement`.
    threshold : float
        Equivalence from which two texts match.
    missing : str
        Texts that mean that an answer is missing: ``auto``, ``none``, or texts joined by commas.
    predictions_as_raters : bool
        Count the newest prediction of each model version as the answer of a rater ``model:VERSION``.
    regions : {"pooled", "matched"}
        Texts of regions: pooled per task, or compared between regions that are matched by their overlap.
    suggestions : bool
        Write suggested texts into the prediction; without, it carries the score only.
    predictions : {"complete", "always"}
        Write a task's prediction once the task has all the annotations it is to get or a reviewer marks it as done, or
        from the second on.
    hide_names : bool
        Show numbers instead of the annotators' names to reviewers.
    reviewers : tuple of str
        Ids of the Label Studio users who review.
    count_reviewers : bool
        Whether reviewers' answers count in the coefficients like annotators' answers.
    policy : Policy
        Definition of sameness, and how answers with several texts in one box are split.
    terminologies : tuple of str
        Paths of terminologies that texts are looked up in first; only the operator names them.
    fields : tuple of str
        Kinds of controls without texts, as ``NAME=KIND``; the others have the kind of their type.
    score : str
        What orders the tasks and is the score of their predictions: ``texts`` (their mean), the ``mean`` or the
        ``lowest`` of all fields, or the name of one field.
    target : float or None
        The value that the headline should reach; panel, report and terminal show whether it does.
    """

    measure: str = DEFAULT_MEASURE
    controls: tuple[str, ...] | None = None
    chance: ChanceMethod = "auto"
    permutations: int = PERMUTATIONS
    threshold: float = THRESHOLD
    casefold: bool = False
    missing: str = AUTO
    predictions_as_raters: bool = False
    regions: str = "pooled"
    suggestions: bool = True
    predictions: str = "complete"
    hide_names: bool = False
    reviewers: tuple[str, ...] = ()
    count_reviewers: bool = False
    target: float | None = None
    policy: Policy = AS_WRITTEN
    terminologies: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    score: str = TEXTS

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each control that `fields` names."""
        return named_kinds(self.fields)

    def fingerprint(self) -> str:
        """Hash of what decides a task's result: not how chance is computed, nor when the panel shows."""
        deciding_values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NOT_OF_A_TASK}
        if self.missing != AUTO:
            deciding_values["missing"] = self.missing
        if self.score != TEXTS:
            deciding_values["score"] = self.score
        if self.fields:
            deciding_values["fields"] = self.fields
        if self.policy.changes_scores:
            deciding_values["policy"] = self.policy.mark()
        if self.policy.split is not None:
            deciding_values["split"] = self.policy.split
        return hashlib.sha256(json.dumps(deciding_values, sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {
            "controls": list(self.controls) if self.controls else None,
            "reviewers": list(self.reviewers),
            "fields": list(self.fields),
            "policy": self.policy.to_dict(),
            "terminologies": list(
                map(name_of, self.terminologies)
            ),  # the operator's folders are nobody else's business
        }


def present_value(name: str, value: Any) -> Any:
    """Return the present name of an option's value that an earlier version wrote, or the value itself."""
    return FORMER_VALUES.get(name, {}).get(value, value) if isinstance(value, str) else value


@dataclass(frozen=True)
class EffectiveSettings:
    """A project's settings and, for each, the layer that it comes from."""

    values: ProjectSettings
    sources: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """One entry per setting: its value and its source."""
        return {name: {"value": value, "source": self.sources[name]} for name, value in self.values.to_dict().items()}


def refused(settings: Settings, options: Mapping[str, Any] | None) -> dict[str, str]:
    """Options that a connection may not set, each with the sentence why.

    Whoever may edit the project could set them.
    """
    sentences = {name: f"{name} can only be set by softirr-ls." for name in OPERATOR_ONLY if name in (options or {})}
    measure = (options or {}).get("measure")
    if measure is not None and not settings.allows_measure(measure):
        sentences["measure"] = (
            f"The measure {measure[:80]!r} opens a folder, a model hub or an address: the operator allows it by its "
            "exact name in SOFTIRR_ALLOWED_MEASURES, or chooses it with softirr-ls connect --measure."
        )
    return sentences


def effective(
    settings: Settings,
    *,
    connection: Mapping[str, Any] | None = None,
    command_options: Mapping[str, Any] | None = None,
) -> EffectiveSettings:
    """Lay the layers over each other.

    Defaults, environment, the connection's ``extra_params``, ``softirr-ls`` options.
    """
    layers = [
        ("environment", {"measure": settings.measure} if settings.measure else {}),
        (
            "connection",
            {name: value for name, value in (connection or {}).items() if name not in refused(settings, connection)},
        ),
        ("softirr-ls", command_options or {}),
    ]
    values: dict[str, Any] = {}
    sources = {f.name: "default" for f in fields(ProjectSettings)}
    for source, layer in layers:
        for name, value in layer.items():
            if name not in sources:  # an option of an earlier version
                continue
            value = Policy.from_dict(value) if name == "policy" else value
            values[name] = tuple(value) if isinstance(value, list) else present_value(name, value)
            sources[name] = source
    return EffectiveSettings(ProjectSettings(**values), sources)
