"""Public bug reports as small invented inputs, each with the right result."""
