"""The controls of a label config: TextAreas and other kinds."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from ml_backend.project_settings import LOWEST, MEAN, TEXTS, ProjectSettings
from softirr.answers.kinds import CONTROL_KINDS
from softirr.errors import InputError

TAG = "<tag>"  # no name that an attribute can have


@dataclass(frozen=True)
class Control:
    """A TextArea of the label config.

    Attributes
    ----------
    per_region : bool
        Whether annotators answer it for each region, or for each turn of a dialogue.
    shows : str
        Tag of the object that it is about, such as ``image``.
    source : str
        Field of the tasks' data that the object shows, or empty.
    """

    name: str
    to_name: str
    per_region: bool = False
    shows: str = ""
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Control":
        """The control that `to_dict` gave."""
        source = {name: values.get(name) or "" for name in ("shows", "source")}
        return cls(values["name"], values["to_name"], bool(values.get("per_region")), **source)


def is_repeated(name: str) -> bool:
    """Return whether a control is inside a Repeater, which numbers it: its answers are those to turns."""
    return "{{" in name


@lru_cache(maxsize=64)
def text_controls(label_config: str) -> tuple[Control, ...]:
    """TextArea controls in order of appearance; tag names in any case, as Label Studio takes them.

    Raises
    ------
    InputError
        If the label config is not XML.
    """
    elements = list(_attributes(label_config))
    objects = {element["name"]: element for element in elements if element.get("name") and not element.get("toname")}
    controls: dict[str, Control] = {}
    for attributes in elements:
        name, to_names = attributes.get("name"), attributes.get("toname")
        if attributes[TAG] != "textarea" or not name or not to_names:
            continue
        to_name = to_names.split(",")[0].strip()
        source = objects.get(to_name, {})
        field = re.fullmatch(r"\$([\w.]+)", source.get("value", "").strip())
        per_region = attributes.get("perregion", "").lower() == "true" or is_repeated(name)
        controls.setdefault(name, Control(name, to_name, per_region, source.get(TAG, ""), field[1] if field else ""))
    return tuple(controls.values())


@lru_cache(maxsize=64)
def other_controls(label_config: str) -> tuple[tuple[str, str], ...]:
    """Name and kind of each control that is no TextArea, such as Choices and Rating, of tasks and of regions.

    Raises
    ------
    InputError
        If the label config is not XML.
    """
    kinds: dict[str, str] = {}
    for attributes in _attributes(label_config):
        name, kind = attributes.get("name"), CONTROL_KINDS.get(attributes[TAG])
        if kind and name and attributes.get("toname"):
            kinds.setdefault(name, kind)
    texts = {control.name for control in text_controls(label_config)}
    return tuple((name, kind) for name, kind in kinds.items() if name not in texts)


def check_fields(label_config: str, settings: ProjectSettings) -> None:
    """Refuse a kind or a score of a control that the label config does not have.

    Raises
    ------
    InputError
    """
    other_names = [name for name, _ in other_controls(label_config)]
    if unknown := [name for name in settings.kinds if name not in other_names]:
        has = f"it has {', '.join(other_names)}" if other_names else "it has texts only"
        raise InputError(f"The label config has no control {unknown[0]!r} to give a kind; {has}.")
    scores = [TEXTS, MEAN, LOWEST, *(control.name for control in text_controls(label_config)), *other_names]
    if settings.score not in scores:
        raise InputError(f"There is no field {settings.score!r} for the score: it can be {', '.join(scores)}.")


def _attributes(label_config: str) -> Iterator[dict[str, str]]:
    """Attributes of every element, with names in lower case; the key `TAG` has the tag's name in lower case."""
    for element in _elements(label_config):
        yield {**_named(element), TAG: element.tag.lower()}


def _named(element: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in element.attrib.items()}


def _elements(label_config: str) -> Iterator[Any]:
    """Every element."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(label_config.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise InputError(f"The label config is not valid XML (line {error.lineno or 1}).") from None
    for element in root.iter():
        if isinstance(element.tag, str):
            yield element


@lru_cache(maxsize=64)
def control_names(label_config: str) -> frozenset[str]:
    """Names of all controls of any kind: the possible values of a result's ``from_name``.

    Raises
    ------
    InputError
        If the label config is not XML.
    """
    return frozenset(
        attributes["name"]
        for attributes in _attributes(label_config)
        if attributes.get("name") and attributes.get("toname")
    )


def unused_fields(label_config: str, fields: Collection[str]) -> frozenset[str]:
    """Fields of the tasks' data that the label config does not name, as ``$field`` in any attribute.

    Empty if it does not name any field.

    Raises
    ------
    InputError
        If the label config is not XML.
    """
    attribute_values = "\n".join(value for attributes in _attributes(label_config) for value in attributes.values())
    unused = frozenset(name for name in fields if f"${name}" not in attribute_values)
    return unused if len(unused) < len(fields) else frozenset()


def chosen_controls(label_config: str, names: Sequence[str] | None) -> tuple[Control, ...]:
    """The TextAreas of a project: all of them, or the requested ones; empty if it has other controls only.

    Raises
    ------
    InputError
        If the label config has no control to compare, or a requested one does not exist.
    """
    controls = text_controls(label_config)
    if not controls and not other_controls(label_config):
        raise InputError(
            "The label config has no TextArea, Choices, Rating or other field, so there is nothing to compare."
        )
    if names is None:
        return controls
    by_name = {control.name: control for control in controls}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        has = ", ".join(by_name) or "none"
        raise InputError(f"The label config has no TextArea named {unknown[0]!r}; it has {has}.")
    return tuple(by_name[name] for name in dict.fromkeys(names))


def with_score(settings: ProjectSettings, controls: Sequence[Control]) -> ProjectSettings:
    """The settings of a project with these TextAreas; without any, the score of a task is the mean of its fields."""
    return replace(settings, score=MEAN) if not controls and settings.score == TEXTS else settings


class PredictionChecker:
    """Checks predictions against the label config with the SDK's rules: a bulk import drops invalid ones silently."""

    def __init__(self, label_config: str):
        from label_studio_sdk.label_interface import LabelInterface

        try:
            self._interface = LabelInterface(label_config)
        except Exception as error:  # noqa: BLE001 - the SDK raises many kinds, which are one case to us
            raise InputError(f"The label config can't be read ({type(error).__name__}).") from None

    def problem(self, prediction: Mapping[str, Any]) -> str | None:
        """Problem of the prediction, described without its texts; None if it is valid."""
        errors = self._interface.validate_prediction(dict(prediction), return_errors=True)
        return str(errors[0]).split(". Got:")[0][:200] if errors else None
