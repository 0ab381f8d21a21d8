"""The project's report: what stands in it, and its forms (page, one self-contained file, CSV, JSON)."""
