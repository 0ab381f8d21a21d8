"""The report as a page: templates, styles, scripts and charts, for one file and for the pages of a server."""

__all__: list[str] = []
