"""Fast inference with transformers: finding models, tokenizing once, packing by token budget, devices and number formats."""
