"""Lists and truth as people hold them, in frames, dicts and arrays, become positions in arrays."""
