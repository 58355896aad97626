"""Which model is better, for runs and for submissions."""
