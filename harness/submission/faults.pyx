"""What can be wrong with a line of a submission, beside its shape."""
