"""``python _wsgi.py`` serves; a WSGI server takes ``_wsgi:app``, with ``python -m ml_backend.worker`` next to it."""

import argparse
import os

from flask import Flask
from model import Agreement

__all__ = ["init_app"]


def init_app(model_class: type[Agreement] = Agreement) -> Flask:
    """The WSGI app, with the settings of the environment."""
    return model_class().app()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default=os.environ.get("HOST", "0.0.0.0"))  # noqa: S104 - published by Docker
    parser.add_argument("-p", "--port", type=int, default=int(os.environ.get("PORT", "9090")))
    arguments = parser.parse_args()
    raise SystemExit(Agreement({**os.environ, "HOST": arguments.host, "PORT": str(arguments.port)}).serve())
else:
    app = init_app()
