"""The words that softirr knows, as tables that all modules read (:mod:`softirr.meaning.lexicon.words`)."""
