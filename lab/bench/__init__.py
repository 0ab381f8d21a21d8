"""Benchmarks: ``python -m lab.bench NAME`` prints the table of the module of that name."""
