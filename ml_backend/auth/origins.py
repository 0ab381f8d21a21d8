"""The host names and web pages from which requests are taken."""

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from flask import request

from ml_backend.auth.requests import Refused, connected_projects, settings
from ml_backend.settings import origin
from ml_backend.store.store import Row

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ANYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, not bound to


def check_host() -> None:
    """Refuse a request for an unknown host name.

    A page of another site can point its own host name at this machine (DNS rebinding); the browser then treats this
    server as that site.

    Raises
    ------
    Refused
    """
    if not host_is_known():
        raise Refused(
            421,
            "This backend is not served under that host name. If it should be, give the address to softirr-ls connect "
            "(--url, --panel-url) or add the name to SOFTIRR_ALLOWED_HOSTS.",
        )


def host_is_known() -> bool:
    """Whether the request names a host under which this backend is served."""
    host = _host_name(request.headers.get("Host", ""))
    return host in _own_hosts() or host in _connected_hosts()


def _own_hosts() -> set[str]:
    options = settings()
    hosts = (options.host, *options.allowed_hosts, *map(_of_address, options.label_studio_origins))
    return (set(_LOOPBACK) | {host.lower().strip("[]") for host in hosts}) - _ANYWHERE


def _connected_hosts() -> set[str]:
    """Host names in the addresses that were given to ``softirr-ls connect``."""
    addresses = [row["connection"].get(name) for row in connected_projects() for name in ("url", "panel_base")]
    return {_of_address(address) for address in addresses if address} - _ANYWHERE


def _of_address(address: str) -> str:
    return (urlsplit(address).hostname or "").lower()


def _host_name(header: str) -> str:
    try:
        name = (urlsplit(f"//{header}").hostname or "").rstrip(".")
        return str(ipaddress.ip_address(name)) if ":" in name else name
    except ValueError:
        return ""


def check_source(row: Row | None) -> None:
    """Refuse requests that a page of another site makes on a visitor's behalf; following a link from there is allowed.

    Raises
    ------
    Refused
    """
    headers = request.headers
    if request.method == "GET" and headers.get("Sec-Fetch-Dest") == "document":
        return
    origins = label_studio_origins(row)
    for source in (headers.get("Origin"), headers.get("Referer")):
        if not embedding_allowed(source, backend=origin(request.host_url), label_studio=origins):
            raise Refused(403, "The request came from a page of another site.")
    if headers.get("Sec-Fetch-Site") == "cross-site" and not (headers.get("Origin") or headers.get("Referer")):
        raise Refused(403, "The request came from a page that hides its address.")


def label_studio_origins(row: Row | None) -> list[str]:
    """Origins under which people open this Label Studio."""
    options, stored = settings(), row["origins"] if row else ()
    origins = {origin(address) for address in (options.label_studio_url, *options.label_studio_origins, *stored)}
    return sorted(origins - {""} | _loopback_twins(origins))


def label_studio_home() -> str:
    """Base address of links into Label Studio.

    The one the operator configured for browsers, else the one this backend uses itself.

    The address sent to `/setup` is not used for links, because anybody can send it.
    """
    options = settings()
    return (options.label_studio_origins or (options.label_studio_url,))[0].rstrip("/")


def _loopback_twins(origins: set[str]) -> set[str]:
    """The same origins with localhost and 127.0.0.1 exchanged, because both are this machine."""
    twins = set()
    for address in origins:
        host = urlsplit(address).hostname
        twin = {"localhost": "127.0.0.1", "127.0.0.1": "localhost"}.get(host or "")
        if twin:
            twins.add(address.replace(f"//{host}", f"//{twin}", 1))
    return twins


def embedding_allowed(referer: str | None, *, backend: str, label_studio: Collection[str]) -> bool:
    """Whether a page at `referer` may embed the panel or request data.

    An absent referer (a direct visit, a command line, a browser that sends none) proves nothing, so the key alone
    decides; a referer of another site is refused even with the right key.
    """
    if not referer:
        return True
    source = origin(referer)
    return bool(source) and (source == origin(backend) or source in {origin(address) for address in label_studio})


def panel_policy(label_studio: Collection[str]) -> str:
    """Content-Security-Policy of the panel.

    Our own files only, pictures also of Label Studio, in frames of Label Studio only.
    """
    origins = " ".join(sorted(filter(None, (origin(address) for address in label_studio))))
    return _policy(f"'self' {origins}", pictures=f"'self' data: {origins}")


def page_policy() -> str:
    """Content-Security-Policy of the report and audit pages: our own files only, in no frame."""
    return _policy("'none'")


def _policy(ancestors: str, *, pictures: str = "'self' data:") -> str:
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; "
        f"img-src {pictures.strip()}; "
        f"form-action 'self'; base-uri 'none'; frame-ancestors {ancestors.strip()}"
    )
