"""Who may do what: keys, programs, browsers, and the table of routes."""
