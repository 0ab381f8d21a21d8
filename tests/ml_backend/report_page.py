"""The report page over a seeded store, for tests of the page."""

from typing import Any

from ml_backend.settings import ProjectSettings
from tests.ml_backend.seeded_store import NUMBER, Seeded

HOSTILE = "</script><script>window.__pwned=1</script><img src=x onerror=alert(1)>"


INDEL = ProjectSettings(measure="indel")


def get(seeded: Seeded, path: str, key: str | None = None, **parameters: Any) -> Any:
    seeded.client._cookies.clear() if hasattr(seeded.client, "_cookies") else None
    query = {"k": seeded.key("report") if key is None else key, **parameters}
    return seeded.client.get(path, query_string=query)


def data(seeded: Seeded) -> dict[str, Any]:
    report = get(seeded, "/api/report", project=NUMBER).json
    assert isinstance(report, dict)
    return report
