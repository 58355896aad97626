"""The evaluation set: which users, items and events, and when; the same for every model."""
