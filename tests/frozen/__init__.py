"""Small inputs of every kind with the values that softirr computes for them."""
