"""The worker process: ``python -m ml_backend.worker``. It alone loads models; web processes never do."""

import logging
import os
import signal
import sys
import threading

from ml_backend.logs import set_up_logging
from ml_backend.services import Services
from ml_backend.settings import Settings
from ml_backend.store.database import keep_private
from ml_backend.store.lock import WorkerLock
from ml_backend.subprocess_env import follow_parent
from ml_backend.worker.runs import Worker
from softirr.terminal import guarded

log = logging.getLogger("ml_backend.worker")  # __name__ is __main__ here

FEWER_KERNELS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
"""PyTorch keeps 1024 compiled kernels and never gives back their memory; with 32, scoring takes the same time."""


def main() -> None:
    """Update projects until SIGTERM or SIGINT."""
    os.environ.setdefault(*FEWER_KERNELS)
    settings = Settings.from_environment()
    set_up_logging(settings.log_level)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    follow_parent(stop.set)
    keep_private(settings.data)
    services = Services(settings)
    services.store.migrate()
    lock = WorkerLock(services.store)
    while not stop.is_set() and not lock.acquire():
        stop.wait(1.0)
    threading.Thread(target=services.scorer.warm_up, args=(settings.measure,), name="warm up").start()
    log.info("worker ready (%d threads)", settings.job_workers)
    try:
        if not stop.is_set():
            Worker(services, stop=stop).serve(lock.is_held)
    finally:
        lock.release()
        services.scorer.close()
        services.store.close()


if __name__ == "__main__":
    sys.exit(guarded(main, program="softirr-ls: the worker process", fault=1))
