"""A real served backend and the fake Label Studio over HTTP, for the attacks in this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.labelstudio.backend import Commands, Serving, eventually
from tests.security.served import TOKEN, ServedLabelStudio, served_label_studio

SECRETS = ("purple toenails", "zebra stripes on the tongue")


@pytest.fixture(scope="module")
def label_studio() -> Iterator[ServedLabelStudio]:
    with served_label_studio() as fake:
        for k in range(6):
            fake.add_task({2: [SECRETS[0], f"finding {k}"], 3: [SECRETS[1]], 4: [SECRETS[0]]})
        yield fake


@pytest.fixture(scope="module")
def commands(label_studio: ServedLabelStudio, tmp_path_factory: pytest.TempPathFactory) -> Commands:
    environment = {"SOFTIRR_RECONCILE_SECONDS": "3600", "SOFTIRR_LLM_API_KEY": "the operator's key"}
    return Commands(tmp_path_factory.mktemp("state"), label_studio.url, TOKEN, environment=environment)


@pytest.fixture(scope="module")
def backend(commands: Commands) -> Iterator[Serving]:
    """`softirr-ls serve`, with no project connected yet."""
    with commands.serve() as running:
        yield running


@pytest.fixture(scope="module")
def connected(backend: Serving, commands: Commands, label_studio: ServedLabelStudio) -> Serving:
    """The same, with the project connected and scored."""
    commands.json("connect", "--project", "4", "--url", backend.url)
    eventually(lambda: len(label_studio.predictions()) == 6, what="the first scores")
    return backend
