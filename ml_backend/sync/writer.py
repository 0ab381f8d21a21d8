"""Writing the predictions of one project so that each task has exactly the correct one.

A run can be interrupted anywhere.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ml_backend.labelstudio import predictions as shapes
from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.config import PredictionChecker
from ml_backend.labelstudio.errors import LabelStudioError, WriteUnknown
from ml_backend.settings import MODEL_VERSION
from ml_backend.sync.project_run import ProjectRun

log = logging.getLogger(__name__)

FEW_CREATES = 12  # below, single POSTs are faster than one bulk import, whose cost hardly depends on its size
BULK_BYTES = 24_000_000
MOST_REFUSED = 200  # refused predictions in a run that deleted tasks can explain
REWRITE_FROM = 200  # changes from which deleting the version and one bulk import are faster than single PATCHes
REWRITE_SHARE = 0.2
_WRITTEN = ("desired", "details")
"""What a prediction is made of."""
READ_AT_ONCE = 500


class PredictionWriter:
    """Writes the predictions of one project during one run.

    Parameters
    ----------
    run : ProjectRun
    build : callable
        Details of a task -> its prediction (`predictions.build`).

    Attributes
    ----------
    counts : dict
        Predictions created, updated and deleted so far.
    rejected : set of int
        Tasks whose prediction the label config does not allow.
    """

    def __init__(
        self,
        run: ProjectRun,
        *,
        label_config: str,
        build: Callable[[Mapping[str, Any]], dict[str, Any]],
        bulk_size: int,
    ):
        self.store, self.client = run.store, run.client
        self.project, self.number = run.project, run.number
        self._run = run
        self._label_config, self._build, self._bulk_size = label_config, build, bulk_size
        self._checker: PredictionChecker | None = None
        self._done_writes = self._total_writes = 0
        self.counts = {"created": 0, "updated": 0, "deleted": 0}
        self.rejected: set[int] = set()
        self._version_was_removed = False  # Label Studio forgets then which version the project has chosen
        self._refused = 0

    def write(self, *, only: Sequence[int] | None = None) -> None:
        """Write the differences whose present state is known; tasks with an unknown state are recorded as such.

        Parameters
        ----------
        only : sequence of int, optional
            Only these tasks.
        """
        plans = {row["number"]: shapes.plan(row["desired"], row["actual"]) for row in self.store.to_write(self.project)}
        wanted = plans.keys() if only is None else plans.keys() & set(only)
        plans = {number: plan for number, plan in plans.items() if number in wanted and number not in self.rejected}
        settled = [number for number, plan in plans.items() if plan.action in ("unchanged", "nothing")]
        self.store.settle(self.project, settled)
        unknown = [number for number, plan in plans.items() if not plan.known]
        if unknown:
            self.store.set_in_flight(self.project, unknown)  # read again in the next round
        creates = [number for number, plan in plans.items() if plan.action == "create"]
        changes = {n: p for n, p in plans.items() if p.known and p.action in ("update", "delete")}
        self._total_writes = len(creates) + len(changes)
        self._done_writes = 0
        existing = self.store.totals(self.project)["predictions"]
        if len(changes) >= REWRITE_FROM and len(changes) >= REWRITE_SHARE * existing:
            self._rewrite(changes)
            return
        try:
            self._change(changes)
            self._create(creates, count="created")
        except WriteUnknown as error:
            log.warning("project %d: %s", self.number, error)
            self._run.check()

    def all_there(self) -> bool:
        """Whether Label Studio has the expected number of our predictions, and none has an unknown state."""
        if self.store.in_flight(self.project):
            return False
        totals = self.store.totals(self.project)
        there = self.client.model_versions(self.number).get(MODEL_VERSION, 0)
        return there == totals["predictions"] - len(self.rejected)

    def keep_version(self, remote: Mapping[str, Any], connected: bool) -> None:
        """Choose our version for the project: the score column fills only while ``model_version`` is ours.

        Parameters
        ----------
        remote : mapping
            The project as Label Studio's API returned it when the run began.
        connected : bool
            Whether this backend is connected to the project; if not, the log reports another version.
        """
        current = None if self._version_was_removed else remote.get("model_version")
        is_other = current not in (None, "", MODEL_VERSION)
        if current == MODEL_VERSION and not remote.get("show_collab_predictions"):
            return
        if is_other and not connected:
            log.warning(
                "project %d: its model version is not %s, so the score column is not ours", self.number, MODEL_VERSION
            )
        elif not is_other and self.store.totals(self.project)["predictions"]:
            # both fields in one request, or one resets the other
            self.client.update_project(self.number, model_version=MODEL_VERSION, show_collab_predictions=False)

    def _wrote(self, n: int) -> None:
        self._done_writes += n
        self._run.report("writing", self._done_writes, self._total_writes)

    def _change(self, changes: dict[int, shapes.Plan]) -> None:
        numbers = list(changes)
        for start in range(0, len(numbers), 100):
            part = numbers[start : start + 100]
            rows = self.store.get_tasks(self.project, part, columns=_WRITTEN)
            for number in part:
                self._run.check()
                plan, row = changes[number], rows.get(number)
                if row is None:
                    continue
                self.store.set_in_flight(self.project, [number])
                try:
                    written = self._change_one(number, plan, row)
                except LabelStudioError as error:
                    self._note_refused(error)
                    continue
                self.store.put_written(self.project, {number: written})
                self.counts["updated" if plan.action == "update" else "deleted"] += 1
                self._wrote(1)

    def _change_one(self, number: int, plan: shapes.Plan, row: Mapping[str, Any]) -> list[list[Any]]:
        """Update or remove one task's predictions; returns the predictions that the task then has."""
        for prediction in plan.remove:
            self.client.delete_prediction(prediction)
        if plan.keep is None:
            return []
        if plan.action != "update":
            return [[plan.keep, row["desired"]]]
        wanted = self._build(row["details"])
        if not self._is_sound(number, wanted):  # no prediction is better than a stale one
            self.client.delete_prediction(plan.keep)
            return []
        self.client.update_prediction(plan.keep, task=number, model_version=MODEL_VERSION, **wanted)
        return [[plan.keep, row["desired"]]]

    def _note_refused(self, error: LabelStudioError) -> None:
        """Skip a task or prediction that is gone and keep its state unknown; too many refusals are an error."""
        if error.status not in (400, 404):
            raise error
        self._refused += 1
        log.info("project %d: a task or prediction vanished while it was written", self.number)
        if self._refused > MOST_REFUSED:
            raise error

    def _create(self, numbers: Sequence[int], *, count: str | None) -> None:
        batch: list[tuple[int, dict[str, Any], str]] = []
        size = 0
        for start in range(0, len(numbers), READ_AT_ONCE):
            part = numbers[start : start + READ_AT_ONCE]
            rows = self.store.get_tasks(self.project, part, columns=_WRITTEN)
            for number, row in sorted(rows.items()):
                wanted = self._build(row["details"])
                if not self._is_sound(number, wanted):
                    continue
                batch.append((number, wanted, row["desired"]))
                size += len(json.dumps(wanted["result"]))
                if len(batch) >= self._bulk_size or size >= BULK_BYTES:
                    self._send(batch, count)
                    batch, size = [], 0
        self._send(batch, count)

    def _send(self, batch: Sequence[tuple[int, dict[str, Any], str]], count: str | None) -> None:
        if not batch:
            return
        self._run.check()
        numbers = [number for number, _, _ in batch]
        self.store.set_in_flight(self.project, numbers)
        if len(batch) <= FEW_CREATES:
            for number, wanted, desired in batch:
                try:
                    created_id = self.client.create_prediction(shapes.with_task(wanted, number))
                except WriteUnknown:
                    raise
                except LabelStudioError as error:
                    self._note_refused(error)
                    continue
                self.store.put_written(self.project, {number: [[created_id, desired]]})
                self._note_created(1, count)
            return
        try:
            created = self.client.create_predictions(
                self.number, [shapes.with_task(wanted, number) for number, wanted, _ in batch]
            )
        except WriteUnknown:
            raise
        except LabelStudioError as error:
            if error.status != 400:
                raise
            self._send_in_parts(batch, count)
            return
        self._note_created(created, count)
        if created == len(batch):
            self.store.put_written(self.project, {number: [[None, desired]] for number, _, desired in batch})
        else:
            log.warning("project %d: Label Studio stored %d of %d predictions", self.number, created, len(batch))

    def _send_in_parts(self, batch: Sequence[tuple[int, dict[str, Any], str]], count: str | None) -> None:
        """A task that is gone makes Label Studio refuse the whole batch.

        Leave out what is gone, and send the rest in halves.

        Each half is smaller than the batch, so that this ends also where tasks are deleted all the time.
        """
        log.info("project %d: Label Studio refused a batch of %d predictions", self.number, len(batch))
        listed = tasks.dates(self.client, self.number)
        there = [entry for entry in batch if entry[0] in listed]
        half = max(1, (len(there) + 1) // 2)
        self._send(there[:half], count)
        self._send(there[half:], count)

    def _note_created(self, n: int, count: str | None) -> None:
        if count is not None:
            self.counts[count] += n
        self._wrote(n)

    def _rewrite(self, changes: dict[int, shapes.Plan]) -> None:
        """Write many changes by removing the version and importing it again."""
        for plan in changes.values():
            self.counts["updated" if plan.action == "update" else "deleted"] += 1
        creates = {row["number"] for row in self.store.to_write(self.project)} - set(changes) - self.rejected
        self.store.all_in_flight(self.project)
        self._version_was_removed = True
        self.client.delete_version(self.number, MODEL_VERSION)
        self.store.forget_actual(self.project)
        numbers = [row["number"] for row in self.store.to_write(self.project) if row["number"] not in self.rejected]
        self._total_writes = len(numbers)
        try:
            self._create([number for number in numbers if number not in creates], count=None)
            self._create([number for number in numbers if number in creates], count="created")
        except WriteUnknown as error:
            log.warning("project %d: %s", self.number, error)

    def _is_sound(self, number: int, wanted: dict[str, Any]) -> bool:
        if self._checker is None:
            self._checker = PredictionChecker(self._label_config)
        problem = self._checker.problem(wanted)
        if problem is not None:
            log.warning("project %d, task %d: prediction not written: %s", self.number, number, problem)
            self.rejected.add(number)
        return problem is None
