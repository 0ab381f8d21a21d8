"""The actions in a project that Label Studio's webhook reports.

A new action is a line here: ``softirr-ls connect`` subscribes to each, and :mod:`ml_backend.web.webhook` requests an
update of the project for each. That module also defines what an action needs besides an update. Projects that are
connected already need ``softirr-ls connect`` again.
"""

TASKS_DELETED = "TASKS_DELETED"
WEBHOOK_ACTIONS = (
    "ANNOTATION_CREATED",
    "ANNOTATIONS_CREATED",
    "ANNOTATION_UPDATED",
    "ANNOTATIONS_DELETED",
    "TASKS_CREATED",
    TASKS_DELETED,
    "PROJECT_UPDATED",
)
"""Actions after which the project is updated."""
START_TRAINING = "START_TRAINING"
"""The button "Start training" of the connection, which needs no webhook."""
