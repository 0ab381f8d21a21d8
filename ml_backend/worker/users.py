"""The names and ids of a project's people, requested only if needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ml_backend.worker.project_run import ProjectRun


class Users:
    """Label Studio's users, during one run."""

    def __init__(self, run: ProjectRun):
        self._run = run
        self._met: set[str] = set()
        self._emails: dict[str, str] = {}  # with the users' ids

    def update(self) -> None:
        """Store the users' present names; users that Label Studio no longer has keep their last known name."""
        names = self._run.client.users()
        row = self._run.row()
        if {**row["raters"], **names} != row["raters"]:
            self._run.store.change_project(row["id"], lambda now: {"raters": {**now["raters"], **names}})

    def meet(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Ask for the names of annotators that are new.

        Parameters
        ----------
        rows : iterable of mapping
            Tasks as ``answers.pulled_row`` returns them.
        """
        entries = [entry for row in rows for entry in row["answers"].values()]
        met = {rater for entry in entries for rater in entry["answers"]}
        self._ask_for(met | {str(rater) for entry in entries for rater, _ in entry["excluded"]})

    def name(self, user: str) -> str:
        """The name of a user; empty if Label Studio does not know it.

        Parameters
        ----------
        user : str
            The id.
        """
        self._ask_for({user})
        return self._run.row()["raters"].get(user, "")

    def _ask_for(self, users: set[str]) -> None:
        """Ask for the names of users, unless all are known or were met before."""
        if any(user.isdigit() for user in users - self._met - set(self._run.row()["raters"])):
            self.update()
        self._met |= users

    def identify_drafters(self, page: Iterable[Mapping[str, Any]]) -> None:
        """Give drafts the id of their user: Label Studio has only the email address.

        Parameters
        ----------
        page : iterable of mapping
            Tasks as the API returns them; their drafts are changed.
        """
        drafts = [draft for task in page for draft in task.get("drafts") or () if isinstance(draft, dict)]
        drafts = [draft for draft in drafts if isinstance(draft.get("user"), str) and "@" in draft["user"]]
        if any(draft["user"].lower() not in self._emails for draft in drafts):
            unknown = {draft["user"].lower(): draft["user"] for draft in drafts}
            self._emails = unknown | self._emails | self._run.client.user_emails()
        for draft in drafts:
            draft["user"] = self._emails[draft["user"].lower()]
