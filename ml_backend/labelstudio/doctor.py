"""``softirr-ls doctor``: checks of the connection in both directions, each with its finding and the fix."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx

from ml_backend.labelstudio.backend_address import Answer, look, problem
from ml_backend.labelstudio.client import Client
from ml_backend.labelstudio.doctor_project import Finding, project_findings, right, wrong
from ml_backend.labelstudio.errors import Unauthorized, Unreachable
from ml_backend.settings import Settings
from ml_backend.store.store import Store
from ml_backend.store.trouble import disk_problem
from softirr.errors import SoftirrError
from softirr.numbers import plural


def examine(
    settings: Settings, store: Store, number: int | None = None, *, url: str | None = None
) -> Iterator[Finding]:
    """Check the token, the server and, if given, a project.

    Parameters
    ----------
    number : int, optional
        The project.
    url : str, optional
        Address of this backend as Label Studio reaches it; by default the project's connected address.
    """
    if not settings.api_key:
        yield wrong("LABEL_STUDIO_API_KEY is not set.", "Make a personal access token under Account & Settings.")
        return
    try:
        with Client(settings.label_studio_url, settings.api_key) as client:
            yield from _server(settings, client)
            yield from _service(settings, store, url, number)
            if number is not None:
                yield from project_findings(settings, store, client, number, url)
    except Unauthorized as error:
        yield wrong(str(error), "Make a personal access token under Account & Settings and set LABEL_STUDIO_API_KEY.")
    except Unreachable as error:
        yield wrong(str(error), _unreachable_fix(settings.label_studio_url))
    except SoftirrError as error:
        yield wrong(str(error), "Put that right, then run softirr-ls doctor again; Label Studio's log has more.")


def _unreachable_fix(url: str) -> str:
    host = urlsplit(url).hostname
    if host in ("localhost", "127.0.0.1", "::1"):
        return (
            "Is Label Studio running, and is LABEL_STUDIO_URL right? Inside a container localhost is the container "
            "itself: use the service's name (http://label-studio:8080) or http://host.docker.internal:8080."
        )
    return "Is Label Studio running, and is LABEL_STUDIO_URL right as seen from here?"


def _server(settings: Settings, client: Client) -> Iterator[Finding]:
    user = client.whoami()
    version = client.version()
    yield right(f"Label Studio {version or '(unknown version)'} at {settings.label_studio_url} can be reached.")
    yield right(f"The {client.token_kind} is accepted (user {user.get('id')}).")
    numbers = re.match(r"(\d+)\.(\d+)(\.|$)", version)
    if numbers is not None and (int(numbers[1]), int(numbers[2])) < (1, 20):
        yield wrong(f"Label Studio {version} is older than what this was tested with.", "Upgrade to 1.20 or later.")


def _service(settings: Settings, store: Store, url: str | None, number: int | None) -> Iterator[Finding]:
    try:
        n = len(store.projects())
    except Exception as error:  # noqa: BLE001 - whatever the database's trouble is, it is one finding
        yield wrong(
            f"The store can't be read ({type(error).__name__}).", "Check SOFTIRR_DATABASE_URL and SOFTIRR_DATA."
        )
        return
    if problem_of_disk := disk_problem(settings.data) if settings.data.is_dir() else None:
        yield wrong(problem_of_disk, "Then run softirr-ls doctor again.")
    else:
        yield right(f"The store can be used and knows {plural(n, 'project')}.")
    base, answer = _answering(settings, store, url, number)
    if answer == "ours":
        yield right(f"This backend answers at {base}.")
        yield from _parts(settings, base)
    elif fault := problem(answer, base, settings):
        yield wrong(*fault)
    else:
        yield wrong(
            f"This backend does not answer at {base}.",
            f"Start it with softirr-ls serve --port {urlsplit(base).port or settings.port}, "
            "or name its address with --url.",
        )


def _answering(settings: Settings, store: Store, url: str | None, number: int | None) -> tuple[str, Answer]:
    """The address at which this backend should answer, and what answers there.

    The project's own, as another backend may have the usual port; the usual one where only it answers from here.
    """
    row = None if number is None else store.project(settings.label_studio_url, number)
    usual = f"http://{settings.host}:{settings.port}"
    backend_url = url or ((row["connection"] or {}).get("url") if row is not None else None) or usual
    answer = look(backend_url, settings, store.secret())
    if url is None and backend_url != usual and answer == "away" and look(usual, settings, store.secret()) == "ours":
        return usual, "ours"
    return backend_url, answer


def _parts(settings: Settings, base: str) -> Iterator[Finding]:
    """Findings of the running backend's detailed health check; empty if it is not available."""
    auth = (settings.basic_auth_user, settings.basic_auth_pass) if settings.basic_auth_user else None
    try:
        states = httpx.get(f"{base}/health?detail=1", auth=auth, timeout=5.0).json().get("parts", {})
    except (httpx.HTTPError, ValueError, AttributeError):
        return
    for name, state in states.items():
        if state != "ok":
            step = "Wait a minute, then run softirr-ls doctor again; the log of softirr-ls serve has more."
            yield wrong(f"The running backend's {name}: {state}", step)
