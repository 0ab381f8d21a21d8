"""Agreement expected by chance."""
