"""The formats that are read: one module for each, which lists itself in ``FORMATS`` (:mod:`softirr.answers.registry`)."""

__all__: list[str] = []
