"""Which texts of one item belong together: assignments, clusters, consensus."""
