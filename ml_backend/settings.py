"""Settings of the operator: environment variables."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from softirr.errors import InputError
from softirr.meaning.measures import takes

MODEL_VERSION = "agreement"  # also the title of the connection: only then the score column fills (Label Studio 1.23)
SECRET_HEADER = "X-Softirr-Token"  # noqa: S105 - the name of the header, not what it carries


def _default_data_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("softirr", appauthor=False)


_Words = Annotated[
    tuple[str, ...], BeforeValidator(lambda text: text.replace(",", " ").split() if isinstance(text, str) else text)
]


class Settings(BaseModel):
    """Settings of the service, each with the environment variable that sets it; secrets don't show in its repr.

    Attributes
    ----------
    label_studio_url : str
        Address under which this process reaches Label Studio; it overrides the address that Label Studio reports.
    label_studio_origins : tuple of str
        Further origins from which people open Label Studio in the browser (for the panel's access check).
    api_key : str
        Personal access token or legacy token.
    data : Path
        Folder for the SQLite files.
    database_url : str
        SQLAlchemy URL of the store.
    cache_url : str
        Where pairs that a model has scored are kept, for `softirr.meaning.measures.cache.open_cache`.
    measure : str or None
        Measure of projects that have none set.
    allowed_measures : tuple of str
        Measures with a folder, a hub name or an address in them that a connection's ``extra_params`` may choose, and
        the comparisons page offers, by exact name. Others are the operator's alone.
    allowed_hosts : tuple of str
        Further host names under which this backend is served.
    largest_body_mb : int
        MiB of a request's body that are read from callers with a secret; Label Studio sends all selected tasks in one
        request.
    """

    model_config = ConfigDict(frozen=True)

    label_studio_url: Annotated[str, AfterValidator(lambda url: clean_url(url, "LABEL_STUDIO_URL"))] = Field(
        default="http://localhost:8080", alias="LABEL_STUDIO_URL"
    )
    label_studio_origins: _Words = Field(default=(), alias="SOFTIRR_LABEL_STUDIO_ORIGINS")
    api_key: str = Field(default="", alias="LABEL_STUDIO_API_KEY", repr=False)
    data: Path = Field(default_factory=_default_data_folder, alias="SOFTIRR_DATA")
    database_url: str = Field(
        default_factory=lambda values: f"sqlite:///{values['data'] / 'softirr.sqlite3'}",
        alias="SOFTIRR_DATABASE_URL",
        repr=False,
    )
    cache_url: str = Field(
        default_factory=lambda values: str(values["data"] / "pairs.sqlite3"), alias="SOFTIRR_CACHE", repr=False
    )
    basic_auth_user: str = Field(default="", alias="BASIC_AUTH_USER")
    basic_auth_pass: str = Field(default="", alias="BASIC_AUTH_PASS", repr=False)
    host: str = Field(default="127.0.0.1", alias="HOST")
    port: int = Field(default=9090, alias="PORT", gt=0, le=65535)
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], BeforeValidator(str.upper)] = Field(
        default="INFO", alias="LOG_LEVEL"
    )
    largest_body_mb: int = Field(default=128, alias="SOFTIRR_LARGEST_BODY_MB", gt=0)
    measure: str | None = Field(default=None, alias="SOFTIRR_MEASURE")
    allowed_measures: _Words = Field(default=(), alias="SOFTIRR_ALLOWED_MEASURES")
    allowed_hosts: Annotated[_Words, BeforeValidator(str.lower)] = Field(default=(), alias="SOFTIRR_ALLOWED_HOSTS")
    web_workers: int = Field(default=2, alias="WORKERS", gt=0)
    web_threads: int = Field(default=8, alias="THREADS", gt=0)
    job_workers: int = Field(default=2, alias="SOFTIRR_JOB_WORKERS", gt=0)
    page_size: int = Field(default=500, alias="SOFTIRR_PAGE_SIZE", gt=0)
    bulk_size: int = Field(default=5000, alias="SOFTIRR_BULK_SIZE", gt=0)
    reconcile_seconds: float = Field(default=60.0, alias="SOFTIRR_RECONCILE_SECONDS", gt=0)
    full_pull_seconds: float = Field(default=6 * 3600.0, alias="SOFTIRR_FULL_PULL_SECONDS", gt=0)
    predict_budget_seconds: float = Field(default=20.0, alias="SOFTIRR_PREDICT_BUDGET_SECONDS", gt=0)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Self:
        """Read the environment; keyword arguments that are not None win.

        Raises
        ------
        InputError
            If a variable has an unusable value; the message names the variable.
        """
        variables = os.environ if environment is None else environment
        text: dict[str, Any] = {name: value.strip() for name, value in variables.items() if value.strip()}
        if "LABEL_STUDIO_HOST" in text:
            text.setdefault("LABEL_STUDIO_URL", text["LABEL_STUDIO_HOST"])
        text |= {str(cls.model_fields[name].alias): value for name, value in overrides.items() if value is not None}
        try:
            return cls(**text)
        except ValidationError as error:
            wrong = error.errors()[0]
            if wrong["type"] == "value_error":
                raise InputError(wrong["msg"].removeprefix("Value error, ")) from None
            name = str(wrong["loc"][0])
            expected = wrong.get("ctx", {}).get("expected")  # the words that are allowed
            if wrong["type"] == "less_than_equal":
                raise InputError(f"{name} is above {wrong['ctx']['le']}: {text[name]}.") from None
            what = f"none of {expected.replace(' or ', ', ')}" if expected else f"not a positive number: {text[name]}"
            raise InputError(f"{name} is {what}.") from None

    @property
    def largest_body(self) -> int:
        """Bytes of a request's body that are read."""
        return self.largest_body_mb * 1024 * 1024

    def allows_measure(self, name: str) -> bool:
        """Whether a request, a connection's ``extra_params`` or a page may choose the measure.

        Those without a model and the bundled model open nothing. Any other name makes this process read a folder, ask
        the model hub or send texts to an address: the operator allows it by its exact name.
        """
        opens_nothing = name == "nli" or (":" not in name and not takes(name))
        return opens_nothing or name in (*self.allowed_measures, self.measure)


def clean_url(value: str, name: str) -> str:
    """`value` without a trailing slash, query or fragment; InputError unless it is an http(s) address."""
    url_parts = urlsplit(value if "://" in value else f"http://{value}")
    if url_parts.scheme not in ("http", "https") or not url_parts.hostname:
        raise InputError(f"{name} is not an http address: {value}.")
    return f"{url_parts.scheme}://{url_parts.netloc.rpartition('@')[2]}{url_parts.path.rstrip('/')}"


def origin(url: str) -> str:
    """Scheme, host and port of an address, in lower case; empty when it has none."""
    try:
        url_parts = urlsplit(url)
        port = url_parts.port
    except ValueError:
        return ""
    if url_parts.scheme not in ("http", "https") or not url_parts.hostname:
        return ""
    default = {"http": 80, "https": 443}[url_parts.scheme]
    return f"{url_parts.scheme}://{url_parts.hostname.lower()}" + (f":{port}" if port not in (None, default) else "")
