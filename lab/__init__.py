"""What makes and tests the science: experiments, training, benchmarks."""
