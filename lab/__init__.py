"""Experiments of the paper, training of the bundled models, and benchmarks."""
