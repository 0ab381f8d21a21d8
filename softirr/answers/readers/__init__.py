"""The formats that are read: a module for each, with ``FORMATS`` for :mod:`softirr.answers.registry`."""
