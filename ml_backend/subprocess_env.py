"""Starting Python programs of ours as child processes that import no file of the folder they are started in."""

import logging
import os
import site
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

log = logging.getLogger(__name__)

WATCH_PARENT = "SOFTIRR_WATCH_PARENT"
"""Variable with the id of the process that started this one, if this one is to end with it."""


def python_module(name: str, *arguments: str) -> list[str]:
    """Command that runs a module of ours.

    Without ``-P`` a file ``flask.py`` in the present folder would be imported as Flask.
    """
    return [sys.executable, "-P", "-m", name, *arguments]


def child_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment for such a command.

    Modules come from the installed packages, from this checkout, and from absolute PYTHONPATH entries.
    """
    variables = dict(os.environ if environment is None else environment)
    paths = [path for path in variables.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(path)]
    root = str(Path(__file__).resolve().parents[1])
    installed = {os.path.realpath(path) for path in (*site.getsitepackages(), site.getusersitepackages())}
    if root not in installed and root not in paths:  # run from a checkout that may not be installed
        paths.insert(0, root)
    return variables | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"}


def follow_parent(stop: Callable[[], object]) -> None:
    """Call `stop` when the parent that `WATCH_PARENT` names is gone, even if it was killed."""
    if WATCH_PARENT not in os.environ:
        return

    def watch() -> None:
        while os.getppid() == int(os.environ[WATCH_PARENT]):
            time.sleep(0.2)
        log.warning("the parent process is gone, stopping")
        stop()

    threading.Thread(target=watch, name="watcher", daemon=True).start()
