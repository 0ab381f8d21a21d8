"""Helpers and tests. A package, since installed packages bring folders called ``tests`` that would hide this one."""
