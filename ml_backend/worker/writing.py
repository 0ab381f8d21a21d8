"""Writing predictions so that each task has exactly the desired one; a run can be interrupted anywhere.

Before a write the store notes that the task's prediction is unknown. If the write is interrupted, the next run reads
the task, with the prediction that it has, and compares again.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ml_backend.labelstudio import tasks
from ml_backend.labelstudio.config import PredictionChecker
from ml_backend.labelstudio.errors import LabelStudioError, WriteUnknown
from ml_backend.labelstudio.predictions import encoded, with_task
from ml_backend.settings import MODEL_VERSION
from ml_backend.store.database import Row, in_parts
from ml_backend.store.store import is_connected
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

_OURS = (MODEL_VERSION, "", None)
"""Model versions of projects that have chosen ours, or none."""

Batch = list[tuple[int, bytes, str]]
"""Task, prediction as JSON, and the prediction's hash."""


class PredictionWriter:
    """Writes the predictions of one project during one run.

    Attributes
    ----------
    counts : dict
        Predictions created, updated and deleted so far.
    rejected : set of int
        Tasks with predictions that the label config does not allow.
    """

    def __init__(self, run: ProjectRun):
        self._run, self.store, self.client = run, run.store, run.client
        self.project, self.number = run.project, run.number
        self._checker: PredictionChecker | None = None
        self._n_written = self._n_to_write = 0
        self.counts = {"created": 0, "updated": 0, "deleted": 0}
        self.rejected: set[int] = set()
        self._n_refused = 0
        if run.remote.get("model_version") not in _OURS and not is_connected(run.row()["connection"]):
            sentence = "project %d: its model version is not %s, so the score column is not ours"
            log.warning(sentence, run.number, MODEL_VERSION)

    def write(self, *, only: Sequence[int] | None = None) -> None:
        """Write the predictions that differ from the desired ones; unknown ones are left to the next reading.

        Parameters
        ----------
        only : sequence of int, optional
            Only these tasks.
        """
        rows = [row for row in self._outdated() if only is None or row["number"] in only]
        creates = [row["number"] for row in rows if row["prediction_hash"] == NO_PREDICTION]
        changes = [row for row in rows if row["prediction_hash"] != NO_PREDICTION]
        self._n_written, self._n_to_write = 0, len(rows)
        try:
            if len(changes) >= max(REWRITE_FROM, REWRITE_SHARE * self.store.totals(self.project)["predictions"]):
                self._rewrite(changes, set(creates))
            else:
                # A prediction without an id came from a bulk import: the next reading finds it.
                nameless = [row["number"] for row in changes if row["prediction_id"] is None]
                self.store.forget_predictions(self.project, nameless)
                self._change([row for row in changes if row["prediction_id"] is not None])
                self._create(creates)
        except WriteUnknown as error:
            log.warning("project %d: %s", self.number, error)
            self._run.check()
        self._keep_version()

    def is_complete(self) -> bool:
        """Whether Label Studio has the expected number of our predictions, and none is unknown."""
        if self.store.unknown_predictions(self.project):
            return False
        n_predictions = self.client.model_versions(self.number).get(MODEL_VERSION, 0)
        return n_predictions == self.store.totals(self.project)["predictions"] - len(self.rejected)

    def _keep_version(self) -> None:
        """Choose our version for the project unless it has another one: the score column is empty for any other."""
        remote = self._run.remote
        current = remote.get("model_version")
        if current not in _OURS or (current == MODEL_VERSION and not remote.get("show_collab_predictions")):
            return
        if self.client.model_versions(self.number).get(MODEL_VERSION):  # refused without any
            # both fields in one request, or one resets the other
            version = {"model_version": MODEL_VERSION, "show_collab_predictions": False}
            self.client.update_project(self.number, **version)
            remote |= version

    def _outdated(self) -> list[Row]:
        return [row for row in self.store.to_write(self.project) if row["number"] not in self.rejected]

    # --- single predictions -------------------------------------------------------------------------------------------

    def _change(self, rows: Sequence[Row]) -> None:
        """Update or remove single predictions."""
        for chunk in in_parts(rows):
            details = self.store.get_tasks(self.project, [row["number"] for row in chunk], columns=("details",))
            for row in chunk:
                self._run.check()
                self.store.forget_predictions(self.project, [row["number"]])
                try:
                    self._change_single(row, details[row["number"]]["details"])
                except LabelStudioError as error:
                    self._note_refused(error)

    def _change_single(self, row: Row, details: Mapping[str, Any]) -> None:
        """Update or remove a task's prediction."""
        number, prediction_id = row["number"], row["prediction_id"]
        prediction = self._run.prediction(details) if row["desired"] is not None else None
        if prediction is None or not self._is_valid(number, prediction):  # no prediction is better than a stale one
            self.client.delete_prediction(prediction_id)
            self._note_written({number: (None, NO_PREDICTION)}, "deleted")
            return
        self.client.update_prediction(prediction_id, **with_task(prediction, number))
        self._note_written({number: (prediction_id, row["desired"])}, "updated")

    def _note_refused(self, error: LabelStudioError) -> None:
        """Skip a task or prediction that is gone; too many refusals are an error."""
        if error.status not in (400, 404):
            raise error
        self._n_refused += 1
        log.info("project %d: a task or prediction vanished while it was written", self.number)
        if self._n_refused > MOST_REFUSED:
            raise error

    # --- many predictions ---------------------------------------------------------------------------------------------

    def _create(self, numbers: Sequence[int]) -> None:
        batch: Batch = []
        size = 0
        for chunk in in_parts(numbers):
            rows = self.store.get_tasks(self.project, chunk, columns=("desired", "details"))
            for number, row in sorted(rows.items()):
                prediction = self._run.prediction(row["details"])
                if not self._is_valid(number, prediction):
                    continue
                batch.append((number, encoded(prediction, number), row["desired"]))
                size += len(batch[-1][1])
                if len(batch) >= self._run.operator.bulk_size or size >= BULK_BYTES:
                    self._send(batch)
                    batch, size = [], 0
        self._send(batch)

    def _send(self, batch: Batch) -> None:
        """Send new predictions, few by themselves and many in one import."""
        if not batch:
            return
        self._run.check()
        self.store.forget_predictions(self.project, [number for number, _, _ in batch])
        if len(batch) <= FEW_CREATES:
            for number, prediction, desired in batch:
                try:
                    prediction_id = self.client.create_prediction(prediction)
                except LabelStudioError as error:
                    self._note_refused(error)
                else:
                    self._note_written({number: (prediction_id, desired)}, "created")
            return
        try:
            n_created = self.client.create_predictions(self.number, (prediction for _, prediction, _ in batch))
        except LabelStudioError as error:
            if error.status != 400:
                raise
            self._send_in_parts(batch)
            return
        is_whole = n_created == len(batch)
        self._note_written({number: (None, desired) for number, _, desired in batch if is_whole}, "created", n_created)
        if not is_whole:
            log.warning("project %d: Label Studio stored %d of %d predictions", self.number, n_created, len(batch))

    def _send_in_parts(self, batch: Batch) -> None:
        """Send the predictions of the tasks that exist, in halves.

        A task that is gone makes Label Studio refuse the whole batch. Each half is smaller than the batch, so that this
        ends even if tasks are deleted all the time.
        """
        log.info("project %d: Label Studio refused a batch of %d predictions", self.number, len(batch))
        listed = tasks.dates(self.client, self.number)
        present = [entry for entry in batch if entry[0] in listed]
        half = max(1, (len(present) + 1) // 2)
        self._send(present[:half])
        self._send(present[half:])

    def _rewrite(self, changes: Sequence[Row], new: set[int]) -> None:
        """Write many changes by removing the version and importing all predictions again."""
        for row in changes:
            self.counts["deleted" if row["desired"] is None else "updated"] += 1
        self.store.forget_predictions(self.project)
        self._run.remote["model_version"] = None  # Label Studio forgets which version the project has chosen
        self.client.delete_version(self.number, MODEL_VERSION)
        self.store.all_predictions_removed(self.project)
        numbers = [row["number"] for row in self._outdated()]
        self._n_to_write = len(numbers)
        n_created = self.counts["created"]
        try:
            self._create([number for number in numbers if number not in new])
        finally:
            self.counts["created"] = n_created  # those were there before
        self._create([number for number in numbers if number in new])

    def _note_written(self, predictions: Mapping[int, tuple[int | None, str]], count: str, n: int = 1) -> None:
        """Store what Label Studio has now, count it, and report it."""
        self.store.put_written(self.project, predictions)
        self.counts[count] += n
        self._n_written += n
        self._run.report("writing", self._n_written, self._n_to_write)

    def _is_valid(self, number: int, prediction: dict[str, Any]) -> bool:
        if self._checker is None:
            self._checker = PredictionChecker(self._run.label_config)
        problem = self._checker.problem(prediction)
        if problem is not None:
            log.warning("project %d, task %d: prediction not written: %s", self.number, number, problem)
            self.rejected.add(number)
        return problem is None
