"""The backend's address is checked as Label Studio checks it, before anything is written."""

from __future__ import annotations

import pytest

from ml_backend.labelstudio.backend_address import callable_url
from softirr.errors import InputError


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:9090",
        "http://127.0.0.1:9090",
        "http://[::1]:9090",
        "http://softirr.internal:9090",
        "https://Irr.Clinic.example/agreement",
        "http://host.docker.internal:9090",
        "http://münchen.example:9090",
        "http://irr.xn--p1ai",
    ],
)
def test_hosts_that_label_studio_takes(url: str) -> None:
    assert callable_url(url) == url


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://softirr:9090", "--url http://softirr.internal:9090"),
        ("softirr", "host name without a dot"),
        ("http://soft_irr.internal:9090", "letters, digits, hyphens and dots"),
        ("http://irr.host1", "no digits after the last dot"),
        ("http://-irr.internal", "letters, digits, hyphens and dots"),
        ("ftp://softirr.internal", "not an http address"),
    ],
)
def test_hosts_that_it_refuses(url: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        callable_url(url)
