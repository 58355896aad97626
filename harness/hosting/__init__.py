"""A task as a competition's files, and a model's lists as an upload."""
