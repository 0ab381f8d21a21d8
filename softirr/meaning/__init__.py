"""Meaning of texts: measures of equivalence, policies, facts, terminologies and reasons."""
