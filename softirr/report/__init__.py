"""The agreement report: everything about one table of answers."""
