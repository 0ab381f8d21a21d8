"""Running transformers fast: finding models, tokenising once, packing by token budget, devices and number formats."""
