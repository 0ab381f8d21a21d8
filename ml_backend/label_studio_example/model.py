"""The backend under the names that Label Studio's examples use: a thin wrapper of softirr's own app and server.

Agreement needs every answer of a task, so a worker process reads the annotations through Label Studio's API, and
``/predict`` answers from stored scores. `Agreement` therefore wraps the whole service, not a function of one task.
"""

import os
from collections.abc import Mapping

from flask import Flask

from ml_backend.app import create_app
from ml_backend.serve import serve
from ml_backend.services import Services
from ml_backend.settings import Settings


class Agreement:
    """Agreement of annotators who write free text.

    Parameters
    ----------
    environment : mapping, optional
        The variables of docs/reference/environment.md; by default, the environment of the process.
    """

    def __init__(self, environment: Mapping[str, str] | None = None):
        self.settings = Settings.from_environment(os.environ if environment is None else environment)

    def app(self, services: Services | None = None) -> Flask:
        """The WSGI app, on a store with the present schema.

        It answers requests. The scores come from the worker process: ``python -m ml_backend.worker``, or `serve`.
        """
        services = services or Services(self.settings)
        services.store.migrate()
        return create_app(services=services)

    def serve(self) -> int:
        """Run the web processes and the scorer until SIGTERM; returns the exit status."""
        return serve(self.settings)
