"""Baselines worth beating, one a file; each is named in a config by its import path."""
