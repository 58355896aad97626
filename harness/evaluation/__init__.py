"""A config in, every model evaluated on one evaluation set out."""
