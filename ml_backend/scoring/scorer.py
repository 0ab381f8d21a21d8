"""Scoring of stored answers, with the loaded measures of one process and the cache of scored pairs."""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ml_backend.scoring.model_lock import ModelLock
from ml_backend.settings import ProjectSettings
from softirr.policy.rules import AS_WRITTEN, Policy
from softirr.tables.table import AnnotationTable, Answer, Excluded

Progress = Callable[[int, int], Any]
PLACE = "#"  # separates the task's number and the number of a place in it, where regions are compared by overlap


def needs_model(measure: str) -> bool:
    """Whether the measure would load a model: such measures run in the scorer process only."""
    from softirr.measures import takes_model

    return takes_model(measure.partition(":")[0])


def places(number: int, entry: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Sequence[str]]]]:
    """The items of a task's control: one, or one for each place where regions overlap."""
    groups = entry.get("groups")
    if not groups:
        return [(str(number), entry["answers"])]
    return [(f"{number}{PLACE}{place}", group) for place, group in enumerate(groups)]


def table_of(answers: Iterable[tuple[int, Mapping[str, Any]]], control: str, *, casefold: bool) -> AnnotationTable:
    """The answers to one control over a project (`Store.answers`) as a table; an item is a task, or a place of it."""
    items: list[str] = []
    rows: list[Answer] = []
    excluded: list[Excluded] = []
    for number, entry in answers:
        found = entry.get(control)
        if found is None:
            items.append(str(number))
            continue
        for place, by_rater in places(number, found):
            items.append(place)
            rows.extend(Answer(place, rater, tuple(texts)) for rater, texts in by_rater.items())
        excluded.extend(Excluded(str(number), rater, reason) for rater, reason in found["excluded"])
    return AnnotationTable.from_answers(rows, items=items, excluded=excluded, casefold=casefold)


MOST_REASONS = 200
"""Pairs of texts of a task and field whose reason is kept."""


def _control_details(items: Sequence[Any]) -> dict[str, Any]:
    """Details of one control of one task; the agreement of several places is their mean."""
    known = [item.agreement for item in items if item.agreement is not None]
    pairs: dict[tuple[str, str], list[float]] = {}
    unmatched: dict[str, list[str]] = {}
    for item in items:
        for a, b, value in item.pairs:
            pairs.setdefault((a, b), []).append(value)
        for rater, texts in item.unmatched.items():
            unmatched.setdefault(rater, []).extend(texts)
    return {
        "agreement": sum(known) / len(known) if known else None,
        "n_raters": max((item.n_raters for item in items), default=0),
        "pairs": [[a, b, sum(values) / len(values)] for (a, b), values in pairs.items()],
        "matches": [
            match if isinstance(match, Mapping) else match.to_dict() for item in items for match in item.matches
        ],
        "unmatched": unmatched,
        "suggestion": list(dict.fromkeys(text for item in items for text in item.suggestion)),
        "reasons": [one.to_dict() for item in items for one in item.reasons][:MOST_REASONS],
        **_suggestion_codes(items),
    }


def _suggestion_codes(items: Sequence[Any]) -> dict[str, Any]:
    """The concepts of each text of the suggestion, where there are terminologies."""
    coded = [(item.suggestion, getattr(item, "suggestion_codes", None)) for item in items]
    if all(codes is None for _, codes in coded):
        return {}
    found = {text: own for texts, codes in coded for text, own in zip(texts, codes or (), strict=False)}
    return {"suggestion_codes": {text: [code.to_dict() for code in own] for text, own in found.items()}}


class Scorer:
    """Scores tasks and projects; thread-safe. A model runs one call at a time, and long work with a model lets short work go first.

    Parameters
    ----------
    cache_url : str, optional
        Store of scored pairs; None for no store.
    indexes : path, optional
        Folder of the indexes of terminologies, which processes share; by default the user's cache folder.
    """

    def __init__(self, cache_url: str | None = None, indexes: Path | None = None):
        self._cache_url = cache_url
        self._indexes = indexes
        self._cache: _CountedCache | None = None
        self._measures: dict[str, Any] = {}
        self._looking_up: dict[tuple[str, tuple[str, ...]], tuple[Any, Any]] = {}
        self._lock = threading.RLock()
        self._model = ModelLock()

    def measure(self, name: str) -> Any:
        """The measure, loaded once.

        Raises
        ------
        softirr.errors.InputError
            If there is no such measure, or its model can't be loaded.
        """
        with self._lock:
            if name not in self._measures:
                import softirr

                self._measures[name] = softirr.measure(name)
            return self._measures[name]

    def measure_under(self, name: str, policy: Policy, terminologies: Sequence[str] = ()) -> Any:
        """The measure with terminologies under a policy.

        Raises
        ------
        softirr.errors.InputError
            Also if a terminology can't be read.
        """
        from softirr.policy.measure import under_policy

        return under_policy(self._with_terminologies(name, tuple(terminologies)), policy)

    def _with_terminologies(self, name: str, paths: tuple[str, ...]) -> Any:
        """The measure with the terminologies as their files are now."""
        if not paths:
            return self.measure(name)
        from softirr.measures.terminology import with_terminology
        from softirr.policy.simplified import simplifications
        from softirr.terminology.index import open_index

        found = [open_index(path, cache=self._indexes) for path in paths]
        with self._lock:
            state = tuple(index.sha256 for index in found)
            kept, made = self._looking_up.get((name, paths), (None, None))
            if kept != state:
                made = with_terminology(self.measure(name), found, simplify=simplifications)
                self._looking_up[name, paths] = (state, made)
            return made

    def codes(self, texts: Sequence[str], settings: ProjectSettings) -> dict[str, Any] | None:
        """The concepts of each text in the project's terminologies; None where it has none.

        Raises
        ------
        softirr.errors.InputError
            If a terminology can't be read.
        """
        if not settings.terminologies:
            return None
        from softirr.policy.simplified import simplifications
        from softirr.terminology.coder import Coder
        from softirr.terminology.index import open_index

        coder = Coder([open_index(path, cache=self._indexes) for path in settings.terminologies], simplifications)
        return {text: [code.to_dict() for code in coder.codes(text)] for text in texts}

    def judged_measure(
        self,
        settings: ProjectSettings,
        decisions: Sequence[Mapping[str, Any]] = (),
        calibration: Any = None,
    ) -> Any:
        """The project's measure under its policy, corrected by its reviewers' decisions and by the calibration fitted to them."""
        from ml_backend.scoring.decided import verdicts
        from softirr.measures.corrected import corrected

        made = self.measure_under(settings.measure, settings.policy, settings.terminologies)
        decided = verdicts(decisions, casefold=settings.casefold)
        return corrected(made, calibration, decided) if decided or calibration is not None else made

    def provenance(self, name: str, policy: Policy = AS_WRITTEN, terminologies: Sequence[str] = ()) -> dict[str, Any]:
        """Name and model of a measure, what counts as the same where the project says so, and its terminologies."""
        found = self._with_terminologies(name, tuple(terminologies)).provenance()
        used = [{"name": one.name, "sha256": one.sha256} for one in getattr(found, "terminologies", ())]
        return {
            "measure": name,
            "model": getattr(found, "model", None),
            "model_sha256": getattr(found, "model_sha256", None),
            **({"policy": policy.told()} if policy.changes_scores else {}),
            **({"terminologies": used} if used else {}),
        }

    def task_details(
        self,
        answers: Mapping[int, Mapping[str, Any]],
        settings: ProjectSettings,
        *,
        decisions: Sequence[Mapping[str, Any]] = (),
        calibration: Any = None,
        progress: Progress | None = None,
    ) -> dict[int, dict[str, Any]]:
        """Agreement, matches and suggestion of tasks, per control.

        Parameters
        ----------
        answers : mapping
            Task number -> the store's answers (`extraction.task_answers`).
        decisions : sequence
            Reviewers' decisions (`Store.decisions`).
        calibration : softirr.measures.calibration.Calibration, optional
            Calibration of the measure fitted to these decisions (`calibration_of_project.current`).

        Returns
        -------
        dict
            Task number -> ``{"agreement", "controls": {name: {"agreement", "n_raters", "pairs", "matches", "unmatched",
            "suggestion", "reasons"}}}``; the task's agreement is the mean over its controls that have one.
        """
        details: dict[int, dict[str, Any]] = {number: {"agreement": None, "controls": {}} for number in answers}
        names = dict.fromkeys(name for entry in answers.values() for name in entry)
        for name in names:
            given = {
                place: group
                for number, entry in answers.items()
                if name in entry
                for place, group in places(number, entry[name])
            }
            items: dict[int, list[Any]] = {}
            with self.alone_with(settings.measure, progress) as told:
                measure = self.judged_measure(settings, decisions, calibration)
                for item in self._items(given, settings, measure, told):
                    items.setdefault(int(item.id.partition(PLACE)[0]), []).append(item)
            for number, found in items.items():
                details[number]["controls"][name] = _control_details(found)
        for entry in details.values():
            known = [found["agreement"] for found in entry["controls"].values() if found["agreement"] is not None]
            entry["agreement"] = sum(known) / len(known) if known else None
        return details

    def _items(
        self,
        given: Mapping[str, Mapping[str, Sequence[str]]],
        settings: ProjectSettings,
        measure: Any,
        progress: Any,
    ) -> Iterable[Any]:
        from softirr.report.agreement import item_agreement

        rows = [
            Answer(place, rater, tuple(texts)) for place, by_rater in given.items() for rater, texts in by_rater.items()
        ]
        # Raters have a fixed order, so that the result for a task does not depend on the other tasks of the batch.
        rows.sort(key=lambda row: _rater_key(row.rater))
        table = AnnotationTable.from_answers(rows, items=given, casefold=settings.casefold)
        return item_agreement(table, measure, cache=self.cache(settings.measure), progress=progress)

    @contextlib.contextmanager
    def alone_with(self, measure: str, progress: Progress | None = None) -> Iterator[Progress | None]:
        """Hold the model's lock, where the measure needs a model: a model serves one job at a time.

        Yields the `progress` to pass to long work, which then lets short work go first between two batches.
        """
        if not needs_model(measure):
            yield progress
            return
        with self._model.hold():
            yield self._model.yielding_progress(progress)

    def summary(
        self,
        answers: Iterable[tuple[int, Mapping[str, Any]]],
        control: str,
        settings: ProjectSettings,
        *,
        decisions: Sequence[Mapping[str, Any]] = (),
        calibration: Any = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """The report on one control over the whole project, without its items."""
        import softirr

        table = table_of(answers, control, casefold=settings.casefold)
        cache = self.cache(settings.measure)
        with self.alone_with(settings.measure, progress) as told:
            measure = self.judged_measure(settings, decisions, calibration)
            report = softirr.agreement(
                table,
                measure,
                chance=settings.chance,
                permutations=settings.permutations,
                interval=settings.interval,
                what_if=True,
                cache=cache,
                progress=told,
            )
            result = report.to_dict()
            result.pop("items", None)
        for kind in (result["reasons"] or {"kinds": ()})["kinds"]:
            for example in kind["examples"]:
                example["item"] = example["item"].partition(PLACE)[0]
                example["items"] = list(dict.fromkeys(item.partition(PLACE)[0] for item in example["items"]))
        result["distributions"] = report.distributions.to_dict() if report.distributions else None
        result["n_excluded"] = len(result.get("excluded", ()))
        result["excluded"] = result.get("excluded", [])[:1000]
        return result

    def cache(self, measure: str | None = None) -> Any:
        """The store of scored pairs, opened on first use; None for measures that are faster than a lookup."""
        if self._cache_url is None or (measure is not None and not needs_model(measure)):
            return None
        with self._lock:
            if self._cache is None:
                from softirr.measures.cache import open_cache

                self._cache = _CountedCache(open_cache(self._cache_url))
            return self._cache

    def take_cache_counts(self) -> dict[str, int]:
        """Pairs found and not found in the cache since the last call, for the counters."""
        return self._cache.take() if self._cache is not None else {}

    def close(self) -> None:
        """Release models and cache."""
        self._measures.clear()
        self._looking_up.clear()
        if self._cache is not None:
            self._cache.close()
            self._cache = None


class _CountedCache:
    """A cache of scored pairs that counts its requests."""

    def __init__(self, inner: Any):
        self._inner = inner
        self._lock = threading.Lock()
        self._hits = self._misses = 0

    def get(self, model: str, pairs: list[tuple[bytes, bytes]]) -> Any:
        values, known = self._inner.get(model, pairs)
        with self._lock:
            self._hits += int(known.sum())
            self._misses += len(pairs) - int(known.sum())
        return values, known

    def put(self, model: str, pairs: list[tuple[bytes, bytes]], values: Any) -> None:
        self._inner.put(model, pairs, values)

    def close(self) -> None:
        self._inner.close()

    def take(self) -> dict[str, int]:
        with self._lock:
            counts = {"cache_hits": self._hits, "cache_misses": self._misses}
            self._hits = self._misses = 0
            return counts


def _rater_key(rater: str) -> tuple[int, int, str]:
    from ml_backend.labelstudio.answers import rater_order

    return rater_order(rater)
