"""Scoring of stored answers, with the loaded measures of one process and the cache of scored pairs."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ml_backend.scoring.model_lock import ModelLock
from ml_backend.settings import ProjectSettings
from softirr.policy.rules import AS_WRITTEN, Policy
from softirr.tables.table import AnnotationTable, Answer, Excluded, Split

if TYPE_CHECKING:
    from softirr.report.reasons import ReasonSummary

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


def _written_places(number: int, entry: Mapping[str, Any]) -> dict[str, Mapping[str, Sequence[str]]]:
    """The same items with their answers as they were written; nothing where answers are not split."""
    if not entry.get("split"):
        return {}
    groups = entry.get("written_groups") or [entry["written"]]
    return {place: group for (place, _), group in zip(places(number, entry), groups, strict=True)}


def _with_written(
    table: AnnotationTable, written: Mapping[str, Mapping[str, Sequence[str]]], split: Mapping[str, Any] | None
) -> AnnotationTable:
    """A table of split answers that knows how they were written, so that suggestions are joined in the same way."""
    if split is None:
        return table
    places_and_raters = zip(table.item.tolist(), table.rater.tolist(), table.written, strict=True)
    as_written = tuple(
        tuple(written.get(table.items[item], {}).get(table.raters[rater], own))
        for item, rater, own in places_and_raters
    )
    several = sum(
        len(table.answers[answer]) > len(own) for answer, own in zip(table.answer.tolist(), as_written, strict=True)
    )
    made = Split(split["mode"], tuple(split["marks"]), split["joiner"], several)
    return replace(table, written=as_written, split=made)


def table_of(answers: Iterable[tuple[int, Mapping[str, Any]]], control: str, *, casefold: bool) -> AnnotationTable:
    """The answers to one control over a project (`Store.answers`) as a table; an item is a task, or a place of it."""
    from softirr.policy.splitting import split_in_words

    items: list[str] = []
    rows: list[Answer] = []
    excluded: list[Excluded] = []
    written: dict[str, Mapping[str, Sequence[str]]] = {}
    split: Mapping[str, Any] | None = None
    for number, entry in answers:
        found = entry.get(control)
        if found is None:
            items.append(str(number))
            continue
        for place, by_rater in places(number, found):
            items.append(place)
            rows.extend(Answer(place, rater, tuple(texts)) for rater, texts in by_rater.items())
        written |= _written_places(number, found)
        split = found.get("split") or split
        excluded.extend(Excluded(str(number), rater, reason) for rater, reason in found["excluded"])
    table = AnnotationTable.from_answers(rows, items=items, excluded=excluded, casefold=casefold)
    table = _with_written(table, written, split)
    if table.split is None:
        return table
    return replace(table, warnings=(*table.warnings, split_in_words(table.split, len(table.written))))


MOST_PLACES = 200
"""Places of regions of a task whose agreement is kept."""
MOST_REASONS = 200
"""Pairs of texts of a task and field whose reason is kept."""


def _control_details(items: Sequence[Any]) -> dict[str, Any]:
    """Details of one control of one task; the agreement of several places is their mean."""
    known = [item.agreement for item in items if item.agreement is not None]
    pairs: dict[tuple[str, str], list[float]] = {}
    unmatched: dict[str, list[str]] = {}
    written: dict[str, list[str]] = {}
    for item in items:
        for a, b, value in item.pairs:
            pairs.setdefault((a, b), []).append(value)
        for rater, texts in item.unmatched.items():
            unmatched.setdefault(rater, []).extend(texts)
        for rater, texts in item.written.items():
            written.setdefault(rater, []).extend(texts)
    return {
        "agreement": sum(known) / len(known) if known else None,
        "n_raters": max((item.n_raters for item in items), default=0),
        "pairs": [[a, b, sum(values) / len(values)] for (a, b), values in pairs.items()],
        "matches": [
            match if isinstance(match, Mapping) else match.to_dict() for item in items for match in item.matches
        ],
        "unmatched": unmatched,
        "suggestion": list(dict.fromkeys(text for item in items for text in item.suggestion)),
        "reasons": [_told(one) for item in items for one in item.reasons][:MOST_REASONS],
        **({"written": written} if written else {}),
        **({"places": [item.agreement for item in items][:MOST_PLACES]} if PLACE in items[0].id else {}),
        **_suggestion_codes(items),
    }


def _told(one: Any) -> dict[str, Any]:
    """A reason, with the place of the more general text, which counting asks for."""
    told: dict[str, Any] = one.to_dict()
    broader = one.broader
    return told if broader is None else {**told, "broader": broader}


def _suggestion_codes(items: Sequence[Any]) -> dict[str, Any]:
    """The concepts of each text of the suggestion, where there are terminologies; of each part of one that was joined for a box."""
    coded = [item for item in items if item.suggestion_codes is not None]
    if not coded:
        return {}
    found: dict[str, Any] = {}
    for item in coded:
        if item.suggestion_parts:
            of_wording = {match.wording: match.codes for match in item.matches}
            found.update((part, of_wording.get(part) or ()) for part in item.suggestion_parts)
        else:
            found.update(zip(item.suggestion, item.suggestion_codes, strict=True))
    return {"suggestion_codes": {text: [code.to_dict() for code in own] for text, own in found.items()}}


def _written_in(
    answers: Iterable[tuple[int, Mapping[str, Any]]], control: str
) -> tuple[dict[str, Mapping[str, Sequence[str]]], Mapping[str, Any] | None]:
    """The answers to a control as they were written, by item, and how they were split; nothing where they were not."""
    written: dict[str, Mapping[str, Sequence[str]]] = {}
    split: Mapping[str, Any] | None = None
    for number, entry in answers:
        if control in entry:
            written |= _written_places(number, entry[control])
            split = entry[control].get("split") or split
    return written, split


def counted_reasons(tasks: Iterable[tuple[int, Mapping[str, Any]]], control: str) -> ReasonSummary:
    """Why texts of a project do not match, counted from the details of its tasks, so that no pair is explained twice.

    Parameters
    ----------
    tasks : iterable of (int, mapping)
        Numbers of tasks and their details (`Scorer.task_details`).
    control : str

    Returns
    -------
    ReasonSummary
        Of a task at most `MOST_REASONS` pairs count.
    """
    from softirr.report.reasons import StoredReason, summarize_reasons

    shared: Counter[tuple[str, str]] = Counter()

    def told() -> Iterator[tuple[str, list[StoredReason]]]:
        for number, details in tasks:
            found = details["controls"].get(control)
            if found is not None:
                shared.update((a, b) for a, b, _ in found["pairs"])
                yield str(number), [StoredReason.from_dict(one) for one in found.get("reasons", ())]

    counted = summarize_reasons(told(), shared)
    in_order = sorted(counted.rater_pairs, key=lambda one: tuple(map(_rater_key, one[0])))
    return replace(counted, rater_pairs=tuple(in_order))


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
            **({} if policy.is_default else {"policy": policy.told()}),
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
            written, split = _written_in(answers.items(), name)
            items: dict[int, list[Any]] = {}
            with self.alone_with(settings.measure, progress) as told:
                measure = self.judged_measure(settings, decisions, calibration)
                for item in self._items(given, settings, measure, told, written=written, split=split):
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
        *,
        written: Mapping[str, Mapping[str, Sequence[str]]],
        split: Mapping[str, Any] | None,
    ) -> Iterable[Any]:
        from softirr.report.agreement import item_agreement

        rows = [
            Answer(place, rater, tuple(texts)) for place, by_rater in given.items() for rater, texts in by_rater.items()
        ]
        # Raters have a fixed order, so that the result for a task does not depend on the other tasks of the batch.
        rows.sort(key=lambda row: _rater_key(row.rater))
        table = AnnotationTable.from_answers(rows, items=given, casefold=settings.casefold)
        table = _with_written(table, written, split)
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
        reasons: ReasonSummary | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """The report on one control over the whole project, without its items.

        Parameters
        ----------
        reasons : ReasonSummary, optional
            Why texts do not match, counted from the details of the tasks (`counted_reasons`); by default the report says nothing of it.
        """
        import softirr
        from softirr.report.agreement import with_reasons

        table = table_of(answers, control, casefold=settings.casefold)
        cache = self.cache(settings.measure)
        with self.alone_with(settings.measure, progress) as told:
            measure = self.judged_measure(settings, decisions, calibration)
            options = softirr.AgreementOptions(
                chance=settings.chance,
                permutations=settings.permutations,
                interval=settings.interval,
                reasons=False,
                what_if=True,
            )
            report = softirr.agreement(table, measure, options, cache=cache, progress=told)
            if reasons is not None:
                report = with_reasons(report, reasons, table, measure, options, cache=cache, progress=told)
            result = report.to_dict()
            result.pop("items", None)
        result["n_excluded"] = len(result.get("excluded", ()))
        result["excluded"] = result.get("excluded", [])[:1000]
        return result

    def compare_texts(
        self,
        answers: Iterable[tuple[int, Mapping[str, Any]]],
        control: str,
        settings: ProjectSettings,
        *,
        calibration: Any = None,
        progress: Progress | None = None,
    ) -> Any:
        """What a codebook of one control is made of (`softirr.report.codebook.Comparisons`), without reviewers' decisions."""
        from softirr.report.codebook import compare_texts

        table = table_of(answers, control, casefold=settings.casefold)
        with self.alone_with(settings.measure, progress) as told:
            measure = self.judged_measure(settings, (), calibration)
            return compare_texts(table, measure, cache=self.cache(settings.measure), progress=told)

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
