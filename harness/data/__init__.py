"""Files in, coded events out: how files on disk are laid out, read and kept."""

import harness.core.compiled  # noqa: F401
