"""Files of lists: CSV or Parquet becomes a table of lists, checked and ready to be scored."""

import harness.core.compiled  # noqa: F401
