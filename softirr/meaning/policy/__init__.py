"""What counts as the same: attributes of texts, and policies that say which of them count."""
