"""A log in, a config out."""
