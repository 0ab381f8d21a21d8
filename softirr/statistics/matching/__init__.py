"""Matching of the texts of one item: assignments, clusters, consensus."""
