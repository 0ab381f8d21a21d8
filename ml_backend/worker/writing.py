"""Writing predictions so that each task has exactly the desired one; a run can be interrupted anywhere.

Before a write the store notes that the task's prediction is unknown. If the write is interrupted, the next run reads
the task, with the prediction that it has, and compares again.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.config import PredictionChecker
from ml_backend.labelstudio.errors import LabelStudioError, WriteUnknown
from ml_backend.labelstudio.predictions import with_task
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.store import Row
from ml_backend.store.tasks import NO_PREDICTION
from ml_backend.worker.project_run import ProjectRun

log = logging.getLogger(__name__)

FEW_CREATES = 12
"""Number of predictions up to which single POSTs are faster than one bulk import."""
BULK_BYTES = 24_000_000
MOST_REFUSED = 200
"""Number of refused predictions that deleted tasks can explain."""
REWRITE_FROM, REWRITE_SHARE = 200, 0.2
"""Number and share of changes from which deleting the version and a bulk import are faster than single PATCHes."""
READ_AT_ONCE = 500

Batch = list[tuple[int, dict[str, Any], str]]
"""Task, prediction and its hash."""


class PredictionWriter:
    """Writes the predictions of one project during one run.

    Parameters
    ----------
    build : callable
        Returns the prediction for a task's details (`ml_backend.labelstudio.predictions.build`).
    bulk_size : int
        Number of predictions in one import.

    Attributes
    ----------
    counts : dict
        Predictions created, updated and deleted so far.
    rejected : set of int
        Tasks with predictions that the label config does not allow.
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
        self._run, self._build, self._bulk_size = run, build, bulk_size
        self._label_config = label_config
        self._checker: PredictionChecker | None = None
        self._n_written = self._n_to_write = 0
        self.counts = {"created": 0, "updated": 0, "deleted": 0}
        self.rejected: set[int] = set()
        self._n_refused = 0
        self._is_version_removed = False  # Label Studio then forgets which version the project has chosen

    def write(self, *, only: Sequence[int] | None = None) -> None:
        """Write the predictions that differ from the desired ones; unknown ones are left to the next reading.

        Parameters
        ----------
        only : sequence of int, optional
            Only these tasks.
        """
        rows = [row for row in self.store.to_write(self.project) if row["number"] not in self.rejected]
        if only is not None:
            selected = set(only)
            rows = [row for row in rows if row["number"] in selected]
        creates = [row["number"] for row in rows if row["prediction_hash"] == NO_PREDICTION]
        changes = [row for row in rows if row["prediction_hash"] != NO_PREDICTION]
        self._n_written, self._n_to_write = 0, len(rows)
        existing = self.store.totals(self.project)["predictions"]
        try:
            if len(changes) >= REWRITE_FROM and len(changes) >= REWRITE_SHARE * existing:
                self._rewrite(changes, creates)
                return
            # A prediction without an id came from a bulk import: the next reading finds it.
            self.store.forget_predictions(
                self.project, [row["number"] for row in changes if row["prediction_id"] is None]
            )
            self._change([row for row in changes if row["prediction_id"] is not None])
            self._create(creates, count="created")
        except WriteUnknown as error:
            log.warning("project %d: %s", self.number, error)
            self._run.check()

    def is_complete(self) -> bool:
        """Whether Label Studio has the expected number of our predictions, and none is unknown."""
        if self.store.unknown_predictions(self.project):
            return False
        n_predictions = self.client.model_versions(self.number).get(MODEL_VERSION, 0)
        return n_predictions == self.store.totals(self.project)["predictions"] - len(self.rejected)

    def keep_version(self, remote: Mapping[str, Any], *, is_connected: bool) -> None:
        """Choose our version for the project: the score column is empty for any other ``model_version``.

        Parameters
        ----------
        remote : mapping
            The project as Label Studio's API returned it when the run began.
        is_connected : bool
            Whether this backend is connected to the project; if not, the log reports another version.
        """
        current = None if self._is_version_removed else remote.get("model_version")
        is_other = current not in (None, "", MODEL_VERSION)
        if current == MODEL_VERSION and not remote.get("show_collab_predictions"):
            return
        if is_other and not is_connected:
            log.warning(
                "project %d: its model version is not %s, so the score column is not ours", self.number, MODEL_VERSION
            )
        elif not is_other and self.store.totals(self.project)["predictions"]:
            # both fields in one request, or one resets the other
            self.client.update_project(self.number, model_version=MODEL_VERSION, show_collab_predictions=False)

    # --- single predictions -------------------------------------------------------------------------------------------

    def _change(self, rows: Sequence[Row]) -> None:
        """Update or remove single predictions."""
        for start in range(0, len(rows), 100):
            chunk = rows[start : start + 100]
            details = self.store.get_tasks(self.project, [row["number"] for row in chunk], columns=("details",))
            for row in chunk:
                self._run.check()
                self.store.forget_predictions(self.project, [row["number"]])
                try:
                    result, count = self._change_single(row, details[row["number"]]["details"])
                except LabelStudioError as error:
                    self._note_refused(error)
                    continue
                self.store.put_written(self.project, {row["number"]: result})
                self.counts[count] += 1
                self._report(1)

    def _change_single(self, row: Row, details: Mapping[str, Any]) -> tuple[tuple[int | None, str], str]:
        """Update or remove a task's prediction; returns its new id and hash, and the name of the change."""
        prediction = self._build(details) if row["desired"] is not None else None
        if prediction is None or not self._is_valid(
            row["number"], prediction
        ):  # no prediction is better than a stale one
            self.client.delete_prediction(row["prediction_id"])
            return (None, NO_PREDICTION), "deleted"
        self.client.update_prediction(
            row["prediction_id"], task=row["number"], model_version=MODEL_VERSION, **prediction
        )
        return (row["prediction_id"], row["desired"]), "updated"

    def _note_refused(self, error: LabelStudioError) -> None:
        """Skip a task or prediction that is gone; too many refusals are an error."""
        if error.status not in (400, 404):
            raise error
        self._n_refused += 1
        log.info("project %d: a task or prediction vanished while it was written", self.number)
        if self._n_refused > MOST_REFUSED:
            raise error

    # --- many predictions ---------------------------------------------------------------------------------------------

    def _create(self, numbers: Sequence[int], *, count: str | None) -> None:
        """Create predictions; `count` names the counter, None counts nothing."""
        batch: Batch = []
        size = 0
        for start in range(0, len(numbers), READ_AT_ONCE):
            chunk = numbers[start : start + READ_AT_ONCE]
            rows = self.store.get_tasks(self.project, chunk, columns=("desired", "details"))
            for number, row in sorted(rows.items()):
                prediction = self._build(row["details"])
                if not self._is_valid(number, prediction):
                    continue
                batch.append((number, prediction, row["desired"]))
                size += len(json.dumps(prediction["result"]))
                if len(batch) >= self._bulk_size or size >= BULK_BYTES:
                    self._send(batch, count)
                    batch, size = [], 0
        self._send(batch, count)

    def _send(self, batch: Batch, count: str | None) -> None:
        """Send new predictions, few by themselves and many in one import."""
        if not batch:
            return
        self._run.check()
        self.store.forget_predictions(self.project, [number for number, _, _ in batch])
        if len(batch) <= FEW_CREATES:
            for number, prediction, desired in batch:
                self._send_single(number, prediction, desired, count)
            return
        try:
            sent = [with_task(prediction, number) for number, prediction, _ in batch]
            created = self.client.create_predictions(self.number, sent)
        except WriteUnknown:
            raise
        except LabelStudioError as error:
            if error.status != 400:
                raise
            self._send_in_parts(batch, count)
            return
        self._note_created(created, count)
        if created == len(batch):
            self.store.put_written(self.project, {number: (None, desired) for number, _, desired in batch})
        else:
            log.warning("project %d: Label Studio stored %d of %d predictions", self.number, created, len(batch))

    def _send_single(self, number: int, prediction: Mapping[str, Any], desired: str, count: str | None) -> None:
        try:
            prediction_id = self.client.create_prediction(with_task(prediction, number))
        except WriteUnknown:
            raise
        except LabelStudioError as error:
            self._note_refused(error)
            return
        self.store.put_written(self.project, {number: (prediction_id, desired)})
        self._note_created(1, count)

    def _send_in_parts(self, batch: Batch, count: str | None) -> None:
        """Send the predictions of the tasks that exist, in halves.

        A task that is gone makes Label Studio refuse the whole batch. Each half is smaller than the batch, so that this
        ends even if tasks are deleted all the time.
        """
        log.info("project %d: Label Studio refused a batch of %d predictions", self.number, len(batch))
        listed = tasks.dates(self.client, self.number)
        present = [entry for entry in batch if entry[0] in listed]
        half = max(1, (len(present) + 1) // 2)
        self._send(present[:half], count)
        self._send(present[half:], count)

    def _rewrite(self, changes: Sequence[Row], creates: Sequence[int]) -> None:
        """Write many changes by removing the version and importing all predictions again."""
        for row in changes:
            self.counts["deleted" if row["desired"] is None else "updated"] += 1
        self.store.forget_predictions(self.project)
        self._is_version_removed = True
        self.client.delete_version(self.number, MODEL_VERSION)
        self.store.all_predictions_removed(self.project)
        numbers = [row["number"] for row in self.store.to_write(self.project) if row["number"] not in self.rejected]
        self._n_to_write = len(numbers)
        new = set(creates)
        self._create([number for number in numbers if number not in new], count=None)
        self._create([number for number in numbers if number in new], count="created")

    def _note_created(self, n: int, count: str | None) -> None:
        if count is not None:
            self.counts[count] += n
        self._report(n)

    def _report(self, n: int) -> None:
        self._n_written += n
        self._run.report("writing", self._n_written, self._n_to_write)

    def _is_valid(self, number: int, prediction: dict[str, Any]) -> bool:
        if self._checker is None:
            self._checker = PredictionChecker(self._label_config)
        problem = self._checker.problem(prediction)
        if problem is not None:
            log.warning("project %d, task %d: prediction not written: %s", self.number, number, problem)
            self.rejected.add(number)
        return problem is None
