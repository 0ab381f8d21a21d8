"""Fast inference with transformers.

Finding models, tokenizing once, packing by token budget, devices and number formats.
"""
