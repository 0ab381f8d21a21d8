"""Benchmarks: programs that print a table. ``softirr bench NAME`` runs the module of that name."""
