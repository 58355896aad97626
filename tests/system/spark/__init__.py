"""A package, so that its conftest.py is not taken for that of the folder above."""
