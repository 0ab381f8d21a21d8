"""The services that the parts of one process share, made from the settings."""

import functools
from typing import Any

from ml_backend.background import Background
from ml_backend.labelstudio.client import Client
from ml_backend.scoring.scorer import Scorer
from ml_backend.settings import Settings
from ml_backend.store.store import Store


class Services:
    """Store and scorer of one process; each is made on first use."""

    def __init__(self, settings: Settings):
        self.settings = settings

    @functools.cached_property
    def store(self) -> Store:
        """The database."""
        return Store(self.settings.database_url)

    @functools.cached_property
    def background(self) -> Background:
        """Where requests leave what they need not wait for."""
        return Background()

    @functools.cached_property
    def scorer(self) -> Scorer:
        """The loaded measures."""
        return Scorer(self.settings.cache_url)

    def client(self, **options: Any) -> Client:
        """A new connection to Label Studio."""
        return Client(self.settings.label_studio_url, self.settings.api_key, **options)
