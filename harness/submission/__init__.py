"""Files of lists: a CSV or Parquet file becomes a table of lists, and a paper to be marked."""
