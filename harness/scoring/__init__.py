"""A file of lists in, its score out."""
