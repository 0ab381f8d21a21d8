"""Addresses of this backend that Label Studio accepts, and the reasons why it refuses others."""

import ipaddress
import re
from urllib.parse import urlsplit

from ml_backend.settings import clean_url
from softirr.errors import InputError

RESERVED = (
    "Label Studio refuses the address {url} because it is private or local: start Label Studio with "
    "ML_BLOCK_LOCAL_IP=false and SSRF_PROTECTION_ENABLED=false, or connect with --pull-only."
)

DOTLESS = (
    "Label Studio takes no webhook for a host name without a dot, so it can't call this backend at {url}. Give the "
    "host a name with a dot: in Docker Compose a network alias such as {host}.internal, and connect with --url "
    "{better}."
)
# What Label Studio's check of webhooks (Django's URLValidator) takes: letters, digits and hyphens between dots, no
# digits after the last.
_HOST = re.compile(r"((?!-)([^\W_]|-)+(?<!-)\.)+(xn--[a-z0-9-]+|(?!-)([^\W\d_]|-){2,}(?<!-))\.?")


def callable_url(url: str) -> str:
    """The address of the backend in a form that Label Studio accepts for a connection and its webhook.

    Raises
    ------
    InputError
        If Label Studio refuses the host name for webhooks. It reports this only after it has registered the connection.
    """
    url = clean_url(url, "--url")
    host = urlsplit(url).hostname or ""
    if host == "localhost" or _is_address(host):
        return url
    if _HOST.fullmatch(host):
        return url
    if "." not in host.rstrip("."):
        raise InputError(DOTLESS.format(url=url, host=host, better=url.replace(host, f"{host}.internal", 1)))
    raise InputError(
        f"Label Studio takes no webhook for the host name {host}, so it can't call this backend there: a host name may "
        "have letters, digits, hyphens and dots, and no digits after the last dot."
    )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
