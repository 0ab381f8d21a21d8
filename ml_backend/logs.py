"""Logging to standard error, one line per event, without tokens and without annotation texts."""

import logging


def set_up_logging(level: str) -> None:
    """Set up the process's logging at `level`."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # httpx logs each request's full address at INFO; huey logs the arguments of each task.
    for name in ("httpx", "httpcore", "huey", "huey.consumer", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
