"""Files in, coded events out: how files on disk are laid out, read and kept."""
