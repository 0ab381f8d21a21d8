"""Who wrote what about which item: tables of answers, ratings as arrays, and readers."""
