"""Readers of the files of tables: one module for each kind of file."""
