"""What everything rests on, and knows nothing of recommenders: errors, files, ids, tables."""
