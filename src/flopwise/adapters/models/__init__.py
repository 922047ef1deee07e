"""Descriptions of models: one module per format. ``hf_config`` reads a Hugging Face ``config.json``."""
