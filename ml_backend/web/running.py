"""The services of the running app, and what several pages ask of a project."""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import current_app

from ml_backend.auth.origins import label_studio_home
from ml_backend.project_settings import ProjectSettings, effective
from ml_backend.review.release import is_released
from ml_backend.services import Services
from ml_backend.store.reviews import ReviewStore
from ml_backend.store.store import Row
from ml_backend.web.links import Links
from ml_backend.web.project_report import ProjectReports


def services() -> Services:
    """Store, queue and scorer of this process."""
    return current_app.extensions["softirr"]


def reports() -> ProjectReports:
    """Builds views of reports and caches the last few."""
    return current_app.extensions.setdefault("softirr-reports", ProjectReports(services().store))


def reviews() -> ReviewStore:
    """Marks and audits."""
    return ReviewStore(services().store)


def links_of(project: Row) -> Links:
    """Addresses in Label Studio."""
    return Links(label_studio_home(), project["number"], triage=project["connection"].get("view"))


def job_of(project: Row) -> Row | None:
    """The project's newest job."""
    return next(iter(services().store.jobs(project["id"], limit=1)), None)


def settings_of(project: Row) -> ProjectSettings:
    """The settings that hold in the project."""
    return effective(services().settings, connection=project["extra_params"], command_options=project["chosen"]).values


@contextmanager
def marking(project: Row, number: int) -> Iterator[None]:
    """Write a task's prediction, or take it back, if the mark that is set inside decides whether it may be shown."""
    store, options = services().store, settings_of(project)
    task = store.get_tasks(project["id"], [number]).get(number)

    def is_shown() -> bool:
        mark = reviews().mark(project["id"], number)
        return task is not None and is_released(options, project["required"], task, mark)

    was_shown = is_shown()
    yield
    if is_shown() != was_shown:
        store.forget_scores_of(project["id"], [number])
        store.want(project["id"])
