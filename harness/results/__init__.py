"""What a run has: its record, its tables in memory or in a folder, and how they are shown."""
