"""The project's report: its content, and its formats (page, one self-contained file, CSV, JSON)."""
