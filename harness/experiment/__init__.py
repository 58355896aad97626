"""Models in, results out."""
