"""The report as a page: templates, styles, scripts and charts, as one file and as pages of a server."""
